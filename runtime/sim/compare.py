#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what was published about real machines beside what the simulated ones give, as the page
runtime/doc/simulated.md:

    python3 runtime/sim/compare.py build/dev > runtime/doc/simulated.md

What was published, and how it is had again, stands in tool/bench/published.json: `relock bench --reproduce` runs that.
Our locks sleep after 2 microseconds; in the experiments with published locks they spin for up to a millisecond.
With --published the page ends before the machines of today, which take most of the time.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import textwrap

OTHERS = {
    "petrovic": "Petrović (2016): messages, combining, servers",
    "ramos-hoefler": "Ramos and Hoefler (2016): cache lines",
    "reble": "Reble (2015): many cores without coherence",
}
MACHINES = ("magnycours-48", "icelake-2x32", "milan-6x8", "graviton3-64")


def simulate(build, machine, **options):
    words = [f"{build}/bin/relock-simulator"]
    words += ["--machine", f"{build}/share/relock/machines/{machine}.machine"]
    words += [f"--{name}={value}" for name, value in options.items()]
    output = subprocess.run(
        words, env=dict(os.environ, RELOCK_TUNE=""), check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    lines = map(json.loads, output.splitlines())
    return {(cell["lock"], cell["threads"]): cell for cell in lines if cell["type"] == "cell"}


def row(cells, widths=(16, 12, 12, 10, 30)):
    return "| " + " | ".join(f"{cell:<{w}}" for cell, w in zip(cells, widths)).rstrip() + " |"


def reproduce(build, paper):
    """What `relock bench --reproduce` writes."""
    with tempfile.TemporaryDirectory() as folder:
        words = [f"{build}/bin/relock", "bench", f"--reproduce={paper}", f"--json={folder}/file"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/file") as file:
            return json.load(file)


def wrapped(text, indent=""):
    return textwrap.fill(
        text, 118, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def number(value, decimals):
    return f"{value:,.{decimals}f}"


def verdict(cell):
    if "obtained" not in cell:
        return cell["why"]
    if "error" in cell:
        return f"{100 * cell['error']:+.0f} %"
    return "holds" if cell["holds"] else "does not hold"


def show_experiment(experiment):
    rows = experiment["rows"]
    has_misses = any("misses" in cell for cell in rows)
    print(f"## {experiment['title']}\n")
    text = f"{experiment['from'][0].upper()}{experiment['from'][1:]}."
    if experiment["remark"]:
        text += f" On {experiment['machine']}: {experiment['remark']}."
    print(wrapped(f"{text} The figures are {experiment['unit']}.") + "\n")
    print(row(("", "published", "simulated", "error") + ("misses per section",) * has_misses))
    print("|---" * (4 + has_misses) + "|")
    for cell in rows:
        decimals = 0 if cell.get("count") else experiment["decimals"]
        bound = "published" not in cell
        wanted = cell.get("published", cell.get("above", cell.get("below")))
        sign = (">" if "above" in cell else "<") + " " if bound else ""
        shown = number(cell["obtained"], decimals) if "obtained" in cell else "-"
        cells = (cell["name"], sign + number(wanted, decimals), shown, verdict(cell))
        print(row(cells + ((f"{cell['misses']:.1f}",) if has_misses else ())))
    print()


def show_missing(source):
    print("Not reproduced:\n")
    for missing in source["missing"]:
        print(wrapped(f"- {missing['what']} ({missing['from']}): {missing['why']}", "  "))


def show_all(build, delay):
    """Every algorithm on every machine with default settings, best first by the geometric mean."""
    results = {}
    for machine in MACHINES:
        cells = simulate(build, machine, delay=delay, microseconds=2000)
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


def main(build, only_published):
    print(__doc__.split("\n\n")[0].replace("Prints what", "# What", 1).split(", as the page")[0])
    print(
        """
*Made by `python3 runtime/sim/compare.py build/dev`; the long tests make it, too, and look at its errors.
Figures move by some percent, those of flat combining by a fifth, whenever the runtime's objects come to lie elsewhere
in memory.* What the model is and lacks: [../sim/README.md](../sim/README.md). `relock bench --reproduce=lozi`, and
so on, prints the same tables; with `--machine here` it runs on the machine at hand what that can.

# Lozi (2014): Remote Core Locking

Of all this, one figure has set a parameter of the machine, *write occupancy*: the store by 48 threads
in the last table. The rest is prediction.
"""
    )
    source = reproduce(build, "lozi")
    for experiment in source["experiments"]:
        show_experiment(experiment)
    show_missing(source)
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
    for paper, title in OTHERS.items():
        source = reproduce(build, paper)
        print(f"\n# {title}\n")
        for experiment in source["experiments"]:
            show_experiment(experiment)
        show_missing(source)
    if only_published:
        return
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
  milan-6x8 and 1.5 on graviton3-64, in the place of what the table above has for them (patience() in
  server/client.c returning 1). Mended: clients are as patient as they are many.
- **Waiters slept too early.** Whoever spins for 2 microseconds sleeps before its turn when tens of
  threads are before it; then arrivals passed the queues (`mcs`, `clh`, `hclh`, `cohort`, `ticket`), a few
  threads got all sections (fairness below 0.1), or each handover woke a thread. Mended in part, where
  there is a processor for each thread: a place in a queue may last as many spins as there are threads.
  `oyama` has lost by it: a half on magnycours-48, four fifths on milan-6x8. `ticket` and `mcs_tp`, which wait in
  ways of their own, were passed as before (0.08 and 0.54 on magnycours-48), and so, from build to build, were
  `clh`, `hclh` and `cohort` on the two machines with two threads for each core (0.02). Since the head of a queue
  closes the word to others after 2 microseconds, and looks for it again before it sleeps, they are not.
- **A thread that spins did not see what the other thread of its core wrote**, on the simulated machines with two for
  each, until its spinning was over. `cohort` reached 0.34 million per second on milan-6x8 with 100 cycles between
  sections, and the fairness of `clh`, `hclh` and `cohort` was 0.2 to 0.9 there and on icelake-2x32. Mended, in the
  simulator.
- **Holders of `adaptive` handed a queue on**, awake or asleep, and slept behind each other where threads outnumber
  processors: see [algorithms.md](algorithms.md#on-16-processors). Found on a machine with 16 processors, and again on
  the simulated one. With 16 threads and 10,000 cycles between sections, held: 3.1 million per second on icelake-2x32
  (1.9 before), 3.8 on milan-6x8 (1.7), 2.9 on magnycours-48 (1.5). Mended.
- **`adaptive` reached a half of the other combiners**, 1.8 million per second at a fairness of 0.15 on
  magnycours-48 with 100 cycles between sections and 1.4 with 20,000. It had a queue of its own with the same fault,
  and looked for the lock for 2 microseconds before it queued. Mended: it is a mutex in front of `ccsynch`.
- **Clients of a server disturbed it**: each asked every 2 microseconds how far it was. `rcl` had 4.0 million
  per second on icelake-2x32 and 3.5 on milan-6x8 with all processors. Mended.
- **`adaptive_rcl` tried the lock itself too often**: 2.5 million per second on magnycours-48. Mended, but
  the two tables above are made in milliseconds, of which the change to the server takes a part:
  over 16 milliseconds it has 0.94 of `rcl` there.
- **On several nodes a queue for each is worth twice as much** while all want the lock all the time
  (`hsynch` with 100 cycles), and less than a single one when they do not (with 20,000). `adaptive` has a
  single one. A combiner that runs the sections of its own node first and those of others when there are
  none was tried in it: with 16 threads and more 0.9 to 1.8 times as much in the first case, 0.7 to 0.95
  in the second, for it then meets the clients at the end of the queue, where they write. Open."""
    )


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--published"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    main(arguments[0], "--published" in sys.argv)
