# SPDX-License-Identifier: MIT
"""Compares the members of records with what their fields() visits.

Usage: fields.py TOOL, the folder of the sources. Prints what is missing, and how many there are.
"""
import os
import re
import sys

HEADERS = ["index/Records.h", "program/Layers.h", "program/PointerEffects.h", "program/Program.h",
           "program/Relays.h", "section/Find.h", "section/ProgramView.h", "section/Section.h"]
SOURCES = ["index/RecordFields.h", "section/ProgramView.cpp", "section/SectionsFile.cpp"]
# Linking finds the first two; facts of a broken unit are not kept.
ELSEWHERE = {("Wrapper", "Through"), ("Wrapper", "Elsewhere"), ("UnitFacts", "Broken"), ("UnitFacts", "Names")}

tool = sys.argv[1]


def text(name):
    with open(os.path.join(tool, name)) as file:
        return re.sub(r"//[^\n]*", "", file.read())


def body(source, begin):
    depth, at = 1, begin
    while depth:
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return source[begin:at - 1]


def outer(source):
    """Without what stands in braces."""
    kept, depth = "", 0
    for letter in source:
        depth -= letter == "}"
        if not depth and letter != "}":
            kept += letter
        depth += letter == "{"
    return kept


def members(source):
    for statement in outer(source).split(";"):
        statement = statement.strip()
        if not statement or re.match(r"(friend|struct|using|template)\b|.*\)\s*(const)?\s*\{?$|bool operator",
                                     statement, re.DOTALL):
            continue
        if statement.startswith("enum"):
            statement = statement.partition("{")[2]
        while re.search(r"<[^<>]*>", statement):
            statement = re.sub(r"<[^<>]*>", "", statement)
        for declarator in statement.split(","):
            names = re.findall(r"\w+", declarator.split("=")[0].split("{")[0])
            if names:
                yield names[-1]


visited = {}
for name in SOURCES:
    for match in re.finditer(r"void fields\(V &&Visit, ([\w:]+) &(\w)\) \{(.*?)\n\}", text(name), re.DOTALL):
        found = set(re.findall(match[2] + r"\.(\w+)", match[3]))
        visited.setdefault(match[1].split("::")[-1], set()).update(found)

records = seen = 0
for name in HEADERS + ["section/ProgramView.cpp", "section/SectionsFile.cpp"]:
    source = text(name)
    for match in re.finditer(r"\bstruct (\w+)(?: : \w+)? \{", source):
        if match[1] not in visited:
            continue
        records += 1
        for member in members(body(source, match.end())):
            if member == "operator" or (match[1], member) in ELSEWHERE:
                continue
            seen += 1
            if member not in visited[match[1]]:
                print("%s: %s of %s is in no fields()" % (name, member, match[1]))
print("%d records, %d members" % (records, seen))
