# SPDX-License-Identifier: MIT
"""Has a shell complete lines of relock.

Usage: completion.py RELOCK bash|zsh|fish SHARE     in a folder with first.profile and first.yaml,
and in build a compile database with the classes conn.lock and a.c:lock, that nobody has read
"""
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import terminal

relock, shell, share = sys.argv[1:]
os.environ["PATH"] = os.path.dirname(relock) + ":" + os.environ["PATH"]


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=True, **options)
    assert not done.stderr, done
    return done.stdout


class Bash:
    """Calls the function as bash does, with `=` and `:` as words of their own."""

    def offers(self, line):
        words = [w for part in line.split(" ") for w in re.split("([=:])", part) if w]
        if line.endswith(" "):
            words.append("")
        script = "source %s/bash-completion/completions/relock\nCOMP_WORDS=(%s)\nCOMP_CWORD=%d\n" \
                 "COMP_LINE=%s\nCOMP_POINT=%d\n" \
                 "_relock; printf '%%s\\n' \"${COMPREPLY[@]}\"" % (
                     share, " ".join(map(shlex.quote, words)), len(words) - 1, shlex.quote(line),
                     len(line))
        last = re.split("[ =:]", line)[-1]  # what readline replaces
        kept = line[:len(line) - len(last)].split(" ")[-1]
        kept = re.sub("^--?[a-z-]+=", "", kept)
        shown = run("bash", "--norc", "-c", script)
        return {kept + word.rstrip("=") for word in shown.split("\n") if word}


class Fish:
    def offers(self, line):
        script = "source %s/fish/vendor_completions.d/relock.fish; complete -C %s" % (
            share, shlex.quote(line))
        found = run("fish", "--no-config", "-c", script, env={**os.environ, "HOME": os.getcwd()})
        words = {l.split("\t")[0] for l in found.split("\n")} - {""}
        return {re.sub("^--?[a-z-]+=(?=.)", "", word).rstrip("=") for word in words}


class Zsh:
    """Types on a terminal: what a tabulator makes of the line is the common beginning of all."""

    def __init__(self):
        self.shell = terminal.Terminal(["zsh", "-f", "-i"], 200, HOME=os.getcwd(), PS1="READY> ")
        self.run("PROMPT=; RPROMPT=; PS2=; unsetopt prompt_cr prompt_sp zle_bracketed_paste; unset zle_bracketed_paste")
        self.run("fpath=(%s/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D" % share)
        self.run("setopt no_auto_menu no_list_beep no_auto_list; LISTMAX=9999")
        # What stands on the line, behind the tabulator.
        self.run("shown() { print -r -- \"\\n<<$LBUFFER>>\" > /dev/tty; LBUFFER= }; zle -N shown; bindkey '^X' shown")

    def run(self, line):
        self.shell.type((line + "; print do''ne\n").encode())
        self.shell.read(b"done\r\n")

    def completed(self, line):
        self.shell.type(line.encode() + b"\t\x18")
        return re.findall(r"<<(.*?)>>", self.shell.read(b">>").decode())[-1]


def options(words):
    """The options in the help of a subcommand."""
    text = run(relock, "help", *words).split("OPTIONS:")[1].split("EXAMPLES:")[0]
    return set(re.findall(r"(?m)^  (--?[a-z-]+)", text))


