#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a real machine did beside what the simulated one predicts, as the page runtime/doc/predicted.md:

    python3 runtime/sim/measured.py build/dev > runtime/doc/predicted.md

Every file measured/NAME.tsv is of the machine machines/NAME.machine. To add one, on that machine:

    relock calibrate -o runtime/sim/machines/NAME.machine
    relock-bench --mode hold,any-thread --threads 1,2,4,8 --lines 1,5 --delay 100,1000,10000 > FILE
    python3 runtime/sim/measured.py --condense FILE > runtime/sim/measured/NAME.tsv
"""
import collections
import itertools
import json
import pathlib
import statistics
import subprocess
import sys

FAIR = 0.9  # Jain's index
HERE = pathlib.Path(__file__).parent
SHOWN = ("adaptive", "adaptive_rcl", "rcl", "ccsynch", "hsynch", "mcs", "clh", "ticket", "posix", "tas")


def condense(path):
    """Million sections per second of each cell: median, least and most; and the median of Jain's index.
    Delays are ticks of the counter, which is not the processor's clock."""
    cells, clocks = collections.defaultdict(list), []
    with open(path) as stream:
        for cell in map(json.loads, stream):
            if cell["type"] == "machine":
                print("# " + ", ".join((cell["model"], cell["kernel"], cell["libc"])))
            elif cell["type"] == "cell":
                key = (cell["lock"], cell["mode"], cell["lines"], cell["delay"], cell["threads"])
                cells[key].append((cell["operations"] / cell["seconds"] / 1e6, cell["jain"]))
                clocks += [cycles / cell["ticks_per_ns"] for cycles in cell["cycles_per_ns"]]
    print(f"# cycles per tick: {statistics.median(clocks):.3f}")
    print("# lock mode lines delay threads median least most jain repetitions")
    for key, results in cells.items():
        rates, jains = zip(*results)
        numbers = (statistics.median(rates), min(rates), max(rates), statistics.median(jains))
        print(*key, *(f"{number:.3f}" for number in numbers), len(rates), sep="\t")


def read(path):
    """(lines, delay, threads) -> (lock, mode) -> (median, least, most); what the comments say first; and
    the cycles of a tick."""
    points, comments, cycles = collections.defaultdict(dict), [], 1.0
    for line in path.read_text().splitlines():
        if line.startswith("# cycles per tick: "):
            cycles = float(line.split(": ")[1])
        elif line.startswith("#"):
            comments.append(line[2:])
        else:
            lock, mode, lines, delay, threads, *numbers = line.split("\t")
            points[int(lines), int(delay), int(threads)][lock, mode] = tuple(map(float, numbers[:3]))
    return points, comments, cycles


