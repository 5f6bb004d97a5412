#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what was published about real machines beside what the simulated ones give, as the page
runtime/doc/simulated.md:

    python3 runtime/sim/compare.py build/dev > runtime/doc/simulated.md

The figures are those of Lozi's thesis (2014). Its locks spin until they have their turn; ours sleep
after 2 microseconds, so here they spin for up to a millisecond.
"""
import json
import math
import os
import subprocess
import sys

LOCKS = {  # five cache lines: cycles of a section with a delay of 100 cycles and of 2,000,000
    "rcl": ("RCL", 8298, 1899),
    "dsmsynch": ("DSM-Synch", 35067, 3588),
    "ccsynch": ("CC-Synch", 35194, 4359),
    "flat_combining": ("flat combining", 52358, 16017),
    "posix": ("POSIX", 67740, 3321),
    "mcs": ("MCS", 132448, 3086),
    "mcs_tp": ("MCS-TP", 171854, 4332),
    "tas": ("spinlock", 2186419, 2822),
}
# Figure 2.7b, the bank of the first node: cycles of a store and of a compare-and-swap.
LINE = {1: (73, 98), 2: (183, 182), 24: (3032, 947), 48: (6610, 5561)}
MEASURING = 70  # cycles that reading the clock adds to those: a store alone takes 3, not 73


MACHINES = ("magnycours-48", "icelake-2x32", "milan-6x8", "graviton3-64")


def simulate(
    build, algorithms=(), tune="spin_ns=1000000", machine="magnycours-48", **options
):
    words = [f"{build}/bin/relock-simulator"]
    words += ["--machine", f"{build}/share/relock/machines/{machine}.machine"]
    if algorithms:
        words += ["--lock", ",".join(algorithms)]
    words += [f"--{name}={value}" for name, value in options.items()]
    output = subprocess.run(
        words, env=dict(os.environ, RELOCK_TUNE=tune), check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    lines = map(json.loads, output.splitlines())
    return {(cell["lock"], cell["threads"]): cell for cell in lines if cell["type"] == "cell"}


def row(cells, widths=(16, 12, 12, 10, 30)):
    return "| " + " | ".join(f"{cell:<{w}}" for cell, w in zip(cells, widths)).rstrip() + " |"


def error(simulated, published):
    return f"{100 * (simulated - published) / published:+.0f} %"


def compare_locks(build, column, **options):
    cells = simulate(build, LOCKS, **options)
    print(row(("lock", "published", "simulated", "error", "misses per section")))
    print("|---|---|---|---|---|")
    results = {}
    for name, published in LOCKS.items():
        cell = cells[name, 47]
        results[name] = cell["cycles"]
        print(
            row(
                (
                    published[0],
                    f"{published[column]:,}",
                    f"{cell['cycles']:,.0f}",
                    error(cell["cycles"], published[column]),
                    f"{cell['misses'] / cell['operations']:.1f}",
                )
            )
        )
    print()
    return results


def show_all(build, delay):
    """Every algorithm on every machine with default settings, best first by the geometric mean."""
    results = {}
    for machine in MACHINES:
        cells = simulate(build, tune="", machine=machine, delay=delay, microseconds=2000)
        for (lock, _), cell in cells.items():
            rate = cell["operations"] / cell["seconds"] / 1e6
            results.setdefault(lock, []).append((rate, cell["jain"]))
    best = [max(rates[i][0] for rates in results.values()) for i in range(len(MACHINES))]
    print(row(("algorithm", *MACHINES)))
    print("|---" * (1 + len(MACHINES)) + "|")

    def share(lock):  # of the best one's rate, on all machines
        return math.prod(rate / most for (rate, _), most in zip(results[lock], best))

    for lock in sorted(results, key=share, reverse=True):
        print(row((lock, *(f"{rate:.2f} ({jain:.2f})" for rate, jain in results[lock]))))
    print()


def main(build):
    print(__doc__.split("\n\n")[0].replace("Prints what", "# What", 1).split(", as the page")[0])
    print(
        """
*Made by `python3 runtime/sim/compare.py build/dev`; the long tests make it, too, and look at its errors.
Figures move by some percent, those of flat combining by a fifth, whenever the runtime's objects come to lie elsewhere in memory.*
What the model is and lacks: [../sim/README.md](../sim/README.md). Magnycours-48, 47 threads, five
cache lines per section; cycles from the call of a section to its end. The published figures are
those of Lozi's thesis (2014), section 5.2.

Of all this, one figure has set a parameter of the machine, *write occupancy*: the store by 48 threads
in the last table. The rest is prediction.

