#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a profiler costs a program: throughput without and with it, in turns.

  overhead.py --throughput 'per second: (\\S+)' -- PROGRAM ARGUMENT...
  overhead.py --port 11211 --load 'memcaslap -s 127.0.0.1:11211 -t 4s' --throughput 'TPS: (\\d+)' \\
      -- memcached -p 11211

Runs the program plainly, under `relock profile`, and under what else --with names, once each per
round, the order turned by one from round to round, and prints the median of the throughputs, their
range, and what each loses against the plain run of the same round, the median and the middle half.
The regular expression takes the throughput from what the program prints, or from what the load
prints; without one it is runs per second. With --load the program is a server: it is started,
awaited on its port, put under load and stopped by SIGTERM; then the throughput per second of its
processor time is printed, too, which tells more where machine and load are shared. --together
starts a server of each variant at once, on PORT, PORT + 1 and so on, which stands as {port} in its
command and in that of the load, and loads them in turns: rounds are short then, and changes from
minute to minute are left out. --results FILE keeps the rounds, and adds to those that are there.
"""
import argparse
import json
import os
import platform
import re
import shlex
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

VARIANTS = ["plain", "relock", "mutrace", "strace", "perf"]


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relock", default="build/dev/bin/relock", help="the command to measure")
    parser.add_argument("--mutrace", help="libmutrace.so, for the variant mutrace")
    parser.add_argument("--with", dest="variants", default="plain,relock",
                        help="some of " + ", ".join(VARIANTS) + " (default: plain,relock)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--throughput", help="regular expression with one group")
    parser.add_argument("--load", help="command that puts the server under load")
    parser.add_argument("--port", type=int, help="of the server, on the loopback interface")
    parser.add_argument("--together", action="store_true", help="all servers at once")
    parser.add_argument("--results", help="JSON file of rounds to add to")
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args()
    chosen.variants = chosen.variants.split(",")
    if chosen.variants[0] != "plain" or not set(chosen.variants) <= set(VARIANTS):
        parser.error("--with begins with plain, and knows " + ", ".join(VARIANTS))
    if "mutrace" in chosen.variants and not chosen.mutrace:
        parser.error("mutrace needs --mutrace")
    if bool(chosen.load) != bool(chosen.port) or chosen.together and not chosen.load:
        parser.error("--load and --port go together, and --together needs them")
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
    return [], {}


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


def at_port(words, port):
    return [word.replace("{port}", str(port)) for word in words]


class Server:
    def __init__(self, words, environment, port, log):
        self.port = port
        self.process = subprocess.Popen(at_port(words, port), env=environment, stdout=log,
                                        stderr=log, stdin=subprocess.DEVNULL)
        wait_for_port(port, self.process)
        self.pid = program_of(self.process.pid)

    def load(self, command):
        """What the load printed, and the share of one processor that the server took meanwhile."""
        before, start = processor_time(self.pid), time.monotonic()
        load = subprocess.run(at_port(shlex.split(command), self.port), capture_output=True,
                              text=True)
        share = (processor_time(self.pid) - before) / (time.monotonic() - start)
        return load.stdout + load.stderr, share

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        self.process.wait()


def figures(variant, chosen, text, share):
    found = re.search(chosen.throughput, text)
    if not found:
        sys.exit("no throughput in the output of the variant %s:\n%s" % (variant, text[-2000:]))
    value = float(found.group(1))
    return {"throughput": value, **({"per processor": value / share} if share else {})}


def run(variant, chosen):
    """The throughput of one run, and that per second of a server's processor time."""
    with tempfile.TemporaryDirectory() as folder:
        words, added = prefix(variant, chosen, folder)
        environment = {**os.environ, **added}
        log = open(os.path.join(folder, "log"), "w+")
        start, share = time.monotonic(), None
        if chosen.load:
            server = Server(words + chosen.command, environment, chosen.port, log)
            text, share = server.load(chosen.load)
            server.stop()
        else:
            subprocess.run(words + chosen.command, env=environment, stdin=subprocess.DEVNULL,
                           stdout=log, stderr=log)
            log.seek(0)
            text = log.read()
        elapsed = time.monotonic() - start
        log.close()
    if not chosen.throughput:
        return {"throughput": 1 / elapsed}
    return figures(variant, chosen, text, share)


def missing(variant):
    program = {"strace": "strace", "perf": "perf"}.get(variant)
    return program and not shutil.which(program)


def measure(chosen, rounds, run_one):
    for number in range(chosen.rounds):
        shift = number % len(chosen.variants)
        order = chosen.variants[shift:] + chosen.variants[:shift]
        rounds.append({variant: run_one(variant) for variant in order})


def measure_together(chosen, rounds):
    with tempfile.TemporaryDirectory() as folder:
        servers = {}
        for number, variant in enumerate(chosen.variants):
            words, added = prefix(variant, chosen, folder)
            servers[variant] = Server(words + chosen.command, {**os.environ, **added},
                                      chosen.port + number, subprocess.DEVNULL)
        for server in servers.values():
            server.load(chosen.load)  # fills it
        measure(chosen, rounds, lambda variant: figures(
            variant, chosen, *servers[variant].load(chosen.load)))
        for server in servers.values():
            server.stop()


def show(rounds, variants, figure):
    print("%-8s %13s   %-25s %8s   %s" % ("", figure, "range", "loss", "middle half"))
    for variant in variants:
        both = [r for r in rounds if variant in r and "plain" in r]
        values = [r[variant][figure] for r in both]
        losses = [1 - r[variant][figure] / r["plain"][figure] for r in both]
        first, _, last = statistics.quantiles(losses, n=4) if len(losses) > 1 else 3 * losses
        print("%-8s %13.5g   %-25s %7.1f%%   %.1f%% to %.1f%%" % (
            variant, statistics.median(values), "%.5g to %.5g" % (min(values), max(values)),
            100 * statistics.median(losses), 100 * first, 100 * last))


def main():
    chosen = options()
    absent = [variant for variant in chosen.variants if missing(variant)]
    for variant in absent:
        print("not here: " + variant)
        chosen.variants.remove(variant)
    rounds = []
    if chosen.results and os.path.exists(chosen.results):
        with open(chosen.results) as file:
            rounds = json.load(file)
    if chosen.together:
        measure_together(chosen, rounds)
    else:
        measure(chosen, rounds, lambda variant: run(variant, chosen))
    if chosen.results:
        with open(chosen.results, "w") as file:
            json.dump(rounds, file, indent=1)
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    print("%s, %d processors, Linux %s; %d rounds of: %s" % (
        model.group(1) if model else platform.machine(), os.cpu_count(), platform.release(),
        len(rounds), shlex.join(chosen.command)))
    for figure in rounds[0]["plain"]:
        show(rounds, [v for v in VARIANTS if any(v in r for r in rounds)], figure)


if __name__ == "__main__":
    main()
