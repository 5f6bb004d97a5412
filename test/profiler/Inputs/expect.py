# SPDX-License-Identifier: MIT
"""expect.py PROFILE EXPRESSION...: each expression must hold for the profile.

An expression is Python over `profile`, the whole file, `lock(name)`, the class of that name,
`wait(name)`, what is waited for under that name, `inside(name, other)`, how often it was acquired
while the other one was held, `read_inside(name, other)`, how often the first, the other one, and
both were then taken for reading, `thread(name)`, the row of that thread, `held(thread, name)`, how
often it held the class, and `site(name, *functions)`, the calls of the class that come from these,
added up, with `reading=True` those that read; `waiting_in(name, *functions)` is the same for what
is waited for; `made(function)`, how many locks each class has that a caller of this name
initialised, `spare_share()`, how much of their time the processors ran nothing, and
`waited(waiter, holder, name)`, how often one thread waited for the class that the
other one held (None: nobody known), and whether that took more than 5 ms each time.
"""
import json
import sys

with open(sys.argv[1]) as file:
    profile = json.load(file)


def only(name, classes):
    found = [c for c in classes if c["name"] == name]
    if len(found) != 1:
        names = ", ".join(c["name"] for c in classes)
        sys.exit(f"{len(found)} classes are named {name}; there are: {names}")
    return found[0]


def lock(name):
    return only(name, profile["classes"])


def wait(name):
    return only(name, profile["waits"])


def made(function):
    classes = [c for c in profile["classes"] if c["kind"] == "initialised"]
    return sorted(c["objects"] for c in classes if c["backtrace"][1].split(" ")[0] == function)


def inside(name, other, member="inside"):
    key = lock(other)["key"]
    return sum(i["count"] for i in lock(name).get(member, []) if i["key"] == key)


def read_inside(name, other):
    key = lock(other)["key"]
    found = [i for i in lock(name).get("read_inside", []) if i["key"] == key]
    return [sum(i[member] for i in found) for member in ("inner", "outer", "both")]


def spare_share():
    machine = profile["machine"]
    return machine["spare_ns"] / (machine["usable_processors"] * profile["duration_ns"])


def thread(name):
    found = [t for t in profile["by_thread"] if t["name"] == name]
    if len(found) != 1:
        sys.exit(f"{len(found)} threads are named {name}")
    return found[0]


def held(name, of):
    key = lock(of)["key"]
    return sum(c["acquisitions"] for c in thread(name)["classes"] if c["key"] == key)


def site(name, *functions, reading=False):
    return calls(lock(name), functions, reading)


def waiting_in(name, *functions):
    return calls(wait(name), functions)


def calls(of, functions, reading=False):
    total = dict.fromkeys(("samples", "acquisitions", "contended", "wait_ns", "hold_ns"), 0)
    for s in of["sites"]:
        if reading == s.get("reading", False) and [f.split(" ")[0] for f in s["stack"][: len(functions)]] == list(functions):
            for member in total:
                total[member] += s[member]
    return total


def waited(waiter, holder, name):
    ids = thread(waiter)["id"], thread(holder)["id"] if holder else 0
    key = lock(name)["key"]
    found = [e for e in profile["waited_for"]
             if (e["waiter"], e["holder"]) == ids and e["key"] == key]
    count = sum(e["count"] for e in found)
    return count, count > 0 and sum(e["wait_ns"] for e in found) / count > 5 * MS


MS = 1000 * 1000
failed = False
for expression in sys.argv[2:]:
    if not eval(expression):
        print(f"does not hold: {expression}")
        for find in lock, wait:
            for name in [p.split('")')[0] for p in expression.split(find.__name__ + '("')[1:]]:
                seen = {k: v for k, v in find(name).items() if k not in ("locks", "backtrace")}
                print(json.dumps(seen, indent=1))
        failed = True
sys.exit(failed)
