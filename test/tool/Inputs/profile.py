# SPDX-License-Identifier: MIT
"""Writes a profile with the figures that a test wants.

Usage, in a RUN line:
  %profile FILE [processors=N] [source=librelock] [condition=N] [workers=N] CLASS:KEY=N[,KEY=N…]…

The threads of the profile have 10 s in all, as have 8 processors, of which `wait` and `hold` are
percentages, `condition`, `semaphore`, `barrier` and `futex` what they wait for these, `processor`
what they ran and `spare` what the processors ran nothing (not known without). The other
keys are taken (100000), waited (acquisitions that had to wait; 0), handovers (0), misses (cache
misses per section; none), primitive (mutex), in.OUTER (how often it was taken while OUTER was held)
and at.FILE.LINE (where a class without a name of its own is first used). `workers`: the profile lists so
many threads that did all of it, each the same part.
"""
import json
import sys

THREAD_NS = 10 * 1000 ** 3


def times(count, percent):
    total = int(THREAD_NS * percent / 100)
    mean = total // count if count else 0
    return {"count": count, "total_ns": total, "mean_ns": mean, "p50_ns": mean, "p99_ns": mean,
            "max_ns": mean, "histogram": [[mean, count]] if count else []}


def lock_class(text):
    name, _, pairs = text.rpartition(":")
    values = dict(pair.split("=") for pair in pairs.split(",") if pair)
    figure = {key: float(values.pop(key, default)) for key, default in
              {"wait": 0, "hold": 0, "taken": 100000, "waited": 0, "handovers": 0}.items()}
    waited, taken = int(figure["waited"]), int(figure["taken"])
    result = {"name": name, "key": "key-of-" + name, "kind": "static", "module": "program",
              "file": "", "line": 0, "objects": 1, "held_at_end": 0, "acquisitions": taken,
              "contended": waited, "handovers": int(figure["handovers"]), "trylock_failures": 0,
              "timeouts": 0, "condition_waits": 0, "reentries": 0,
              "wait": times(waited, figure["wait"]), "hold": times(taken, figure["hold"])}
    result["primitive"] = values.pop("primitive", "mutex")
    if "misses" in values:
        result["cache_misses_per_section"] = float(values.pop("misses"))
    for key, value in values.items():
        word, _, rest = key.partition(".")
        if word == "in":
            result.setdefault("inside", []).append({"key": "key-of-" + rest, "count": int(value)})
        elif word == "at":
            result.update(kind="first-use", file="/elsewhere/" + rest, line=int(value))
        else:
            sys.exit("profile.py: no key '%s'" % key)
    return result


def by_thread(workers, classes):
    shares = [{"key": c["key"], "acquisitions": c["hold"]["count"] // workers,
               "wait_ns": c["wait"]["total_ns"] // workers, "hold_ns": c["hold"]["total_ns"] // workers}
              for c in classes]
    section = sum(share["wait_ns"] + share["hold_ns"] for share in shares)
    return [{"id": number, "name": "worker-%d" % number, "threads": 1, "lived_ns": THREAD_NS // workers,
             "section_ns": section, "wait_ns": sum(share["wait_ns"] for share in shares),
             "sections": sum(share["acquisitions"] for share in shares), "classes": shares}
            for number in range(1, workers + 1)]


def main():
    file, *words = sys.argv[1:]
    options = dict(word.split("=") for word in words if ":" not in word)
    classes = [lock_class(word) for word in words if ":" in word]
    waits = []
    for kind in ("condition", "semaphore", "barrier", "futex"):
        if kind in options:
            waits.append(lock_class("%s:primitive=%s,waited=10,wait=%s"
                                    % (kind, kind, options.pop(kind))))
    overhead = {"per_acquisition_ns": 30.0, "plain_pair_ns": 20.0, "hold_bias_ns": 10.0,
                "total_ns": 0, "processor_ns": THREAD_NS * int(options.pop("processor", 0)) // 100}
    section = sum(c["wait"]["total_ns"] + c["hold"]["total_ns"] for c in classes)
    workers = int(options.pop("workers", 0))
    profile = {
        "format": "relock-profile", "version": 1,
        "program": {"command": ["./program"], "executable": "/usr/bin/program", "pid": 1,
                    "forked": False, "ended": "exit", "status": 0},
        "machine": {"model": "test", "processors": int(options.pop("processors", 8)),
                    "ticks_per_second": 10 ** 9, "usable_processors": 8,
                    "spare_ns": THREAD_NS * int(options.pop("spare", 0)) // 100},
        "duration_ns": THREAD_NS // 8, "threads": 8, "threads_at_once": 8,
        "thread_ns": THREAD_NS, "section_ns": min(section, THREAD_NS), "sections": 1,
        "foreign_releases": 0,
        "overhead": overhead,
        "dropped": {"mutex_operations": 0, "times": 0, "threads": 0, "nested_operations": 0,
                    "modules": 0, "processes": 0},
        "classes": classes, "waits": waits, **options}
    if workers:
        profile["by_thread"] = by_thread(workers, classes)
    if profile.get("source") == "librelock":
        profile.update(thread_ns=0, section_ns=0)
    with open(file, "w") as output:
        json.dump(profile, output, indent=1)


main()
