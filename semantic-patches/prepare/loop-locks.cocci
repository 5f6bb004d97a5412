/// Takes a lock that is held from one round of a loop to the next in each round. `lock(&m); while
/// (1) { a(); unlock(&m); b(); lock(&m); }` becomes `while (1) { lock(&m); a(); unlock(&m); b();
/// }`, and `lock(&m); while (busy) { unlock(&m); b(); lock(&m); } c(); unlock(&m);` becomes
/// `while (1) { lock(&m); if (!(busy)) { c(); unlock(&m); break; } unlock(&m); b(); }`, for up to
/// three statements c(). A loop that unlocks first and locks at its end is written so that each
/// round locks. As it stands, a section of a loop that never ends is held; one that ends is
/// delegated as it is, and needs this patch only where it holds for another reason. Where
/// the loop has a `continue` or a label, where it declares a name of the lock's, or where a
/// comment would be lost, the place is listed, and stays; so do `break`s out of loops with a
/// condition.
/// False positives: a macro in the loop that is a `continue`, a `break` or a label.
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

def indent(line):
    return re.match(r"[ \t]*", line).group()

def without(code, heads):
    """The code without the bodies of statements that begin with one of the heads."""
    while True:
        head = re.search(r"\b(%s)\b" % heads, code)
        if not head:
            return code
        at, depth = head.end(), 0
        while at < len(code) and (depth > 0 or code[at] not in ";{}"):
            depth += (code[at] in "([") - (code[at] in ")]")
            at += 1
        if at < len(code) and code[at] == "{":
            at, depth = at + 1, 1
            while at < len(code) and depth > 0:
                depth += (code[at] == "{") - (code[at] == "}")
                at += 1
        code = code[:head.start()] + " " + code[at:]

def comment_behind(place):
    """Whether a comment follows in the line of what ends at `place`."""
    return "/" in lines_of(place.file)[int(place.line_end) - 1][int(place.column_end):]

def declares(code, mutex):
    """Whether the code may declare a name of the lock's."""
    declarator = r"(\b(?!(?:return|goto|else|case)\b)[A-Za-z_]\w*[\s*]+|,[\s*]*)%s\s*([;,\[]|=[^=])"
    return any(re.search(declarator % name, code) for name in re.findall(r"[A-Za-z_]\w*", mutex))

def condition(loop, last):
    """What the loop tests, or `1`."""
    inside = text(loop, last)
    at = inside.index("(") + 1
    depth, end = 1, at
    while depth > 0:
        depth += (inside[end] == "(") - (inside[end] == ")")
        end += 1
    tested = inside[at:end - 1].strip()
    return "1" if tested in ("true", "TRUE") or tested.replace(" ", "") == ";;" else tested

def what_follows(loop, last, end, unlock):
    """What stands between a loop with a condition and the unlock."""
    return text(end, unlock) if condition(loop, last) != "1" else None

def why_not(first, loop, last, mutex, rest):
    """Why the lock cannot move to the begin of the loop, or None."""
    inside = text(loop, last)
    code = bare(inside) + " "
    if re.search(r"\bcontinue\b", without(code, "for|while|do")):
        return "the loop has a `continue`"
    if rest is not None and re.search(r"\bbreak\b", without(code, "for|while|do|switch")):
        return "a `break` leaves the loop"
    if rest is not None and re.search(r"\b(continue|break|case|default)\b", bare(rest)):
        return "what follows the loop cannot stand in it"
    rest = rest or ""
    if re.search(r"(^|[;{}])\s*(?!default\b)[A-Za-z_]\w*\s*:(?!:)", code + bare(rest), re.M) or (
            re.search(r"\b(case|default)\b", without(code, "switch"))):
        return "there is a label"
    if re.search(r"^\s*#", inside + rest, re.M):
        return "there is a directive"
    if declares(code, mutex):
        return "the loop declares a name of the lock's"
    if text(first, loop).strip() != ";":
        return "something stands before the loop"
    if comment_behind(last) or rest.lstrip().startswith("/"):
        return "a comment would be lost"
    return None

def exit_of(loop, last, rest, unlock):
    """What ends a loop with a condition, and what is done then."""
    lines = lines_of(loop.file)
    outer, inner = indent(lines[int(loop.line) - 1]), indent(lines[int(last.line) - 1])
    step = inner[len(outer):]
    body = [2 * step + line if line.strip() else line for line in rest.strip().split("\n")]
    return "!(%s)" % condition(loop, last), "\n".join(
        (body if rest.strip() else []) + [inner + step + unlock]).strip()

