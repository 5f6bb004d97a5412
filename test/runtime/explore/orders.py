# SPDX-License-Identifier: MIT
"""Each order in the runtime stronger than relaxed is caught by the explorer, or justified.

  orders.py RUNTIME ORDERS                    compares the sources with the list
  orders.py RUNTIME ORDERS EXPLORE [long]     weakens what is said to be caught, in the runs that do
                                              not take long or in those that do, and says what is
                                              not caught there

ORDERS explains itself. Exit status: 0 all is so; 1 something is not.
"""
import collections
import os
import re
import subprocess
import sys

ROOMS = "base channels collectives locks server statistics mutex debug process containers".split()
WEAKER = {
    "acquire": ["relaxed"],
    "release": ["relaxed"],
    "acq_rel": ["acquire", "release"],
    "seq_cst": ["acq_rel", "relaxed"],
}
# What the explorer calls an operation.
CALLED = {"cas": "compare-and-swap", "sub": "subtract"}

OPERATION = re.compile(r"\brelock_([a-z]+)_(%s)\(" % "|".join(WEAKER))
BARE = re.compile(r"\b__atomic_([a-z_]+?)(?:_n)?\(([^,]*),.*?__ATOMIC_(ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)")
KINDS = {"load", "store", "exchange", "add", "and", "or", "cas"}
FUNCTION = re.compile(r"^(?!#|typedef|extern)[A-Za-z_].*?\b([A-Za-z_]\w*)\(")

Order = collections.namedtuple("Order", "file function operation order kind line")


def without_comments(text):
    def blank(comment):
        return "\n" * comment.group().count("\n")

    return re.sub(r"/\*.*?\*/", blank, text, flags=re.DOTALL)


def argument(text):
    """The first argument of a call, without spaces, from behind its parenthesis."""
    depth = 0
    for i, letter in enumerate(text):
        if depth == 0 and letter in ",)":
            return re.sub(r"\s", "", text[:i])
        depth += (letter in "([") - (letter in ")]")
    return re.sub(r"\s", "", text)


def operations(line):
    for found in OPERATION.finditer(line):
        if found.group(1) in KINDS:
            yield found.group(1), found.group(2), argument(line[found.end() :])
    for found in BARE.finditer(line):
        kind = {"sub_fetch": "sub"}.get(found.group(1), found.group(1))
        yield kind, found.group(3).lower(), argument(found.group(2))


def orders_of(runtime):
    """All of them, in the order of the sources."""
    found = []
    for room in ROOMS:
        for name in sorted(os.listdir(os.path.join(runtime, room))):
            if not name.endswith((".c", ".h")):
                continue
            with open(os.path.join(runtime, room, name)) as source:
                lines = without_comments(source.read()).split("\n")
            function, seen = "?", collections.Counter()
            macro = False
            for number, line in enumerate(lines, 1):
                macro_line = macro or line.startswith("#define")
                macro = macro_line and line.endswith("\\")
                if macro_line:
                    continue
                begins = FUNCTION.match(re.sub(r"__attribute__\(\(.*?\)\)", "", line))
                if begins:
                    function = begins.group(1)
                    seen.clear()
                for kind, order, object_ in operations(line):
                    text = "%s_%s(%s)" % (kind, order, object_)
                    seen[text] += 1
                    if seen[text] > 1:
                        text += "#%d" % seen[text]
                    file = room + "/" + name
                    found.append(Order(file, function, text, order, kind, number))
    return found


