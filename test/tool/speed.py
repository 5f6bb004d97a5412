# SPDX-License-Identifier: MIT
"""Measures relock on a generated program, beside `clang -fsyntax-only` on the same files.

Usage: speed.py RELOCK CLANG FOLDER [--sites N] [--per-file N] [-j JOBS] [--check]

Prints for each step the time, the processor time, and the memory of its largest process. --check
exits with 1 if indexing costs more than 1.5 times the parse, or rewriting an indexed program more
than 10 seconds.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

HEADER = """#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct item {
  struct item *next;
  int key, value;
};
struct table {
  pthread_mutex_t lock;
  struct item *heads[64];
  int count, limit;
};
extern struct table tables[16];
extern pthread_mutex_t stats_lock;
extern long stats[64];
void account(int what, long amount);
"""

# One function of four sections: straight, early exit, loop, and one that calls.
FUNCTION = """
/* Puts a value under a key, and says whether it was there. */
int put_{n}(struct table *t, int key, int value)
{{
  struct item *it;
  int found = 0, slot = key % 64;

  pthread_mutex_lock(&t->lock);
  for (it = t->heads[slot]; it; it = it->next) {{
    if (it->key == key) {{
      it->value = value;
      found = 1;
      break;
    }}
  }}
  if (!found && t->count >= t->limit) {{
    pthread_mutex_unlock(&t->lock);
    account({n} % 64, 1);
    return -1;
  }}
  if (!found) {{
    it = malloc(sizeof *it);
    if (!it) {{
      pthread_mutex_unlock(&t->lock);
      return -1;
    }}
    it->key = key;
    it->value = value;
    it->next = t->heads[slot];
    t->heads[slot] = it;
    t->count++;
  }}
  pthread_mutex_unlock(&t->lock);
  pthread_mutex_lock(&stats_lock);
  stats[{n} % 64] += value;
  pthread_mutex_unlock(&stats_lock);
  return found;
}}

/* The sum of all values. */
long sum_{n}(struct table *t)
{{
  long sum = 0;
  int i;

  pthread_mutex_lock(&t->lock);
  for (i = 0; i < 64; i++)
    for (struct item *it = t->heads[i]; it; it = it->next)
      sum += it->value;
  pthread_mutex_unlock(&t->lock);
  pthread_mutex_lock(&stats_lock);
  account({n} % 64, sum);
  if (sum > 1000)
    stats[0]++;
  pthread_mutex_unlock(&stats_lock);
  return sum;
}}
"""

SHARED = """#include "program.h"
struct table tables[16];
pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
long stats[64];
void account(int what, long amount) { stats[what] += amount; }
"""


def generate(folder, sites, per_file):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    texts = {"shared.c": SHARED}
    functions = range(sites // 4)
    step = max(1, per_file // 4)
    for first in functions[::step]:
        texts["part%d.c" % (first // step)] = '#include "program.h"\n' + "".join(
            FUNCTION.format(n=n) for n in functions[first:first + step])
    with open(os.path.join(folder, "program.h"), "w") as file:
        file.write(HEADER)
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    entries = [{"directory": folder, "file": name, "arguments": ["cc", "-Wall", "-c", name]}
               for name in sorted(texts)]
    with open(os.path.join(folder, "compile_commands.json"), "w") as file:
        json.dump(entries, file)
    return sorted(texts)


def processor_seconds():
    times = os.times()
    return times.children_user + times.children_system


def measured(name, work):
    before, begin = processor_seconds(), time.monotonic()
    memory = work()
    seconds = time.monotonic() - begin
    busy = processor_seconds() - before
    print("%-34s %8.2f s %8.2f s %8.0f MiB" % (name, seconds, busy, memory / 1024), flush=True)
    return busy, seconds


def run(command, folder, output=subprocess.DEVNULL):
    """Runs a command; its largest resident size in KiB."""
    process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.PIPE)
    messages = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) > 1:
        sys.exit("%s failed:\n%s" % (" ".join(command), messages))
    return usage.ru_maxrss


def parse_all(clang, names, folder, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return max(pool.map(
            lambda name: run([clang, "-fsyntax-only", "-Wall", name], folder), names))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("relock")
    parser.add_argument("clang")
    parser.add_argument("folder")
    parser.add_argument("--sites", type=int, default=6000)
    parser.add_argument("--per-file", type=int, default=60)
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    names = generate(folder, options.sites, options.per_file)
    jobs = "-j%d" % options.jobs

    def relock(*arguments):
        return lambda: run([os.path.abspath(options.relock), *arguments, "-p", ".", jobs], folder)

    print("%d sites in %d files, %d jobs: time, processor time, largest process"
          % (options.sites, len(names), options.jobs))
    parse = measured("clang -fsyntax-only",
                     lambda: parse_all(options.clang, names, folder, options.jobs))
    index = measured("relock index", relock("index"))
    measured("relock index, nothing changed", relock("index"))
    measured("relock check, indexed", relock("check"))
    rewrite = measured("relock rewrite --all, indexed", relock("rewrite", "--all"))
    ratio = index[0] / parse[0]  # of processor time, which other work on the machine changes least
    print("index / parse: %.2f" % ratio)
    if options.check and (ratio > 1.5 or min(rewrite) > 10):
        sys.exit("too slow")


main()
