# SPDX-License-Identifier: MIT
"""Makes each call in turn go wrong by which relock changes files, and compares trees.

Usage: faults.py RELOCK FAULTS PROGRAM MODE [--every=N] [--double]

FAULTS is faults.c as a library, PROGRAM a folder that `%program` has made. After every fault each file
is wholly as before or wholly as after, and after the next call of relock all files are of one kind and
nothing is beside them. With --every=N only each N-th call goes wrong. MODE says what goes wrong, and what is demanded besides:

  kill      `rewrite --in-place` dies at each call; the next rewrite puts back what has to be;
            with --double it dies as well, at one of its calls, and the one after it does the rest
  undo      `rewrite --undo` dies at each call; the next rewrite finishes it, or it had done nothing
  fail      each call fails once; the message says so, nothing has changed and nothing is left over
  full      from each call on the disk is full; likewise
  signal    SIGINT arrives at each call; relock ends by it, without a next call all files are of one kind
  put-back  each call of `--undo` fails once; one more `--undo` puts back the rest
  edit      somebody edits a file at each call; the edit is not lost
"""
import errno
import os
import random
import shutil
import signal
import subprocess
import sys

relock, faults, program, mode = sys.argv[1:5]
double = "--double" in sys.argv
every = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--every=")), 1))
pristine = program + ".pristine"
changes = os.path.join(program, "build", ".relock", "changes")
ON_THEIR_WAY = (".relock-new", ".relock-old")
EDITED = "/* edited */\n"
problems = []


def tree():
    """Text and mode of every file but git's and the build's."""
    found = {}
    for at, folders, names in os.walk(program):
        folders[:] = [f for f in folders if f not in (".git", "build")]
        for name in names:
            path = os.path.join(at, name)
            with open(path) as file:
                found[os.path.relpath(path, program)] = (file.read(), os.stat(path).st_mode)
    return found


def kept():
    """What is kept of changes."""
    return [n for n in os.listdir(changes) if n != ".gitignore"] if os.path.exists(changes) else []


def reset(source):
    shutil.rmtree(program)
    shutil.copytree(source, program, symlinks=True)


