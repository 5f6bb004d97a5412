# SPDX-License-Identifier: MIT
"""Prints the before/after table of examples/run.

usage: compare.py RESULTS PROFILE-WAITS

RESULTS has one file of key=value lines per run, NAME.REPETITION, and NAME.stats.err with the
table of RELOCK_STATS=1. PROFILE-WAITS has the same waits of the original program, from its
profile: one line "acquisitions wait_ns".
"""
import pathlib
import statistics
import sys


def read_runs(results, name):
    """The key=value lines of all repetitions: key -> list of numbers."""
    values = {}
    for path in sorted(results.glob(f"{name}.*")):
        if not path.suffix[1:].isdigit():
            continue
        for line in path.read_text().splitlines():
            key, _, value = line.partition("=")
            if key not in ("checksum", "expected"):
                values.setdefault(key, []).append(float(value))
    return values


def rows_of_stats(path):
    """The rows of the table that librelock prints, as dictionaries of its columns."""
    lines = path.read_text().splitlines()
    start = lines.index("relock-stats") + 1
    header = lines[start].split()
    rows = [line.split() for line in lines[start + 1 :]]
    return [dict(zip(header, row)) for row in rows if len(row) == len(header)]


def waits_of_stats(path):
    rows = rows_of_stats(path)
    operations = sum(int(row["held"]) + int(row["executed"]) for row in rows)
    return operations, sum(int(row["wait_ns"]) for row in rows)


def spread(values, scale=1.0, digits=2):
    values = [value / scale for value in values]
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def time(ns):
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.1f} {unit}"
    return f"{ns:.0f} ns"


def main():
    results, profile_waits = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    names = ["original", "posix", "mcs", "ccsynch", "rcl"]
    runs = {name: read_runs(results, name) for name in names}
    base = statistics.median(runs["original"]["throughput"])

    print(f"{'':9} {'million operations/s':>22} {'change':>7} {'p50':>8} {'p99':>8} "
          f"{'waits/op':>9} {'waited':>8}")
    for name in names:
        run = runs[name]
        if name == "original":
            acquisitions, waited = map(float, profile_waits.read_text().split())
        else:
            acquisitions, waited = waits_of_stats(results / f"{name}.stats.err")
        change = statistics.median(run["throughput"]) / base - 1
        print(f"{name:9} {spread(run['throughput'], 1e6):>22} {change:>+7.0%} "
              f"{time(statistics.median(run['latency_p50_ns'])):>8} "
              f"{time(statistics.median(run['latency_p99_ns'])):>8} "
              f"{time(waited / max(acquisitions, 1)):>9} {time(waited):>8}")


if __name__ == "__main__":
    main()
