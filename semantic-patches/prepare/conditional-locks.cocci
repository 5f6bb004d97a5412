/// Gives a section that is locked under a condition two branches: `if (c) lock(&m); n++; if (c)
/// unlock(&m);` becomes `if (c) { lock(&m); n++; unlock(&m); } else { n++; }`, for up to four
/// statements between. As it stands, such a section is held, since it depends on a condition
/// whether it runs under the lock. The condition is a local variable, or compares one with a
/// constant; the statements do not name it, and nothing takes its address. Where they have a
/// label, a static variable, a directive or a lock of their own, or where a comment would be
/// lost, the place is listed, and stays.
/// False positives: a macro among the statements that changes the variable, or that declares a label
/// or a static variable, which would then be there twice; a constant that is a macro for a variable.
//
// SPDX-License-Identifier: MIT
// Confidence: Moderate
// Names: ^[A-Za-z0-9_]*mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$

virtual report
virtual patch

@initialize:python@
@@
import re

TOKEN = "\x22(?:\\\\.|[^\x22\\\\])*\x22|\x27(?:\\\\.|[^\x27\\\\])*\x27|/{2}[^\n]*|/[*].*?[*]/|."
variables = {}  # where an `if` stands: the variable that it tests

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

def why_not(begin, lock, locked, end, unlock):
    """Why the statements between the lock and its unlock cannot be written twice, or None."""
    variable = variables.get((begin.line, begin.column))
    if variable is None:
        return "it may change under the lock"
    before, inside, after = text(begin, lock), text(locked, end), text(end, unlock)
    code, all_of_it = bare(inside), bare("\n".join(lines_of(begin.file)))
    word = r"\b%s\b" % re.escape(variable)
    if re.search(word, code) or re.search(r"(?<!&)&\s*\(?\s*" + word, all_of_it) or re.search(
            r"\b(static|volatile)\b[^;(){}]*" + word, all_of_it):
        return "'%s' may change under the lock" % variable
    if re.search(r"^\s*#", inside, re.M):
        return "a directive stands in the section"
    if re.search(r"mutex_\w*lock\b|\block_[a-z]+_\w*lock\b|\b[A-Z][a-z]+Lock\b", code):
        return "the section takes another lock"
    outside = code
    while re.search(r"\{[^{}]*\}", outside):
        outside = re.sub(r"\{[^{}]*\}", ";", outside)
    if (re.search(r"\bstatic\b", code) or re.search(r"\b(case|default)\b", outside) or
            re.search(r"(^|[;{}])\s*(?!default\b)[A-Za-z_]\w*\s*:(?!:)", code, re.M)):
        return "a label or a static variable stands in the section"
    if "/" in before + after or "{" in before and not re.match(r"\s*;\s*\}", inside):
        return "a comment would be lost"
    return None

def negated(condition):
    if re.match(r"\w+$", condition):
        return "!" + condition
    if condition.startswith("!"):
        return condition[1:].strip()
    return re.sub("[!=]=", lambda old: "!=" if old.group() == "==" else "==", condition)

def indent(line):
    return re.match(r"[ \t]*", line).group()

def branches(condition, begin, at, lock, inside, unlock):
    """The condition of the two branches, and their text, but for the outermost braces and the
    semicolon before the last, which the rule below writes."""
    lines = lines_of(begin.file)
    outer, inner = indent(lines[int(begin.line) - 1]), indent(lines[int(at.line) - 1])
    if len(inner) <= len(outer) or not inner.startswith(outer):
        inner = outer + ("\t" if outer.startswith("\t") else "  ")
    step = inner[len(outer):]
    inside = re.sub(r"^\s*;\s*\}?[ \t]*\n?", "", inside).strip()
    inside = "\n".join(step + line if line.strip() else line for line in inside.split("\n"))
    inside, between = inside.strip(), "\n%s} else {\n%s" % (outer, inner)
    locked = "%s;\n%s%s\n%s%s" % (lock, inner, inside, inner, unlock)
    if inside.endswith(";"):
        return condition, locked + ";" + between + inside[:-1]
    return negated(condition), inside + between + locked

@condition@
local idexpression variable;
constant K;
identifier lock =~ "mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$";
expression list mutex;
position p;
@@
  if@p (\(variable\|!variable\|variable == K\|variable != K\)) { lock(mutex); }

@script:python@
p << condition.p;
variable << condition.variable;
@@
variables[(p[0].line, p[0].column)] = variable

@found@
expression E;
expression list mutex;
identifier lock =~ "mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$";
identifier unlock =~ "mutex_unlock$|^lock_[a-z]+_unlock$|^[A-Z][a-z]+Unlock$";
statement S1, S2, S3, S4;
position p, q, l, u, taken, released;
@@
(
  if@p (E) { lock@l(mutex)@taken; }
  S1
  if@q (E) { unlock@u(mutex)@released; }
|
  if@p (E) { lock@l(mutex)@taken; }
  S1
  S2
  if@q (E) { unlock@u(mutex)@released; }
|
  if@p (E) { lock@l(mutex)@taken; }
  S1
  S2
  S3
  if@q (E) { unlock@u(mutex)@released; }
|
  if@p (E) { lock@l(mutex)@taken; }
  S1
  S2
  S3
  S4
  if@q (E) { unlock@u(mutex)@released; }
)

@script:python depends on report@
p << found.p;
q << found.q;
l << found.l;
u << found.u;
taken << found.taken;
lock << found.lock;
@@
reason = why_not(p[0], l[0], taken[0], q[0], u[0])
print("%s:%s:%s: '%s' depends on a condition%s" % (
    p[0].file, p[0].line, int(p[0].column) + 1, lock, ", and stays: " + reason if reason else ""))

@script:python branch depends on patch@
p << found.p;
q << found.q;
l << found.l;
u << found.u;
taken << found.taken;
released << found.released;
test << found.E;
chosen;
both;
@@
if why_not(p[0], l[0], taken[0], q[0], u[0]):
    cocci.include_match(False)
else:
    chosen, both = branches(test, p[0], l[0], text(l[0], taken[0], True), text(taken[0], q[0]),
                            text(u[0], released[0], True))
    coccinelle.chosen = cocci.make_ident(chosen)
    coccinelle.both = cocci.make_ident(both)

@depends on patch@
expression E;
expression list mutex;
identifier lock, unlock, branch.chosen, branch.both;
statement S1, S2, S3, S4;
position found.p, found.q;
@@
(
- if@p (E) { lock(mutex); }
- S1
- if@q (E) { unlock(mutex); }
+ if (chosen) {
+   both;
+ }
|
- if@p (E) { lock(mutex); }
- S1
- S2
- if@q (E) { unlock(mutex); }
+ if (chosen) {
+   both;
+ }
|
- if@p (E) { lock(mutex); }
- S1
- S2
- S3
- if@q (E) { unlock(mutex); }
+ if (chosen) {
+   both;
+ }
|
- if@p (E) { lock(mutex); }
- S1
- S2
- S3
- S4
- if@q (E) { unlock(mutex); }
+ if (chosen) {
+   both;
+ }
)

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
