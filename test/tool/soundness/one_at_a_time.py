# SPDX-License-Identifier: MIT
"""Converts one section of a program at a time, and one class, and compiles each result.

Usage: one_at_a_time.py RELOCK INCLUDE BUILD [OPTION...]

BUILD holds compile_commands.json of a program that compiles, whose sources are under git without
changes; they are changed and put back for each case. OPTIONs are for relock; --every=N takes one
case in N, and --syntax only parses the units (no code, so no warnings of the optimiser). A case is good if relock converts what it was asked to, leaves nothing out, and the
units that changed compile with the program's own commands, and -I INCLUDE, without a new error or
warning. Prints the faults, then one line with the numbers. Exit status 1 if there is a fault.
"""
import json
import os
import re
import shlex
import subprocess
import sys

PLACE = re.compile(r"\S*:\d+(:\d+)?")


def run(command, folder=None):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")


class Program:
    def __init__(self, relock, include, build, options, compile_options):
        self.relock, self.include, self.build, self.options = relock, include, build, options
        self.compile_options = compile_options
        with open(os.path.join(build, "compile_commands.json")) as file:
            self.units = json.load(file)
        self.root = run(["git", "rev-parse", "--show-toplevel"], build).stdout.strip()
        self.before = [self.compile(unit) for unit in self.units]
        self.read = [self.files(unit) for unit in self.units]

    def check(self):
        command = [self.relock, "check", "-p", self.build, "--json", *self.options]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=self.root).stdout
        return json.loads(output)

    def rewrite(self, what):
        return run([self.relock, "rewrite", "-p", self.build, "--in-place", *what, *self.options],
                   self.root)

    def changed(self):
        out = run(["git", "status", "--porcelain", "-uno"], self.root).stdout
        return {os.path.realpath(os.path.join(self.root, line[3:])) for line in out.splitlines()}

    def restore(self):
        run(["git", "checkout", "-q", "."], self.root)
        tables = run(["git", "ls-files", "-z", "--others", "*relock_locks.*"], self.root).stdout
        for name in tables.split("\0")[:-1]:
            os.remove(os.path.join(self.root, name))

    # The files that a unit consists of.
    def files(self, unit):
        made = run([*self.command(unit), "-M", "-MT", "unit"], unit["directory"]).stdout
        return {os.path.realpath(os.path.join(unit["directory"], name))
                for name in made.replace("\\\n", " ").split()[1:]}

    def affected(self, changed):
        return [n for n, read in enumerate(self.read) if not changed.isdisjoint(read)]

    def command(self, unit):
        command = unit.get("arguments") or shlex.split(unit["command"])
        if "-o" in command:
            at = command.index("-o")
            command = command[:at] + command[at + 2:]
        return command

    def compile(self, unit):
        result = run([*self.command(unit), *self.compile_options, "-o", "/dev/null", "-I", self.include],
                     unit["directory"])
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

    def fault(self, what, delegated):
        result = self.rewrite(what)
        if result.returncode > 1 or "[not-rewritten]" in result.stdout:
            return result.stdout.strip()
        counts = re.search(r"(\d+) lock classes converted, (\d+) sections delegated", result.stdout)
        if not counts or int(counts[1]) < 1 or int(counts[2]) < delegated:
            return "not converted: " + result.stdout.strip()
        changed = self.changed()
        if not self.affected(changed):
            return "no unit reads what changed: " + ", ".join(sorted(changed))
        faults = (self.new_diagnostics(n) for n in self.affected(changed))
        return next((f for f in faults if f), "")


def cases(checked):
    for lock in checked["classes"]:
        if lock["verdict"] != "convert":
            continue
        choice = "--lock=%s=adaptive" % lock["name"]
        yield lock["name"], [choice], 0
        for section in lock["sections"]:
            if section["verdict"] == "delegate":
                where = section["location"]
                yield "%s at %s" % (lock["name"], where), [choice, "--section=" + where], 1


def main():
    relock, include, build, *options = sys.argv[1:]
    every = [int(o.split("=")[1]) for o in options if o.startswith("--every=")]
    compile_options = ["-fsyntax-only"] if "--syntax" in options else []
    options = [o for o in options if not o.startswith("--every=") and o != "--syntax"]
    program = Program(os.path.abspath(relock), os.path.abspath(include), os.path.abspath(build), options,
                      compile_options)
    if program.changed():
        sys.exit("one_at_a_time: the sources have changes; commit them first")
    classes = sections = faults = 0
    for name, what, delegated in list(cases(program.check()))[::every[0] if every else 1]:
        classes, sections = classes + (not delegated), sections + delegated
        fault = program.fault(what, delegated)
        program.restore()
        if fault:
            faults += 1
            print("%s: %s" % (name, fault), flush=True)
    print("%d classes and %d sections, each alone: %d faults" % (classes, sections, faults))
    sys.exit(faults > 0)


main()
