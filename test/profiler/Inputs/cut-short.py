# SPDX-License-Identifier: MIT
"""cut-short.py RELOCK PROGRAM: see cut-short.c."""
import json
import os
import subprocess
import sys

relock, program = sys.argv[1:]
profile = program + ".profile"


def run(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


# Returns whether there was anything to read.
def record(*arguments):
    if os.path.exists(profile):
        os.remove(profile)
    command = [relock, "profile", "--memory-limit=1", "-o", profile, "--", program]
    ended = run(*command, *map(str, arguments))
    assert ended.returncode in (0, 1), (arguments, ended.stderr)
    if "profile-not-loaded" in ended.stderr:
        return False
    shown = run(relock, "report", profile)
    assert shown.returncode == 0, (arguments, shown.stderr)
    with open(profile, encoding="utf-8") as file:
        json.load(file)
    return True


lengths = [0, 4095, 4096, 4100, 4500, 7001, 12345, 70000]
read = [length for length in lengths if record(length)]
assert read == [length for length in lengths if length >= 4096], read
for seed in range(1, 5):
    record(4080 + 6000 * seed, seed)
assert record(200, 149, 0) and record(100, 311, 7)

# What is left is the profile of the program, whole.
with open(profile, "rb") as file:
    whole = file.read()
cut = profile + ".cut"
step = max(1, len(whole) // 30)
for length in [*range(0, len(whole) - 2, step), len(whole) - 4, len(whole) - 3]:
    with open(cut, "wb") as file:
        file.write(whole[:length])
    refused = run(relock, "report", cut)
    assert refused.returncode == 2 and "[profile-" in refused.stderr, (length, refused.stderr)
