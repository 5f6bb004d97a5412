/// Writes out macros of the file that lock at once and unlock at the end of the scope: with
/// `#define GUARD(m) pthread_mutex_t *guard __attribute__((cleanup(release))) = take(m)`,
/// `GUARD(&lock);` becomes a lock, with an unlock before each `return` and at the end of the
/// block. What a `return` computes, it computes under the lock. As it stands, such a section is
/// held: its unlock is in no text. The function in `cleanup` unlocks, maybe unless it is given
/// null, and does no more; the macro locks its argument in its value, itself or by a function of
/// the file that does no more. Where the rest of the block has a label, a `goto`, or a `break` or
/// `continue` that leaves it, where the file has the name `returned`, or where the macro is used
/// otherwise, the place is listed, and stays. Macros that headers define are not known.
/// False positives: a macro that leaves the block; an argument that names another lock at the
/// end, or has effects.
//
// SPDX-License-Identifier: MIT
// Confidence: Moderate
// Names: ^cleanup$|^__cleanup__$

virtual report
virtual patch

@initialize:python@
@@
import re

TOKEN = "\x22(?:\\\\.|[^\x22\\\\])*\x22|\x27(?:\\\\.|[^\x27\\\\])*\x27|/{2}[^\n]*|/[*].*?[*]/|."
CLEANUP = r"__attribute__\s*\(\(\s*(?:__)?cleanup(?:__)?\s*\(\s*(\w+)\s*\)\s*\)\)"

def lines_of(file):
    with open(file, errors="replace") as source:
        return source.read().split("\n")

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

def body_of(source, function):
    """The body of a function with one parameter, without blanks; the parameter."""
    found = re.search(r"\b%s\s*\(([^()]*?)(\w+)\s*\)\s*\{([^{}]*)\}" % function, source)
    return (re.sub(r"\s", "", found.group(3)), found.group(2)) if found else (None, None)

def guards(file):
    """The macros that lock and unlock: their names, and those of the operations."""
    source = blank("\n".join(lines_of(file)).replace("\\\n", "  "))
    result = {}
    macro = r"^[ \t]*#[ \t]*define[ \t]+(\w+)\((\w+)\)(.*)$"
    for name, argument, body in re.findall(macro, source, re.M):
        cleanup = re.findall(CLEANUP, body)
        value = re.match(r".*?=(?!=)(.*?);?\s*$", re.sub(CLEANUP, "", body))
        if len(cleanup) != 1 or not value:
            continue
        release, given = body_of(source, cleanup[0])
        calls = r"(?:if\(\*%s(?:!=NULL)?\))?(\w+)\(\*%s\);$" % (given, given)
        unlock = release and re.match(calls, release)
        value = re.sub(r"\s", "", value.group(1))
        lock = re.match(r"\((\w+)\(%s\),\(?%s\)?\)$" % (argument, argument), value)
        helper = re.match(r"(\w+)\(%s\)$" % argument, value)
        if helper:
            taken, given = body_of(source, helper.group(1))
            lock = taken and re.match(r"(\w+)\(%s\);return%s;$" % (given, given), taken)
        if lock and unlock:
            result[name] = (lock.group(1), unlock.group(1))
    return result

def definitions(file):
    """Where macros that are understood name their function."""
    source = blank("\n".join(lines_of(file)))
    known = guards(file)
    for each in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:.*\\\n)*.*", source, re.M):
        for named in re.finditer(r"\b(__)?cleanup(__)?\b", each.group()):
            if each.group(1) not in known:
                continue
            before = source[:each.start() + named.start()]
            yield before.count("\n") + 1, len(before) - before.rfind("\n")

def why_not(place, argument):
    """Why the macro cannot be written out here, or None."""
    source = blank("\n".join(lines_of(place.file)))
    lines = source.split("\n")
    at = offset(lines, place.line, place.column)
    rest = source[at:block(source, at)[1] - 1]
    if re.search(r"\bgoto\b|(^|[;{}])\s*(?!default\b)[A-Za-z_]\w*\s*:(?!:)", rest, re.M) or (
            re.search(r"\b(case|default)\b", without(rest, "switch"))):
        return "there is a label or a `goto`"
    if re.search(r"\bbreak\b", without(rest, "for|while|do|switch")) or re.search(
            r"\bcontinue\b", without(rest, "for|while|do")):
        return "a `break` or `continue` leaves the block"
    for each in re.finditer(r"\b(%s)\s*\(" % "|".join(guards(place.file)), source):
        before = source[:each.start()]
        if each.start() != at and before.count("{") > before.count("}"):
            begin, end = block(source, each.start())
            if begin < at < end or at < each.start() < at + len(rest):
                return "there is another one"
    if re.search(r"^\s*#", rest, re.M):
        return "there is a directive"
    if re.search(r"\breturned\b", source):
        return "'returned' is a name already"
    if not re.search(r"[;{}]\s*$", source[:at]):
        return "it is no statement of a block"
    for each in re.finditer(r"\breturn\b", rest):
        before = source[:at + each.start()]
        found = (str(before.count("\n") + 1), str(len(before) - before.rfind("\n") - 1))
        if found not in plain or found in values and found not in types:
            return "a `return` is not understood"
    if not rest[rest.index(";") + 1:].strip():
        return "nothing follows"
    if not re.match(r"&?[\w.\->\s]+$", argument):
        return "its argument is no name of a lock"
    changes = r"\b%s\b\s*([-+*/|&^]?=[^=]|\+\+|--)|(\+\+|--)\s*%s\b|&\s*%s\b(?!\s*(->|\.))"
    if any(re.search(changes % (name, name, name), rest[rest.index(";"):])
           for name in re.findall(r"[A-Za-z_]\w*", argument)):
        return "what names its lock changes"
    return None

