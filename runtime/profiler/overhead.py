#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a profiler costs a program: throughput without and with it, in turns.

  overhead.py --throughput 'per second: (\\S+)' -- PROGRAM ARGUMENT...
  overhead.py --together --port 11211 --load 'memcaslap -s 127.0.0.1:{port} -x 50000' \\
      --requests 'cmd_[gs]et: (\\d+)' -- memcached -p '{port}'

Runs the program plainly, under `relock profile`, and under what else --with names, once each per
round, the order turned by one from round to round, and prints the median of the throughputs, their
range, and what each loses against the plain run of the same round: the median, the middle half, and
the interval that has the median in it with 95 %. The regular expression takes the throughput from
what the program prints, or from what the load prints; without one it is runs per second.

With --load the program is a server: it is started, awaited on its port, put under load and stopped
by SIGTERM. --requests takes their number from what the load prints, the sum where that is printed
in parts; then the processor time that the server took for a request is compared, too, which tells
more where machine and load are shared.

--together starts a server of each variant at once, on PORT, PORT + 1 and so on, which stands as
{port} in its command and in that of the load, and {number}, which counts them from 0, too. In each
round all of them are loaded, and the loads run and stand still in turns of --slice seconds: so what
the machine does to one of them it does to all. What remains are differences between two processes
of one program, by where their memory lies. The variant `again` shows them: it is the plain one once
more. Start the servers more than once, by --starts, or by calling again with --results FILE, which
keeps the rounds and adds to those that are there: the interval takes rounds of one start for what
they are. --also NAME='WORDS...' is a variant of your own, by the words before the command, such as
another version's `relock profile -o /dev/null --`.
"""
import argparse
import contextlib
import json
import os
import platform
import random
import re
import select
import shlex
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

VARIANTS = ["plain", "again", "relock", "mutrace", "strace", "perf"]
RESAMPLES = 2000
THROUGHPUT, PROCESSOR = "throughput", "processor us per request"


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relock", default="build/dev/bin/relock", help="the command to measure")
    parser.add_argument("--mutrace", help="libmutrace.so, for the variant mutrace")
    parser.add_argument("--with", dest="variants", default="plain,relock",
                        help="some of " + ", ".join(VARIANTS) + " (default: plain,relock)")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=WORDS",
                        help="another variant, with these words before the command")
    parser.add_argument("--rounds", type=int, default=5, help="of each start (default: 5)")
    parser.add_argument("--starts", type=int, default=1,
                        help="of the servers, with --together (default: 1)")
    parser.add_argument("--fills", type=int, default=1,
                        help="rounds before those of a start, which do not count (default: 1)")
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="after which no round of a start begins, with --together")
    parser.add_argument("--slice", type=float, default=0.05,
                        help="seconds, with --together (default: 0.05)")
    parser.add_argument("--throughput", help="regular expression with one group")
    parser.add_argument("--requests", help="the same for the number of requests of a load")
    parser.add_argument("--load", help="command that puts the server under load")
    parser.add_argument("--port", type=int, help="of the server, on the loopback interface")
    parser.add_argument("--together", action="store_true", help="all servers at once")
    parser.add_argument("--results", help="JSON file of rounds to add to")
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args()
    chosen.also = dict(words.split("=", 1) for words in chosen.also)
    chosen.variants = chosen.variants.split(",")
    if chosen.variants[0] != "plain" or not set(chosen.variants) <= set(VARIANTS):
        parser.error("--with begins with plain, and knows " + ", ".join(VARIANTS))
    chosen.variants += chosen.also
    if "mutrace" in chosen.variants and not chosen.mutrace:
        parser.error("mutrace needs --mutrace")
    if bool(chosen.load) != bool(chosen.port):
        parser.error("--load and --port go together")
    if chosen.together and not (chosen.load and chosen.requests):
        parser.error("--together needs --load and --requests")
    return chosen


def prefix(variant, chosen, folder):
    """The words before the command, and the environment besides."""
    output = os.path.join(folder, "output")
    if variant == "relock":
        return [chosen.relock, "profile", "-o", output, "--"], {}
    if variant == "mutrace":
        return [], {"LD_PRELOAD": os.path.abspath(chosen.mutrace)}
    if variant == "strace":  # stops at no other calls
        return ["strace", "-f", "-q", "--seccomp-bpf", "-e", "trace=futex", "-o", output], {}
    if variant == "perf":
        return ["perf", "trace", "-o", output, "-e", "futex", "--"], {}
    return shlex.split(chosen.also.get(variant, "")), {}


def wait_for_port(port, process):
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
    sys.exit("nothing listens on port %d" % port)


def program_of(pid):
    """What a tracer runs, to which it passes no signals; or the process itself."""
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        children = file.read().split()
    return int(children[0]) if children else pid


def processor_time(pid):
    """Of all its threads, by the clock that clock_getcpuclockid() names."""
    return time.clock_gettime(~pid << 3 | 2)


class Load:
    """A command that runs only in its turns."""

    def __init__(self, words):
        self.output = tempfile.TemporaryFile("w+")
        self.ran = 0
        self.process = subprocess.Popen(words, stdout=self.output, stderr=self.output,
                                        stdin=subprocess.DEVNULL, start_new_session=True)
        self.ended = select.poll()
        self.ended.register(os.pidfd_open(self.process.pid), select.POLLIN)
        self.send(signal.SIGSTOP)

    def send(self, number):
        os.killpg(self.process.pid, number)

    def turn(self, seconds):
        """Whether there is to be another one."""
        start = time.monotonic()
        self.send(signal.SIGCONT)
        ends = self.ended.poll(1000 * seconds)
        self.ran += time.monotonic() - start
        if not ends:
            self.send(signal.SIGSTOP)
        return not ends

    def stop(self):
        if self.process.poll() is None:
            self.send(signal.SIGKILL)
            self.process.wait()

    def text(self):
        self.process.wait()
        self.output.seek(0)
        return self.output.read()


class Server:
    def __init__(self, words, environment, port, number, log):
        self.places = {"{port}": str(port + number), "{number}": str(number)}
        self.process = subprocess.Popen(self.placed(words), env=environment, stdout=log,
                                        stderr=log, stdin=subprocess.DEVNULL)
        wait_for_port(port + number, self.process)
        self.pid = program_of(self.process.pid)

    def placed(self, words):
        for name, place in self.places.items():
            words = [word.replace(name, place) for word in words]
        return words

    def load(self, command):
        """What the load printed, and the processor time that the server took meanwhile."""
        before = processor_time(self.pid)
        load = subprocess.run(self.placed(shlex.split(command)), capture_output=True, text=True)
        return load.stdout + load.stderr, processor_time(self.pid) - before

    def loads(self, command):
        return Load(self.placed(shlex.split(command)))

    def stop(self):
        with contextlib.suppress(ProcessLookupError):  # it was stopped, too
            os.kill(self.pid, signal.SIGTERM)
        self.process.wait()


def found(what, expression, variant, text):
    numbers = [float(number) for number in re.findall(expression, text)]
    if not numbers:
        sys.exit("no %s in the output of the variant %s:\n%s" % (what, variant, text[-2000:]))
    return numbers


def figures(variant, chosen, text, processor=None):
    result = {}
    if chosen.throughput:
        result[THROUGHPUT] = found("throughput", chosen.throughput, variant, text)[0]
    if chosen.requests:
        result[PROCESSOR] = 1e6 * processor / sum(
            found("requests", chosen.requests, variant, text))
    return result


def run(variant, chosen):
    """The figures of one run."""
    with tempfile.TemporaryDirectory() as folder:
        words, added = prefix(variant, chosen, folder)
        environment = {**os.environ, **added}
        log = open(os.path.join(folder, "log"), "w+")
        start, processor = time.monotonic(), None
        if chosen.load:
            server = Server(words + chosen.command, environment, chosen.port, 0, log)
            text, processor = server.load(chosen.load)
            server.stop()
        else:
            subprocess.run(words + chosen.command, env=environment, stdin=subprocess.DEVNULL,
                           stdout=log, stderr=log)
            log.seek(0)
            text = log.read()
        elapsed = time.monotonic() - start
        log.close()
    if not chosen.throughput and not chosen.requests:
        return {THROUGHPUT: 1 / elapsed}
    return figures(variant, chosen, text, processor)


def missing(variant):
    program = {"strace": "strace", "perf": "perf"}.get(variant)
    return program and not shutil.which(program)


def turned(variants, number):
    shift = number % len(variants)
    return variants[shift:] + variants[:shift]


def load_in_turns(chosen, servers, order):
    before = {variant: processor_time(servers[variant].pid) for variant in order}
    loads, result, left = {}, {}, order
    try:
        for variant in order:
            loads[variant] = servers[variant].loads(chosen.load)
        while left:
            left = [variant for variant in left if loads[variant].turn(chosen.slice)]
        for variant in order:
            processor = processor_time(servers[variant].pid) - before[variant]
            requests = sum(found("requests", chosen.requests, variant, loads[variant].text()))
            result[variant] = {THROUGHPUT: requests / loads[variant].ran,
                               PROCESSOR: 1e6 * processor / requests}
    finally:
        for load in loads.values():
            load.stop()
    return result


def measure_together(chosen, rounds, start):
    servers, end = {}, time.monotonic() + chosen.seconds
    with tempfile.TemporaryDirectory() as parent:
        try:
            for number, variant in enumerate(turned(chosen.variants, start)):
                folder = os.path.join(parent, str(number))
                os.mkdir(folder)
                words, added = prefix(variant, chosen, folder)
                servers[variant] = Server(words + chosen.command, {**os.environ, **added},
                                          chosen.port, number, subprocess.DEVNULL)
            for _ in range(chosen.fills):
                load_in_turns(chosen, servers, chosen.variants)
            for number in range(chosen.rounds):
                if time.monotonic() > end:
                    break
                order = turned(chosen.variants, number)
                rounds.append({"start": start, **load_in_turns(chosen, servers, order)})
        finally:
            for server in servers.values():
                server.stop()


def change(figure, value, plain):
    """What is lost of a throughput, and what a time has more."""
    return value / plain - 1 if figure == PROCESSOR else 1 - value / plain


def interval(starts):
    """Of the median: where it lies when starts, and the rounds of each, are drawn anew."""
    drawn, medians = random.Random(1), []
    for _ in range(RESAMPLES):
        again = drawn.choices(starts, k=len(starts))
        medians.append(statistics.median(
            value for values in again for value in drawn.choices(values, k=len(values))))
    medians.sort()
    return medians[RESAMPLES // 40], medians[-RESAMPLES // 40 - 1]


def percent(*values):
    return " to ".join("%.1f%%" % (100 * value) for value in values)


def show(rounds, variants, figure):
    print("%-8s %24s   %-20s %8s   %-17s %s" % (
        "", figure, "range", "more" if figure == PROCESSOR else "loss", "middle half",
        "95% interval"))
    for variant in variants:
        both = [r for r in rounds if variant in r and "plain" in r]
        values = [r[variant][figure] for r in both]
        starts = {}
        for r in both:
            starts.setdefault(r["start"], []).append(
                change(figure, r[variant][figure], r["plain"][figure]))
        changes = [value for group in starts.values() for value in group]
        first, _, last = statistics.quantiles(changes, n=4) if len(changes) > 1 else 3 * changes
        print("%-8s %24.5g   %-20s %8s   %-17s %s" % (
            variant, statistics.median(values), "%.5g to %.5g" % (min(values), max(values)),
            percent(statistics.median(changes)), percent(first, last),
            percent(*interval(list(starts.values())))))


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # no server or load is left
    chosen = options()
    absent = [variant for variant in chosen.variants if missing(variant)]
    for variant in absent:
        print("not here: " + variant)
        chosen.variants.remove(variant)
    rounds = []
    if chosen.results and os.path.exists(chosen.results):
        with open(chosen.results) as file:
            rounds = json.load(file)
    first = rounds[-1]["start"] + 1 if rounds else 0
    if chosen.together:
        for start in range(first, first + chosen.starts):
            measure_together(chosen, rounds, start)
    else:  # each run is a start
        for start in range(first, first + chosen.rounds):
            order = turned(chosen.variants, start)
            rounds.append({"start": start, **{variant: run(variant, chosen) for variant in order}})
    if chosen.results:
        with open(chosen.results, "w") as file:
            json.dump(rounds, file, indent=1)
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    print("%s, %d processors, Linux %s; %d rounds of: %s" % (
        model.group(1) if model else platform.machine(), os.cpu_count(), platform.release(),
        len(rounds), shlex.join(chosen.command)))
    names = dict.fromkeys(VARIANTS + [name for r in rounds for name in r if name != "start"])
    for figure in rounds[0]["plain"]:
        show(rounds, [name for name in names if any(name in r for r in rounds)], figure)


if __name__ == "__main__":
    main()
