# SPDX-License-Identifier: MIT
"""Checks the help of relock and of each of its subcommands.

Usage: help.py RELOCK
"""
import itertools
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import terminal

relock = sys.argv[1]


# What is no terminal has 80 columns, whatever the terminal around it has.
WIDTH = 80


def help_of(*words):
    return subprocess.run([relock, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


def rows(lines):
    """Names and texts of two columns: a text may go on below itself, and begin below its name."""
    result = []
    for line in lines:
        begun = re.match(r"  (\S.*?|  =\S+)(?: +- (.*))?$", line)
        if begun:
            result.append([begun[1], begun[2] or ""])
        else:
            result[-1][1] += " " + line.strip()
    return [(name, text.strip().removeprefix("- ")) for name, text in result]


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
    options = rows(part(text, "OPTIONS"))
    for name, sentence in rows(part(text, "SUBCOMMANDS")) + options:
        assert not re.match(r"[A-Z][a-z]", sentence), "%s: %s" % (command, sentence)
        assert sentence and not sentence.endswith("."), "%s: %s: %s" % (command, name, sentence)
    for line in text.splitlines():
        assert len(line) <= WIDTH and line == line.rstrip(), "%s: '%s'" % (command, line)
    # Nothing is lost in a narrow or a wide terminal.
    for columns in (40, 60, 200):
        other = terminal.output([relock, *words, "--help"], columns)
        assert other.split() == text.split(), "%s with %d columns" % (command, columns)
        longest = max(map(len, re.findall(r"\S+", text)))
        assert max(map(len, other.splitlines())) <= max(columns, longest + 30), (command, columns)
    return {name.split("=")[0].split("[")[0].split()[0] for name, _ in options
            if name.startswith("-")}


commands = [name for name, _ in rows(part(help_of(), "SUBCOMMANDS"))]
assert len(commands) >= 12, commands
check_help("relock")
for command in commands:
    options = check_help(command, command)
    # LLVM lists the same options, in its own way.
    listed = subprocess.run([relock, command, "--help-list"], capture_output=True, text=True).stdout
    theirs = set(re.findall(r"(?m)^  (--?[a-z-]+)", listed)) - {"--help-list"}
    assert options == theirs and len(options) > 1, (command, options ^ theirs)
print("%d subcommands" % len(commands))
