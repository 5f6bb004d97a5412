# SPDX-License-Identifier: MIT
"""window.py RELOCK PROGRAM [WORD]: see window.c and runtime-window.c."""
import os
import signal
import subprocess
import sys
import tempfile
import time

relock, program = sys.argv[1:3]
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}


def reach(process, step):
    assert process.stdout.readline() == step + "\n"


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def window(pid, output, *options):
    command = [relock, "profile", "--pid", str(pid), "-o", f"{program}.{output}", *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def refused(pid, code):
    process = window(pid, "refused", "--for=0")
    message = process.communicate()[1]
    assert process.returncode == 2 and f"[{code}]" in message, message


# Waits until the window has begun: its first reading is over when it has slept.
def began(process):
    for _ in range(500):
        time.sleep(0.02)
        with open(f"/proc/{process.pid}/syscall") as file:
            if file.read().startswith(("7 ", "271 ", "73 ")):  # poll, ppoll (x86-64, aarch64)
                return
    sys.exit("the window did not begin")


# Started by something else than relock.
folder = tempfile.mkdtemp(dir=os.path.dirname(program))
asked = [relock, "profile", "--environment", folder]
lines = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
environment = dict(os.environ, **dict(line.split("=", 1) for line in lines))
run = subprocess.Popen([program], env=environment, **PIPES)
reach(run, "before")
first = window(run.pid, "window")
began(first)
go_on(run)
reach(run, "after")
time.sleep(0.1)
first.send_signal(signal.SIGINT)
assert first.wait() == 0, first.stderr.read()
so_far = window(run.pid, "so-far", "--for=0")
assert so_far.wait() == 0, so_far.stderr.read()
go_on(run)
reach(run, "last")
last = window(run.pid, "last", "--for=60")
began(last)
go_on(run)
assert run.wait() == 0
assert last.wait() == 0, last.stderr.read()

# With that word it forks a process in which librelock does not answer.
for word in sys.argv[3:]:
    parent = subprocess.Popen([program, word], env=environment, **PIPES)
    reach(parent, "forked")
    with open(f"/proc/{parent.pid}/task/{parent.pid}/children") as file:
        child = int(file.read())
    silent = window(child, "silent", "--for=0")
    assert "[profile-pid-librelock]" in silent.communicate()[1] and silent.returncode == 1
    go_on(parent)
    assert parent.wait() == 0

# Not recorded, gone.
plain = subprocess.Popen([program], **PIPES)
reach(plain, "before")
refused(plain.pid, "profile-pid-not-recorded")
plain.kill()
plain.wait()
refused(plain.pid, "profile-pid")
