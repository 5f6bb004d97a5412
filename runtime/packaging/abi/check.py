#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares librelock with the record of its interface, which lies beside this file.

    python3 runtime/packaging/abi/check.py LIBRARY [--cc 'COMMAND'] [--include FOLDER] [--record FOLDER]

The number in the library's soname says which record: NUMBER.symbols has the symbols and their
versions, as dpkg-gensymbols writes them, NUMBER.c the types, sizes and places that the headers give
them. Status 1, and a line for each difference: what vanished or changed needs another soname, what
is new another line in the record.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser()
parser.add_argument("library")
parser.add_argument("--cc", default="cc")
parser.add_argument("--include", default=os.path.join(here, "../../include"))
parser.add_argument("--record", default=here)
options = parser.parse_args()


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


failed = False


def say(text):
    global failed
    failed = True
    print("abi: " + text)


soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-dW", options.library)).group(1)
record = os.path.join(options.record, soname.rpartition(".")[2])
if not os.path.exists(record + ".symbols"):
    sys.exit("abi: there is no record of %s: write %s.symbols and .c" % (soname, record))

with open(record + ".symbols") as file:
    lines = file.read().splitlines()
if lines[0].split()[0] != soname:
    say("%s.symbols is that of %s" % (record, lines[0].split()[0]))
known = {line.split()[0] for line in lines if line.startswith(" ")}
here_now = set()
for line in output("nm", "-D", "--defined-only", "--with-symbol-versions", options.library).splitlines():
    kind, name = line.split()[1:3]
    version = name if kind == "A" else "Base"
    name, _, given = name.partition("@@")
    here_now.add(name + "@" + (given or version))
for name in sorted(known - here_now):
    say("%s has no %s any more: that needs another soname" % (soname, name))
for name in sorted(here_now - known):
    say("%s is new: it needs a line in librelock.map, if it has none, and in %s.symbols" % (name, record))

with open(record + ".c") as file:
    text = file.read()
for name in sorted(here_now):
    function = re.fullmatch(r"(relock_\w+)@RELOCK_\d+", name)
    if function and not re.search(r"\b%s\(" % function.group(1), text):
        say("%s is not declared in %s.c" % (function.group(1), record))
for header in sorted(glob.glob(os.path.join(options.include, "relock/*.h"))):
    with open(header) as file:
        for name in re.findall(r"^}.*\b(relock_\w+_t);", file.read(), re.M):
            if "SIZE(%s," % name not in text:
                say("the size of %s is not in %s.c" % (name, record))
compiled = subprocess.run(
    options.cc.split()
    + ["-std=gnu11", "-fsyntax-only", "-I", options.include, record + ".c"],
    stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True,
)
if compiled.returncode:
    sys.stdout.write(compiled.stdout)
    say("the headers differ from %s.c: that needs another soname" % record)
sys.exit(failed)
