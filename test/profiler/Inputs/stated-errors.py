# SPDX-License-Identifier: MIT
"""stated-errors.py PROFILE TRUTH: whether totals of holds are off by no more than the profile states.

A line of TRUTH is `class ticks`: the sum over all holds of the class. Prints each error beside the
standard error, and how many lie within one of these, and within two; fails if the latter are less
than half.
"""
import json
import sys

with open(sys.argv[1]) as file:
    profile = json.load(file)
with open(sys.argv[2]) as file:
    ticks = {name: int(value) for name, value in (line.split() for line in file)}
ns_per_tick = 1e9 / profile["machine"]["ticks_per_second"]
found = {c["name"]: c["hold"] for c in profile["classes"]}
within, errors = [0, 0], []
for name, expected in ticks.items():
    hold = found[name]
    error = hold["total_ns"] / (expected * ns_per_tick) - 1
    stated = hold["relative_standard_error"]
    errors.append(error)
    print(f"{name:10}{hold['timed']:6} of {hold['count']:6}  {100 * error:+6.2f} %",
          "not stated" if stated is None else f"stated {100 * stated:.2f} %")
    for times in 1, 2:
        within[times - 1] += stated is not None and abs(error) <= times * stated
print(f"of {len(ticks)} classes {within[0]} within one standard error, {within[1]} within two; "
      f"in the mean {100 * sum(errors) / len(errors):+.2f} %")
sys.exit(within[1] < len(ticks) / 2)
