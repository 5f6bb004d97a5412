# SPDX-License-Identifier: MIT
"""Servers under load: start, load over the loopback interface, stop; and what a measurement says."""
import json
import os
import platform
import re
import socket
import statistics
import subprocess
import time

import suite
from source import Failure

# Little memory, so that items are evicted all the time; commands may stop the server.
SERVER = ["-l", "127.0.0.1", "-t", "4", "-m", "24", "-A"]
LOAD = {"threads": 2, "connections": 8, "batch": 16, "sets": 30, "keys": 60000, "reconnect": 500}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A running memcached; `before` is a command that runs it, such as the profiler."""

    def __init__(self, tree, log, before=(), environment=None):
        self.port = free_port()
        user = ["-u", "root"] if os.geteuid() == 0 else []
        self.log = log
        with open(log, "w") as errors:
            self.process = subprocess.Popen(
                [*before, os.path.join(tree, "memcached"), "-p", str(self.port), *SERVER, *user],
                env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                stdout=errors, stderr=errors)
        self.wait_until_it_listens()

    def wait_until_it_listens(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", self.port)).close()
            except OSError:
                time.sleep(0.05)
        self.process.kill()
        with open(self.log, errors="replace") as file:
            raise Failure("memcached did not start:\n" + file.read())

    def stop(self):
        """Stops the server by its own command; its exit status."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"shutdown\r\n")
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure("memcached does not stop (%s)" % self.log)


def load(program, port, seconds):
    words = ["%s=%d" % item for item in {**LOAD, "port": port, "seconds": seconds}.items()]
    result = subprocess.run([program, *words], capture_output=True, text=True,
                            timeout=seconds + 60)
    if result.returncode != 0:
        raise Failure("the load failed: " + result.stdout + result.stderr)
    return json.loads(result.stdout)


def compare(variants, program, repetitions, seconds, logs):
    """Measures every variant once per repetition, in turn. variants: name -> (tree, algorithm)."""
    runs = {name: [] for name in variants}
    for repetition in range(repetitions):
        for name, (tree, algorithm) in variants.items():
            environment = suite.environment(algorithm)
            server = Server(tree, os.path.join(logs, "load-%s.log" % name), (), environment)
            runs[name].append(load(program, server.port, seconds))
            status = server.stop()
            if status != 0:
                raise Failure("memcached (%s) ends with status %d" % (name, status))
    return runs


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"^model name\s*:\s*(.*)", file.read(), re.MULTILINE)
    return "%s, %d cores, Linux %s" % (model.group(1) if model else platform.machine(),
                                       os.cpu_count() or 1, platform.release())


def table(runs):
    lines = ["%-10s %12s %23s %14s %14s" % ("locks", "operations/s", "min - max", "batch p50 us",
                                            "batch p99 us")]
    for name, results in runs.items():
        rates = [result["per_second"] for result in results]
        lines.append("%-10s %12.0f %23s %14.0f %14.0f" % (
            name, statistics.median(rates), "%.0f - %.0f" % (min(rates), max(rates)),
            statistics.median(result["batch_p50_us"] for result in results),
            statistics.median(result["batch_p99_us"] for result in results)))
    return "\n".join(lines)
