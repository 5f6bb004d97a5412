# SPDX-License-Identifier: MIT
"""Converts one section of a program at a time, and one class, and compiles each result.

Usage: one_at_a_time.py CONVERT_EACH INCLUDE BUILD [OPTION...]

BUILD holds compile_commands.json of a program that compiles, whose sources are under git without
changes; they are changed and put back for each case. CONVERT_EACH makes the texts and takes the
OPTIONs, see convert-each.cpp; --syntax, besides, only parses the units (no code, so no warnings of
the optimiser), --units=N compiles only N of those units that merely include what changed, which
relock has parsed too. A case is good if what was asked for is converted, nothing is left out, and
the units that changed compile with the program's own commands, and -I INCLUDE, without a new error
or warning; a unit that was good with the same texts is not compiled again. Prints the faults, then
a line with the numbers, or one for each code of --without. Exit status 1 if there is a fault.
"""
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PLACE = re.compile(r"\S*:\d+(:\d+)?")


def run(command, folder=None):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")


class Program:
    def __init__(self, include, build, compile_options, most_units):
        self.include = include
        self.compile_options = compile_options
        self.most_units = most_units
        with open(os.path.join(build, "compile_commands.json")) as file:
            self.units = json.load(file)
        self.root = run(["git", "rev-parse", "--show-toplevel"], build).stdout.strip()
        if run(["git", "status", "--porcelain", "-uno"], self.root).stdout:
            sys.exit("one_at_a_time: the sources have changes; commit them first")
        self.before = [self.compile(unit) for unit in self.units]
        self.read = [self.files(unit) for unit in self.units]
        self.good = set()  # units with the hashes of changed files that they read

    # The files that a unit consists of.
    def files(self, unit):
        made = run([*self.command(unit), "-M", "-MT", "unit"], unit["directory"]).stdout
        return {os.path.realpath(os.path.join(unit["directory"], name))
                for name in made.replace("\\\n", " ").split()[1:]}

    # The units that read what changed: those whose own file did, and some of the others.
    def affected(self, changed):
        own = [n for n, unit in enumerate(self.units) if self.source(unit) in changed]
        others = [n for n, read in enumerate(self.read)
                  if n not in own and not changed.isdisjoint(read)]
        return own + others[:self.most_units]

    def source(self, unit):
        return os.path.realpath(os.path.join(unit["directory"], unit["file"]))

    def command(self, unit):
        command = unit.get("arguments") or shlex.split(unit["command"])
        if "-o" in command:
            at = command.index("-o")
            command = command[:at] + command[at + 2:]
        return command

    def compile(self, unit):
        result = run([*self.command(unit), *self.compile_options, "-o", "/dev/null",
                      "-I", self.include], unit["directory"])
        found = [PLACE.sub("", line) for line in result.stdout.splitlines()
                 if " error: " in line or " warning: " in line]
        return result.returncode, sorted(found)

    def new_diagnostics(self, number):
        status, found = self.compile(self.units[number])
        status_before, before = self.before[number]
        for line in before:
            if line in found:
                found.remove(line)
        return "; ".join(found[:3]) or ("does not compile" if status > status_before else "")

    # With the files FOLDER/0, FOLDER/1 and so on in the places of the named ones.
    def fault(self, files, folder):
        affected = self.affected({os.path.realpath(name) for name in files})
        if not affected:
            return "no unit reads what changed: " + ", ".join(files)
        kept, now = {}, {}
        try:
            for number, name in enumerate(files):
                kept[name] = None
                if os.path.exists(name):
                    with open(name, "rb") as file:
                        kept[name] = file.read()
                shutil.copyfile(os.path.join(folder, str(number)), name)
                with open(name, "rb") as file:
                    now[os.path.realpath(name)] = hashlib.sha256(file.read()).digest()
            new = {os.path.realpath(name) for name, text in kept.items() if text is None}
            for unit in affected:
                read = sorted((self.read[unit] | new) & now.keys())
                texts = (unit, *(now[name] for name in read))
                fault = "" if texts in self.good else self.new_diagnostics(unit)
                if fault:
                    return fault
                self.good.add(texts)
            return ""
        finally:
            for name, text in kept.items():
                if text is None:
                    os.remove(name)
                else:
                    with open(name, "wb") as file:
                        file.write(text)


def main():
    convert_each, include, build, *options = sys.argv[1:]
    compile_options = ["-fsyntax-only"] if "--syntax" in options else []
    most_units = [int(o.split("=")[1]) for o in options if o.startswith("--units=")]
    program = Program(os.path.abspath(include), os.path.abspath(build), compile_options,
                      most_units[0] if most_units else None)
    options = [o for o in options if not o.startswith(("--syntax", "--units="))]
    codes = [code for o in options if o.startswith("--without=")
             for code in o.split("=")[1].split(",")]
    counts = {code: [0, 0, 0] for code in codes or [""]}  # classes, sections, faults
    with tempfile.TemporaryDirectory() as folder:
        cases = subprocess.Popen([convert_each, build, folder, *options],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for line in cases.stdout:
            case = json.loads(line)
            count = counts[case["without"]]
            count[case["section"]] += 1
            fault = case["fault"] or program.fault(case["files"], folder)
            if fault:
                count[2] += 1
                print("%s: %s" % (case["what"], fault), flush=True)
            cases.stdin.write("\n")
            cases.stdin.flush()
    if cases.wait():
        sys.exit("one_at_a_time: %s ended with status %d" % (convert_each, cases.returncode))
    for code, count in counts.items():
        print("%s%d classes and %d sections, each alone: %d faults"
              % ("without %s: " % code if code else "", *count))
    sys.exit(any(count[2] for count in counts.values()))


main()
