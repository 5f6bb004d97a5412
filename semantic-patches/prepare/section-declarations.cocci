/// Declares what a section initialises before its lock, where it is used after the unlock:
/// `lock(&m); struct pair p = {a, b}; unlock(&m); return p.a;` becomes `struct pair p; lock(&m);
/// p = (struct pair){a, b}; unlock(&m); return p.a;`. So do arrays whose elements are all given,
/// and the variable of a `for` loop that is used behind an unlock in it. As they stand, such
/// sections are held: the variable would be one of the extracted function. (One that a plain
/// value initialises needs no patch.) Where the name is another one's in the function, where the
/// variable is const, or where a comment would be lost, the place is listed, and stays.
/// False positives: none known; structs with const members do not compile.
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


def blank(source):
    """The source, with blanks for comments and what stands in strings."""
    return "".join(t if len(t) == 1 else re.sub(r"[^\n]", " ", t)
                   for t in re.findall(TOKEN, source, re.S))

def offset(lines, line, column):
    return sum(len(each) + 1 for each in lines[:int(line) - 1]) + int(column)

def block(source, at, outermost=False):
    """Where the block around `at` begins and ends, or the function."""
    opened = []
    for i in range(at):
        if source[i] == "{":
            opened.append(i)
        elif source[i] == "}" and opened:
            opened.pop()
    begin = opened[0 if outermost else -1]
    depth, end = 1, begin + 1
    while end < len(source) and depth > 0:
        depth += (source[end] == "{") - (source[end] == "}")
        end += 1
    return begin, end

def elements(initial):
    """The values of an initialiser in braces, without designators."""
    values, depth = [""], 0
    for each in initial.strip()[1:-1]:
        depth += (each in "([{") - (each in ")]}")
        if each == "," and depth == 0:
            values.append("")
        else:
            values[-1] += each
    values = [each.strip() for each in values]
    return values[:-1] if values[-1] == "" else values

def end_of(source, lines, loop):
    """Where the loop ends."""
    at, depth = offset(lines, loop.line_end, loop.column_end), 0
    while at < len(source):
        depth += (source[at] in "([") - (source[at] in ")]")
        if source[at] == "{" and depth == 0:
            at = block(source, at + 1)[1] - 1
        if source[at] in ";}" and depth == 0 and not re.match(r"\s*else\b", source[at + 1:]):
            break
        at += 1
    return at + 1

def parts(lock, name, first, last, loop):
    """The words before the name, the name's array, the initialiser."""
    lines = lines_of(lock.file)
    head = re.split(r"[;{}(]", lines[int(name.line) - 1][:int(name.column)])[-1].strip()
    if loop:
        behind = lines[int(name.line) - 1][int(name.column_end):]
        return head, "", behind.split("=", 1)[1].split(";")[0].strip()
    return head, text(name, first).split("=")[0].strip(), text(first, last, True)

def used_after(name, last, loop):
    """Whether the variable is used behind an unlock that follows."""
    lines = blank("\n".join(lines_of(name.file))).split("\n")
    end = block("\n".join(lines), offset(lines, name.line, name.column))[1]
    if loop:
        end = end_of("\n".join(lines), lines, loop)
    behind = "\n".join(lines)[offset(lines, last.line_end, last.column_end):end]
    return re.search(r"[uU]nlock\w*\s*\(.*\b%s\b" % text(name, name, True), behind, re.S)

