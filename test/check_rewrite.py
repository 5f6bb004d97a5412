# SPDX-License-Identifier: MIT
"""Rewrites a small program and checks everything that must hold for the result.

Usage, in a RUN line: %check_rewrite SOURCE [options] | FileCheck %s

SOURCE is one .c file, or a folder (from split-file) whose .c files make up one program. In a copy,
`relock rewrite` is run on it, and then:

- `relock rewrite` says the same again with what the first run has kept beside the facts;
- the printed diff, applied by `git apply`, gives what --in-place gives; printing changes no file;
- the original and the result compile with gcc and with clang under -Wall -Wextra -Werror;
- the result prints the same and exits with the same status as the original, on each algorithm;
- a second `relock rewrite` prints an empty diff.

Standard output, for FileCheck: the messages of relock, the diff, the line `relock: exit status N`,
the statistics where asked for, and `check-rewrite: ok` at the very end.

In the copy, comment lines that start with a word in capitals and a colon (RUN:, CHECK-NOT:) are
blank, so that expectations never match themselves; line numbers stay.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

DIRECTIVE = re.compile(r"^[ \t]*(//|/\*)[ \t]*[A-Z][A-Z0-9_-]*:.*$", re.MULTILINE)
WARNINGS = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]


def options():
    parser = argparse.ArgumentParser(description="Rewrites a small program and checks the result.")
    parser.add_argument("source")
    parser.add_argument("--lock", action="append", default=[], metavar="CLASS=ALGORITHM",
                        help="convert this class; without, all of them")
    parser.add_argument("--flags", default="", help="compiler flags of the program")
    parser.add_argument("--args", default="", help="arguments for the program")
    parser.add_argument("--algorithms", default="adaptive,posix,ccsynch,rcl")
    parser.add_argument("--refused", action="store_true",
                        help="relock must change nothing and exit with 1 or 2")
    parser.add_argument("--accept-uncovered", action="store_true",
                        help="also convert what text that does not run here may name")
    parser.add_argument("--no-run", action="store_true", help="compile only (no main function)")
    parser.add_argument("--stats", action="store_true",
                        help="print `stats: CLASS held=N executed=N` per class (run on posix)")
    for name in ("relock", "include", "librelock", "cc", "clang", "work"):
        parser.add_argument("--with-" + name, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def fail(text, detail=""):
    print("check-rewrite: FAILED: " + text)
    if detail:
        print(detail)
    sys.exit(1)


def run(command, cwd, timeout=60, env=None):
    try:
        return subprocess.run(command, cwd=cwd, env=env, timeout=timeout, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
    except subprocess.TimeoutExpired:
        fail("no end after %d s: %s" % (timeout, " ".join(command)))


class Program:
    """One copy of the program in a folder of its own, a git tree so that diffs have short paths."""

    def __init__(self, source, folder):
        self.folder = folder
        os.makedirs(folder)
        names = [source]
        if os.path.isdir(source):
            names = [os.path.join(at, f) for at, _, files in os.walk(source) for f in files]
        top = source if os.path.isdir(source) else os.path.dirname(source)
        for name in sorted(names):
            target = os.path.join(folder, os.path.relpath(name, top))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(name) as file, open(target, "w") as copy:
                copy.write(DIRECTIVE.sub("", file.read()))
        subprocess.run(["git", "init", "-q", folder], check=True)

    def files(self):
        found = {}
        for at, folders, names in os.walk(self.folder):
            folders[:] = [f for f in folders if f not in (".git", "build")]
            for name in names:
                path = os.path.join(at, name)
                with open(path) as file:
                    found[os.path.relpath(path, self.folder)] = file.read()
        return found

    def kept(self):
        """The files that keep sections, each with its inode: another one has been written since."""
        folder = os.path.join(self.folder, "build", ".relock")
        return {entry.name: entry.inode() for entry in os.scandir(folder)
                if entry.name.endswith(".sections")}

    def sources(self):
        return sorted(name for name in self.files() if name.endswith(".c"))

    def database(self, flags):
        build = os.path.join(self.folder, "build")
        os.makedirs(build, exist_ok=True)
        entries = [
            {"directory": self.folder, "file": os.path.join(self.folder, name),
             "arguments": ["cc", "-std=gnu11", *flags, "-c", name, "-o", name + ".o"]}
            for name in self.sources()
        ]
        with open(os.path.join(build, "compile_commands.json"), "w") as file:
            json.dump(entries, file, indent=1)


class Checker:
    def __init__(self, arguments):
        self.arguments = arguments
        self.flags = shlex.split(arguments.flags)
        self.include = ["-I", arguments.with_include]
        self.work = os.path.abspath(arguments.with_work)
        shutil.rmtree(self.work, ignore_errors=True)

    def program(self, name):
        return Program(os.path.abspath(self.arguments.source), os.path.join(self.work, name))

    def rewrite(self, program, flags, *more):
        program.database(flags)
        locks = [word for lock in self.arguments.lock for word in ("--lock", lock)]
        accept = ["--accept-uncovered"] if self.arguments.accept_uncovered else []
        result = run([self.arguments.with_relock, "rewrite", "-p", "build", *(locks or ["--all"]),
                      *accept, *more], program.folder)
        # Absolute paths differ from machine to machine: FileCheck sees them from the program on.
        result.stderr = result.stderr.replace(program.folder + "/", "")
        result.stdout = result.stdout.replace(program.folder + "/", "")
        return result

    def compile(self, program, compiler, name):
        output = os.path.join(self.work, name)
        sources = program.sources()
        result = run([*shlex.split(compiler), *WARNINGS, *self.flags, *self.include,
                      *(["-c"] if self.arguments.no_run else ["-o", output]),
                      *sources,
                      *([] if self.arguments.no_run else
                        [self.arguments.with_librelock, "-lpthread"])], program.folder)
        for name in sources:
            if os.path.exists(os.path.join(program.folder, name[:-2] + ".o")):
                os.remove(os.path.join(program.folder, name[:-2] + ".o"))
        if result.returncode != 0:
            fail("%s does not compile with %s" % (os.path.basename(program.folder), compiler),
                 result.stderr)
        return output

    def execute(self, binary, algorithm=None, stats=False):
        env = dict(os.environ)
        if algorithm:
            env["RELOCK_LOCKS"] = "*=%s,default=%s" % (algorithm, algorithm)
        if stats:
            env["RELOCK_STATS"] = "1"
        return run([binary, *shlex.split(self.arguments.args)], self.work, env=env)

    def behaviour(self, original, rewritten):
        expected = self.execute(self.compile(original, self.arguments.with_cc, "original.gcc"))
        if expected.returncode != 0:
            fail("the original program exits with %d" % expected.returncode, expected.stderr)
        for compiler in (self.arguments.with_cc, self.arguments.with_clang):
            name = "rewritten." + os.path.basename(compiler.split()[0])
            binary = self.compile(rewritten, compiler, name)
            for algorithm in self.arguments.algorithms.split(","):
                result = self.execute(binary, algorithm)
                if (result.returncode, result.stdout) != (expected.returncode, expected.stdout):
                    fail("%s on %s: exit status %d instead of %d, or other output"
                         % (name, algorithm, result.returncode, expected.returncode),
                         "expected:\n%sgot:\n%s%s"
                         % (expected.stdout, result.stdout, result.stderr))
        if self.arguments.stats:
            self.print_stats(binary)

    def print_stats(self, binary):
        lines = self.execute(binary, "posix", stats=True).stderr.splitlines()
        if "relock-stats" not in lines:
            fail("RELOCK_STATS=1 printed no table", "\n".join(lines))
        lines = lines[lines.index("relock-stats") + 1:]
        if "" in lines:
            lines = lines[:lines.index("")]
        columns = lines[0].split()
        for line in sorted(lines[1:]):
            row = dict(zip(columns, line.split()))
            print("stats: %s held=%s executed=%s" % (row["class"], row["held"], row["executed"]))

    def again(self, program, result):
        kept = program.kept()
        second = self.rewrite(program, self.flags)
        if (second.returncode, second.stdout, second.stderr) != (
                result.returncode, result.stdout, result.stderr):
            fail("with the sections that were kept, relock says something else",
                 second.stderr + second.stdout)
        if program.kept() != kept:
            fail("sections are looked for again though nothing has changed")

    def refused(self, original, result):
        if result.returncode not in (1, 2):
            fail("relock exits with %d instead of 1 or 2" % result.returncode)
        if result.stdout.strip():
            fail("relock prints a diff although a refusal is expected")
        before = original.files()
        after = self.program("in-place")
        self.rewrite(after, self.flags, "--in-place")
        if after.files() != before:
            fail("--in-place changes files although a refusal is expected")

    def converted(self, original, result):
        if result.returncode not in (0, 1):
            fail("relock exits with %d" % result.returncode)
        if not result.stdout.strip():
            fail("relock prints no diff")
        patched = self.program("patched")
        applied = subprocess.run(["git", "apply", "-p1"], input=result.stdout, text=True,
                                 cwd=patched.folder, capture_output=True)
        if applied.returncode != 0:
            fail("git apply does not take the diff", applied.stderr)
        rewritten = self.program("in-place")
        self.rewrite(rewritten, self.flags, "--in-place")
        differing = sorted(name for name in {**patched.files(), **rewritten.files()}
                           if patched.files().get(name) != rewritten.files().get(name))
        if differing:
            fail("the printed diff and --in-place differ in " + ", ".join(differing))
        if self.arguments.no_run:
            for compiler in (self.arguments.with_cc, self.arguments.with_clang):
                self.compile(rewritten, compiler, "objects")
        else:
            self.behaviour(original, rewritten)
        again = self.rewrite(rewritten, self.flags + self.include)
        if again.returncode not in (0, 1) or again.stdout.strip():
            fail("a second rewrite is not empty (exit status %d)" % again.returncode,
                 again.stderr + again.stdout)

    def check(self):
        original = self.program("original")
        before = original.files()
        result = self.rewrite(original, self.flags)
        print(result.stderr + result.stdout, end="")
        print("relock: exit status %d" % result.returncode, flush=True)
        self.again(original, result)
        if original.files() != before:
            fail("printing the diff changes files")
        if self.arguments.refused:
            self.refused(original, result)
        else:
            self.converted(original, result)
        print("check-rewrite: ok")


Checker(options()).check()
