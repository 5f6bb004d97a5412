# SPDX-License-Identifier: MIT
"""Follows the page "In a program of your own" of the runtime's README.

  page.py README DIRECTORY

writes counts.c as the page shows it, applies the page's diffs one after the other, and leaves the
program of each step as DIRECTORY/N/counts.c, and the commands as DIRECTORY/commands.
"""
import pathlib
import re
import subprocess
import sys

readme, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
page = readme.read_text().split("## In a program of your own\n")[1].split("\n## ")[0]
program = re.search(r"```c\n(.*?)```", page, re.S).group(1)
diffs = re.findall(r"```diff\n(.*?)```", page, re.S)
assert len(diffs) == 2, "the page has other steps than this test knows"
prose = re.sub(r"```.*?```", "", page, flags=re.S)
commands = [line[4:] for line in prose.splitlines() if line.startswith("    ")]
directory.mkdir(parents=True)
(directory / "commands").write_text("\n".join(commands) + "\n")
for step, diff in enumerate([None] + diffs):
    place = directory / str(step)
    place.mkdir(parents=True)
    (place / "counts.c").write_text(program)
    if diff:
        subprocess.run(["patch", "-s", "-p0"], cwd=place, input=diff, text=True, check=True)
    program = (place / "counts.c").read_text()