@found exists@
expression E, mutex;
identifier lock =~ "mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$";
identifier unlock =~ "mutex_unlock$|^lock_[a-z]+_unlock$|^[A-Z][a-z]+Unlock$";
identifier always =~ "^(true|TRUE)$";
statement S1, S2, S3;
position p, w, t, e, u, released;
@@
(
  lock@u@e@released(mutex)@p;
  while@w (\(1\|always\)) {
    ...
    lock@t(mutex);
  }
|
  lock@u@e@released(mutex)@p;
  for@w (;;) {
    ...
    lock@t(mutex);
  }
|
  lock@e@released(mutex)@p;
  while@w (\(1\|always\)) {
    unlock@u(mutex);
    ...
  }@t
|
  lock@e@released(mutex)@p;
  for@w (;;) {
    unlock@u(mutex);
    ...
  }@t
|
  lock(mutex)@p;
  while@w (E) {
    ...
    lock@t(mutex);
  }@e
  unlock@u(mutex)@released;
|
  lock(mutex)@p;
  while@w (E) {
    ...
    lock@t(mutex);
  }@e
  S1
  unlock@u(mutex)@released;
|
  lock(mutex)@p;
  while@w (E) {
    ...
    lock@t(mutex);
  }@e
  S1
  S2
  unlock@u(mutex)@released;
|
  lock(mutex)@p;
  while@w (E) {
    ...
    lock@t(mutex);
  }@e
  S1
  S2
  S3
  unlock@u(mutex)@released;
)

@script:python depends on report@
p << found.p;
w << found.w;
t << found.t;
e << found.e;
u << found.u;
mutex << found.mutex;
lock << found.lock;
@@
reason = why_not(p[0], w[0], t[0], mutex, what_follows(w[0], t[0], e[0], u[0]))
print("%s:%s:%s: '%s' is held from one round of a loop to the next%s" % (
    w[0].file, w[0].line, int(w[0].column) + 1, lock, ", and stays: " + reason if reason else ""))

@script:python exit depends on patch@
p << found.p;
w << found.w;
t << found.t;
e << found.e;
u << found.u;
released << found.released;
mutex << found.mutex;
ended;
last;
@@
rest = what_follows(w[0], t[0], e[0], u[0])
if why_not(p[0], w[0], t[0], mutex, rest):
    cocci.include_match(False)
else:
    ended, last = "", ""
    if rest is not None:
        ended, last = exit_of(w[0], t[0], rest, text(u[0], released[0], True))
    coccinelle.ended = cocci.make_ident(ended)
    coccinelle.last = cocci.make_ident(last)

@depends on patch exists@
expression E, mutex;
identifier lock, unlock, exit.ended, exit.last;
identifier always =~ "^(true|TRUE)$";
statement S1, S2, S3;
position found.w, found.t;
@@
(
- lock(mutex);
  while@w (\(1\|always\)) {
+   lock(mutex);
    ...
-   lock@t(mutex);
  }
|
- lock(mutex);
  for@w (;;) {
+   lock(mutex);
    ...
-   lock@t(mutex);
  }
|
  lock(mutex);
+ unlock(mutex);
  while@w (\(1\|always\)) {
-   unlock(mutex);
    ...
+   unlock(mutex);
  }@t
|
  lock(mutex);
+ unlock(mutex);
  for@w (;;) {
-   unlock(mutex);
    ...
+   unlock(mutex);
  }@t
|
- lock(mutex);
  while@w (
- E
+ 1
  ) {
+ lock(mutex);
+ if (ended) {
+   last;
+   break;
+ }
  ...
- lock@t(mutex);
  }
- unlock(mutex);
|
- lock(mutex);
  while@w (
- E
+ 1
  ) {
+ lock(mutex);
+ if (ended) {
+   last;
+   break;
+ }
  ...
- lock@t(mutex);
  }
- S1
- unlock(mutex);
|
- lock(mutex);
  while@w (
- E
+ 1
  ) {
+ lock(mutex);
+ if (ended) {
+   last;
+   break;
+ }
  ...
- lock@t(mutex);
  }
- S1
- S2
- unlock(mutex);
|
- lock(mutex);
  while@w (
- E
+ 1
  ) {
+ lock(mutex);
+ if (ended) {
+   last;
+   break;
+ }
  ...
- lock@t(mutex);
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
