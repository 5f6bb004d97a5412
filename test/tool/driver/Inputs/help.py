# SPDX-License-Identifier: MIT
"""Checks the help of relock and of each of its subcommands.

Usage: help.py RELOCK
"""
import itertools
import re
import shlex
import subprocess
import sys

relock = sys.argv[1]


def help_of(*words):
    return subprocess.run([relock, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


def part(text, title):
    """The lines below a title, up to the next one."""
    found = re.search(r"(?ms)^%s:\n\n(.*?)(?=^\S|\Z)" % title, text)
    return [line for line in found[1].splitlines() if line.strip()] if found else []


def options_of(text):
    return set(re.findall(r"(?m)^  (--?[a-z-]+)", text))


def check_example(line):
    """The options of relock's own that the line has; those of a program that it runs are not."""
    words = shlex.split(line, comments=True)
    assert words[0] == "relock", line
    if words[1] == "help":
        return
    own = words[2:]
    if words[1] == "profile":
        own = itertools.takewhile(lambda word: not word.startswith("./"), own)
    known = options_of(help_of(words[1]))
    for word in own:
        option = word.split("=")[0]
        if option.startswith("-"):
            assert option in known, "%s: there is no %s" % (line.strip(), option)


def check_help(command, *words):
    text = help_of(*words)
    examples, statuses = part(text, "EXAMPLES"), part(text, "EXIT STATUS")
    assert 2 <= len(examples) <= 3, "%s has %d examples" % (command, len(examples))
    for line in examples:
        check_example(line)
        assert not words or line.split()[1] == command, line
    numbers = [line.split()[0] for line in statuses if re.match(r"  \d", line)]
    assert numbers[0] == "0" and "2" in numbers, "%s has the statuses %s" % (command, numbers)
    for line in part(text, "SUBCOMMANDS") + part(text, "Relock"):
        sentence = line.partition(" - ")[2]
        assert not re.match(r"[A-Z][a-z]", sentence), "%s: %s" % (command, sentence)
        assert not sentence.endswith("."), "%s: %s" % (command, sentence)
    assert max(map(len, examples + statuses)) <= 100, "%s: a line is too long" % command


commands = [line.split()[0] for line in part(help_of(), "SUBCOMMANDS") if " - " in line]
assert len(commands) >= 12, commands
check_help("relock")
for command in commands:
    check_help(command, command)
print("%d subcommands" % len(commands))
