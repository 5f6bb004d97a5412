# SPDX-License-Identifier: MIT
"""Writes a profile whose every figure a test knows:

    profile.py '{"duration_ns": …, "classes": [{"name": …, "wait": [[100, 2], …]}]}' > FILE

What is not given has a plain value. `wait` and `hold` are histograms, from which the rest is
computed. Text that begins with @ names a file with the JSON text.
"""
import json
import sys

COUNTS = ["acquisitions", "contended", "handovers", "trylock_failures", "timeouts",
          "condition_waits", "reentries"]
OVERHEAD = {"per_acquisition_ns": 50.0, "plain_pair_ns": 20.0, "hold_bias_ns": 25.0,
            "total_ns": 1000}
DROPPED = ["mutex_operations", "times", "threads", "nested_operations", "modules", "processes"]


def times(histogram):
    """A bucket's smallest value stands for all that is in it. May be given as a whole, too."""
    if isinstance(histogram, dict):
        return histogram
    values = sorted(floor for floor, count in histogram for _ in range(count))
    count, total = len(values), sum(values)
    return {"count": count, "total_ns": total, "mean_ns": total // max(count, 1),
            "p50_ns": values[(count - 1) // 2] if values else 0,
            "p90_ns": values[(90 * count + 99) // 100 - 1] if values else 0,
            "p99_ns": values[(99 * count + 99) // 100 - 1] if values else 0,
            "max_ns": values[-1] if values else 0, "histogram": histogram}


def lock_class(given):
    entry = {"name": "lock", "key": given.get("name", "lock"), "kind": "static", "module": "program",
             "file": "program.c", "line": 1, "objects": 1, "held_at_end": 0}
    entry.update({name: 0 for name in COUNTS})
    if "acquisitions" not in given:
        entry["acquisitions"] = sum(count for _, count in given.get("hold", []))
    if "contended" not in given:
        entry["contended"] = sum(count for _, count in given.get("wait", []))
    entry.update(given)
    entry["wait"] = times(given.get("wait", []))
    entry["hold"] = times(given.get("hold", []))
    if "readers" in given:
        entry["readers"] = lock_class(given["readers"])
    return entry


def profile(given):
    result = {"format": "relock-profile", "version": 1}
    if "source" in given:
        result["source"] = given["source"]
    result.update({
        "program": {"command": ["./program"], "executable": "/bin/program", "pid": 1,
                    "forked": False, "ended": "exit", "status": 0},
        "machine": {"model": "a machine", "processors": 2, "ticks_per_second": 1000000000},
        "duration_ns": 1000000000, "threads": 2, "threads_at_once": 2, "thread_ns": 2000000000,
        "section_ns": 1000000000, "sections": 10, "section_share": 0.5, "foreign_releases": 0,
        "overhead": OVERHEAD, "dropped": {name: 0 for name in DROPPED}})
    for name, value in given.items():
        if isinstance(value, dict):
            result[name] = {**result.get(name, {}), **value}
        else:
            result[name] = value
    if "waits" in given:
        result["waits"] = [lock_class(entry) for entry in given["waits"]]
    result["classes"] = [lock_class(entry) for entry in given.get("classes", [])]
    return result


text = sys.argv[-1]
if text.startswith("@"):
    text = open(text[1:]).read()
json.dump(profile(json.loads(text)), sys.stdout, indent=1)
