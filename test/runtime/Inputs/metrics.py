# SPDX-License-Identifier: MIT
"""Reads files in the text format of Prometheus, version 0.0.4, strictly.

usage: metrics.py FILE...    prints the samples of the last one, as NAME{LABELS} VALUE

Of several files, those of a process one after the other, no counter goes down. What is wrong is
said, with exit status 1.
"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r"(%s)\{(%s(?:,%s)*)\} ([0-9]+(?:\.[0-9]+)?)" % (NAME, LABEL, LABEL))
COMMENT = re.compile(r"# (HELP|TYPE) (%s) (.+)" % NAME)


def fail(file, number, text):
    sys.exit(f"{file}:{number}: {text}")


def read(file):
    with open(file, "rb") as stream:
        text = stream.read().decode("utf-8")
    if not text.endswith("\n"):
        fail(file, 0, "does not end with a line feed")
    types, helped, samples, current = {}, set(), {}, None
    for number, line in enumerate(text[:-1].split("\n"), 1):
        comment, sample = COMMENT.fullmatch(line), SAMPLE.fullmatch(line)
        if comment:
            kind, name, rest = comment.groups()
            known = helped if kind == "HELP" else types
            if name in known:
                fail(file, number, f"a second {kind} of {name}")
            if kind == "HELP":
                helped.add(name)
            elif rest not in ("counter", "gauge"):
                fail(file, number, f"type {rest}")
            else:
                types[name] = current = rest and name
        elif sample:
            name, labels, value = sample.groups()
            if name != current or name not in helped:
                fail(file, number, f"{name} is not behind its HELP and TYPE")
            if types[name] == "counter" and not name.endswith("_total"):
                fail(file, number, f"counter {name}")
            if (name, labels) in samples:
                fail(file, number, "twice")
            samples[name, labels] = float(value)
        else:
            fail(file, number, f"not understood: {line}")
    return samples, types


before = {}
for file in sys.argv[1:]:
    samples, types = read(file)
    for key, value in before.items():
        if types.get(key[0]) == "counter" and samples.get(key, -1) < value:
            fail(file, 0, f"{key[0]}{{{key[1]}}} goes down from {value} to {samples.get(key)}")
    before = samples
for (name, labels), value in before.items():
    print(f"{name}{{{labels}}} {value:g}")
