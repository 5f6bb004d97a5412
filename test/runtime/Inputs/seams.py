# SPDX-License-Identifier: MIT
"""Looks for the processor in the runtime's sources, outside the headers that stand for it.

usage: seams.py RUNTIME    prints FILE:LINE: TEXT, and exits with 1 if there is any
"""
import pathlib
import re
import sys

ROOMS = ["base", "channels", "collectives", "containers", "locks", "mutex", "process", "server",
         "statistics"]
# os_linux.c is behind os.h.
SEAMS = {"base/atomic.h", "base/arch.h", "base/os_linux.c"}
PROCESSOR = re.compile(r"\b(__asm__|asm|__x86_64__|__aarch64__|__builtin_ia32_\w+|"
                       r"__builtin_(frame_address|thread_pointer|readcyclecounter)|_mm_pause)\b")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def places(runtime):
    for file in sorted(path for room in ROOMS for path in (runtime / room).glob("*.[ch]")):
        if str(file.relative_to(runtime)) in SEAMS:
            continue
        text = COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment.group()), file.read_text())
        for number, line in enumerate(text.splitlines(), 1):
            if PROCESSOR.search(line):
                yield f"{file.relative_to(runtime)}:{number}: {line.strip()}"


found = list(places(pathlib.Path(sys.argv[1])))
print("\n".join(found))
sys.exit(1 if found else 0)
