# SPDX-License-Identifier: MIT
"""Adds up lit's result files: lists what was skipped and why, and what failed with the end of what it
printed, then prints the sum.

Exit status 1 when anything failed or nothing passed.
"""
import json
import os
import re
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}
LINES, WIDTH = 20, 240  # of what a failed test printed


def reason(test):
    text = test.get("output", "")
    match = re.search(r"^unsupported: (.*)", text)
    return match.group(1) if match else " ".join(text.split()) or "no reason given"


def main(paths):
    passed, failed, skipped = [], [], []
    for path in paths:
        run = os.path.splitext(os.path.basename(path))[0]
        with open(path) as file:
            for test in json.load(file)["tests"]:
                kind = (
                    passed if test["code"] in PASSED
                    else skipped if test["code"] in SKIPPED
                    else failed
                )
                kind.append((run, test))
    for run, test in skipped:
        print("skipped: %s [%s]: %s" % (test["name"], run, reason(test)))
    for run, test in failed:
        for line in test.get("output", "").strip().splitlines()[-LINES:]:
            print("  " + line[:WIDTH])
        print("failed: %s [%s]: %s" % (test["name"], run, test["code"].lower()))
    line = "%d passed, %d failed" % (len(passed), len(failed))
    if skipped:
        line += ", %d skipped" % len(skipped)
    print(line)
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))
