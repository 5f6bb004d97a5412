# SPDX-License-Identifier: MIT
"""accuracy.py PROFILE TRUTH PER_CENT BUCKETS: prints how far the profile is from what the program
measured itself, and fails with 1 where a total is off by more than PER_CENT or a percentile by more
than BUCKETS, and with 2 where a count is.

A line of TRUTH is `class hold|wait round ticks`, one for each hold or wait. A round is one lock of
the class. Counts must be exact. Of the errors of the rounds' totals the median counts, because a
thread can lose its processor between the two measurements. The last column has by how many buckets
of the histograms P50, P90 and P99 of all rounds are off. Where not all holds were timed P99 rests on
the few of a hundred that are the longest, by chance, and is not judged."""
import collections
import json
import statistics
import sys

total_bound, buckets_bound = float(sys.argv[3]), int(sys.argv[4])

with open(sys.argv[1]) as file:
    profile = json.load(file)
classes = {c["name"]: c for c in profile["classes"]}
ns_per_tick = 1e9 / profile["machine"]["ticks_per_second"]
truth = collections.defaultdict(lambda: collections.defaultdict(list))
for line in open(sys.argv[2]):
    name, what, number, ticks = line.split()
    truth[name, what][int(number)].append(int(ticks) * ns_per_tick)


def bucket(ns):
    """runtime/profiler/layout.h: 4 buckets to a power of two of ticks."""
    ticks = max(8, round(ns / ns_per_tick))
    exponent = ticks.bit_length() - 1
    return 4 * exponent + (ticks >> (exponent - 2) & 3)


failed = False  # in times
wrong = False


def judge(text, good):
    global failed
    failed |= not good
    return text + ("" if good else " (!)")


print(f"{'':14}{'what':>6}{'count':>8}{'expected':>10}{'mean ns':>12}{'error of total':>24}"
      "   buckets off")
for (name, what), rounds in truth.items():
    times = classes[name]
    readers = "readers" in times and not times["acquisitions"]
    counts = times["readers"] if readers else times
    own = counts[what]
    everything = sorted(t for r in rounds.values() for t in r)
    count, expected = own["count"], len(everything)
    exact = counts["acquisitions"] == expected * (1 if what == "hold" else 2)
    if what == "hold":
        exact = exact and count == expected
    # A waiter that loses its processor at the wrong moment need not wait.
    else:
        exact = exact and expected * 0.8 <= count <= expected
        everything = everything[expected - count:]
    wrong |= not exact
    if readers:  # have no records of each lock
        errors = [100 * (own["total_ns"] / sum(everything) - 1)]
    else:
        measured = {int(l["name"].split("[")[1][:-1]): l[what + "_ns"] for l in times["locks"]}
        errors = [100 * (measured[r] / sum(t) - 1) for r, t in rounds.items()]
    error = statistics.median(errors)
    # The first wait for a lock makes its records, after its end and before the program sees it.
    off = []
    for percent in (50, 90, 99) if what == "hold" else (50, 90):
        wanted = everything[(len(everything) * percent + 99) // 100 - 1]
        distance = bucket(own[f"p{percent}_ns"]) - bucket(wanted)
        by_chance = percent == 99 and own["timed"] < count
        off.append(judge(str(distance), by_chance or abs(distance) <= buckets_bound))
    print(f"{name:14}{what:>6}" + judge(f"{count:8}", exact) + f"{expected:10}"
          f"{sum(everything) / len(everything):12.0f}"
          + judge(f"{error:+9.2f} %", abs(error) <= total_bound)
          + f" ({min(errors):+.2f} to {max(errors):+.2f})   " + ", ".join(off))
sys.exit(2 if wrong else failed)
