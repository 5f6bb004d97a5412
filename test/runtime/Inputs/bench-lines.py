# SPDX-License-Identifier: MIT
"""Checks what relock-bench printed, from standard input: form and sums, never speeds.

usage: relock-bench … | bench-lines.py grid|uncontended
"""
import json
import math
import sys

CELL = {"lock": str, "mode": str, "lines": int, "delay": int, "threads": int, "repetition": int,
        "operations": int, "seconds": float, "mean_ns": float, "p99_ns": float, "worst_ns": float,
        "jain": float, "switches_per_second": float, "transfer_ns": list, "cycles_per_ns": list,
        "ticks_per_ns": float}
UNCONTENDED = {"lock": str, "mode": str, "repetition": int, "ns": float,
               "ns_without_threads": float, "cycles_per_ns": float}
MACHINE = {"format": str, "version": int, "model": str, "architecture": str, "kernel": str,
           "libc": str, "processors": int, "allowed": int, "cycles_per_second": int,
           "pinned": bool, "repetitions": int, "milliseconds": int, "rows": int, "cells": int}


def members(record, expected):
    assert list(record) == ["type", *expected], record
    for name, kind in expected.items():
        assert isinstance(record[name], kind), (name, record)
        assert kind is not float or math.isfinite(record[name]) and record[name] >= 0, record


records = [json.loads(line) for line in sys.stdin]
machine, *cells, end = records
if "lengths" in machine:
    MACHINE["lengths"] = list
    CELL.update({"service_jain": float, "work": int})
if "baseline" in machine:
    MACHINE["baseline"] = str
members(machine, MACHINE)
assert machine["format"] == "relock-bench" and machine["version"] == 2
assert end == {"type": "end"}
assert len(cells) == machine["cells"], (len(cells), machine["cells"])
rows = []
for cell in cells:
    row = (cell["lock"], cell["mode"])
    if row not in rows:
        rows.append(row)
    assert cell["repetition"] < machine["repetitions"]
    if sys.argv[1] == "uncontended":
        assert cell["type"] == "uncontended"
        members(cell, UNCONTENDED)
        continue
    assert cell["type"] == "cell"
    members(cell, CELL)
    assert cell["operations"] >= cell["threads"] and cell["seconds"] > 0, cell
    assert cell["mean_ns"] <= cell["worst_ns"] and cell["p99_ns"] <= cell["worst_ns"], cell
    assert 0.99 / cell["threads"] <= cell["jain"] <= 1.0001, cell
    if "lengths" in machine:
        lengths = machine["lengths"]
        assert 0.99 / cell["threads"] <= cell["service_jain"] <= 1.0001, cell
        assert min(lengths) <= cell["work"] / cell["operations"] <= max(lengths), cell
    # The host was measured before and after; one processor has no other to send a line to.
    assert len(cell["cycles_per_ns"]) == len(cell["transfer_ns"]) == 2, cell
    assert min(cell["cycles_per_ns"]) > 0 and cell["ticks_per_ns"] > 0, cell
    assert all((t > 0) == (machine["allowed"] > 1) for t in cell["transfer_ns"]), cell
    # No latency is longer than the repetition, but for rounding.
    assert cell["worst_ns"] <= cell["seconds"] * 1e9 * 1.01 + 1e4, cell
identities = [json.dumps([c.get(k) for k in ("lock", "mode", "lines", "delay", "threads",
                                             "repetition")]) for c in cells]
assert len(set(identities)) == len(cells), "a cell was measured twice"
assert len(rows) == machine["rows"], rows
print("rows:", "; ".join(" ".join(row) for row in rows))
print("cells:", len(cells))
