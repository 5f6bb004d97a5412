# SPDX-License-Identifier: MIT
# RELOCK PROGRAM STRIPPED
import atexit
import os
import re
import subprocess
import sys
import time

relock, program, stripped = sys.argv[1:4]


def start(*command):
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    atexit.register(run.kill)  # also where an assertion fails: it never ends by itself
    run.stdout.readline()
    return run


def look(run, *options, user=None):
    asked = [relock, "profile", "--pid", str(run.pid), *options]
    done = subprocess.run(asked, capture_output=True, text=True, user=user, cwd="/")
    print(done.stdout, done.stderr)
    return done


def stop(run):
    with open(f"/proc/{run.pid}/status") as file:
        assert "TracerPid:\t0\n" in file.read()
    run.kill()
    run.wait()


def waits(text, name):
    """The lines of one lock class: its figures, and what stands below."""
    found = re.search(rf"^{name} +([\d.]+) +([\d.]+)% +(\d+)\n((?:  .*\n)*)", text, re.MULTILINE)
    assert found, name
    return float(found[1]), int(found[3]), re.sub(r"\s+", " ", found[4])


run = start(program)
seen = look(run, "--for=3")
assert seen.returncode == 0 and not seen.stderr
mean, most, below = waits(seen.stdout, "busy")
assert mean > 0.5 and most == 2, (mean, most)
assert "wait in wait_for_busy (seen-from-outside.c:" in below
assert re.search(r"held by holder \d+ \d", below) and "slept in nanosleep" in below
mean, most, below = waits(seen.stdout, "queue.lock")
assert most == 1 and "work_in_queue (seen-from-outside.c:" in below and "worker" in below
# Nobody waits for what a condition has given back.
assert "idle" not in seen.stdout and "never" not in seen.stdout

profile = program + ".profile"
for wanted in (["--for=0"], ["--for=1", "-o", profile]):
    refused = look(run, *wanted)
    assert refused.returncode == 2 and "[profile-pid-not-recorded]" in refused.stderr
assert not os.path.exists(profile)
if os.geteuid() == 0 and subprocess.run(["test", "-x", relock], user=65534).returncode == 0:
    refused = look(run, "--for=1", user=65534)
    assert refused.returncode == 2 and "[profile-pid]" in refused.stderr
stop(run)

# Without symbols a mutex is known by its address, or by the call.
run = start(stripped)
seen = look(run, "--for=1")
name = re.escape(os.path.basename(stripped)) + r"\+0x[0-9a-f]+"
assert seen.returncode == 0 and re.search(name, seen.stdout)
stop(run)

run = start(program, "both")
time.sleep(0.2)
seen = look(run, "--for=1")
assert seen.returncode == 1 and "[profile-deadlock]" in seen.stderr
assert re.search(r"waits in first_then_second \(.*\) for second, which .* has", seen.stderr)
assert re.search(r"waits in second_then_first \(.*\) for first, which .* has", seen.stderr)
stop(run)

# One that ends when the time is over is no deadlock.
run = start(program, "limited")
time.sleep(0.2)
seen = look(run, "--for=1")
assert seen.returncode == 0 and not seen.stderr
assert waits(seen.stdout, "first") and waits(seen.stdout, "second")
stop(run)
