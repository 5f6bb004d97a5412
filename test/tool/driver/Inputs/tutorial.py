# SPDX-License-Identifier: MIT
"""Runs the commands of a page, which stand behind `$ ` in its examples, and looks in what they print for
the lines that the page shows behind them. A figure stands for any other, and … for any text.

Usage: tutorial.py PAGE PREFIX
"""
import glob
import os
import re
import subprocess
import sys

page, prefix = sys.argv[1:]
libraries = os.path.dirname(os.path.dirname(glob.glob(prefix + "/**/relock.pc", recursive=True)[0]))
environment = {**os.environ, "PATH": prefix + "/bin:" + os.environ["PATH"],
               "PKG_CONFIG_PATH": libraries + "/pkgconfig", "LD_LIBRARY_PATH": libraries}
FIGURE = re.compile(r"(?<![A-Za-z*_.\[(])~?\d[\d.]*(?:ns|us|ms|s|k|M|%)?(?![A-Za-z\])])"
                    r"|\[[\d.]+-[\d.]+\](?!\+)")


def pattern(line):
    """What a line of the page stands for."""
    def plain(text):
        return re.sub(r"(?:\\ )+", r"\\s+", re.escape(text))

    result, end = "", 0
    for found in FIGURE.finditer(line):
        result += plain(line[end:found.start()]) + \
            (r"\[[^]]*\]" if found[0][0] == "[" else r"(?:~?\d[\d.]*(?:ns|us|ms|s|k|M|%)?|-)")
        end = found.end()
    return r"(?m)^\s*" + (result + plain(line[end:])).replace("…", ".*") + r"\s*$"


def commands(text):
    """Commands, each with the lines that are shown behind it."""
    result = []
    for line in text.splitlines():
        if line.startswith("    $ "):
            result.append((line[6:], []))
            shown = result[-1][1]
        elif line.startswith("    ") and result and shown is not None:
            if line.strip() != "…":
                shown.append(line[4:])
        elif not line.startswith("    "):
            shown = None
    return result


with open(page) as file:
    text = file.read()
folder = os.getcwd()
for command, shown in commands(text):
    print("$ " + command, flush=True)
    script = command + '\nstatus=$?\npwd > "$FOLDER_FILE"\nexit $status\n'
    done = subprocess.run(["bash", "-c", script], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          env={**environment, "FOLDER_FILE": prefix + "/folder"})
    # 1: relock is done, and there is something to look at.
    assert done.returncode == 0 or done.returncode == 1 and command.startswith("relock "), \
        (command, done.returncode, done.stdout)
    at = 0
    for line in shown:
        found = re.compile(pattern(line)).search(done.stdout, at)
        assert found, "%s\n... does not print, behind what is shown before it:\n%s\nbut\n%s" % (
            command, line, done.stdout)
        at = found.end()
    with open(prefix + "/folder") as file:
        folder = file.read().strip()
words = len(text.split())
assert words < 1000, words
print("shorter than 1,000 words")
