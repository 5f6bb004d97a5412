# SPDX-License-Identifier: MIT
"""memcached's own test suite: runs its files and compares two runs, test by test."""
import concurrent.futures
import glob
import os
import re
import signal
import subprocess
from dataclasses import dataclass

# For every build: what touches the converted locks and its surroundings, in about half a minute.
SUBSET = """
    testapp
    00-startup binary-get cas chunked-items conn-limits dyn-maxbytes evictions expirations
    getandtouch getset incrdecr item_size_max lru lru-crawler lru-maintainer maxconns noreply
    binary slabs-reassign2 slabs-reassign-chunked slabs_reassign stats stats-conns touch
""".split()

# The distribution's build leaves it out too: it looks at the white space of the sources.
LEFT_OUT = {"whitespace"}

# How often these assert is up to timing, before the conversion too: maxconns once per refused
# connection, binary-extstore once per poll until an item has been recached (40316, 40318 and 40320
# assertions in three runs of the original). They count by what they say, not how often.
VARYING = {"maxconns", "binary-extstore"}

# Most of a test file's time is sleeping.
JOBS = 4
SECONDS = 300


# Ways to run the converted program that are more than one algorithm for every lock class.
ENVIRONMENTS = {
    "rcl-on-2": {"RELOCK_LOCKS": "*=rcl,lru_locks=rcl:2,stats_lock=rcl:2"},
    "rcl-balanced": {"RELOCK_LOCKS": "*=rcl", "RELOCK_BALANCE": "2"},
}


def environment(variant):
    """What to add to the environment; a variant is an algorithm or one of ENVIRONMENTS."""
    return ENVIRONMENTS.get(variant, {"RELOCK_LOCKS": "*=" + variant}) if variant else {}


@dataclass(frozen=True)
class Result:
    passed: frozenset  # numbers of the tests, or what they say (VARYING)
    failed: frozenset
    planned: str
    status: int

    def __str__(self):
        text = "%d passed" % len(self.passed)
        if self.failed:
            text += ", failed: " + " ".join(map(str, sorted(self.failed)))
        return text + (", exit status %d" % self.status if self.status else "")


def names(tree, whole):
    if not whole:
        return SUBSET
    files = [os.path.basename(name)[:-2] for name in glob.glob(os.path.join(tree, "t", "*.t"))]
    return ["testapp"] + sorted(set(files) - LEFT_OUT)


def run_file(tree, name, environment, log):
    """Runs one test file and reads its TAP output."""
    program = ["./testapp"] if name == "testapp" else ["perl", "t/%s.t" % name]
    with open(log, "w") as errors:
        process = subprocess.Popen(program, cwd=tree, env=environment, text=True, errors="replace",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=errors, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        errors.write("\n==== standard output\n" + output)
    return read_tap(output, name in VARYING, process.returncode)


def read_tap(output, by_text, status):
    tests = {"ok": set(), "not ok": set()}
    for verdict, number, text in re.findall(r"^(ok|not ok) (\d+)(.*)", output, re.M):
        # Some names are the random values that were stored.
        name = re.sub(r"[A-Z]{20,}", "value", text) if by_text else int(number)
        tests[verdict].add(name)
    plan = re.search(r"^1\.\.\d+.*", output, re.M)
    planned = "no plan" if not plan else "varies" if by_text else plan.group(0)
    return Result(frozenset(tests["ok"]), frozenset(tests["not ok"]), planned, status)


def run(tree, files, variant, logs):
    """Results by file. With a variant, the converted locks run in that way."""
    os.makedirs(logs, exist_ok=True)
    variables = {**os.environ, **environment(variant)}
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        futures = {name: pool.submit(run_file, tree, name, variables,
                                     os.path.join(logs, name + ".log")) for name in files}
        return {name: future.result() for name, future in futures.items()}


def settle(first, second, again_first, again_second):
    """Runs the files whose results differ again, on both sides, alone and at most twice.

    Returns the files that still differ, and those that were equal only in a later run."""
    differing = [name for name in first if first[name] != second[name]]
    flaky = []
    for _ in range(2):
        for name in list(differing):
            first[name], second[name] = again_first(name), again_second(name)
            if first[name] == second[name]:
                differing.remove(name)
                flaky.append(name)
    return differing, flaky
