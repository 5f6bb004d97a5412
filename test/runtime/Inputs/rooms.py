# SPDX-License-Identifier: MIT
"""Reads which file of the runtime knows which other one, by its #include lines and by the symbols
of its object, and finds what leads upwards or in a circle.

usage: rooms.py RUNTIME [OBJECTS [PROFILER]]

OBJECTS holds the library's ROOM/FILE.c.o, PROFILER the profiler's FILE.c.o; without: by #include.

Of the library: a room may know those before it in ROOMS, as runtime/README.md draws them; containers
only what programs may, and base. Of the
profiler: its files, each header with the source of the same name and all interposed functions
(preload*) together, know each other in no circle.
Prints each offending edge as FROM -> TO: by what, and exits with 1 if there is any.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOMS = ["base", "channels", "collectives", "locks", "server", "statistics", "mutex", "debug", "process",
         "containers", "bench"]
# Of the library, what the profiler shares with it.
SHARED = ROOMS[:ROOMS.index("statistics") + 1]
# A room that knows only base/ and, by the public header, what programs call.
PUBLIC = "containers"
# What a static program finds process/ by.
ADMITTED = [(source, "process/fork.c", "relock_process_is_linked")
            for source in ("collectives/barrier.c", "mutex/choice.c")]
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def sources(runtime, rooms):
    return sorted(file for room in rooms for file in (runtime / room).glob("*.[ch]"))


def included(runtime, files):
    """Edges (from, to, by what) between files, as paths relative to the runtime."""
    for file in files:
        for name in INCLUDE.findall(file.read_text()):
            target = (file.parent / name).resolve()
            if target.is_relative_to(runtime) and target.exists():
                yield str(file.relative_to(runtime)), str(target.relative_to(runtime)), "#include"


def symbols(objects, runtime, rooms, prefix=""):
    """The same by symbols: who needs one that the other defines."""
    defined, needed = {}, []
    for file in sources(runtime, rooms):
        name = str(file.relative_to(runtime))
        if file.suffix != ".c" or not (objects / (name + ".o")).exists():
            continue
        listing = subprocess.run(["nm", "-P", objects / (name + ".o")], check=True, text=True,
                                 capture_output=True).stdout
        for symbol, kind, *_ in map(str.split, listing.splitlines()):
            if kind in "Uwv":
                needed.append((name, symbol))
            elif kind.isupper():
                defined[symbol] = name
    return [(prefix + name, prefix + defined[symbol], symbol) for name, symbol in needed
            if defined.get(symbol, name) != name]


def upwards(edges, may_know):
    for source, target, by in edges:
        known = may_know(source.split("/")[0])
        if source.split("/")[0] == PUBLIC:
            known = ["base", PUBLIC] + ([] if by == "#include" else ["mutex"])
        if target.split("/")[0] not in known and (source, target, by) not in ADMITTED:
            yield f"{source} -> {target}: {by}"


def unit(name):
    return "profiler/preload" if name.startswith("profiler/preload") else name.rsplit(".", 1)[0]


def circle(edges):
    """The edges of a shortest circle between units, or none."""
    graph, why = collections.defaultdict(set), {}
    for source, target, by in edges:
        source, target = unit(source), unit(target)
        if source != target:
            graph[source].add(target)
            why.setdefault((source, target), by)
    best = []
    for start in sorted(graph):
        before, queue = {start: None}, collections.deque([start])
        while queue:
            at = queue.popleft()
            for to in sorted(graph[at]):
                if to == start:
                    path = [to]
                    while at:
                        path.insert(0, at)
                        at = before[at]
                    if not best or len(path) < len(best):
                        best = path
                    queue.clear()
                    break
                if to not in before:
                    before[to] = at
                    queue.append(to)
    return [f"{a} -> {b}: {why[a, b]}" for a, b in zip(best, best[1:])]


def main():
    runtime = pathlib.Path(sys.argv[1]).resolve()
    edges = list(included(runtime, sources(runtime, ROOMS + ["profiler"])))
    if len(sys.argv) > 2:
        edges += symbols(pathlib.Path(sys.argv[2]), runtime, ROOMS)
    if len(sys.argv) > 3:
        edges += symbols(pathlib.Path(sys.argv[3]), runtime / "profiler", ["."], "profiler/")
    order = lambda room: SHARED + [room] if room == "profiler" else ROOMS[:ROOMS.index(room) + 1]
    found = list(upwards(edges, order))
    found += circle(edge for edge in edges if all(name.startswith("profiler/") for name in edge[:2]))
    print("\n".join(found) if found else f"rooms: {len(edges)} edges, none leads upwards")
    return 1 if found else 0


sys.exit(main())
