# SPDX-License-Identifier: MIT
"""The loop without a hand on it: profile, advise, rewrite, build, profile again, report --diff.

What is the program's own (programs.py) is how it is built and run."""
import json
import os
import re
import subprocess

from source import Failure

# On a machine with few processors nothing may be hot. Then whatever had to wait is converted.
ALL = "version: 1\nlower: 0 %\nwaits: 0 %\n"
# The plan's entries that convert.
CONVERTS = re.compile(r"^  - class: (\S+)\n    verdict: convert$", re.MULTILINE)


class Loop:
    def __init__(self, program, relock, work):
        self.program = program
        self.relock = relock
        self.work = work
        self.wrong = []

    def file(self, name):
        return os.path.join(self.work, name)

    def demand(self, condition, text):
        if not condition:
            self.wrong.append(text)
            print("WRONG: " + text)

    def command(self, *arguments, allowed=(0, 1)):
        """Runs relock in the tree that is converted; its output and its messages."""
        result = subprocess.run([self.relock, *arguments], cwd=self.program.converted, text=True,
                                capture_output=True, errors="surrogateescape")
        if result.returncode not in allowed:
            raise Failure("relock %s: exit status %d\n%s"
                          % (" ".join(arguments), result.returncode, result.stderr[-4000:]))
        return result.stdout, result.stderr

    def profile(self, tree, name):
        """The program's answer, from a run under the profiler."""
        file = self.file(name + ".profile")
        if os.path.exists(file):
            os.remove(file)
        answer = self.program.run(tree, [self.relock, "profile", "-o", file, "--"],
                                  self.file(name + ".log"))
        with open(file) as text:
            return answer, json.load(text)

    def advise(self):
        """Writes the plan; the classes that it converts."""
        plan, thresholds = self.file("plan.yaml"), self.file("all.yaml")
        words = ["advise", self.file("before.profile"), "-p", ".", *self.program.options]
        if os.path.exists(plan):
            os.remove(plan)
        _, said = self.command(*words, "-o", plan)
        print(said, end="")
        if not self.planned(plan):
            print("loop: nothing is hot here by the shipped thresholds; "
                  "this goes on with what had to wait at all")
            with open(thresholds, "w") as file:
                file.write(ALL)
            os.remove(plan)
            _, said = self.command(*words, "--thresholds", thresholds, "-o", plan)
            print(said, end="")
        return self.planned(plan)

    @staticmethod
    def planned(plan):
        with open(plan) as file:
            return CONVERTS.findall(file.read())

    def run(self):
        program = self.program
        program.prepare()
        before, _ = self.profile(program.original, "before")
        program.copy()
        classes = self.advise()
        if not classes:
            raise Failure("no lock had to wait; see %s" % self.file("plan.yaml"))
        print("loop: converts %s" % ", ".join(classes))
        self.command("rewrite", "-p", ".", "--plan", self.file("plan.yaml"), "--in-place",
                     *program.options)
        program.rebuild()
        after, profile = self.profile(program.converted, "after")
        self.demand(after == before, "the converted program answers otherwise: %s, before %s"
                    % (after, before))
        report, _ = self.command("report", "--diff", self.file("before.profile"),
                                 self.file("after.profile"), "--limit=0")
        print(report)
        self.check(classes, profile, report)
        return self.wrong

    def check(self, classes, profile, report):
        """Every class that was converted and used is in the profile as librelock's, and is compared
        with what it was."""
        counted = {c["name"]: c["acquisitions"] for c in profile["classes"] if "librelock" in c}
        self.demand(any(counted.get(name) for name in classes),
                    "librelock has counted none of %s, but %s" % (classes, counted))
        words = report.split()
        for name in classes:
            self.demand(name in counted, "the profile has no %s of librelock's" % name)
            if counted.get(name):
                row = words[words.index(name) + 1] if name in words else "missing"
                self.demand(row == "before", "--diff does not compare %s: %s" % (name, row))
