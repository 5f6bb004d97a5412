#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what an operation of a team takes on the simulated machines, as in runtime/doc/collectives.md:

    python3 runtime/sim/teams.py build/dev [--fans 2,4,8] [--lines 0,64] [MACHINE THREADS]...

and beside it what memory that all share takes between two rounds of a barrier. THREADS is a list, for
example 2,16,64. With --fans: teams alone, once for each fan of the tree.
"""
import argparse
import json
import os
import subprocess

from barriers import MACHINES

TEAM = ("broadcast", "reduce", "reduce-all")
OTHERS = ("barrier-broadcast", "barrier-reduce", "pthread-broadcast", "pthread-reduce")


def operations(options, machine, threads, names, fan=None):
    """Nanoseconds, by lines, threads and name."""
    words = [f"{options.build}/bin/relock-simulator", "--mode", "team", "--lock", ",".join(names)]
    words += ["--machine", f"{options.build}/share/relock/machines/{machine}.machine"]
    words += ["--threads", threads, "--lines", options.lines]
    words += ["--microseconds", str(options.microseconds)]
    environment = dict(os.environ)
    if fan:
        environment["RELOCK_TUNE"] = f"broadcast_fan={fan},reduce_fan={fan}"
    output = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return {
        (cell["lines"], cell["threads"], cell["lock"]): 1e9
        * cell["seconds"]
        / (cell["operations"] / cell["threads"])
        for cell in map(json.loads, output.stdout.splitlines())
        if cell["type"] == "cell"
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--fans", default="")
    parser.add_argument("--lines", default="0")
    parser.add_argument("--microseconds", type=int, default=5000)
    parser.add_argument("chosen", nargs="*")
    options = parser.parse_intermixed_args()
    chosen = list(zip(options.chosen[::2], options.chosen[1::2])) or list(MACHINES.items())
    fans = options.fans.split(",") if options.fans else []
    columns = [f"{name} {fan}" for name in TEAM for fan in fans] or list(TEAM + OTHERS)
    print("| machine | lines | threads |", " | ".join(f"`{name}`" for name in columns), "|")
    print("|---" * (3 + len(columns)) + "|")
    for machine, threads in chosen:
        times = {}
        for fan in fans:
            for (lines, count, name), ns in operations(options, machine, threads, TEAM, fan).items():
                times[lines, count, f"{name} {fan}"] = ns
        if not fans:
            times = operations(options, machine, threads, TEAM + OTHERS)
        for lines, count in sorted({key[:2] for key in times}):
            row = [f"{times[lines, count, name]:,.0f}" for name in columns]
            print("|", " | ".join((machine, str(lines), str(count), *row)), "|")


main()
