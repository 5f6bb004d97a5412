# SPDX-License-Identifier: MIT
"""The programs of the loop: how each is built, run, and what it answers."""
import glob
import hashlib
import json
import os
import random
import shutil
import subprocess
import time

import source
import throughput

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
INCLUDE = os.path.join(ROOT, "runtime", "include")


class Program:
    options = []  # of advise and rewrite

    def __init__(self, build, work):
        self.librelock = os.path.join(os.path.abspath(build), "lib", "librelock.a")
        self.work = work
        self.original = os.path.join(work, "original")
        self.converted = os.path.join(work, "loop", "converted")
        self.logs = os.path.join(work, "loop", "logs")
        os.makedirs(self.logs, exist_ok=True)

    def log(self, name):
        return os.path.join(self.logs, name + ".log")

    def database(self, tree):
        """The compile database of the tree, in the tree `converted`."""
        with open(os.path.join(tree, "compile_commands.json")) as file:
            text = file.read()
        with open(os.path.join(self.converted, "compile_commands.json"), "w") as file:
            file.write(text.replace(tree, self.converted))


class Kvstore(Program):
    """The bundled example. Its checksum is that of all results."""

    def prepare(self):
        self.sources(self.original)
        source.command(["make", "kvstore", "compile_commands.json"], self.original,
                       self.log("original"))

    @staticmethod
    def sources(tree):
        shutil.rmtree(tree, ignore_errors=True)
        os.makedirs(tree)
        for name in glob.glob(os.path.join(ROOT, "examples", "kvstore", "*")):
            if name.endswith((".c", ".h", "Makefile")):
                shutil.copy2(name, tree)

    def copy(self):
        self.sources(self.converted)
        self.database(self.original)

    def rebuild(self):
        source.command(["make", "kvstore", "CPPFLAGS=-I" + INCLUDE, "LDLIBS=" + self.librelock],
                       self.converted, self.log("converted"))

    def run(self, tree, before, log):
        result = subprocess.run([*before, os.path.join(tree, "kvstore"), "-t", "4", "-n", "400000"],
                                cwd=tree, text=True, capture_output=True, timeout=300)
        with open(log, "w") as file:
            file.write(result.stderr)
        if result.returncode != 0:
            raise source.Failure("kvstore: exit status %d; see %s" % (result.returncode, log))
        return dict(line.split("=") for line in result.stdout.split())["checksum"]

    unit = "operations/s"

    def measure(self, tree, environment):
        """The throughput of a second or so, not profiled."""
        output = subprocess.run([os.path.join(tree, "kvstore"), "-t", "4", "-s", "1"], text=True,
                                env={**os.environ, **environment}, stdout=subprocess.PIPE,
                                check=True, timeout=60).stdout
        return float(dict(line.split("=") for line in output.split())["throughput"])


class Memcached(Program):
    """The server under the load of test/programs/memcached; the load checks its answers."""

    def prepare(self):
        pristine = source.fetch(self.work)
        if not os.path.exists(os.path.join(self.original, "relock-done")):
            source.copy(pristine, self.original)
            source.configure(self.original, self.log("original-configure"))
            source.build(self.original, self.log("original-build"))
            open(os.path.join(self.original, "relock-done"), "w").close()
        self.loader = os.path.join(self.work, "load")
        source.command(["cc", "-std=gnu11", "-O2", "-o", self.loader,
                        os.path.join(os.path.dirname(HERE), "memcached", "load.c"), "-lpthread"],
                       HERE, self.log("load-build"))

    def copy(self):
        source.copy(source.fetch(self.work), self.converted)
        shutil.copy2(os.path.join(self.original, "config.h"), self.converted)
        self.database(self.original)

    def rebuild(self):
        source.configure(self.converted, self.log("converted-configure"), "-I" + INCLUDE,
                         self.librelock + " -lpthread")
        source.command(["make", "-j%d" % (os.cpu_count() or 1), "memcached"], self.converted,
                       self.log("converted-build"))

    def run(self, tree, before, log):
        server = throughput.Server(tree, log, before)
        result = throughput.load(self.loader, server.port, 3)
        status = server.stop()
        if status != 0:
            raise source.Failure("memcached: exit status %d; see %s" % (status, log))
        print("loop: %d operations/s under the profiler" % result["per_second"])
        return "every value as it was set"

    unit = "operations/s"

    def measure(self, tree, environment):
        server = throughput.Server(tree, self.log("measure"), (), environment)
        result = throughput.load(os.path.join(self.work, "load"), server.port, 1)
        server.stop()
        return result["per_second"]


class Zstd(Program):
    """The compressor, four workers on small jobs; the compressed file is the answer."""
    options = ["--accept-uncovered"]  # in text for Windows
    MAKE = ["make", "-C", "programs", "zstd", "CFLAGS=-O2 -g", "ZSTD_LEGACY_SUPPORT=0",
            "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0"]

    def prepare(self):
        self.pristine = source.fetch(self.work, "libzstd")
        done = os.path.join(self.original, "relock-done")
        if not os.path.exists(done):
            source.copy(self.pristine, self.original)
            self.make(self.original, "original")
            self.write_database()
            open(done, "w").close()
        self.input = os.path.join(self.work, "input")
        if not os.path.exists(self.input):
            words = random.Random(1)
            vocabulary = ["%x" % words.getrandbits(words.randint(4, 48)) for _ in range(5000)]
            with open(self.input, "w") as file:
                for _ in range(100):
                    file.write(" ".join(words.choices(vocabulary, k=100000)))

    def make(self, tree, name, **more):
        """`more`: variables that the Makefile adds to."""
        wrapper = os.path.join(tree, "relock-cc")
        with open(wrapper, "w") as file:
            file.write(source.WRAPPER)
        os.chmod(wrapper, 0o755)
        source.command([*self.MAKE, "-j%d" % (os.cpu_count() or 1), "CC=" + wrapper], tree,
                       self.log(name), {**os.environ, **more})

    def write_database(self):
        entries = []
        with open(os.path.join(self.original, "relock-cc.log")) as file:
            for entry in map(json.loads, file):
                files = [word for word in entry["arguments"] if word.endswith(".c")]
                if files:
                    entries.append({**entry, "file": files[0]})
        with open(os.path.join(self.original, "compile_commands.json"), "w") as file:
            json.dump(entries, file, indent=1)

    def copy(self):
        source.copy(self.pristine, self.converted)
        self.database(self.original)

    def rebuild(self):
        self.make(self.converted, "converted", CPPFLAGS="-I" + INCLUDE, LDLIBS=self.librelock)

    def run(self, tree, before, log):
        output = os.path.join(self.work, "loop", "output.zst")
        with open(log, "w") as file:
            subprocess.run([*before, os.path.join(tree, "programs", "zstd"), "-T4", "-1", "-B512K",
                            "-f", "-q", self.input, "-o", output], check=True, stdout=file,
                           stderr=file, timeout=300)
        with open(output, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    unit = "MB/s"

    def measure(self, tree, environment):
        file = os.path.join(self.work, "input")
        start = time.monotonic()
        subprocess.run([os.path.join(tree, "programs", "zstd"), "-T4", "-1", "-B512K", "-f", "-q",
                        file, "-o", os.devnull], check=True, timeout=60,
                       env={**os.environ, **environment})
        return os.path.getsize(file) / 1e6 / (time.monotonic() - start)


ALL = {"kvstore": Kvstore, "memcached": Memcached, "zstd": Zstd}
