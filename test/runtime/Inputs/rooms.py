# SPDX-License-Identifier: MIT
"""Reads which file of the runtime knows which other one, by its #include lines and by the symbols
of its object, and finds what leads upwards.

usage: rooms.py RUNTIME [OBJECTS]    OBJECTS holds ROOM/FILE.c.o; without it: by #include alone

A room may know those before it in ROOMS, as runtime/README.md draws them, and the profiler what it
shares with the library.
Prints each offending edge as FROM -> TO: by what, and exits with 1 if there is any.
"""
import pathlib
import re
import subprocess
import sys

ROOMS = ["base", "locks", "server", "statistics", "mutex", "debug", "process", "bench"]
# Of the library, what the profiler shares with it.
SHARED = ROOMS[:ROOMS.index("statistics") + 1]
# What a static program finds process/ by.
ADMITTED = ("mutex/choice.c", "process/fork.c", "relock_process_is_linked")
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


def symbols(objects, runtime, rooms):
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
    return [(name, defined[symbol], symbol) for name, symbol in needed
            if defined.get(symbol, name) != name]


def upwards(edges, may_know):
    for source, target, by in edges:
        known = may_know(source.split("/")[0])
        if target.split("/")[0] not in known and (source, target, by) != ADMITTED:
            yield f"{source} -> {target}: {by}"


def main():
    runtime = pathlib.Path(sys.argv[1]).resolve()
    edges = list(included(runtime, sources(runtime, ROOMS + ["profiler"])))
    if len(sys.argv) > 2:
        edges += symbols(pathlib.Path(sys.argv[2]), runtime, ROOMS)
    order = lambda room: SHARED + [room] if room == "profiler" else ROOMS[:ROOMS.index(room) + 1]
    found = list(upwards(edges, order))
    print("\n".join(found) if found else f"rooms: {len(edges)} edges, none leads upwards")
    return 1 if found else 0


sys.exit(main())