scopes, types = [], {}  # what is written out; where a `return` stands: what its function returns
statements, plain, values, told = set(), set(), set(), set()  # `values`: what is not constant

def argument(file, source, at):
    """The text of the argument of the macro at a place."""
    begin = source.index("(", at) + 1
    end, depth = begin, 1
    while depth > 0:
        depth += (source[end] == "(") - (source[end] == ")")
        end += 1
    return "\n".join(lines_of(file))[begin:end - 1].strip()

def last_of(source, begin, end):
    """Where the last statement of the scope begins."""
    return min((first for first, last in statements
                if begin < first and last < end and not source[last:end - 1].strip()), default=None)

def edits_at(place):
    """The statements to write at a guard, a `return` or the end of a block, or None."""
    lines = lines_of(place.file)
    source = blank("\n".join(lines))
    at = offset(lines, place.line, place.column)
    for begin, end, lock, unlock in scopes:
        mutex = argument(place.file, source, begin)
        inside = [types[each] for each in values if begin < offset(lines, *each) < end]
        if at == begin and inside:
            start = re.match(r"[ \t]*", lines[int(place.line) - 1]).group()
            kind = inside[0] + ("" if inside[0].endswith("*") else " ")
            return "%sreturned;\n%s%s(%s)" % (kind, start, lock, mutex), ""
        if at == begin:
            return "%s(%s)" % (lock, mutex), ""
        if begin < at < end and (place.line, place.column) in values:
            value = "\n".join(lines)[at + len("return"):source.index(";", at)]
            return "returned = " + value.strip(), "%s(%s)" % (unlock, mutex)
        leaves = at == last_of(source, begin, end) or re.match(r"return\b", source[at:])
        if begin < at < end and leaves:
            return "%s(%s)" % (unlock, mutex), ""
    return None

@returns@
position p;
@@
(
  return@p;
|
  return@p ...;
)

@script:python@
p << returns.p;
@@
plain.add((p[0].line, p[0].column))

@types exists@
type T;
identifier f;
expression E;
position p;
@@
  T f(...) {
    ... when any
    return@p E;
    ... when any
  }

@script:python@
p << types.p;
T << types.T;
@@
types[(p[0].line, p[0].column)] = T

@valued@
expression E;
position p;
@@
  return@p E;

@script:python@
p << valued.p;
@@
values.add((p[0].line, p[0].column))

@constant_@
constant C;
position p;
@@
  return@p C;

@script:python@
p << constant_.p;
@@
values.discard((p[0].line, p[0].column))

@use@
identifier guard;
expression mutex;
position p;
@@
  guard@p(mutex);

@script:python depends on report@
p << use.p;
guard << use.guard;
mutex << use.mutex;
@@
if guard in guards(p[0].file):
    reason = why_not(p[0], mutex)
    print("%s:%s:%s: '%s' locks to the end of the scope%s" % (
        p[0].file, p[0].line, int(p[0].column) + 1, guard,
        ", and stays: " + reason if reason else ""))

@script:python@
p << use.p;
guard << use.guard;
mutex << use.mutex;
@@
operations = guards(p[0].file).get(guard)
if operations and not why_not(p[0], mutex):
    lines = blank("\n".join(lines_of(p[0].file)))
    begin = offset(lines.split("\n"), p[0].line, p[0].column)
    scopes.append((begin, block(lines, begin)[1]) + operations)

@every@
statement S;
position p;
@@
  S@p

@script:python depends on report@
p << every.p;
@@
if not told:
    told.add(p[0].file)
    for line, column in definitions(p[0].file):
        print("seen %s:%s:%s" % (p[0].file, line, column))

@script:python@
p << every.p;
@@
lines = lines_of(p[0].file)
statements.add((offset(lines, p[0].line, p[0].column),
                offset(lines, p[0].line_end, p[0].column_end)))

@site@
identifier guard;
expression mutex, E;
statement S;
position p;
@@
(
  guard@p(mutex);
|
  return@p;
|
  return@p E;
|
  S@p
)

@script:python edit depends on patch@
p << site.p;
first;
second;
@@
found = edits_at(p[0])
if found:
    coccinelle.first = cocci.make_ident(found[0])
    coccinelle.second = cocci.make_ident(found[1])
else:
    cocci.include_match(False)

@depends on patch@
identifier guard, edit.first, edit.second;
expression mutex, E;
statement S;
constant C;
position site.p;
@@
(
- guard@p(mutex);
+ first;
|
+ first;
  return@p;
|
+ first;
  return@p C;
|
- return@p E;
+ first;
+ second;
+ return returned;
|
  S@p
+ first;
)

// What Coccinelle has read, for `relock patches`.
@seen depends on report@
identifier called =~ "^(__)?cleanup(__)?$";
position p;
@@
  called@p

@script:python@
p << seen.p;
@@
print("seen %s:%s:%s" % (p[0].file, p[0].line, int(p[0].column) + 1))
