# SPDX-License-Identifier: MIT
"""Prints a pprof profile, compressed by gzip, as its samples read: values, and frames from the inside
to the outside. Knows the messages from their published numbers alone."""
import gzip
import sys


def fields(data):
    """(number, value) of each field; a value is an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            size = varint()
            assert at + size <= len(data)
            yield tag >> 3, data[at:at + size]
            at += size


def numbers(packed):
    return [int(value) for _, value in fields(b"".join(b"\x08" + one for one in split(packed)))]


def split(packed):
    start = 0
    for i, byte in enumerate(packed):
        if byte < 128:
            yield packed[start:i + 1]
            start = i + 1


root = list(fields(gzip.open(sys.argv[1]).read()))
strings = [value.decode() for number, value in root if number == 6]
assert strings[0] == ""
functions, locations = {}, {}
for number, value in root:
    if number == 5:
        f = dict(fields(value))
        functions[f[1]] = (strings[f[2]], strings[f[4]])
    if number == 4:
        f = dict(fields(value))
        locations[f[1]] = dict(fields(f[4]))
for number, value in root:
    f = dict(fields(value)) if number in (1, 2) else value
    if number == 1:
        print("type:", strings[f[1]], strings[f[2]])
    elif number == 2:
        frames = []
        for at in numbers(f[1]):
            name, file = functions[locations[at][1]]
            frames.append(f"{name} {file}:{locations[at][2]}" if file else name)
        print("sample:", *numbers(f[2]), "|", " < ".join(frames))
    elif number in (13, 14):
        print({13: "comment:", 14: "default:"}[number], strings[f])
    elif number == 10:
        print("duration:", f)