subcommands = set(re.findall(r"(?m)^  ([a-z]+) +- ", run(relock, "help")))
files = {"first.profile", "first.yaml"}
codes = {"may-block", "indirect-call"}
# What is offered: at least these, and none of those.
CASES = (
    ("relock ", subcommands | {"help"}, files),
    ("relock ch", {"check"}, {"compare"}),
    ("relock --", {"--version", "--help", "--color"}, {"check"}),
    ("relock help re", {"report", "rewrite"}, {"check"}),
    ("relock check --base", {"--baseline"}, {"--json"}),
    ("relock check --baseline=fi", files, set()),
    ("relock check --baseline fi", files, set()),
    ("relock check --json=fi", files, set()),
    ("relock check --lock-order=", {"dot"}, files),
    ("relock check -p ", files, {"--json"}),
    ("relock advise --rule=", {"prediction", "thresholds", "either"}, files),
    ("relock advise --rule t", {"thresholds"}, {"either"}),
    ("relock advise --machine h", {"here"}, files),
    ("relock report --color=", {"auto", "always", "never"}, files),
    ("relock report fi", files, {"check"}),
    ("relock report --limit 4 fi", files, {"check"}),
    ("relock report --limit ", set(), files),
    ("relock explain ", codes, files),
    ("relock explain indir", {"indirect-call"}, {"may-block"}),
    ("relock profile fi", files, set()),
)
# What only relock knows: the names of lock classes, once a command has read the program.
COLD = (
    ("relock rewrite --lock ", set(), {"conn.lock", "a.c:lock"}),
    ("relock check --why ", set(), {"conn.lock", "a.c:lock"}),
)
WARM = (
    ("relock rewrite --lock ", {"conn.lock", "a.c:lock"}, files),
    ("relock rewrite --lock=", {"conn.lock", "a.c:lock"}, files),
    ("relock rewrite -p build --lock co", {"conn.lock"}, {"a.c:lock"}),
    ("relock rewrite --lock a.c:l", {"a.c:lock"}, {"conn.lock"}),
    ("relock rewrite --lock=a.c:l", {"a.c:lock"}, {"conn.lock"}),
    ("relock rewrite --lock conn.lock=cc", {"conn.lock=ccsynch"}, {"conn.lock=mcs"}),
    ("relock rewrite --lock=a.c:lock=", {"a.c:lock=mcs", "a.c:lock=adaptive"}, {"a.c:lock"}),
    ("relock rewrite -p nowhere --lock ", set(), {"conn.lock", "a.c:lock"}),
    ("relock rewrite --all=", {"ccsynch", "adaptive"}, files),
    ("relock check --why ", {"conn.lock", "a.c:lock"}, files),
    ("relock check --why conn.lock a", {"a.c:lock"}, {"conn.lock"}),
    ("relock advise --machine ", {"icelake-2x32", "here"} | files, set()),
    ("relock simulate --machine=ice", {"icelake-2x32"}, {"here"}),
    ("relock simulate --lock ", {"mcs", "rcl", "pthread"}, files),
    ("relock simulate --lock mcs,", {"mcs,rcl", "mcs,posix"}, {"mcs,mcs", "rcl"}),
    ("relock simulate --lock=mcs,rcl,po", {"mcs,rcl,posix"}, {"mcs,rcl,mcs", "posix"}),
    ("relock bench --algorithm mcs,po", {"mcs,posix"}, {"posix"}),
    ("relock bench --algorithm=mcs,po", {"mcs,posix"}, {"posix"}),
    ("relock bench --mode hold,", {"hold,execute", "hold,any-thread"}, {"hold,queue", "hold,hold"}),
    ("relock simulate --mode hold,q", {"hold,queue", "hold,queue-2"}, {"hold,stack"}),
    ("relock simulate --mode b", {"bare", "broadcast"}, {"hold"}),
    ("relock check --fail-on ", {"hold", "sure-cycle", "may-block", "none"}, files),
    ("relock check --fail-on hold,", {"hold,keep", "hold,may-block"}, {"hold,hold", "keep"}),
    ("relock check --only=lock-order,st", {"lock-order,stale"}, {"stale"}),
)
ZSH_COLD = (("relock rewrite --lock con", "relock rewrite --lock con"),)
ZSH_WARM = (
    ("relock rewrite --lock con", "relock rewrite --lock conn.lock="),
    ("relock rewrite --lock=a.c:l", "relock rewrite --lock=a.c:lock="),
    ("relock rewrite --lock conn.lock=ccs", "relock rewrite --lock conn.lock=ccsynch "),
    ("relock rewrite --all=flat", "relock rewrite --all=flat_combining "),
    ("relock check --why con", "relock check --why conn.lock "),
    ("relock check --why conn.lock a.c", "relock check --why conn.lock a.c:lock "),
    ("relock simulate --machine ice", "relock simulate --machine icelake-2x32 "),
    ("relock simulate --lock flat", "relock simulate --lock flat_combining,"),
    ("relock simulate --lock mcs,flat", "relock simulate --lock mcs,flat_combining,"),
    ("relock simulate --lock=mcs,flat", "relock simulate --lock=mcs,flat_combining,"),
    ("relock bench --algorithm mcs,flat", "relock bench --algorithm mcs,flat_combining,"),
    ("relock simulate --mode hold,st", "relock simulate --mode hold,stack,"),
    ("relock check --fail-on hold,unc", "relock check --fail-on hold,unco"),
    ("relock check --fail-on hold,uncov", "relock check --fail-on hold,uncovered,"),
    ("relock check --only=hold,sta", "relock check --only=hold,sta"),
)


def read_program():
    """As any command does that needs the lock classes."""
    subprocess.run([relock, "check", "-p", "build"], capture_output=True, check=False)


ZSH = (
    ("relock chec", "relock check "),
    ("relock --versi", "relock --version "),
    ("relock help rewr", "relock help rewrite "),
    ("relock check --baseli", "relock check --baseline="),
    ("relock check --baseline=first.y", "relock check --baseline=first.yaml "),
    ("relock check --baseline first.y", "relock check --baseline first.yaml "),
    ("relock check --json=first.y", "relock check --json=first.yaml "),
    ("relock check --js", "relock check --json="),
    ("relock check -p first.y", "relock check -p first.yaml "),
    ("relock advise --rule=pre", "relock advise --rule=prediction "),
    ("relock advise --rule thr", "relock advise --rule thresholds "),
    ("relock advise --machine=he", "relock advise --machine=here "),
    ("relock report --color=al", "relock report --color=always "),
    ("relock report first.p", "relock report first.profile "),
    ("relock explain indirec", "relock explain indirect-call "),
    ("relock profile ./first.p", "relock profile ./first.profile "),
)
if shell == "zsh":
    zsh = Zsh()

    def check(cases):
        for line, wanted in cases:
            found = zsh.completed(line)
            assert found == wanted, (line, found)

    check(ZSH + ZSH_COLD)
    read_program()
    check(ZSH_WARM)
else:
    tested = {"bash": Bash, "fish": Fish}[shell]()
    for command in sorted(subcommands):
        offered = tested.offers("relock %s -" % command) | tested.offers("relock %s --" % command)
        assert offered == options([command]), (command, offered ^ options([command]))
    print("the options of %d subcommands" % len(subcommands))

    def check(cases):
        for line, some, none in cases:
            offered = tested.offers(line)
            assert some <= offered and not none & offered, (line, offered)

    check(CASES + COLD)
    read_program()
    check(WARM)
print("all cases")
