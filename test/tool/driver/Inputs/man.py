# SPDX-License-Identifier: MIT
"""Compares man pages with the help that they are made from, and has them read by who is there.

Usage: man.py RELOCK FOLDER
"""
import os
import re
import shutil
import subprocess
import sys

relock, folder = sys.argv[1:]


def output(words, **environment):
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment})
    assert not done.returncode, (words, done)
    return done


def words_of(text):
    return re.sub(r"[`\s]+", " ", text)


def check(path):
    command = os.path.basename(path)[:-2].partition("-")[2]
    said = output([relock, "help", *([command] if command else [])]).stdout
    if shutil.which("man"):
        shown = output(["man", "--warnings", "-E", "UTF-8", "--nh", "--nj", "-l", path], MANWIDTH="1000",
                       MANPAGER="cat", GROFF_NO_SGR="1", TERM="dumb")
        assert not shown.stderr, (path, shown.stderr)
        page = words_of(re.sub(".\b", "", shown.stdout).replace("‐", "-").replace("−", "-"))
        options = said.split("OPTIONS:")[1].split("EXAMPLES:")[0]
        names = re.findall(r"(?m)^  (--?[a-z-]+)", options)
        assert len(names) >= 2, said
        for name in names:
            assert " " + name in page, (path, name)
        for word in words_of(options).split():
            assert word.strip("<>[]=") == "-" or all(part in page for part in re.split(r"[<>]", word.lstrip("="))), \
                (path, word)
        for line in said.split("EXAMPLES:")[1].splitlines():
            assert words_of(line.replace(":", "") if line.isupper() else line).strip() in page, \
                (path, line)
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning", path], capture_output=True, text=True)
        assert not lint.returncode and not lint.stdout, lint.stdout + lint.stderr


pages = sorted(os.listdir(folder))
for name in pages:
    check(os.path.join(folder, name))
listed = re.findall(r"(?m)^  ([a-z]+) +- ", output([relock, "help"]).stdout)
assert pages == sorted(["relock.1"] + ["relock-%s.1" % command for command in listed]), pages
print("%d pages" % len(pages))
