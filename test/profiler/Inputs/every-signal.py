# SPDX-License-Identifier: MIT
"""every-signal.py RELOCK PROGRAM: PROGRAM sends itself each signal, alone and profiled."""
import concurrent.futures
import json
import signal
import subprocess
import sys

relock, program = sys.argv[1:]
NUMBERS = [n for n in signal.valid_signals() if n <= 31 or n in (34, 64)]


def check(number):
    plain = subprocess.run([program, str(number)]).returncode
    profile = f"{program}.{number:d}.profile"
    subprocess.run(
        [relock, "profile", "-o", profile, "--", program, str(number)], stderr=subprocess.DEVNULL
    )
    with open(profile) as file:
        seen = json.load(file)
    ended = (seen["program"]["ended"], seen["program"]["status"])
    expected = ("signal", -plain) if plain < 0 else ("exit", plain)
    assert ended == expected, (number, ended, expected)
    lock = next(c for c in seen["classes"] if c["name"] == "mutex")
    assert lock["acquisitions"] == (998 if plain < 0 else 1497), (number, lock["acquisitions"])
    return plain < 0


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    deadly = sum(pool.map(check, NUMBERS))
assert 0 < deadly < len(NUMBERS)
print(f"{len(NUMBERS)} signals, {deadly} of them deadly")
