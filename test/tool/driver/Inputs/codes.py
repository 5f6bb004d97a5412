# SPDX-License-Identifier: MIT
"""Compares the codes that the tool's sources can emit with the pages that explain them.

Usage: codes.py RELOCK TOOL_FOLDER

A code in the sources is a string literal of lower-case words and hyphens that is an argument of a
function that prints or records messages, or is followed by its message, a literal with a blank, or
begins a record of a list of reasons.
"""
import os
import re
import subprocess
import sys

EMITTERS = {"message", "messageFor", "fail", "failed", "failBenchmark", "failBenchmarkFor", "report", "failFor", "repeatErrors", "unreadable",
            "against", "escape", "refuse", "Is", "Reason", "change", "readVersion", "reportYaml"}
CODE = re.compile(r'"([a-z]+(?:-[a-z]+)*)"')
RECORD = re.compile(r"\b(Reasons?|Refuse|Kept|Against)\b[^;]*\{$")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def enclosing(text, at):
    """The word before the innermost bracket that is open at this place."""
    depth = 0
    for i in range(at - 1, -1, -1):
        if text[i] in ")}]":
            depth += 1
        elif text[i] in "({[":
            if not depth:
                return re.search(r"(\w*)\s*$", text[:i])[1]
            depth -= 1
        elif text[i] == ";" and not depth:
            break
    return ""


def emitted(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            if not name.endswith((".cpp", ".h")):
                continue
            with open(os.path.join(at, name)) as file:
                text = re.sub(r"(?m)^\s*//.*$", "", file.read())
            # Brackets in strings and characters are no brackets.
            plain = STRING.sub(lambda m: '"' + re.sub(r"[(){}\[\];]", "_", m[0][1:-1]) + '"', text)
            plain = re.sub(r"'[(){}\[\];]'", "'_'", plain)
            for m in CODE.finditer(plain):
                word = enclosing(plain, m.start())
                told = re.match(r'\s*,\s*"[^"]* ', plain[m.end():]) and word not in ("Command", "clEnumValN")
                argument = re.match(r"\s*[,):]", plain[m.end():]) and word in EMITTERS
                record = RECORD.search(plain[max(0, m.start() - 80):m.start()])
                if told or argument or record:
                    found.setdefault(m[1], name)
    return found


def explained(relock):
    listed = subprocess.run([relock, "explain"], capture_output=True, text=True, check=True)
    return {code for line in listed.stdout.splitlines() if line.startswith("    ")
            for code in line.split()}


def check_refusals(path):
    """Each refusal has a row in the overview, an example, a reason and a remedy."""
    with open(path) as file:
        text = file.read()
    rows = re.findall(r"(?m)^\| \[`([a-z-]+)`\]", text)
    pages = re.findall(r"(?ms)^### `([a-z-]+)`\n(.*?)(?=^##|\Z)", text)
    if rows != [code for code, _ in pages]:
        yield "the overview's codes are not those of the pages, in their order"
    for code, page in pages:
        for part in ("```c\n", "**Reason:** ", "**Remedy:** "):
            if part not in page:
                yield "%s: its page lacks %s" % (code, part.strip())


relock, folder = sys.argv[1:]
source, pages = emitted(folder), explained(relock)
problems = list(check_refusals(os.path.join(folder, "doc", "refusals.md")))
problems += ["%s: emitted in %s, but tool/doc has no page for it" % (code, source[code])
             for code in sorted(set(source) - pages)]
problems += ["%s: has a page, but no source emits it" % code for code in sorted(pages - set(source))]
print("\n".join(problems) or "%d codes, each with its page" % len(pages))
sys.exit(bool(problems))
