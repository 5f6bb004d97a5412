# SPDX-License-Identifier: MIT
"""Checks the form of what `relock doctor` says, and that text and JSON say the same.

Usage: doctor.py TEXT JSON, each with a last line `status N`
"""
import json
import platform
import re
import sys

text, data = (open(name).read().rpartition("status ") for name in sys.argv[1:])
doctor = json.loads(data[0])
items = doctor["items"]

assert text[2] == data[2], (text[2], data[2])
assert doctor["version"] == 1
lacking = [i["item"] for i in items if i["status"] == "missing" and i["needed_by_servers"]]
assert doctor["server_ready"] == (not lacking)
assert int(data[2]) == (1 if lacking else 0)

for item in items:
    assert item["status"] in ("ok", "missing"), item
    assert item["found"] and item["means"].endswith("."), item
    assert bool(item["remedy"]) == (item["status"] == "missing"), item

expected = ["processors", "topology", "thread pointer", "futex", "membarrier", "longer time slices", "SCHED_FIFO",
            "real time without limit", "hardware counters"]
if platform.machine() == "x86_64":
    expected += ["PREFETCHW", "CLDEMOTE", "MOVDIR64B", "WAITPKG (UMWAIT)", "MONITORX (MWAITX)"]
assert [i["item"] for i in items] == expected + ["thresholds", "room for a server"], items

lines = re.findall(r"(?m)^(ok|missing) +([^:]+): (.+)$", text[0])
assert lines == [(i["status"], i["item"], i["found"]) for i in items], lines
flat = " ".join(text[0].split())
for item in items:
    assert item["means"] in flat, item
    assert item["remedy"] is None or "Remedy: " + item["remedy"] + "." in flat, item
