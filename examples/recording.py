# SPDX-License-Identifier: MIT
"""Records README's first four commands, as somebody types them who has the packages and a clone, and
runs a recording again.

  recording.py record BUILD     writes first-steps.cast beside this file (asciinema's format, version 2)
  recording.py replay BUILD     runs its commands again, and compares what they print; status 1: it differs
  recording.py compare CAST     compares with another recording

BUILD is a build folder (build/release); its packages are made and installed in a clean root, so that nothing of
this machine changes. Needs cpack, dpkg, apt, make and gcc of Debian, and root or user namespaces.
"""
import argparse
import difflib
import fcntl
import glob
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
CAST = os.path.join(SOURCE, "examples", "first-steps.cast")
COLUMNS, ROWS = 100, 30
LONGEST_IDLE = 1.0  # seconds; what a command took longer is not waited for
LARGEST = 60 * 1024  # bytes of a recording
LONGEST_COMMAND = 600  # seconds; then it hangs

# The shell says where its prompt ends, a command's output begins, and with which status it ended, by the sequences
# that terminals know as semantic prompts (OSC 133) and do not show.
TYPED, RUNS, ENDS = "\x1b]133;B\x07", "\x1b]133;C\x07", re.compile(r"\x1b\]133;D;(\d+)\x07")
PROMPT = "\\e]133;D;$?\\a\\e]133;A\\a$ \\e]133;B\\a"

# What differs between two runs that are alike: pattern, what stands for it, and why. In this order, for each line.
RULES = [
    (r"^relock: the runs of .* differ much: .* \[compare-noisy\]$", None, "the machine did other work"),
    (r"^machine: .*", "machine: …", "processor and kernel"),
    (r"\(\d[^ ()]*\)", "(N)", "versions of what is installed"),
    (r"\d+(?:[.,]\d+)*[kM]?", "N", "times, counts, sizes and versions"),
    (r"\b[kM]?B\b", "B", "units of sizes"),
    (r"^(wall time|processor time|(?:in)?voluntary context switches|max resident bytes)  .*", r"\1 …",
     "measured figures; one below what can be told is shown in words"),
    (r"(?:after is N|after is slower: N|no difference shown: after is N to N) times as fast(?: \(N to N\))?,",
     "VERDICT,", "which of the two is faster here; the exit status has to say the same"),
    (r"(?:which overlaps the interval|(?:above|below) what was measured)$", "…", "as the verdict"),
    (r"^ended: (?:the time is up|the interval is narrower than N %)$", "ended: …", "as the verdict"),
    (r"\bN (lock class|section|file)(?:e?s)?\b", r"N \1(s)", "how many classes the plan takes, of figures of this run"),
    (r"  +", " ", "columns are as wide as their figures"),
]


def readme_commands(readme):
    """The first commands of README: the first block behind the heading Four commands."""
    with open(readme, encoding="utf-8") as file:
        section = file.read().partition("\n## Four commands\n")[2]
    block = re.search(r"(?m)^    .*\n(?:    .*\n)*", section)
    if not block:
        sys.exit(readme + " has no block of commands behind the heading 'Four commands'")
    return [line[4:] for line in block[0].splitlines()]


