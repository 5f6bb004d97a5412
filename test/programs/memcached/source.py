# SPDX-License-Identifier: MIT
"""A program's source: fetched from the distribution, copied; memcached's also configured and built
with a compile database."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess

# What the distribution's own package is configured with.
CONFIGURE = ["--enable-sasl", "--enable-tls"]

# Compiles, and notes each compilation on the way: one line of JSON per command.
WRAPPER = """#!/bin/sh
python3 -c 'import json, os, sys
line = json.dumps({"directory": os.getcwd(), "arguments": ["cc"] + sys.argv[2:]})
if "-c" in sys.argv[2:]: open(sys.argv[1], "a").write(line + "\\n")' "$0.log" "$@"
exec gcc "$@"
"""


class Failure(Exception):
    """Something that ends the run; the text says what and what to do."""


def command(arguments, cwd, log, env=None):
    """Runs a step whose output goes to the file `log`; on failure shows its end."""
    with open(log, "w") as file:
        status = subprocess.run(arguments, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                stdout=file, stderr=subprocess.STDOUT).returncode
    if status != 0:
        with open(log, errors="replace") as file:
            tail = "".join(file.readlines()[-30:])
        raise Failure("%s\nexit status %d of: %s (whole output in %s)"
                      % (tail, status, shlex.join(arguments), log))


def source_entries():
    """deb-src lines for the machine's own distribution, from its own deb entries."""
    with open("/etc/os-release") as file:
        codename = re.search(r"^VERSION_CODENAME=(\S+)", file.read(), re.MULTILINE)
    if not codename:
        raise Failure("/etc/os-release names no distribution; only Debian and its like have "
                      "source packages")
    entries = set()
    for uri, suite, components in one_line_entries() + deb822_entries():
        if suite.startswith(codename.group(1)):
            entries.add("deb-src %s %s %s" % (uri, suite, components))
    if not entries:
        raise Failure("no entry for %s below /etc/apt to make a deb-src entry from"
                      % codename.group(1))
    return sorted(entries)


def one_line_entries():
    found = []
    for name in ["/etc/apt/sources.list"] + glob.glob("/etc/apt/sources.list.d/*.list"):
        if os.path.exists(name):
            with open(name) as file:
                found += re.findall(r"^deb\s+(?:\[[^]]*\]\s*)?(\S+)\s+(\S+)\s+(\S.*)$",
                                    file.read(), re.MULTILINE)
    return found


def deb822_entries():
    found = []
    for name in glob.glob("/etc/apt/sources.list.d/*.sources"):
        with open(name) as file:
            stanzas = re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", file.read(), flags=re.MULTILINE))
        for stanza in stanzas:
            fields = dict(re.findall(r"^(\w[\w-]*):[ \t]*(.*)$", stanza, re.MULTILINE))
            if "deb" not in fields.get("Types", "").split():
                continue
            for uri in fields.get("URIs", "").split():
                for suite in fields.get("Suites", "").split():
                    found.append((uri, suite, fields.get("Components", "main")))
    return found


def fetch(work, package="memcached"):
    """The unpacked source folder; fetched once, with an apt state of its own in the work folder,
    so that it needs no rights and leaves /etc alone."""
    found = glob.glob(os.path.join(work, package + "-*", ""))
    if found:
        return os.path.dirname(found[0])
    apt = os.path.join(work, "apt")
    for folder in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(apt, folder), exist_ok=True)
    with open(os.path.join(apt, "sources.list"), "w") as file:
        file.write("\n".join(source_entries()) + "\n")
    own = ["-o", "Dir::Etc::SourceList=" + os.path.join(apt, "sources.list"),
           "-o", "Dir::Etc::SourceParts=-",
           "-o", "Dir::State::Lists=" + os.path.join(apt, "lists"),
           "-o", "Dir::Cache=" + os.path.join(apt, "cache"),
           "-o", "APT::Sandbox::User="]
    command(["apt-get", *own, "update"], work, os.path.join(work, "apt-update.log"))
    command(["apt-get", *own, "source", package], work, os.path.join(work, "apt-source.log"))
    found = glob.glob(os.path.join(work, package + "-*", ""))
    if not found:
        raise Failure("apt-get source left no %s-* in %s" % (package, work))
    return os.path.dirname(found[0])


def copy(source, target):
    shutil.rmtree(target, ignore_errors=True)
    # cp keeps time stamps: with others make would want to run autoconf again.
    subprocess.run(["cp", "-a", source, target], check=True)
    # A git tree of its own: diffs then have paths below this folder.
    subprocess.run(["git", "init", "-q", target], check=True)


def configure(tree, log, cppflags="", libs=""):
    wrapper = os.path.join(tree, "relock-cc")
    with open(wrapper, "w") as file:
        file.write(WRAPPER)
    os.chmod(wrapper, 0o755)
    command(["./configure", *CONFIGURE, "CC=" + wrapper, "CPPFLAGS=" + cppflags, "LIBS=" + libs],
            tree, log)
    if os.path.exists(wrapper + ".log"):
        os.remove(wrapper + ".log")


def build(tree, log):
    """Builds everything and writes compile_commands.json for the server in both of its variants:
    memcached, and memcached-debug, which the test suite runs."""
    command(["make", "-j%d" % (os.cpu_count() or 1)], tree, log)
    with open(os.path.join(tree, "relock-cc.log")) as file:
        commands = [json.loads(line) for line in file]
    entries = {}
    for entry in commands:
        arguments = entry["arguments"]
        output = arguments[arguments.index("-o") + 1]
        if output.startswith(("memcached-", "memcached_debug-")):
            entry["file"] = next(word for word in arguments if word.endswith(".c"))
            entry["output"] = output
            entries[output] = entry
    if not entries:
        raise Failure("no compilation of the server was seen in " + tree)
    with open(os.path.join(tree, "compile_commands.json"), "w") as file:
        json.dump([entries[output] for output in sorted(entries)], file, indent=1)


def sources(tree):
    """Texts of all C files, by name."""
    texts = {}
    for name in glob.glob(os.path.join(tree, "*.[ch]")):
        with open(name, errors="surrogateescape") as file:
            texts[os.path.basename(name)] = file.read()
    texts.pop("config.h", None)
    return texts
