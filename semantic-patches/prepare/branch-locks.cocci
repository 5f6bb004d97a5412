/// Gives a section that is left and entered again in a branch two ends: `lock(&m); if (c) {
/// unlock(&m); a(); lock(&m); } b(); unlock(&m);` becomes `lock(&m); if (c) { unlock(&m); a();
/// lock(&m); b(); unlock(&m); } else { b(); unlock(&m); }`, with up to three statements b(). As
/// they stand, both sections are held: the first one ends where the second begins, and the second
/// begins in a branch and ends behind it. Where a label, a static variable or a directive stands
/// among the statements, where the branch declares a name of theirs, or where a comment would be
/// lost, the place is listed, and stays.
/// False positives: a macro among the statements that declares a label or a static variable,
/// which would then be there twice.
//
// SPDX-License-Identifier: MIT
// Confidence: Moderate
// Names: ^[A-Za-z0-9_]*mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$

virtual report
virtual patch

@initialize:python@
@@
import re

last = {}  # where a branch begins: the line of the lock in it
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

def indent(line):
    return re.match(r"[ \t]*", line).group()

def declares(code, used):
    """Whether the code may declare a name that is used."""
    declarator = r"(\b(?!(?:return|goto|else|case)\b)[A-Za-z_]\w*[\s*]+|,[\s*]*)%s\s*([;,\[]|=[^=])"
    return any(re.search(declarator % name, code)
               for name in set(re.findall(r"[A-Za-z_]\w*", used)))

def why_not(begin, lock, taken, end, unlock):
    """Why the rest of the section cannot be written twice, or None."""
    if last.setdefault((begin.line, begin.column), lock.line) != lock.line:
        return "the branch enters it twice"
    inside, rest = text(begin, end), text(end, unlock)
    code = bare(rest)
    outside = code
    while re.search(r"\{[^{}]*\}", outside):
        outside = re.sub(r"\{[^{}]*\}", ";", outside)
    if (re.search(r"\bstatic\b", code) or re.search(r"\b(case|default)\b", outside) or
            re.search(r"(^|[;{}])\s*(?!default\b)[A-Za-z_]\w*\s*:(?!:)", code, re.M)):
        return "a label or a static variable follows"
    if re.search(r"^\s*#", rest + text(lock, end), re.M):
        return "a directive follows"
    if declares(bare(inside), code + text(lock, taken, True)):
        return "the branch declares a name that follows"
    if re.match(r"\s*;[^\n]*/", text(taken, end)) or rest.lstrip().startswith("/"):
        return "a comment would be lost"
    return None

def ends(begin, lock, rest, unlock):
    """The end of the branch and the other branch, but for the last semicolon and brace."""
    lines = lines_of(begin.file)
    outer, inner = indent(lines[int(begin.line) - 1]), indent(lines[int(lock.line) - 1])
    step = inner[len(outer):]
    rest = [step + line if line.strip() else line for line in rest.strip().split("\n")]
    once = "\n".join((rest if "".join(rest).strip() else []) + [inner + unlock])
    if not once.startswith(inner):
        once = inner + once.lstrip()
    return "%s;\n%s} else {\n%s" % (once.strip(), outer, once)

@found exists@
expression E, mutex;
identifier lock =~ "mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$";
identifier unlock =~ "mutex_unlock$|^lock_[a-z]+_unlock$|^[A-Z][a-z]+Unlock$";
statement S1, S2, S3;
position b, t, taken, e, u, released;
@@
(
  if@b (E) {
    ...
    unlock(mutex);
    ...
    lock@t(mutex)@taken;
    ...
  }@e
  unlock@u(mutex)@released;
|
  if@b (E) {
    ...
    unlock(mutex);
    ...
    lock@t(mutex)@taken;
    ...
  }@e
  S1
  unlock@u(mutex)@released;
|
  if@b (E) {
    ...
    unlock(mutex);
    ...
    lock@t(mutex)@taken;
    ...
  }@e
  S1
  S2
  unlock@u(mutex)@released;
|
  if@b (E) {
    ...
    unlock(mutex);
    ...
    lock@t(mutex)@taken;
    ...
  }@e
  S1
  S2
  S3
  unlock@u(mutex)@released;
)

@script:python depends on report@
b << found.b;
t << found.t;
taken << found.taken;
e << found.e;
u << found.u;
lock << found.lock;
@@
reason = why_not(b[0], t[0], taken[0], e[0], u[0])
print("%s:%s:%s: '%s' enters a section again%s" % (
    t[0].file, t[0].line, int(t[0].column) + 1, lock, ", and stays: " + reason if reason else ""))

@script:python branch depends on patch@
b << found.b;
t << found.t;
taken << found.taken;
e << found.e;
u << found.u;
released << found.released;
both;
@@
if why_not(b[0], t[0], taken[0], e[0], u[0]):
    cocci.include_match(False)
else:
    both = ends(b[0], t[0], text(e[0], u[0]), text(u[0], released[0], True))
    coccinelle.both = cocci.make_ident(both)

@depends on patch exists@
expression E, mutex;
identifier lock, unlock, branch.both;
statement S1, S2, S3;
position found.b, found.t;
@@
(
  if@b (E) {
    ...
    lock@t(mutex);
    ...
+   both;
  }
- unlock(mutex);
|
  if@b (E) {
    ...
    lock@t(mutex);
    ...
+   both;
  }
- S1
- unlock(mutex);
|
  if@b (E) {
    ...
    lock@t(mutex);
    ...
+   both;
  }
- S1
- S2
- unlock(mutex);
|
  if@b (E) {
    ...
    lock@t(mutex);
    ...
+   both;
  }
- S1
- S2
- S3
- unlock(mutex);
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