def make_root(build, work):
    """A clean root that has what the packages depend on, make, gcc and apt, and a clone with the packages."""
    packages, root = os.path.join(work, "packages"), os.path.join(work, "root")
    done = subprocess.run(["cpack", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", packages],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("cpack: status %d\n%s" % (done.returncode, done.stdout))
    debs = sorted(glob.glob(packages + "/*.deb"))
    clean_root = os.path.join(SOURCE, "test", "packaging", "Inputs", "clean_root.py")
    subprocess.run([sys.executable, clean_root, root, "apt", "make", "gcc", *debs], check=True)
    # The folders that apt writes into come with it empty. In a namespace that knows one user and one group it cannot
    # become another, nor give its log to one. Its bar of progress is not for a recording, and debconf, which this
    # root has without perl, has nothing to ask.
    for folder in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d", "var/log/apt",
                   "var/cache/apt/archives/partial", "var/lib/apt/lists/partial"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    open(os.path.join(root, "etc/apt/sources.list"), "w").close()
    with open(os.path.join(root, "etc/apt/apt.conf.d/recording"), "w") as file:
        file.write('APT::Sandbox::User "root";\nDir::Log::Terminal "";\nBinary::apt::DPkg::Progress-Fancy "0";\n'
                   "#clear DPkg::Pre-Install-Pkgs;\n")
    os.symlink("gcc", root + "/usr/bin/cc")  # update-alternatives writes it
    os.makedirs(root + "/root/relock/build/release")
    for deb in debs:
        shutil.copy(deb, root + "/root/relock/build/release")
    make_clone(root)
    return root


def make_clone(root):
    kvstore, to = os.path.join(SOURCE, "examples", "kvstore"), root + "/root/relock/examples/kvstore"
    os.makedirs(to)
    for file in sorted(glob.glob(kvstore + "/*.[ch]")) + [kvstore + "/Makefile"]:
        shutil.copy(file, to)


def install(build, work):
    """A home with the clone and what is installed; the rest is this machine's."""
    done = subprocess.run(["cmake", "--install", build, "--prefix", work + "/root/.local"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("cmake --install: status %d\n%s" % (done.returncode, done.stdout))
    make_clone(work)
    return work


class Shell:
    """A shell in the clone, on a terminal. events: [seconds, "o" or "i", text]."""

    def __init__(self, root, packages):
        self.events, self.began, self.rest = [], time.monotonic(), b""
        self.text, self.at = "", 0  # all that was printed, and how far it was waited for
        # A root that is a mount, as `relock trial` needs it; without the packages, only a home.
        clean = 'mount --bind "$1" "$1" && mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && ' \
                'exec chroot "$1"'
        enter = (clean if packages else 'mount --bind "$1/root" /root && exec') + \
            ' sh -c "cd /root/relock && exec bash --norc --noprofile --noediting -i"'
        environment = {"PATH": "/root/.local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                       "TERM": "xterm-256color", "PS1": PROMPT, "PS0": "\\e]133;C\\a", "HISTFILE": ""}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe("unshare", ["unshare", "-rm", "sh", "-ec", enter, "sh", root], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.wait_for(TYPED)

    def add(self, kind, text):
        self.events.append([time.monotonic() - self.began, kind, text])

    def wait_for(self, mark):
        """Reads what is printed until the mark, whole characters, and adds it as events."""
        ends = time.monotonic() + LONGEST_COMMAND
        while (found := self.text.find(mark, self.at)) < 0:
            ready, _, _ = select.select([self.terminal], [], [], max(0, ends - time.monotonic()))
            try:
                data = os.read(self.terminal, 1 << 16) if ready else b""
            except OSError:  # the shell has gone
                data = b""
            if not data:
                sys.exit("the shell does not come to its prompt; the last that it printed:\n" + self.text[-2000:])
            data = self.rest + data
            for whole in range(len(data), max(len(data) - 4, -1), -1):  # UTF-8 has four bytes at most
                try:
                    new = data[:whole].decode()
                except UnicodeDecodeError:
                    continue
                self.rest = data[whole:]
                break
            self.text += new
            if new:
                self.add("o", new)
        self.at = found + len(mark)

    def type(self, command, by_hand):
        if by_hand:
            time.sleep(LONGEST_IDLE)
        self.add("i", command + "\r")
        for character in command if by_hand else [command]:
            os.write(self.terminal, character.encode())
            if by_hand:
                time.sleep(0.04)
                self.wait_for(character)  # its echo
        os.write(self.terminal, b"\r")
        self.wait_for(RUNS)
        self.wait_for(TYPED)

    def close(self):
        os.kill(self.pid, signal.SIGHUP)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def run(commands, root, packages, by_hand):
    shell = Shell(root, packages)
    for command in commands:
        shell.type(command, by_hand)
    shell.close()
    return shell.events


def lines_of(text):
    """What a terminal shows in the end: a carriage return goes back, and what comes then replaces what was there."""
    lines, line, at = [], [], 0
    for token in re.findall(r"\x1b\][^\x07]*\x07|\x1b\[[0-9;?]*[A-Za-z]|[\s\S]", text):
        if token == "\n":
            lines.append("".join(line).rstrip())
            line, at = [], 0
        elif token == "\r":
            at = 0
        elif token == "\x1b[K":
            del line[at:]
        elif len(token) == 1:
            line[at:at + 1] = [token]
            at += 1
    return lines + ["".join(line).rstrip()] if line else lines


def plain(line):
    """A line without what differs between two runs. None: a line that may be there or not."""
    for pattern, instead, _ in RULES:
        if instead is None:
            if re.search(pattern, line):
                return None
        else:
            line = re.sub(pattern, instead, line)
    return line


def outputs(events):
    """Of each command: its lines, and its status, less what `relock trial` adds to it if the result is slower."""
    text = "".join(text for _, kind, text in events if kind == "o")
    result = []
    for part in text.split(RUNS)[1:]:
        end = ENDS.search(part)
        lines = lines_of(part[:end.start()])
        slower = any(line.startswith("after is slower: ") for line in lines)
        result.append([line for line in map(plain, lines) if line is not None] +
                      ["status %d" % (int(end[1]) - slower)])
    return result


def read_cast(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    header, *events = map(json.loads, text.splitlines())
    times = [0] + [event[0] for event in events]
    wrong = ["is larger than %d bytes" % LARGEST] * (len(text.encode()) > LARGEST) + \
            ["is not of version 2"] * (header["version"] != 2) + \
            ["is not 80 to 100 columns wide"] * (not 80 <= header["width"] <= 100) + \
            ["stands still for longer than %s s" % LONGEST_IDLE] * any(
                not 0 <= b - a <= LONGEST_IDLE + 0.001 for a, b in zip(times, times[1:]))
    if wrong:
        sys.exit("%s %s; record it again" % (path, ", and ".join(wrong)))
    return events


def write_cast(events, path):
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "Relock: the first four commands"}
    written, last, now = [json.dumps(header)], 0, 0.0
    for seconds, kind, text in events:
        now += min(seconds - last, LONGEST_IDLE)
        last = seconds
        written.append(json.dumps([round(now, 3), kind, text], ensure_ascii=False))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(written) + "\n")


def whole_lines(events):
    """How a line is cut into events is chance: it depends on when the terminal was read."""
    result = []
    for seconds, kind, text in events:
        if kind == "o" and result and result[-1][1] == "o" and not result[-1][2].endswith("\n"):
            result[-1][2] += text
        else:
            result.append([seconds, kind, text])
    return result


def typed(events):
    return "".join(text for _, kind, text in events if kind == "i").split("\r")[:-1]


def compare(recorded, again):
    """Prints how what the commands print differs from the recording; without the packages, those behind the first.
    True: it does."""
    differ = False
    before = list(zip(typed(recorded), outputs(recorded), strict=True))
    again = outputs(again)
    if len(again) not in (len(before), len(before) - 1):
        sys.exit("%d commands were run, and %d are recorded" % (len(again), len(before)))
    for (command, before), after in zip(before[-len(again):], again, strict=True):
        difference = list(difflib.unified_diff(before, after, "recorded", "now", lineterm="", n=2))
        print(("differs" if difference else "as recorded") + ": " + command)
        print("".join(line + "\n" for line in difference), end="", flush=True)
        differ |= bool(difference)
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "replay", "compare"])
    parser.add_argument("of", metavar="BUILD|CAST")
    parser.add_argument("--cast", default=CAST, help="the recording (default: first-steps.cast)")
    parser.add_argument("--readme", default=os.path.join(SOURCE, "README.md"), help="whose commands these are")
    parser.add_argument("--without-packages", action="store_true",
                        help="of a replay: with what `cmake --install` installs, and without the first command")
    parser.add_argument("--work", help="where the root goes for the time (default: a temporary folder)")
    parser.add_argument("--save", help="of a replay: writes it as a recording, too")
    options = parser.parse_args()
    commands = readme_commands(options.readme)
    if options.what != "record":
        recorded = read_cast(options.cast)
        if typed(recorded) != commands:
            sys.exit("\n".join(difflib.unified_diff(typed(recorded), commands, options.cast, options.readme, lineterm=""))
                     + "\nthe recording has other commands than %s; record it again" % options.readme)
        commands = typed(recorded)[options.without_packages:]
    if options.what == "compare":
        return compare(recorded, read_cast(options.of))
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        make = install if options.without_packages else make_root
        events = run(commands, make(os.path.realpath(options.of), work), not options.without_packages,
                     options.what == "record")
    if options.what == "replay":
        if options.save:
            write_cast(whole_lines(events), options.save)
        return compare(recorded, events)
    write_cast(events, options.cast)
    read_cast(options.cast)
    print("written: " + options.cast)
    return 0


if __name__ == "__main__":
    sys.exit(main())
