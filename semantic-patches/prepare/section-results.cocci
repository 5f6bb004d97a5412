/// Ends a section before the branch that both of its ways take: `lock(&m); if (c) { unlock(&m);
/// a(); } else { unlock(&m); b(); }` becomes `int taken; lock(&m); taken = c; unlock(&m); if
/// (taken) { a(); } else { b(); }`. As it stands, such a section is held where a branch that it
/// does not leave goes on in a way that its caller cannot follow. Where `taken` is a name in the
/// file, or where a comment would be lost, the place is listed, and stays.
/// False positives: none known; a condition that is no number and no pointer does not compile.
//
// SPDX-License-Identifier: MIT
// Confidence: High
// Names: ^[A-Za-z0-9_]*mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$

virtual report
virtual patch

@initialize:python@
@@
import re

TOKEN = "\x22(?:\\\\.|[^\x22\\\\])*\x22|\x27(?:\\\\.|[^\x27\\\\])*\x27|/{2}[^\n]*|/[*].*?[*]/|."

def lines_of(file):
    with open(file, errors="replace") as source:
        return source.read().split("\n")

def text(first, last, whole=False):
    """The text behind `first` and before `last`; whole: with both."""
    lines = lines_of(first.file)[int(first.line if whole else first.line_end) - 1:
                                 int(last.line_end if whole else last.line)]
    lines[-1] = lines[-1][:int(last.column_end if whole else last.column)]
    lines[0] = lines[0][int(first.column if whole else first.column_end):]
    return "\n".join(lines)

def bare(source):
    """The code without strings and comments."""
    return "".join(" " if len(t) > 1 else t for t in re.findall(TOKEN, source, re.S))

locks = {}  # the function, by its number: the line of the first lock

def function(lines, lock):
    return sum(line.startswith("}") for line in lines[:int(lock.line)])

def why_not(lock, branch, places):
    """Why the result cannot go through a variable, or None."""
    lines = lines_of(lock.file)
    before = "\n".join(lines[:int(lock.line) - 1] + [lines[int(lock.line) - 1][:int(lock.column)]])
    if re.search(r"\btaken\b", bare("\n".join(lines))) or (
            locks[function(lines, lock)] != int(lock.line)):
        return "'taken' is a name already"
    if not re.search(r"[;{}]\s*$", bare(before)):
        return "a variable cannot be declared here"
    for begin, end in places:
        behind = lines_of(end.file)[int(end.line_end) - 1][int(end.column_end):]
        if "/" in text(begin, end) or re.match(r"\s*;\s*/", behind):
            return "a comment would be lost"
    return None

def condition(branch, unlock):
    """What is tested."""
    inside = text(branch, unlock)
    at = inside.index("(") + 1
    depth, end = 1, at
    while depth > 0:
        depth += (inside[end] == "(") - (inside[end] == ")")
        end += 1
    return inside[at:end - 1].strip()

def as_number(tested):
    """The same as 0 or 1."""
    simple = r"[A-Za-z_]\w*(?:(?:->|\.)\w+|\[\w*\]|\([^()]*\))*"
    if re.match(r"(!\s*%s|%s\s*[!=<>]=?\s*\w+)$" % (simple, simple), tested):
        return tested
    return ("%s != 0" if re.match(simple + "$", tested) else "(%s) != 0") % tested

@found exists@
expression E, mutex;
identifier lock =~ "mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$";
identifier unlock =~ "mutex_unlock$|^lock_[a-z]+_unlock$|^[A-Z][a-z]+Unlock$";
position l, taken, b, u, released, middle, o, last;
@@
  lock@l(mutex)@taken;
  if@b (E) {
    unlock@u(mutex)@released;
    ...
  } else@middle {
    unlock@o(mutex)@last;
    ...
  }

@script:python@
l << found.l;
@@
number = function(lines_of(l[0].file), l[0])
locks[number] = min(locks.get(number, int(l[0].line)), int(l[0].line))

@script:python depends on report@
l << found.l;
taken << found.taken;
b << found.b;
released << found.released;
middle << found.middle;
last << found.last;
lock << found.lock;
@@
reason = why_not(l[0], b[0], [(taken[0], b[0]), (b[0], released[0]), (middle[0], last[0])])
print("%s:%s:%s: the section of '%s' ends in both branches%s" % (
    l[0].file, l[0].line, int(l[0].column) + 1, lock, ", and stays: " + reason if reason else ""))

@script:python result depends on patch@
l << found.l;
taken << found.taken;
b << found.b;
released << found.released;
middle << found.middle;
last << found.last;
u << found.u;
value;
@@
if why_not(l[0], b[0], [(taken[0], b[0]), (b[0], released[0]), (middle[0], last[0])]):
    cocci.include_match(False)
else:
    coccinelle.value = cocci.make_ident(as_number(condition(b[0], u[0])))

@depends on patch exists@
expression E, mutex;
identifier lock, unlock, result.value;
position found.l, found.b;
@@
+ int taken;
  lock@l(mutex);
+ taken = value;
+ unlock(mutex);
  if@b (
- E
+ taken
  ) {
-   unlock(mutex);
    ...
  } else {
-   unlock(mutex);
    ...
  }

// What Coccinelle has read, for `relock patches`.
@seen depends on report@
identifier called =~ "mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$";
position p;
@@
  called@p

@script:python@
p << seen.p;
@@
print("seen %s:%s:%s" % (p[0].file, p[0].line, int(p[0].column) + 1))