def run(*arguments, fault="count", log=None):
    environment = dict(os.environ, LD_PRELOAD=faults, FAULT=fault)
    if log:
        environment["FAULT_LOG"] = log
    return subprocess.run([relock, "rewrite", *arguments], cwd=program, env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


CONVERT = ["-p", "build", "--all", "--in-place"]
PRINT = ["-p", "build", "--all"]
UNDO = ["-p", "build", "--undo"]


def calls(*arguments):
    """The calls of a run without faults: the number of each, its name and its path."""
    log = program + ".log"
    if os.path.exists(log):
        os.remove(log)
    run(*arguments, log=log)
    with open(log) as file:
        found = [line.split(" ", 1)[1].strip().replace(program + "/", "") for line in file]
    return list(enumerate(found, 1))


def demand(condition, what, result):
    if not condition:
        problems.append("%s\n%s" % (what, result.stderr))
    return condition


def check_mixture(what, result):
    """Each file for itself is old or new, and there are no others."""
    now = tree()
    for name in sorted(set(now) | set(old) | set(new)):
        if name.endswith(ON_THEIR_WAY):
            continue
        demand(now.get(name) in (old.get(name), new.get(name)),
               "%s: %s is neither old nor new" % (what, name), result)


def check_whole(what, result):
    if tree() == old:
        return demand(not kept(), what + ": something is left of what was put back", result)
    return demand(tree() == new and kept() == ["done"], what + ": the tree is neither old nor new", result)


def killed(start, arguments):
    reset(start)
    names = calls(*arguments)
    chance = random.Random(1)
    for fault in ("kill", "half"):
        for n, name in names[::every]:
            if fault == "half" and not name.startswith("write"):
                continue
            what = "%s %d (%s)" % (fault, n, name)
            reset(start)
            result = run(*arguments, fault="%s %d -" % (fault, n))
            demand(result.returncode == -signal.SIGKILL, what + ": relock has survived", result)
            check_mixture(what, result)
            if double:
                second = chance.randint(1, 12)
                what += ", then kill %d" % second
                result = run(*PRINT, fault="kill %d -" % second)
                check_mixture(what, result)
            result = run(*PRINT)
            demand(result.returncode == 0, what + ": the next rewrite fails", result)
            check_whole(what, result)
    return len(names)


def failing(kind):
    reset(pristine)
    names = calls(*CONVERT)
    for n, name in names[::every]:
        what = "%s %d (%s)" % (kind, n, name)
        reset(pristine)
        result = run(*CONVERT, fault="%s %d %d" % (kind, n, errno.ENOSPC))
        told = ("No space left on device" in result.stderr and "nothing was changed" in result.stderr
                and "[cannot-write]" in result.stderr)
        if tree() == new:
            demand(result.returncode == 0, what + ": all was written, but the status is not 0", result)
        else:
            demand(result.returncode == 2 and told, what + ": this is not told", result)
        check_whole(what, result)
    return len(names)


def failing_undo():
    reset(converted)
    names = calls(*UNDO)
    for n, name in names[::every]:
        what = "fail %d (%s)" % (n, name)
        reset(converted)
        result = run(*UNDO, fault="fail %d %d" % (n, errno.EIO))
        check_mixture(what, result)
        if tree() == old and result.returncode == 0:
            continue
        demand(result.returncode == 2 and "[cannot-write]" in result.stderr
               and "nothing was changed" not in result.stderr, what + ": this is not told", result)
        check_whole(what + " and once more", run(*UNDO))
        demand(tree() == old, what + ": is not undone", result)
    return len(names)


def signalled():
    reset(pristine)
    names = calls(*CONVERT)
    for n, name in names[::every]:
        what = "signal %d (%s)" % (n, name)
        reset(pristine)
        result = run(*CONVERT, fault="signal %d %d" % (n, signal.SIGINT))
        demand(result.returncode == -signal.SIGINT, what + ": relock does not end by it", result)
        check_whole(what, result)
    return len(names)


def edited():
    """The last file of all is edited: at the latest before its own rename."""
    reset(pristine)
    names = calls(*CONVERT)
    last = "main.c"
    end = next(n for n, name in names if name == "rename " + last)
    for n, name in names[::every]:
        if n == end:
            continue  # between look and rename
        what = "edit %d (%s)" % (n, name)
        reset(pristine)
        result = run(*CONVERT, fault="edit %d %s" % (n, os.path.join(program, last)))
        now = tree()
        text = now[last][0]
        now[last] = (text[:-len(EDITED)], now[last][1])
        whole = now == (old if n < end else new)
        demand(text.endswith(EDITED) and whole, what + ": the tree is neither old nor new", result)
        demand((result.returncode == 2 and "[changed]" in result.stderr) if n < end
               else result.returncode == 0, what + ": this is not told", result)
    return len(names)


# What is cached may fail to be written without a word.
subprocess.run([relock, "rewrite", *PRINT], cwd=program, check=True, capture_output=True)
shutil.rmtree(pristine, ignore_errors=True)
shutil.copytree(program, pristine, symlinks=True)
old = tree()
done = run(*CONVERT)
new = tree()
if done.returncode or old == new:
    sys.exit("the rewrite without faults fails\n" + done.stderr)
if mode in ("undo", "put-back"):
    converted = program + ".converted"
    shutil.rmtree(converted, ignore_errors=True)
    shutil.copytree(program, converted, symlinks=True)
count = {"kill": lambda: killed(pristine, CONVERT),
         "undo": lambda: killed(converted, UNDO),
         "put-back": failing_undo,
         "fail": lambda: failing("fail"),
         "full": lambda: failing("full"),
         "signal": signalled,
         "edit": edited}[mode]()
reset(pristine)
print("\n".join(problems) or "%s: all is well" % mode)
print("%d calls" % count, file=sys.stderr)
sys.exit(bool(problems))