def why_not(lock, name, first, last, loop):
    """Why the declaration cannot move, or None."""
    source = blank("\n".join(lines_of(lock.file)))
    lines = source.split("\n")
    head, array, initial = parts(lock, name, first, last, loop)
    word = text(name, name, True)
    before = source[:offset(lines, lock.line, lock.column)]
    at = offset(lines, name.line, name.column)
    inner, outer = block(source, at), block(source, at, True)
    scope = (at, end_of(source, lines, loop) if loop else inner[1])
    others = source[outer[0]:scope[0]] + " " + source[scope[1]:outer[1]]
    if re.search(r"\b%s\b" % word, others):
        return "'%s' is another name in the function" % word
    if not head or re.search(r"\b(const|static|volatile|register|extern|_Atomic)\b|[^\w\s*]", head):
        return "it cannot be assigned to"
    if loop and (initial.count("(") != initial.count(")") or "/" in initial):
        return "its value is not plain"
    if array:
        size = re.match(r"\[\s*(\d+)\s*\]$", array)
        values = elements(initial)
        if not size or int(size.group(1)) != len(values) or any(v[:1] in ".[{" for v in values):
            return "its elements are not all given"
    behind = lines_of(last.file)[int(last.line_end) - 1][int(last.column_end):]
    if not loop and behind[:1] != ";":
        return "it is not declared alone"
    begin, end = block(source, len(before))
    if not re.search(r"[;{}]\s*$", before) or not begin < at < end:
        return "a variable cannot be declared before the lock"
    if not loop and ("/" in text(name, first) or re.match(r";?\s*/", behind)):
        return "a comment would be lost"
    return None

def moved(lock, name, first, last, loop):
    """The declaration and the assignment, without semicolons."""
    head, array, initial = parts(lock, name, first, last, loop)
    word = text(name, name, True)
    declaration = head + ("" if head.endswith("*") else " ") + word + array
    if loop:
        return declaration, word + " = " + initial
    if not array:
        return declaration, "%s = (%s)%s" % (word, head, initial)
    start = re.match(r"[ \t]*", lines_of(name.file)[int(name.line) - 1]).group()
    return declaration, (";\n" + start).join(
        "%s[%d] = %s" % (word, i, value) for i, value in enumerate(elements(initial)))

@found exists@
expression mutex;
type T;
identifier lock =~ "mutex_lock$|^lock_[a-z]+_lock$|^[A-Z][a-z]+Lock$";
identifier unlock =~ "mutex_unlock$|^lock_[a-z]+_unlock$|^[A-Z][a-z]+Unlock$";
identifier x;
expression E, E2, E3;
initializer list I;
statement S;
position l, n, i, e, u;
@@
  lock@l(mutex);
  ... when != unlock(mutex)
(
  for@u (T x@n@i@e = E; E2; E3) S
|
  T x@n = {@i I}@e@u;
)

@script:python depends on report@
l << found.l;
n << found.n;
i << found.i;
e << found.e;
u << found.u;
x << found.x;
@@
loop = u[0] if (u[0].line, u[0].column) != (e[0].line, e[0].column) else None
needed = used_after(n[0], e[0], loop)
if needed:
    reason = why_not(l[0], n[0], i[0], e[0], loop)
    print("%s:%s:%s: '%s' is used after the section that declares it%s" % (
        n[0].file, n[0].line, int(n[0].column) + 1, x, ", and stays: " + reason if reason else ""))

@script:python move depends on patch@
l << found.l;
n << found.n;
i << found.i;
e << found.e;
u << found.u;
x << found.x;
declared;
assigned;
@@
loop = u[0] if (u[0].line, u[0].column) != (e[0].line, e[0].column) else None
needed = used_after(n[0], e[0], loop)
if not needed or why_not(l[0], n[0], i[0], e[0], loop):
    cocci.include_match(False)
else:
    declared, assigned = moved(l[0], n[0], i[0], e[0], loop)
    coccinelle.declared = cocci.make_ident(declared)
    coccinelle.assigned = cocci.make_ident(assigned)

@depends on patch exists@
expression mutex;
type T;
identifier lock, x, move.declared, move.assigned;
initializer list I;
expression E, E2, E3;
statement S;
position found.l, found.n;
@@
+ declared;
  lock@l(mutex);
  ... when any
(
- for (T x@n = E; E2; E3)
+ for (assigned; E2; E3)
  S
|
- T x@n = {I};
+ assigned;
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
