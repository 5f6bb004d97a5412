# SPDX-License-Identifier: MIT
"""keys.py PROFILE: the key and name of each class, by name."""
import json
import sys

with open(sys.argv[1]) as file:
    classes = json.load(file)["classes"]
for entry in sorted(classes, key=lambda c: c["name"]):
    print(json.dumps({member: entry[member] for member in ("key", "name")}))
