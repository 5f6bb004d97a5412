# SPDX-License-Identifier: MIT
"""Lock sites by an independent count: every call of a pthread lock operation in Clang's AST."""
import concurrent.futures
import json
import os
import subprocess

LOCKS = {"pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock",
         "pthread_mutex_clocklock"}


class Walk:
    """Walks a JSON dump in the order in which it was printed: a location names its file and line
    only where they differ from those of the location before it."""

    def __init__(self):
        self.file = self.line = None
        self.sites = set()

    def location(self, node):
        """Reads a location; the place is where a macro is expanded, not where it is written."""
        place = None
        if "spellingLoc" in node:
            self.location(node["spellingLoc"])
            return self.location(node["expansionLoc"])
        if "offset" in node:
            self.file = node.get("file", self.file)
            self.line = node.get("line", self.line)
            place = (self.file, self.line)
        return place

    def visit(self, node):
        begin = None
        for key, value in node.items():
            if key == "loc":
                self.location(value)
            elif key == "range":
                begin = self.location(value["begin"])
                self.location(value["end"])
            elif key == "inner":
                if node.get("kind") == "CallExpr" and callee(node) in LOCKS:
                    self.sites.add(begin)
                for child in value:
                    self.visit(child)
            elif isinstance(value, dict):
                self.visit(value)
            elif isinstance(value, list):
                for element in value:
                    if isinstance(element, dict):
                        self.visit(element)


def callee(call):
    """The name of the function that a call names, or null."""
    node = call["inner"][0]
    while node.get("kind") in ("ImplicitCastExpr", "ParenExpr"):
        node = node["inner"][0]
    return node.get("referencedDecl", {}).get("name")


def of_file(clang, entry):
    arguments = list(entry["arguments"][1:])
    for option in ("-o", "-MF", "-MT"):
        if option in arguments:
            at = arguments.index(option)
            del arguments[at:at + 2]
    arguments = [word for word in arguments if word not in ("-c", "-MD", "-MP")]
    dump = subprocess.run([clang, *arguments, "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json"],
                          cwd=entry["directory"], capture_output=True, check=True).stdout
    walk = Walk()
    walk.visit(json.loads(dump))
    return {"%s:%d" % (os.path.normpath(os.path.join(entry["directory"], file)), line)
            for file, line in walk.sites}


def of_database(clang, database):
    """All sites as `file:line`, with absolute file names."""
    with open(database) as file:
        entries = json.load(file)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        return set().union(*pool.map(of_file, [clang] * len(entries), entries))
