# SPDX-License-Identifier: MIT
"""Prints the before/after table of examples/run.

usage: compare.py PROFILE RESULTS

PROFILE is the profile of the original program. RESULTS has one file of key=value lines for each
run, NAME.REPETITION, and for each lock algorithm its profile, NAME.profile.
"""
import json
import pathlib
import statistics
import sys

NAMES = ["original", "adaptive", "posix", "mcs", "ccsynch", "rcl"]


def read_runs(results, name):
    """The numbers of all repetitions: key -> list."""
    values = {}
    for path in sorted(results.glob(f"{name}.*")):
        if not path.suffix[1:].isdigit():
            continue
        for line in path.read_text().splitlines():
            key, _, value = line.partition("=")
            if key not in ("checksum", "expected"):
                values.setdefault(key, []).append(float(value))
    return values


def waits_of_profile(path):
    """Acquisitions and the time waited for them, over all lock classes."""
    classes = json.loads(path.read_text())["classes"]
    return (sum(one["acquisitions"] for one in classes),
            sum(one["wait"]["total_ns"] for one in classes))


def time(ns):
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= 0.9995 * scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.0f} ns"


def row(name, run, base, waits):
    rates = [value / 1e6 for value in run["throughput"]]
    middle = statistics.median(rates)
    acquisitions, waited = waits
    return (f"{name:9} {middle:6.2f} {f'({min(rates):.2f}-{max(rates):.2f})':13}"
            f" {middle / base - 1:+6.0%}"
            f" {time(statistics.median(run['latency_p50_ns'])):>8}"
            f" {time(statistics.median(run['latency_p99_ns'])):>8}"
            f" {time(waited / max(acquisitions, 1)):>10} {time(waited):>8}")


def main():
    profile, results = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    runs = {name: read_runs(results, name) for name in NAMES}
    base = statistics.median(runs["original"]["throughput"]) / 1e6

    print(f"{'':9} {'million operations/s':27} {'latency':>14}    {'waiting for locks':>18}")
    print(f"{'':9} {'median':>6} {'(min-max)':13} {'change':>6} {'p50':>8} {'p99':>8}"
          f" {'each time':>10} {'total':>8}")
    print(row("original", runs["original"], base, waits_of_profile(profile)))
    for name in NAMES[1:]:
        print(row(name, runs[name], base, waits_of_profile(results / f"{name}.profile")))


if __name__ == "__main__":
    main()
