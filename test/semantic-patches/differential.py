# SPDX-License-Identifier: MIT
"""The acquisitions that Clang finds (relock check) beside those that Coccinelle finds
(find/lock-operations): they agree, or each difference has a reason.

Usage: differential.py RELOCK BUILD NAME         the program of a compile database
       differential.py RELOCK BUILD NAME FILE... makes a database of these files in BUILD first

Prints one line: how many sites both find, and how many only one of them, by reason. A difference
without a reason is printed with its place and its text, and the exit status is 1. The reasons are
looked up in the text:

  macro           Clang's only: a name on the line is a macro whose body leads to a lock function
  wrapper         Clang's only: it is a function whose body does
  macro body      Coccinelle's only: a #define; what it does counts where it is used
  never compiled  Coccinelle's only: under #if 0
  other file      Coccinelle's only: no unit of the database includes the file
  not understood  Clang's only: Coccinelle has said that it could not look there
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

ACQUIRES = {"pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock",
            "pthread_mutex_clocklock"}


def place(text):
    file, line = re.match(r"(.*?):(\d+)", text).groups()
    return os.path.realpath(file), int(line)


def make_database(build, files):
    os.makedirs(build, exist_ok=True)
    entries = [{"directory": build, "file": os.path.abspath(name),
                "arguments": ["cc", "-c", os.path.abspath(name)]} for name in files]
    with open(os.path.join(build, "compile_commands.json"), "w") as file:
        json.dump(entries, file)


def from_clang(relock, build):
    """The places of all sites, and of the uncovered ones."""
    run = subprocess.run([relock, "check", "-p", build, "--project=", "--json"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found = json.loads(run.stdout)
    sites = [place(s["location"]) for c in found["classes"] for s in c["sections"]]
    sites += [place(s["location"]) for s in found["wrappers"]]
    sites += [place(location) for location in found["assertions"]]
    return collections.Counter(sites), collections.Counter(
        place(s["location"]) for s in found["uncovered"])


def from_coccinelle(relock, files):
    """The places of all acquisitions, and of the names that were not looked at."""
    run = subprocess.run([relock, "patches", "find/lock-operations", *files],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sites, missed = collections.Counter(), set()
    for line in run.stdout.splitlines():
        name = re.match(r".*?:\d+:\d+: (\w+)\(", line)
        if name and name.group(1) in ACQUIRES:
            sites[place(line)] += 1
    for line in run.stderr.splitlines():
        if "[not-understood]" in line:
            missed.add(place(line[len("relock: "):]))
        elif line.startswith("relock:"):
            sys.exit(line)
    return sites, missed


class Texts:
    """What the text says of a place."""

    def __init__(self, files):
        self.lines = {}
        bodies = collections.defaultdict(str)  # by name, of macros and functions
        self.macros = set()
        self.in_define = set()
        self.dead = set()
        for name in files:
            with open(name, errors="replace") as file:
                self.lines[name] = file.read().split("\n")
            self.read(name, bodies)
        self.leads = set(ACQUIRES)  # names that lead to a lock function
        before = 0
        while before != len(self.leads):
            before = len(self.leads)
            self.leads |= {name for name, body in bodies.items()
                           if self.leads & set(re.findall(r"\w+", body))}

    def read(self, file, bodies):
        branches = []  # of open #ifs: True where the branch is never compiled
        defining = function = None
        for number, line in enumerate(self.lines[file], 1):
            directive = re.match(r"\s*#\s*(\w+)\s*(\w*)", line)
            if defining is None and directive:
                word, name = directive.groups()
                if word.startswith("if"):
                    branches.append(word == "if" and name == "0")
                elif word.startswith("el") and branches:
                    branches[-1] = False
                elif word == "endif" and branches:
                    branches.pop()
                elif word == "define":
                    defining = name
                    self.macros.add(name)
            if any(branches):
                self.dead.add((file, number))
            if defining is not None:
                self.in_define.add((file, number))
                bodies[defining] += line + "\n"
                if not line.endswith("\\"):
                    defining = None
            elif not directive:
                # A function begins at the margin, and so does the brace that ends it.
                head = re.match(r"(?:[A-Za-z_][\w\s*]*[\s*])?(\w+)\s*\(", line)
                if head and not line.rstrip().endswith(";"):
                    function = head.group(1)
                if function:
                    bodies[function] += line + "\n"
                if line.startswith("}"):
                    function = None

    def line(self, where):
        file, number = where
        return self.lines[file][number - 1] if file in self.lines else ""

    def indirect(self, where):
        """How a name on the line leads to a lock function."""
        names = set(re.findall(r"\w+", self.line(where))) & (self.leads - ACQUIRES)
        if names & self.macros:
            return "macro"
        return "wrapper" if names else None


def dependencies(relock, build):
    """The files that the units of the database are made of."""
    result = set()
    for name in glob.glob(os.path.join(build, ".relock", "*.facts")):
        facts = json.loads(subprocess.check_output([relock, "index", "--show", name]))
        result |= {os.path.realpath(d["file"]) for d in facts["dependencies"]}
    return result


def main():
    relock, build, title, *files = sys.argv[1:]
    build = os.path.abspath(build)
    if files:
        make_database(build, files)
    with open(os.path.join(build, "compile_commands.json")) as file:
        sources = {os.path.realpath(os.path.join(e["directory"], e["file"]))
                   for e in json.load(file)}
    clang, uncovered = from_clang(relock, build)
    compiled = {name for name in dependencies(relock, build) if not name.startswith("/usr/")}
    headers = {os.path.realpath(h) for s in sources
               for h in glob.glob(os.path.join(os.path.dirname(s), "*.h"))}
    looked_at = sorted(sources | headers | compiled)
    coccinelle, missed = from_coccinelle(relock, looked_at)
    texts = Texts(looked_at)
    both, only_clang, only_coccinelle, bad = 0, collections.Counter(), collections.Counter(), []
    for where in sorted(set(clang) | set(uncovered) | set(coccinelle)):
        of_clang, of_coccinelle = clang[where] + uncovered[where], coccinelle[where]
        both += min(of_clang, of_coccinelle)
        if of_clang > of_coccinelle:
            reason = "not understood" if where in missed else texts.indirect(where)
            only_clang[reason] += of_clang - of_coccinelle
        elif of_clang < of_coccinelle:
            reason = ("other file" if where[0] not in compiled else
                      "never compiled" if where in texts.dead else
                      "macro body" if where in texts.in_define else None)
            only_coccinelle[reason] += of_coccinelle - of_clang
        else:
            continue
        if reason is None:
            bad.append("%s:%d: only %s: %s" % (*where, "Clang" if of_clang > of_coccinelle else
                                               "Coccinelle", texts.line(where).strip()))

    def shown(counter):
        return ", ".join("%s %d" % (r, n) for r, n in sorted(counter.items(), key=str)) or "none"

    print("%s: both find %d; only Clang: %s; only Coccinelle: %s"
          % (title, both, shown(only_clang), shown(only_coccinelle)))
    print("\n".join(bad + ["unexplained: %d" % len(bad)]))
    sys.exit(1 if bad else 0)


main()
