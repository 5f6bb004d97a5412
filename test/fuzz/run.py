#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Equivalence fuzzing of `relock rewrite`: random programs give the same output before and after.

usage: run.py BUILD [--seed N] [--programs N] [--seconds S] [--functions N] [--keep FOLDER]
              [--tsan BUILD] [--total FILE] [--m32]

BUILD is a build folder with the tool and the runtime. Each program (generate.py) is built as it is
and rewritten with every class converted, by gcc and clang in turn, with and without optimisation,
and run with 1 to 8 threads on several algorithms. Wrong is: a rewrite that fails, that depends on the order or the number of
units at a time, that does not compile, brings new warnings, leaves a lock site unaccounted for,
gives another output, crashes or does not end. With --tsan, the build folder of a runtime under
ThreadSanitizer, one program in ten is also checked for data races. --total adds the figures of
each program to a file as it goes.

With --m32 no program is run: each is rewritten as for 64 bits and as for 32 (`-m32`), which must
give the same text, since a size that the tool takes from one machine is wrong on another, and that
must compile for 32 bits without new warnings.

A program that fails is shrunk and left in FOLDER (default: fuzz-failures). The exit status is 1
then. The last line tells how many sections were fuzzed and what became of them.
"""
import argparse
import collections
import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import features
import generate
import layers
import prelude

ALGORITHMS = ["adaptive", "posix", "ccsynch", "rcl", "flat_combining", "mcs", "dsmsynch", "hsynch",
              "oyama", "clh", "ticket", "adaptive_rcl"]
COMPILERS = [("gcc", "-O1"), ("clang-19", "-O0"), ("gcc", "-O0"), ("clang-19", "-O0"),
             ("gcc", "-O0"), ("clang-19", "-O1"), ("gcc", "-O0")]
OPERATIONS = r"(?<!void )\b(?:pthread_mutex_(?:try|timed)?lock|%s)\(" % "|".join(prelude.MACROS + features.MACROS + layers.ACQUIRES)
# Debian has what the processor's own headers are made of beside them, where only they are found.
M32 = ["-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"]
RUN_SECONDS = 60  # of a program that takes a few milliseconds, on a busy machine
TOOL_SECONDS = 120


class Wrong(Exception):
    """What is wrong with a program: a word, and the details."""

    def __init__(self, word, details=""):
        super().__init__(word)
        self.word, self.details = word, details


def call(arguments, **options):
    return subprocess.run(arguments, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **options)


def write_program(files, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "build"))
    os.makedirs(os.path.join(folder, ".git"))  # the top of the program
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def write_database(folder, sources, configurations):
    entries = [{"directory": folder, "file": name, "arguments": ["cc", *flags, "-c", name]}
               for name in sources for flags in configurations]
    with open(os.path.join(folder, "build", "compile_commands.json"), "w") as file:
        json.dump(entries, file)


def texts(folder):
    result = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "build"]
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(place, name)) as file:
                    result[os.path.join(place, name)[len(folder):]] = file.read()
    return result


class Fuzzer:
    def __init__(self, arguments, scratch):
        self.build, self.tsan, self.scratch = arguments.build, arguments.tsan, scratch
        self.relock = os.path.join(self.build, "bin", "relock")
        runtime = os.path.dirname(os.path.abspath(__file__)) + "/../../runtime"
        self.include = "-I" + os.path.join(runtime, "include")
        self.delegated = self.held = 0
        self.reasons = collections.Counter()
        if arguments.m32:
            self.check = self.check_sizes

    def compile(self, folder, compiler, sources, build, *flags, word="does not compile"):
        program = os.path.join(folder, "program")
        made = call([*compiler, "-Wall", "-Wextra", self.include, *flags, *sources,
                     os.path.join(build, "lib", "librelock.a"), "-lpthread", "-o", program],
                    cwd=folder)
        if made.returncode:
            raise Wrong(word, "\n".join(re.findall(".*error.*(?:\n.*){,3}", made.stderr)))
        return program, collections.Counter(re.findall(r"\[-W[a-z-]+", made.stderr)), made.stderr

    def run(self, program, threads, algorithm=None):
        environment = dict(os.environ)
        if algorithm:
            environment["RELOCK_LOCKS"] = "*=" + algorithm
        try:
            done = call([program, str(threads)], env=environment, timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            raise Wrong("does not end" if algorithm else "the original does not end",
                        "%d threads on %s" % (threads, algorithm))
        if done.returncode:
            raise Wrong("fails" if algorithm else "the original fails",
                        "%d threads on %s: status %d\n%s" %
                        (threads, algorithm, done.returncode, done.stderr[-3000:]))
        return done.stdout

    def tool(self, folder, *arguments):
        try:
            return call([self.relock, *arguments], cwd=folder, timeout=TOOL_SECONDS)
        except subprocess.TimeoutExpired:
            raise Wrong("the tool does not end", " ".join(arguments))

    def rewrite(self, folder, files, configurations, order, jobs, some=None):
        write_program(files, folder)
        sources = sorted((name for name in files if name.endswith(".c")), reverse=order)
        write_database(folder, sources, configurations)
        if jobs == 1:
            checked = self.tool(folder, "check", "-p", "build", "--json")
            if checked.returncode not in (0, 1):
                raise Wrong("check fails", checked.stderr)
            self.account(json.loads(checked.stdout), files)
        outside = {name: text for name, text in files.items() if name.startswith(features.OUTSIDE)}
        kept = 1 if outside else 0  # the status where a class is kept
        what = ["--all=adaptive"]
        if some is not None:
            checked = json.loads(self.tool(folder, "check", "-p", "build", "--json").stdout)
            names = [lock_class["name"] for lock_class in checked["classes"]
                     if lock_class["verdict"] == "convert"]
            what = ["--lock=%s=adaptive" % name for name in names if some.random() < 0.5]
            kept = 0
            if not what:
                what = ["--lock=%s=adaptive" % names[0]]
        done = self.tool(folder, "rewrite", "-p", "build", *what, "--in-place", "-j", str(jobs))
        if done.returncode != kept:
            raise Wrong("rewrite fails", " ".join(what) + done.stderr)
        for name, text in outside.items():
            with open(os.path.join(folder, name)) as file:
                if file.read() != text:
                    raise Wrong("text outside the program is edited", name)
        return sources

    def account(self, report, files):
        """Every lock operation in the text has its verdict, once; so have calls of wrappers."""
        listed = collections.Counter()
        for lock_class in report["classes"]:
            kept_for = {reason["code"] for reason in lock_class["reasons"]}
            if lock_class["name"] == "box.lock" and kept_for == {"outside-root"}:
                pass  # as features.outside() demands
            elif lock_class["verdict"] != "convert":
                raise Wrong("a class is kept", str(lock_class["reasons"]))
            for section in lock_class["sections"]:
                listed[section["location"]] += 1
                if not section["location"].startswith("unit"):
                    continue  # the same in all programs
                if section["verdict"] == "delegate":
                    self.delegated += 1
                else:
                    self.held += 1
                    self.reasons.update({reason["code"] for reason in section["reasons"]})
        listed.update(site["location"] for site in report["uncovered"])  # such as in arms that never run
        spelled, wrapped = collections.Counter(), collections.Counter()
        for name, text in files.items():
            text = re.sub(r"(?m)^#define(?:.*\\\n)*.*$", lambda found: "\n" * found[0].count("\n"), text)
            for number, line in enumerate(text.split("\n"), 1):
                if line:
                    place = "%s:%d" % (name, number)
                    spelled[place] += len(re.findall(OPERATIONS, line))
                    wrapped[place] += len(re.findall(
                        r"\b\w*(?:lock_three|box_lock|_begin|noted_lock|asked_lock)\(", line))
        odd = [place for place in {*listed, *spelled}
               if "library/" not in place and not place.startswith("layer.")  # its callers have those
               and not spelled[place] <= listed[place] <= spelled[place] + wrapped[place]]
        if odd:
            raise Wrong("sites unaccounted for", "listed or spelled too often: %s" % sorted(odd))

    def check(self, program, turn):
        """Raises Wrong if there is something wrong with the program."""
        rng = random.Random(program.seed)
        files, configurations = program.files(), program.configurations()
        before, after = (os.path.join(self.scratch, name) for name in ("before", "after"))
        write_program(files, before)
        compiler = COMPILERS[turn % len(COMPILERS)]
        counts = [1, rng.randrange(2, 5), 8]
        sources = [name for name in files if name.endswith(".c")]
        expected, warnings = [], []
        for flags in configurations:
            original, told, _ = self.compile(before, compiler, sources, self.build, *flags,
                                             word="the original does not compile")
            warnings.append(told)
            expected.append({count: self.run(original, count) for count in counts})
        # Behind a lock layer, some of the locks can be converted.
        only = program.layered and rng.random() < 0.5
        some = "some %d" % program.seed
        sources = self.rewrite(after, files, configurations, False, 1,
                               random.Random(some) if only else None)
        algorithms = rng.sample(ALGORITHMS, 5)
        for flags, told, output in zip(configurations, warnings, expected):
            rewritten, new, text = self.compile(after, compiler, sources, self.build, *flags)
            if new - told:
                raise Wrong("new warnings", "%s\n%s" % (dict(new - told), text))
            for algorithm in algorithms:
                for count in counts:
                    if self.run(rewritten, count, algorithm) != output[count]:
                        raise Wrong("another output", "%d threads on %s" % (count, algorithm))
        if turn % 4 == 0:
            again = os.path.join(self.scratch, "again")
            self.rewrite(again, files, configurations, True, 3,
                         random.Random(some) if only else None)
            if texts(again) != texts(after):
                raise Wrong("depends on the order")
        flags = configurations[0]
        if self.tsan and turn % 10 == 0:
            for folder, word in ((before, "the original races"), (after, "races")):
                made, _, _ = self.compile(folder, ("gcc", "-O1", "-g"), sources, self.tsan, *flags,
                                          "-fsanitize=thread", "-w")
                try:
                    self.run(made, 4, rng.choice(ALGORITHMS))
                except Wrong as wrong:
                    raise Wrong(word, wrong.details)

    def check_sizes(self, program, turn):
        """The same, where the two machines have pointers of another size."""
        files, configurations = program.files(), program.configurations()
        wide, narrow = (os.path.join(self.scratch, name) for name in ("wide", "narrow"))
        self.rewrite(wide, files, configurations, False, 1)
        write_program(files, narrow)
        sources = [name for name in files if name.endswith(".c")]
        compiler = COMPILERS[turn % len(COMPILERS)]
        told = [self.parse(narrow, compiler, sources, flags) for flags in configurations]
        self.rewrite(narrow, files, [[*M32, *flags] for flags in configurations], False, 2)
        differs = [name for name, text in texts(narrow).items() if texts(wide)[name] != text]
        if differs:
            raise Wrong("depends on the machine", "\n".join(differs))
        for flags, before in zip(configurations, told):
            new = self.parse(narrow, compiler, sources, flags) - before
            if new:
                raise Wrong("new warnings", str(dict(new)))

    def parse(self, folder, compiler, sources, flags):
        """The warnings for 32 bits."""
        made = call([*compiler, *M32, "-Wall", "-Wextra", self.include, *flags, "-fsyntax-only",
                     *sources], cwd=folder)
        if made.returncode:
            raise Wrong("does not compile", made.stderr[-3000:])
        return collections.Counter(re.findall(r"\[-W[a-z-]+", made.stderr))

    def fails_as(self, program, turn, word):
        try:
            self.check(program, turn)
        except Wrong as wrong:
            return wrong.word == word
        return False

    def shrink(self, program, turn, word, until):
        """Takes out functions, then statements, as long as the same is wrong."""
        def attempt(candidate):
            return time.time() < until and self.fails_as(candidate, turn, word)

        for name in list(program.features):
            candidate = copy.copy(program)
            candidate.features = {n: f for n, f in program.features.items() if n != name}
            if attempt(candidate):
                program = candidate
        size = max(1, len(program.functions) // 2)
        while size:
            at = 0
            while at < len(program.functions):
                candidate = copy.copy(program)
                candidate.functions = program.functions[:at] + program.functions[at + size:]
                if (candidate.functions or program.features) and attempt(candidate):
                    program = candidate
                else:
                    at += size
            size //= 2
        shrunk = True
        while shrunk and time.time() < until:
            shrunk = False
            for function in program.functions:
                stack = [function.body]
                while stack:
                    nodes = stack.pop()
                    for node in list(nodes):
                        at = nodes.index(node)
                        if not node.fixed:
                            del nodes[at]
                            if attempt(program):
                                shrunk = True
                                continue
                            nodes.insert(at, node)
                        stack += [piece for piece in node.pieces if not isinstance(piece, str)]
        return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=1000000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", type=os.path.abspath, default="fuzz-failures")
    parser.add_argument("--tsan", type=os.path.abspath)
    parser.add_argument("--functions", type=int, default=24, help="of each program")
    parser.add_argument("--total", type=os.path.abspath)
    parser.add_argument("--m32", action="store_true", help="compare the texts for 64 and 32 bits")
    parser.add_argument("--shrink-seconds", type=float, default=120)
    arguments = parser.parse_args()
    end = time.time() + arguments.seconds
    programs = failures = 0
    with tempfile.TemporaryDirectory(prefix="relock-fuzz-") as scratch:
        fuzzer = Fuzzer(arguments, scratch)
        while programs < arguments.programs and (time.time() < end or programs == 0):
            seed = arguments.seed + programs
            program = generate.Program(seed, arguments.functions)
            before = fuzzer.delegated, fuzzer.held
            try:
                fuzzer.check(program, seed - 1)
            except Wrong as wrong:
                failures += 1
                print("seed %d: %s\n%s" % (seed, wrong.word, wrong.details[:2000]), flush=True)
                delegated, held = fuzzer.delegated, fuzzer.held
                program = fuzzer.shrink(program, seed - 1, wrong.word,
                                        time.time() + arguments.shrink_seconds)
                fuzzer.delegated, fuzzer.held = delegated, held
                kept = os.path.join(arguments.keep, "seed-%d" % seed)
                write_program(program.files(), kept)
                with open(os.path.join(kept, "what"), "w") as file:
                    file.write("%s\n%s\n" % (wrong.word, wrong.details))
                print("seed %d: shrunk to %s" % (seed, kept), flush=True)
            programs += 1
            if arguments.total:
                with open(arguments.total, "a") as file:
                    file.write("%d %d %d\n" % (seed, fuzzer.delegated - before[0],
                                               fuzzer.held - before[1]))
    reasons = ", ".join("%s %d" % reason for reason in fuzzer.reasons.most_common())
    print("held: %s" % reasons)
    print("%d programs, %d sections (%d delegated, %d held), seeds from %d: %s" %
          (programs, fuzzer.delegated + fuzzer.held, fuzzer.delegated, fuzzer.held, arguments.seed,
           "%d failures" % failures if failures else "no difference"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