## Many sections: 100 cycles between them
"""
    )
    high = compare_locks(build, 1, sections=300, delay=100)
    print("## Few sections: 2,000,000 cycles between them\n")
    compare_locks(build, 2, sections=20, delay=2000000)
    print("## One line that all threads write to\n")
    print("Without the 70 cycles that reading the clock adds to the published ones.\n")
    print(row(("operation", "threads", "published", "simulated", "error")))
    print("|---|---|---|---|---|")
    cells = simulate(build, ("store", "swap"), threads="1,2,24,48", delay=0, microseconds=500)
    for column, name in enumerate(("store", "swap")):
        for threads, published in LINE.items():
            cycles = cells[name, threads]["cycles"]
            wanted = published[column] - MEASURING
            print(row((name, threads, f"{wanted:,}", f"{cycles:,.0f}", error(cycles, wanted))))
    fair = ("rcl", "dsmsynch", "ccsynch", "flat_combining", "mcs", "mcs_tp")
    print("\n## Ratios to RCL with many sections\n")
    print(row(("lock", "published", "simulated", "error")))
    print("|---|---|---|---|")
    for name in fair[1:]:
        published, simulated = LOCKS[name][1] / LOCKS["rcl"][1], high[name] / high["rcl"]
        print(
            row((LOCKS[name][0], f"{published:.1f}", f"{simulated:.1f}", error(simulated, published)))
        )
    print(
        """
## What is missed, and why

- **RCL takes twice as long**, and so the ratios to it are half of what they should be. Not explained
  yet. A processor of the model waits for each line that it loads; a real one can fetch the next
  clients' slots while it runs a section: the thesis' server answers every 180 cycles, in less time
  than one line takes to come from another die.
- **POSIX and the spinlock** are other algorithms here: ours let the thread that has just had the lock
  have it again. What the thesis calls a spinlock writes to the word in each round, and that word
  then comes to a processor of the same die more often than its turn; the model hands out lines in
  the order in which they were asked for.
- **Flat combining** with few sections: the thesis' one visits the records of all threads on its list;
  ours takes those off that have nothing to do.
- **Compare-and-swap by 24 threads** is four times faster than the model says, again because lines
  stay on a die. It is the reason why the table of the one line is not hit at 24 threads."""
    )
    print(
        """
# What it says about machines of today

All algorithms with default settings, a thread on each processor but one: millions of sections per
second, and how fair (Jain's index of the threads' counts). None of these has been checked against a
machine; [predicted.md](predicted.md) is about one that has. The parameters are published latencies of lines
and, where a file says so, guesses.
"""
    )
    for delay in (100, 20000):
        print(f"## {delay:,} cycles between sections\n")
        show_all(build, delay)
    print(
        """\
## What was found, and what has become of it

- **`rcl` had two steady states** with 47 clients and more: all asked the server, or so many had
  withdrawn their requests that the server never found the lock free. It stayed in the second one: with
  100 cycles between sections 0.85 million per second on magnycours-48, 0.9 on icelake-2x32, 0.8 on
  milan-6x8 and 1.5 on graviton3-64, in the place of what the first table has (patience() in
  server/client.c returning 1). Mended: clients are as patient as they are many.
- **Waiters slept too early.** Whoever spins for 2 microseconds sleeps before its turn when tens of
  threads are before it; then arrivals passed the queues (`mcs`, `clh`, `hclh`, `cohort`, `ticket`), a few
  threads got all sections (fairness below 0.1), or each handover woke a thread. Mended in part, where
  there is a processor for each thread: a place in a queue may last as many spins as there are threads.
  `oyama` has lost by it: a half on magnycours-48, four fifths on milan-6x8. `ticket` and `mcs_tp`, which wait in
  ways of their own, were passed as before (0.08 and 0.54 on magnycours-48), and so, from build to build, were
  `clh`, `hclh` and `cohort` on the two machines with two threads for each core (0.02). Since the head of a queue
  closes the word to others after 2 microseconds, and looks for it again before it sleeps, they are not; `cohort`
  reaches little on milan-6x8 since. Open.
- **Holders of `adaptive` handed a queue on**, awake or asleep, and slept behind each other where threads outnumber
  processors: see [algorithms.md](algorithms.md#on-16-processors). Found on a machine with 16 processors, and again on
  the simulated one. With 16 threads and 10,000 cycles between sections, held: 3.1 million per second on icelake-2x32
  (1.9 before), 3.8 on milan-6x8 (1.7), 2.9 on magnycours-48 (1.5). Mended.
- **`adaptive` reached a half of the other combiners**, 1.8 million per second at a fairness of 0.15 on
  magnycours-48 in the third table and 1.4 in the fourth. It had a queue of its own with the same fault,
  and looked for the lock for 2 microseconds before it queued. Mended: it is a mutex in front of `ccsynch`.
- **Clients of a server disturbed it**: each asked every 2 microseconds how far it was. `rcl` had 4.0 million
  per second on icelake-2x32 and 3.5 on milan-6x8 with all processors. Mended.
- **`adaptive_rcl` tried the lock itself too often**: 2.5 million per second on magnycours-48. Mended, but
  the third and fourth table are made in a millisecond, of which the change to the server takes a part:
  over 16 milliseconds it has 0.94 of `rcl` there.
- **On several nodes a queue for each is worth twice as much** while all want the lock all the time
  (`hsynch` in the third table), and less than a single one when they do not (the fourth). `adaptive` has a
  single one. A combiner that runs the sections of its own node first and those of others when there are
  none was tried in it: with 16 threads and more 0.9 to 1.8 times as much in the first case, 0.7 to 0.95
  in the second, for it then meets the clients at the end of the queue, where they write. Open."""
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
