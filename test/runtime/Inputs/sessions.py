# SPDX-License-Identifier: MIT
"""Holds the sessions with gdb of a page to what gdb says.

  sessions.py PAGE PROGRAM-SOURCE DIRECTORY [GDB-OPTION...]

In DIRECTORY lies the program. Of the page's blocks, those that begin with "$ " and call gdb are
run, one after the other: the lines behind "(gdb) " are typed, and all others have to come as they
are on the page. Addresses, numbers of threads and frames, how far a server is, and what belongs to
the C library or to how gdb begins are left out on both sides. Blocks of C have to stand in the
source.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

page, source, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
options = sys.argv[4:]

NOISE = (r"\[|Reading symbols|Core was generated|Program terminated|Using host|warning:|.*\.core: "
         r"|\s*Thread \d+ is in no section|$")


def normal(text):
    """The lines that count, and nothing that differs from run to run."""
    lines = [line.rstrip() for line in text.splitlines() if not re.match(NOISE, line)]
    lines = [re.sub(r"^(#\d+).*\b(start_thread|clone3?) \(.*", r"\1 \2", line) for line in lines]
    text = "\n".join(lines)
    for pattern, name in [(r"0x[0-9a-f]+", "0x…"), (r"LWP \d+", "LWP …"), (r"^#\d+ +", "# "),
                          (r"# 0x… in ", "# "), (r"; \d+ sections", "; … sections"),
                          (r"clone3", "clone")]:
        text = re.sub(pattern, name, text, flags=re.M)
    threads = {}  # in the order in which they are named

    def letter(match):
        return "Thread %c" % (ord("A") + threads.setdefault(match[1], len(threads)))

    return re.sub(r"Thread (\d+)", letter, text)


def run(block):
    first, *rest = block.splitlines()
    words = shlex.split(first[2:])
    at = words.index("gdb")
    environment = dict(os.environ, HOME=directory)
    environment.update(word.split("=", 1) for word in words[:at])
    command = ["gdb", "-nx", "-q", "-batch", "-iex", "set width 0"] + options
    for line in rest:
        if line.startswith("(gdb) "):
            command += ["-ex", "echo " + line + "\\n", "-ex", line[6:]]
    result = subprocess.run(command + words[at + 1:], cwd=directory, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
    return first + "\n" + result.stdout


text = page.read_text()
assert "gdb ./bank" in text, "the page has no session"
for block in re.findall(r"```c\n(.*?)```", text, re.S):
    assert block in source.read_text(), "the page shows what is not in the program:\n" + block
wrong = 0
for block in re.findall(r"```text\n(\$ .*?)```", text, re.S):
    if "gdb" not in shlex.split(block.splitlines()[0][2:]):
        continue
    said = run(block)
    if normal(said) != normal(block):
        wrong += 1
        print("--- the page, compared as\n%s\n--- gdb, compared as\n%s\n--- gdb\n%s"
              % (normal(block), normal(said), said))
sys.exit(1 if wrong else 0)