def simulate(build, machine, points, cycles):
    """The same cells, as far as the simulator has them: (lines, delay, threads) -> (lock, mode) -> million
    sections per second and Jain's index."""
    results = collections.defaultdict(dict)
    for mode in ("hold", "any-thread"):
        locks = sorted({lock for rows in points.values() for lock, of in rows if of == mode})
        numbers = [",".join(map(str, sorted(set(column)))) for column in zip(*points)]
        known = subprocess.run(
            [f"{build}/bin/relock-bench", "--list"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.split()
        locks = [lock for lock in locks if lock in known[: known.index("pthread")]]
        words = [f"{build}/bin/relock-simulator", "--machine", machine, "--lock", ",".join(locks)]
        delays = {round(delay * cycles): delay for delay in sorted({point[1] for point in points})}
        words += ["--mode", mode, "--lines", numbers[0], "--threads", numbers[2]]
        words += ["--delay", ",".join(map(str, delays))]
        # Where threads share processors, it takes many of their slices until a rate stays what it is.
        words += ["--microseconds", "20000"]
        output = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
        for cell in map(json.loads, output.splitlines()):
            if cell["type"] == "cell":
                rate = cell["operations"] / cell["seconds"] / 1e6
                point = cell["lines"], delays[cell["delay"]], cell["threads"]
                results[point][cell["lock"], cell["mode"]] = rate, cell["jain"]
    return results


def row(cells):
    print("| " + " | ".join(cells) + " |")


def heading(cells):
    row(cells)
    print("|---" * len(cells) + "|")


def judge(measured, simulated):
    """Of one point: the median of the errors; pairs told apart, and those in the right order; and what
    part of the best lock's throughput the lock has that is first of the fair ones in the simulator."""
    rows = [name for name in simulated if name in measured]
    errors = [abs(simulated[name][0] / measured[name][0] - 1) for name in rows]
    told = right = 0
    for one, other in itertools.combinations(rows, 2):
        if measured[one][1] > measured[other][2] or measured[one][2] < measured[other][1]:
            told += 1
            right += (measured[one][0] > measured[other][0]) == (simulated[one][0] > simulated[other][0])
    first = max(rows, key=lambda name: (simulated[name][1] >= FAIR, simulated[name][0]))
    best = max(measured[name][0] for name in rows)
    return statistics.median(errors), told, right, measured[first][0] / best, " ".join(first)


def compare(build, path):
    measured, comments, cycles = read(path)
    machine = HERE / "machines" / (path.stem + ".machine")
    simulated = simulate(build, str(machine), measured, cycles)
    print(f"## {path.stem}\n")
    where, _, *remarks = comments
    print(f"Measured on: {where}; threads pinned. Simulated: `machines/{machine.name}`.\n")
    for remark in remarks:
        print(remark + "\n")
    print("Over all locks and both modes, `hold` and `any-thread`:\n")
    heading(("lines", "delay", "threads", "error, median", "pairs in the right order", "its choice", "has of the best"))
    verdicts = []
    for point in sorted(measured):
        error, told, right, share, first = judge(measured[point], simulated[point])
        verdicts.append((error, told, right, share))
        row((*map(str, point), f"{error:.0%}", f"{right} of {told}", first, f"{share:.2f}"))
    errors, told, right, shares = zip(*verdicts)
    print(
        f"\nIn all: an error of {statistics.median(errors):.0%} in the median; of the pairs of locks that the"
        f" measurement tells apart, {sum(right) / max(sum(told), 1):.0%} are in the right order; whoever takes"
        f" the lock that is first on the simulated machine, of those with a Jain index of {FAIR} and more"
        f" there, has {statistics.mean(shares):.2f} of the best one's throughput in the mean,"
        f" {min(shares):.2f} at worst.\n"
    )
    threads = sorted({point[2] for point in measured})
    for lines, delay in sorted({point[:2] for point in measured}):
        print(f"Million sections per second, measured / simulated; {lines} lines, {delay:,} cycles between:\n")
        heading(("lock", *(f"{number} threads" for number in threads)))
        for mode in ("hold", "any-thread"):
            for lock in SHOWN + ("pthread", "pthread-adaptive"):
                cells = []
                for number in threads:
                    real = measured[lines, delay, number].get((lock, mode))
                    model = simulated[lines, delay, number].get((lock, mode))
                    cells.append(
                        (f"{real[0]:.2f}" if real else "")
                        + (f" / {model[0]:.2f}" if real and model else "")
                    )
                if any(cells):
                    row((f"`{lock}` {mode}", *cells))
        print()


def main(build):
    print(
        """# What the simulated machine predicts, beside what the real one does

*Made by `python3 runtime/sim/measured.py build/dev`.* The parameters of the machine were measured by
`relock-bench --describe`, which knows no lock; one of them, *write occupancy*, is what it takes when all
processors add to one line. No figure of a lock has set a parameter. *Error* is that of millions of
sections per second, of each lock; *pairs* are those whose ranges of repetitions do not overlap.

What the model gets wrong here, and why: a processor of it waits for each line that it loads, where a real
one goes on with what does not depend on it, so a queue is handed on 1.5 times as fast in reality, and
sections of five lines take half as long; and a thread that has just had the lock has it again more often
than in reality with two and four threads. A virtual machine's processors are taken away from it for
milliseconds, which the model does not know.
"""
    )
    for path in sorted((HERE / "measured").glob("*.tsv")):
        compare(build, path)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--condense":
        condense(sys.argv[2])
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
