# SPDX-License-Identifier: MIT
"""timed-holds.py PROFILE TRUTH: how far the estimates are from what the program measured.

A line of TRUTH is `class ticks`: the sum over all holds of the class. Prints the errors; fails where
one is larger than there is room for on a machine that others use too.
"""
import json
import sys

ROOM = {"brief": 0.2, "longer": 0.15, "sections": 0.15}

with open(sys.argv[1]) as file:
    profile = json.load(file)
with open(sys.argv[2]) as file:
    ticks = {name: int(value) for name, value in (line.split() for line in file)}
truth = {name: 1e9 * value / profile["machine"]["ticks_per_second"] for name, value in ticks.items()}
truth["sections"] = sum(truth.values())
found = {c["name"]: c["hold"]["total_ns"] for c in profile["classes"]}
found["sections"] = profile["section_ns"]
failed = False
for name, expected in truth.items():
    error = found[name] / expected - 1
    print(f"{name:10} {expected / 1e6:8.1f} ms   {100 * error:+.2f} %")
    failed |= abs(error) > ROOM[name]
sys.exit(failed)