class List:
    """What the file says: runs by name, and the fate of each (file, function, operation, weaker)."""

    def __init__(self, path):
        self.runs, self.long, self.fate, self.errors = {}, set(), {}, []
        open_entries, reason = [], ""

        def close():
            for key in open_entries:
                self.fate[key] = ("justified", reason)
                if len(reason) < 20:
                    self.errors.append("neither a run nor a reason: " + " ".join(key))
            open_entries.clear()

        with open(path) as lines:
            for number, line in enumerate(lines, 1):
                line = line.rstrip()
                if line.startswith((" ", "\t")) and line.strip():
                    reason = (reason + " " + line.strip()).strip()
                    continue
                if reason:
                    close()
                    reason = ""
                if not line or line.startswith("#"):
                    continue
                words = line.split()
                if words[0] in ("run", "long-run") and len(words) > 3 and words[2] == "=":
                    self.runs[words[1]] = words[3:]
                    if words[0] == "long-run":
                        self.long.add(words[1])
                elif len(words) in (4, 6) and (len(words) == 4 or words[4] == "="):
                    for weaker in words[3].split(","):
                        key = (words[0], words[1], words[2], weaker)
                        if key in self.fate or key in open_entries:
                            self.errors.append("twice: " + " ".join(key))
                        if len(words) == 6:
                            self.fate[key] = ("caught", words[5])
                            if words[5] not in self.runs:
                                self.errors.append("no such run: " + words[5])
                        else:
                            open_entries.append(key)
                else:
                    self.errors.append("line %d is not understood: %s" % (number, line))
        close()


def compare(orders, listed):
    problems = list(listed.errors)
    places = collections.Counter((o.file, o.line, o.kind, o.order) for o in orders)
    for place, count in places.items():
        if count > 1:
            problems.append("%s:%d: two of a kind on one line; put them on two" % place[:2])
    needed = {}
    for order in orders:
        for weaker in WEAKER[order.order]:
            needed[(order.file, order.function, order.operation, weaker)] = order
    for key, order in needed.items():
        if key not in listed.fate:
            problems.append("%s:%d: not in the list: %s" % (order.file, order.line, " ".join(key)))
    for key in listed.fate:
        if key not in needed:
            problems.append("not in the sources any more: " + " ".join(key))
    return problems, needed


def explore(explorer, words, lines):
    environment, words = dict(os.environ), list(words)
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        environment[name] = value
    command = [explorer] + words + ["--mutants"]
    for line in lines:
        command += ["--line", line]
    said = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ).stdout
    found = {}
    pattern = r"^\S+ mutant \S+ (\S+) (\S+): (\S+) -> (\S+): (caught|MISSED)(.*)"
    for match in re.finditer(pattern, said, re.MULTILINE):
        found[match.groups()[:4]] = match.group(5) == "caught", match.group(6)
    return found, said


def catch(explorer, listed, needed, long):
    problems = []
    for name, words in listed.runs.items():
        if (name in listed.long) != long:
            continue
        wanted = {}
        for key, (fate, run) in listed.fate.items():
            if fate == "caught" and run == name:
                order = needed[key]
                line = "%s:%d" % (os.path.basename(order.file), order.line)
                kind = CALLED.get(order.kind, order.kind)
                wanted[(line, kind, order.order, key[3])] = key
        if not wanted:
            problems.append("nothing is said to be caught in the run " + name)
            continue
        found, said = explore(explorer, words, sorted({w[0] for w in wanted}))
        caught = 0
        for mutant, key in wanted.items():
            if mutant not in found:
                problems.append("%s does not reach %s" % (name, " ".join(key)))
            elif not found[mutant][0]:
                problems.append("%s misses %s" % (name, " ".join(key)))
            else:
                caught += 1
        for mutant, (is_caught, how) in found.items():
            others = [
                key
                for key, order in needed.items()
                if "%s:%d" % (os.path.basename(order.file), order.line) == mutant[0]
                and CALLED.get(order.kind, order.kind) == mutant[1]
                and order.order == mutant[2]
                and key[3] == mutant[3]
            ]
            if is_caught and others and all(listed.fate[k][0] == "justified" for k in others):
                problems.append("%s catches what is justified: %s" % (name, " ".join(others[0])))
        print("%s: %d of %d caught" % (name, caught, len(wanted)), flush=True)
        if not found:
            problems.append("%s says: %s" % (name, said[-2000:]))
    return problems


def main():
    runtime, path = sys.argv[1:3]
    orders, listed = orders_of(runtime), List(path)
    problems, needed = compare(orders, listed)
    if not problems and len(sys.argv) > 3:
        problems = catch(sys.argv[3], listed, needed, sys.argv[4:] == ["long"])
    for problem in problems:
        print(problem)
    if problems:
        return 1
    fates = collections.Counter(fate for fate, _ in listed.fate.values())
    print(
        "%d orders; weakened by a step, %d are caught and %d justified"
        % (len(orders), fates["caught"], fates["justified"])
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
