#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what a round of a barrier takes on the simulated machines, as in runtime/doc/collectives.md:

    python3 runtime/sim/barriers.py build/dev [MACHINE THREADS]...

and then how the default, at its worst, compares with the C library's. Exit status 1: it is slower by
more than 5 %. THREADS is a list, for example 2,16,64.
"""
import json
import subprocess
import sys

BARRIERS = ("pthread", "central", "backoff", "tree", "default")
MACHINES = {
    "sapphire-16": "2,4,8,16,32",
    "icelake-2x32": "2,4,8,16,32,64,128",
    "milan-6x8": "2,4,8,16,32,48,128",
    "graviton3-64": "2,4,8,16,32,64,128",
    "magnycours-48": "2,4,8,16,32,48,128",
}


def rounds(build, machine, threads):
    """Nanoseconds, by the number of threads and the barrier."""
    words = [f"{build}/bin/relock-simulator", "--barrier", ",".join(BARRIERS)]
    words += ["--machine", f"{build}/share/relock/machines/{machine}.machine"]
    words += ["--threads", threads, "--microseconds", "5000"]
    output = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {
        (cell["threads"], cell["lock"]): 1e9
        * cell["seconds"]
        / (cell["operations"] / cell["threads"])
        for cell in map(json.loads, output.splitlines())
        if cell["type"] == "cell"
    }


def main(build, chosen):
    worst = 0, "", 0
    print("| machine | threads |", " | ".join(f"`{name}`" for name in BARRIERS), "|")
    print("|---" * (2 + len(BARRIERS)) + "|")
    for machine, threads in chosen:
        times = rounds(build, machine, threads)
        for count in sorted({count for count, _ in times}):
            row = [f"{times[count, name]:,.0f}" for name in BARRIERS]
            print("|", " | ".join((machine, str(count), *row)), "|")
            worst = max(worst, (times[count, "default"] / times[count, "pthread"], machine, count))
    print(f"\nAt its worst, default takes {worst[0]:.2f} of pthread: {worst[1]}, {worst[2]} threads.")
    return worst[0] > 1.05


if __name__ == "__main__":
    arguments = sys.argv[2:]
    chosen = list(zip(arguments[::2], arguments[1::2])) or list(MACHINES.items())
    sys.exit(main(sys.argv[1], chosen))
