# SPDX-License-Identifier: MIT
"""Random programs of critical sections whose output does not depend on the schedule.

Each thread has data of its own, which its sections read and write freely, and all threads add to
the accumulators of the lock that they hold, which nobody reads before the end. Sums do not depend
on the order of their parts, but an update that is lost, or made without the lock, changes them.

A program is a list of functions, a function a tree of nodes, so that run.py can take out any
part. All arithmetic is on unsigned numbers: no program has undefined behaviour by its values.
"""
import random

import features
import layers
from prelude import CONDITION, HEADER, LOCK, MAIN, SUM, TICKS

LOCKS = 8
STANDARDS = [[], [], ["-std=gnu89"], ["-std=c99", "-D_GNU_SOURCE"], ["-std=c11", "-D_GNU_SOURCE"],
             ["-std=gnu17"], ["-std=gnu2x"]]
SCALARS = {"unsigned": "%du", "unsigned char": "%d", "unsigned short": "%d",
           "unsigned long long": "%dull", "bool": "%d", "enum color": "%d", "long": "%d",
           "double": "%d.0", "signed char": "%d"}

class Node:
    """Text with lists of nodes in it. A fixed node is taken out only with what it belongs to."""

    def __init__(self, *pieces, fixed=False):
        self.pieces, self.fixed = list(pieces), fixed

    def lines(self, depth):
        for piece in self.pieces:
            if isinstance(piece, str):
                yield "  " * depth + piece
            else:
                for node in piece:
                    yield from node.lines(depth + 1)

    def lists(self):
        for piece in self.pieces:
            if not isinstance(piece, str):
                yield piece
                for node in piece:
                    yield from node.lists()


class Function:
    def __init__(self, name, head, body, unit):
        self.name, self.head, self.body, self.unit, self.after = name, head, body, unit, ""

    def text(self):
        return "\n".join([self.head, *(line for node in self.body for line in node.lines(1)), "}", self.after])


class Maker:
    """Makes one function."""

    def __init__(self, rng, name, unit, standard, slots):
        self.rng, self.name, self.unit, self.slots = rng, name, unit, slots
        self.old, self.new = standard == ["-std=gnu89"], standard == ["-std=gnu2x"]
        self.names = 0
        # Names that the rewriter may want for itself.
        self.taken = ["section", "context", "result", "arg", "%s_section" % name, "exit_code", "value",
                      "%s_context" % name, "state", "out"]
        self.returns = rng.choice(["unsigned"] * 8 + ["unsigned long long", "double", "struct pair",
                                                      "void", "bool", "unsigned *"])
        rng.shuffle(self.taken)
        self.unions, self.operations, self.before, self.index = [], [], [], None
        self.values = []   # variables of unsigned arithmetic, in scope
        self.arrays, self.pairs, self.pointers = [], [], []
        self.read_only, self.qualified = set(), set()
        self.bent = set()  # of the arrays, those that are pointers
        self.sections = 0

    def fresh(self, prefix):
        self.names += 1
        if prefix == "v" and self.taken and self.rng.random() < 0.1:
            return self.taken.pop()
        return "%s%d" % (prefix, self.names)

    def leave(self, value):
        """A statement that returns."""
        form = {"double": "return (double)(%s);", "struct pair": "return ((struct pair){%s, 2u});",
                "void": "{ me->own[0] += %s; return; }", "bool": "return (%s) & 1u;",
                "unsigned *": "{ me->own[1] ^= %s; return &me->own[1]; }"}
        return form.get(self.returns, "return %s;") % value

    def mutex(self, lock):
        return "&table[%s].lock" % self.index if lock == 6 else LOCK[lock]

    def sum(self, lock):
        return "table[%s].sum" % self.index if lock == 6 else SUM[lock]

    def loop(self, i, rounds):
        """The lines that begin a loop with the counter i."""
        if self.old:
            return ["unsigned %s;" % i, "for (%s = 0; %s < %s; %s++) {" % (i, i, rounds, i)]
        return ["for (unsigned %s = 0; %s < %s; %s++) {" % (i, i, rounds, i)]

    # --- expressions ---

    def value(self):
        r = self.rng.random()
        if r < 0.15:
            return "%du" % self.rng.randrange(1, 100)
        if r < 0.25:
            return "me->own[%d]" % self.rng.randrange(4)
        if r < 0.32 and self.arrays:
            return "%s[(unsigned)%s & 3u]" % (self.rng.choice(self.arrays), self.rng.choice(self.values))
        if r < 0.4 and self.pairs:
            return "%s.%s" % (self.rng.choice(self.pairs), self.rng.choice(["first", "second"]))
        if r < 0.46 and self.pointers:
            return "*%s" % self.rng.choice(self.pointers)
        if r < 0.5:
            return "me->pair.first"
        if r < 0.55 and self.unions:
            return self.rng.choice(["%s.whole", "%s.bytes[1]"]) % self.rng.choice(self.unions)
        return "(unsigned)%s" % self.rng.choice(self.values)

    def expression(self, depth=2):
        if depth == 0 or self.rng.random() < 0.3:
            return self.value()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if self.rng.random() < 0.15:
            return self.rare_expression(a, b)
        form = self.rng.choice(["(%s + %s)", "(%s ^ %s)", "(%s * 5u - %s)", "(%s / (1u + (%s & 7u)))",
                                "(%s > %s ? 3u : 9u)", "twice(%s + %s)"])
        return form % (a, b)

    def rare_expression(self, a, b):
        """Like all expressions it has no effects, as their order is not defined."""
        name, scalar = self.fresh("t"), self.rng.choice(self.values)
        choice = self.rng.randrange(16)
        if choice == 14:
            return "LENGTH(%s)" % scalar
        if choice == 15 and self.rng.random() < 0.4:
            return self.rng.choice(["TALLY", "JOIN(tal, ly)"])
        if choice == 0:
            return "(__extension__({ unsigned %s = %s; %s * 2u + %s; }))" % (name, a, name, b)
        if choice == 1:
            return "((struct pair){%s, %s}).%s" % (a, b, self.rng.choice(["first", "second"]))
        if choice == 2:
            return "((struct pair){.second = %s, .first = %s}).second" % (a, b)
        if choice == 3:
            return "((const unsigned[]){1u, %s, 3u, 4u})[%s & 3u]" % (a, b)
        if choice == 4 and self.rng.random() < 0.2:
            return "(%s & 1u ? twice : thrice)(%s)" % (a, b)
        if choice == 5:
            return "((%s & 2u) ? twice(%s) : thrice(%s))" % (a, b, a)
        if choice == 6:
            return "(unsigned)sizeof %s" % self.rng.choice(self.arrays + self.pairs + [scalar])
        if choice == 7:
            return "_Generic((%s), bool: 1u, unsigned char: 2u, unsigned: 3u, default: %s)" % (scalar, a)
        if choice == 8:
            return "(unsigned)__builtin_types_compatible_p(__typeof__(%s), unsigned)" % scalar
        if choice == 9:
            return "((unsigned)\"a, \\\"b)\"[%s & 3u] + (unsigned)'{')" % a
        if choice == 10:
            return "(pthread_equal(pthread_self(), me->self) ? 3u : %s)" % a
        if choice == 11:
            return "(%s && %s || !%s)" % (a, b, a) if self.rng.random() < 0.3 else \
                "((%s && %s) || !%s)" % (a, b, a)
        if choice == 12 and self.operations and self.rng.random() < 0.3:
            return "%s(%s)" % (self.rng.choice(self.operations), a)
        return "(*&me->own[1] + (&me->pair)->second + (unsigned)offsetof(struct me, pair))"

    def condition(self):
        return self.rng.choice(["(%s & 3u) != 1u", "(%s & 1u)", "%s %% 3u == 0u", "!(%s & 4u)"]) % (
            "(" + self.expression(1) + ")")

    def target(self):
        r = self.rng.random()
        writable = [v for v in self.values if v not in self.read_only]
        if r < 0.2 or not writable:
            return "me->own[%d]" % self.rng.randrange(4), None
        if r < 0.3 and self.arrays:
            return "%s[%d]" % (self.rng.choice(self.arrays), self.rng.randrange(4)), None
        if r < 0.4 and self.pairs:
            pair, field = self.rng.choice(self.pairs), self.rng.choice(["first", "second"])
            return "%s.%s" % (pair, field), None
        if r < 0.46 and self.pointers:
            return "*%s" % self.rng.choice(self.pointers), None
        if r < 0.51 and self.unions:
            return self.rng.choice(["%s.whole", "%s.bytes[1]"]) % self.rng.choice(self.unions), None
        name, = self.rng.sample(writable, 1)
        return name, self.types[name]

    # --- statements ---

    def declarations(self):
        self.types = {"a": "unsigned", "b": "unsigned"}
        self.values += ["a", "b"]
        result = [Node("unsigned tally = a;", "(void)tally;", fixed=True)]
        for _ in range(self.rng.randrange(2, 5)):
            kind = self.rng.choice(list(SCALARS))
            name = self.fresh("v")
            limit = {"bool": 2, "enum color": 4}.get(kind, 100)
            start = SCALARS[kind] % self.rng.randrange(limit)
            if kind == "enum color":
                start = "(enum color)" + start
            qualifier = self.rng.choice([""] * 16 + ["const ", "const ", "register ", "volatile ", "_Atomic "])
            result.append(Node("%s%s %s = %s;" % (qualifier, kind, name, start), fixed=True))
            if qualifier == "const ":
                self.read_only.add(name)
            if qualifier:
                self.qualified.add(name)
            self.values.append(name)
            self.types[name] = kind
        if self.rng.random() < 0.5:
            name = self.fresh("array")
            result.append(Node("unsigned %s[4] = {1u, a, b, 4u};" % name, fixed=True))
            self.arrays.append(name)
        if self.rng.random() < 0.5:
            name = self.fresh("pair")
            result.append(Node("struct pair %s = {a, 2u};" % name, fixed=True))
            self.pairs.append(name)
        if self.rng.random() < 0.04:  # of variable length
            name = self.fresh("array")
            result.append(Node("unsigned %s[4u + (b & 3u)];" % name,
                               "memset(%s, 1, sizeof %s);" % (name, name), fixed=True))
            self.arrays.append(name)
        if self.rng.random() < 0.04:
            name = self.fresh("pair")
            result.append(Node("struct { unsigned first : 20, second; } %s = {a & 255u, 2u};" % name,
                               fixed=True))
            self.pairs.append(name)
        if self.rng.random() < 0.04:
            name = self.fresh("pair")
            result.append(Node("struct %s_type { unsigned char first; unsigned second; } %s = {1, b};"
                               % (name, name), fixed=True))
            self.pairs.append(name)
        if self.rng.random() < 0.15:
            name = self.fresh("word")
            kind = self.rng.choice(["union word"] * 4 + ["union { unsigned whole; unsigned char bytes[4]; }"])
            result.append(Node("%s %s = {b};" % (kind, name), fixed=True))
            self.unions.append(name)
        if self.rng.random() < 0.1:
            name = self.fresh("array")
            result.append(Node("unsigned of_%s[4] = {[1] = a, [3] = 9u};" % name,
                               "unsigned *restrict %s%s = of_%s;" %
                               (self.rng.choice(["", "const "]), name, name), fixed=True))
            self.arrays.append(name)
            self.bent.add(name)
        if self.rng.random() < 0.05:
            name = self.fresh("operation")
            kind = self.rng.choice(["operation %s", "unsigned (*%s)(unsigned)"]) % name
            result.append(Node("%s = a & 1u ? twice : thrice;" % kind, fixed=True))
            self.operations.append(name)
        if self.rng.random() < 0.04:
            name = self.fresh("v")
            result.append(Node("typedef unsigned short %s_type;" % name,
                               "%s_type %s = 7;" % (name, name), fixed=True))
            self.values.append(name)
            self.types[name] = name + "_type"
        if self.rng.random() < 0.04:
            name = self.fresh("v")
            result.append(Node("enum { %s_LOW = 3, %s_HIGH = 9 } %s = %s_LOW;" % (name, name, name, name),
                               fixed=True))
            self.values.append(name)
            self.types[name] = "int"
            self.read_only.add(name)
        if self.rng.random() < 0.4:
            base, name = self.fresh("v"), self.fresh("pointer")
            result.append(Node("unsigned %s = b;" % base, "unsigned *%s = &%s;" % (name, base),
                               fixed=True))
            self.values.append(base)
            self.types[base] = "unsigned"
            self.pointers.append(name)
        return result

    def assign(self):
        name, kind = self.target()
        if kind == "bool":
            return Node("%s = %s;" % (name, self.condition()))
        if kind == "enum color":
            return Node("%s = (enum color)(%s & 3u);" % (name, self.expression()))
        cast = "(%s)" % kind if kind and kind != "unsigned" else ""
        if self.rng.random() < 0.3 and kind in (None, "unsigned"):
            return Node("%s %s %s;" % (name, self.rng.choice(["+=", "^=", "-="]), self.expression()))
        return Node("%s = %s(%s);" % (name, cast, self.expression()))

    def statement(self, lock, depth, loop):
        """A statement; lock: of the innermost section, or None; loop: break may be used."""
        rng = self.rng
        plain = [v for v in self.values if self.types[v] == "unsigned" and
                 v not in self.read_only | self.qualified]
        choice = rng.random()
        if lock is not None and choice < 0.2:
            return Node("%s[%d] += %s;" % (self.sum(lock), rng.randrange(2), self.expression()))
        if choice < 0.24:
            return self.told_statement()
        if choice < 0.45 or depth == 0:
            return self.assign()
        if choice < 0.5:
            return self.rare_statement(lock, depth, loop, plain)
        if choice < 0.52:
            return Node("mine = mine * 5u + %s;" % self.expression(1),
                        "me->own[%d] ^= mine;" % rng.randrange(4))
        if choice < 0.53:
            table = self.fresh("table")
            return Node("{", "  static const unsigned %s[4] = {5u, 6u, 7u, 9u};" % table,
                        "  me->own[3] += %s[%s & 3u];" % (table, self.expression(1)), "}")
        if choice < 0.531:
            name = self.fresh("function")
            return Node("{", "  operation %s = twice;" % name,
                        "  me->own[3] += %s(%s);" % (name, self.expression(1)), "}")
        if choice < 0.536 and plain:
            same, other = self.fresh("same"), rng.choice(plain)
            return Node("{", "  __typeof__(%s) %s = %s;" % (other, same, self.expression(1)),
                        "  me->own[2] += LARGER(%s, (__typeof__(%s))%s);" %
                        (same, rng.choice(plain), self.expression(1)), "}")
        if choice < 0.54 and (lock is None or lock < 5):
            return Node("me->own[1] += add_to_five(%s);" % self.expression(1))
        if choice < 0.6:
            return Node("if (%s) {" % self.condition(), self.block(lock, depth - 1, loop), "} else {",
                        self.block(lock, depth - 1, loop), "}")
        if choice < 0.66:
            return Node("if (%s) {" % self.condition(), self.block(lock, depth - 1, loop), "}")
        if choice < 0.72:
            i = self.fresh("i")
            self.values.append(i)
            self.types[i] = "unsigned"
            self.read_only.add(i)
            body = self.block(lock, depth - 1, True)
            self.values.remove(i)
            return Node(*self.loop(i, "%du" % rng.randrange(1, 4)), body, "}")
        if choice < 0.78:
            return Node("switch (%s & 3u) {" % self.expression(1), "case 0: {",
                        self.block(lock, depth - 1, False), "  break;", "}", "case 1:",
                        [self.statement(lock, 0, False)], "  /* fall through */", "default: {",
                        self.block(lock, depth - 1, False), "}", "}")
        if choice < 0.83 and plain:
            return Node("me->own[%d] += mix(&%s, %s);" % (rng.randrange(4), rng.choice(plain),
                                                          self.expression(1)))
        if choice < 0.87 and len(plain) >= 2:
            x, y = rng.sample(plain, 2)
            return Node(rng.choice(["BUMP(%s);" % x, "SWAP(%s, %s);" % (x, y)]))
        if choice < 0.91:
            return Node("errno = (int)(%s & 15u);" % self.expression(1), "me->own[%d] ^= (unsigned)errno;"
                        % rng.randrange(4))
        if choice < 0.94 and loop:
            return Node("if (%s)" % self.condition(), "  %s;" % rng.choice(["break", "continue"]))
        if choice < 0.97:
            label = self.fresh("skip")
            jump = rng.choice(["if (%s) goto %s;", "SKIP_UNLESS(%s, %s);"])
            return Node(jump % (self.condition(), label),
                        self.block(lock, depth - 1, False), "%s:;" % label)
        return Node("{ /* a block */", self.block(lock, depth - 1, loop), "}")

    def told_statement(self):
        """What a configuration may drop or make text of, and the sizes of arrays."""
        rng, a = self.rng, self.expression(1)
        own, value = "me->own[%d]" % rng.randrange(4), "(unsigned)" + rng.choice(self.values)
        arrays = [name for name in self.arrays if name not in self.bent]
        if arrays and rng.random() < 0.5:
            array = rng.choice(arrays)
            return Node(rng.choice(["memset(%s, (int)(%s & 255u), sizeof %s);" % (array, value, array),
                                    "%s += COUNT_OF(%s) + (unsigned)sizeof(%s);" % (own, array, array),
                                    "(*&%s)[1] += %s;" % (array, a),
                                    "assert(%s[1] + sizeof %s > 0u);" % (array, array)]))
        return Node(rng.choice(["assert(%s < 77u || %s || 1);" % (value, self.condition()),
                                "REQUIRE(%s || %s);" % (a, value + " < 5u || 1"),
                                "TRACE(%s, %s);" % (value, a), "TRACE(a, b);", "TRACE(b, %s);" % own,
                                "assert(me && a + 1u > b || 1);"]))

    def rare_statement(self, lock, depth, loop, plain):
        rng = self.rng
        choice = rng.randrange(34)
        if choice == 32:
            return Node("{ /* shadows */", "  unsigned a = me->own[2] + %du;" % rng.randrange(9), "  double b = a;",
                        "  %s += a + (unsigned)b;" % "me->own[1]", "}")
        if choice == 33:
            return Node("COUNT(%s);" % self.expression(1))
        if choice in (12, 14, 15, 16, 17, 28, 30) and rng.random() < 0.7:
            choice = rng.randrange(12)  # most of those hold
        own, a, b = "me->own[%d]" % rng.randrange(4), self.expression(1), self.expression(1)
        name = self.fresh("n")
        x, y = rng.sample(plain, 2) if len(plain) >= 2 else ("a", "b")
        x, y = ("me->own[0]", "me->pair.second") if {x, y} & (self.read_only | self.qualified) else (x, y)
        if choice == 0:
            return Node("%s += %s, me->pair.first ^= %s;" % (own, a, b))
        if choice == 1:
            return Node("%s ? (void)mix(&%s, %s) : (void)mix(&me->own[2], %s);" %
                        (self.condition(), x, a, b))
        if choice == 2:
            return Node("me->own[%s++ & 3u] += 5u;" % x if not x.startswith("me") else "me->own[2]++;")
        if choice == 3:
            return Node("if ((%s++ & 1u) && (%s += 3u) > 9u)" % (x, y), "  %s ^= 6u;" % own)
        if choice == 4:
            return Node("{", "  unsigned %s = 0;" % name, "  do {", self.block(lock, 0, False, 1),
                        "    %s ^= %s;" % (x, name), "  } while (++%s & 3u);" % name, "}")
        if choice == 5:
            return Node("me->pair = (struct pair){.second = %s, .first = %s};" % (a, b))
        if choice == 6:
            return Node("{", "  struct me copy_%s = *me;" % name, "  copy_%s.own[1] += %s;" % (name, a),
                        "  memcpy(me->own, copy_%s.own, sizeof me->own);" % name, "}")
        if choice == 7:
            return Node("{", "  unsigned %s = 0;" % name, "again_%s:" % name,
                        "  %s += %s;" % (own, a), self.block(lock, 0, False, 2),
                        "  if (%s++ < 2u)" % name, "    goto again_%s;" % name, "}")
        if choice == 8:
            return Node("switch ((enum color)(%s & 3u)) {" % a, "case RED:", "case BLUE:",
                        [self.statement(lock, 0, False)], "  break;", "case GREEN:",
                        [self.statement(lock, 0, False)], "  /* fall through */", "case BLACK:",
                        [self.statement(lock, 0, False)], "}")
        if choice == 9:
            return Node("switch (%s & 15u) {" % a, "case 1 ... 5:", [self.statement(lock, 0, False)],
                        "  break;", "case 9 ... 12:", [self.statement(lock, 0, False)], "}")
        if choice == 10:
            return Node("{", "  unsigned %s = (%s & 3u) + 1u;" % (name, a), "  switch (%s) {" % name,
                        "  case 0: do { me->own[0] += 3u;", "  /* fall through */",
                        "  case 2: me->own[1] ^= 5u;", "  /* fall through */",
                        "  default: me->own[2] += 7u; } while (%s && --%s);" % (name, name), "  }", "}")
        if choice == 11:
            return Node("{", "  unsigned %s = 0;" % name, "  for (;;) {", [self.statement(lock, 0, False)],
                        "    if (++%s > 2u)" % name, "      break;", "    %s += %s;" % (own, name),
                        "  }", "}")
        if choice == 12:
            return Node("#if defined NEVER", "%s = 0;" % own, "#else", "%s += %s;" % (own, a), "#endif")
        if choice == 13:
            return Node("assert(%s || 1);" % self.condition())
        if choice == 14:
            return Node("{", "  __attribute__((cleanup(clean))) unsigned *%s = &me->own[3];" % name,
                        [self.statement(lock, 0, False)], "}")
        if choice == 15 and not x.startswith("me"):
            return Node('__asm__("" : "+r"(%s));' % x)
        if choice == 16:
            return Node("{", "  unsigned *%s = alloca(2 * sizeof *%s);" % (name, name),
                        "  %s[1] = %s;" % (name, a), "  %s ^= %s[1];" % (own, name), "}")
        if choice == 17:
            return Node("{", "  static void *const to_%s[] = {&&one_%s, &&two_%s};" % (name, name, name),
                        "  goto *to_%s[%s & 1u];" % (name, a), "one_%s:" % name, "  %s += 11u;" % own,
                        "two_%s:" % name, "  %s ^= 3u;" % own, "}")
        if choice == 18:
            return Node("{", "  __label__ done;", "  if (%s)" % self.condition(), "    goto done;",
                        "  %s += %s;" % (own, a), "done:;", "}")
        if choice == 19:
            return Node("_Static_assert(sizeof(struct pair) == 8, \"pair\");",
                        "{", "  extern unsigned thrice(unsigned);", "  %s += thrice(%s);" % (own, b), "}")
        if choice == 20:
            return Node(rng.choice(["atomic_sum += %s;", "__atomic_fetch_add(&me->own[3], %s, "
                                    "__ATOMIC_RELAXED);"]) % a)
        if choice == 21 and lock is not None and lock != 6:
            # Written under the lock only: the last one is the whole sum.
            if self.slots:
                slot = self.slots.pop()
                return Node("{", "  static unsigned long long %s;" % name, "  %s += %s;" % (name, a),
                            "  published[%d] = %s;" % (slot, name), "}")
        if choice == 22:
            return Node("me->own[1] += add_again(%s);" % a)
        if choice == 23 and (lock is None or lock < 5):
            return Node("me->own[1] += gather(3u, %s, %s, 1u);" % (a, b))
        if choice == 24 and (lock is None or lock < 5):
            return Node("%s += take_pair(&me->pair, &me->own[2]);" % own)
        if choice == 25:
            return Node("{", "  unsigned *%s = me->own;" % name, "  while (%s < me->own + 4)" % name,
                        "    *%s++ += %s;" % (name, "3u"), "}")
        if choice == 26:
            return Node("{", "  char %s[16];" % name, "  snprintf(%s, sizeof %s, \"%%u\", %s);" %
                        (name, name, a), "  %s += (unsigned char)%s[0];" % (own, name), "}")
        if choice == 27:
            return Node("{", "  unsigned (*%s)[4] = &me->own;" % name,
                        "  (*%s)[1] += (unsigned)sizeof *%s + %s;" % (name, name, a), "}")
        if choice == 28:
            return Node("{", "  enum { STEP_%s = 3 };" % name, "  struct at_%s { unsigned x, y; } %s = {STEP_%s, %s};"
                        % (name, name, name, a), "  %s += %s.x * %s.y;" % (own, name, name), "}")
        if choice == 29 and self.new:
            return Node("[[maybe_unused]] const bool %s = 0b101 == 5;" % name,
                        "%s += %s ? 1'000u : 0u;" % (own, name))
        if choice == 30:
            return Node("{", "  unsigned %s[2u + (b & 1u)][2];" % name,
                        "  memset(%s, 2, sizeof %s);" % (name, name),
                        "  %s += %s[1][%s & 1u] + (unsigned)sizeof %s;" % (own, name, a, name), "}")
        return Node("{ // a jump buffer", "  jmp_buf %s;" % name, "  if (setjmp(%s) == 0)" % name,
                    "    longjmp(%s, 1);" % name, "  %s += %s;" % (own, "5u"), "}") \
            if rng.random() < 0.2 else Node("%s += (unsigned)strlen(__func__);" % own) \
            if rng.random() < 0.3 else self.assign()

    def block(self, lock, depth, loop, most=3):
        scope = len(self.values)
        result = []
        for _ in range(self.rng.randrange(1, most + 1)):
            if self.rng.random() < 0.15:
                name = self.fresh("v")
                result.append(Node("unsigned %s = %s;" % (name, self.expression()),
                                   "me->own[0] += %s;" % name))
                # In scope for what follows, which goes with it when it is taken out.
                self.values.append(name)
                self.types[name] = "unsigned"
                rest = [self.statement(lock, depth, loop) for _ in range(2)]
                result[-1].pieces += [line for node in rest for line in node.lines(0)]
            else:
                result.append(self.statement(lock, depth, loop))
        del self.values[scope:]
        return result

    # --- sections ---

    def spelled(self, lock):
        """How lock and unlock are written."""
        m = self.mutex(lock)
        # By functions that ask first in any case: else what unlocks perhaps would count for no wrapper.
        if lock == 4:
            return "asked_lock(%s, %du);" % (m, lock), "asked_unlock(%s, %du);" % (m, lock)
        forms = [("pthread_mutex_lock(%s);" % m, "pthread_mutex_unlock(%s);" % m)] * 3
        forms += [("LOCK(%s);" % m, "UNLOCK(%s);" % m),
                  ("LOCK_VALUE(%s);" % m, "UNLOCK_VALUE(%s);" % m)]
        if lock != 6:  # of which there are several
            forms += [("noted_lock(%s, %du, %du);" % (m, lock, self.rng.randrange(9)),
                       "noted_unlock(%s, %du);" % (m, lock))] * 2
        if m.startswith("&"):
            forms += [("BRACED_LOCK(%s)" % m[1:], "BRACED_UNLOCK(%s)" % m[1:])]
        if lock == 3:
            forms += [("lock_three();", "unlock_three();")] * 3
            forms += [("nested_lock_three();", "nested_unlock_three();")] * 3
        return self.rng.choice(forms)

    def section(self, lock, depth, loop):
        """Statements that take a lock above `lock` and release it; loop: inside a loop."""
        rng = self.rng
        inner = 7 if lock == 7 else rng.randrange(0 if lock is None else lock + 1, LOCKS)
        if inner != 6:
            return self.any_section(lock, inner, depth, loop)
        self.index = self.fresh("k")
        chosen = "const unsigned %s = %s %% 3u;" % (self.index, self.value())
        return Node("{", [Node(chosen, fixed=True), self.any_section(lock, inner, depth, loop)], "}")

    def any_section(self, lock, inner, depth, loop):
        rng = self.rng
        take, drop = self.spelled(inner)
        self.sections += 1
        form = rng.random()
        body = self.block(inner, depth, False, 4)
        if rng.random() < 0.16:
            return self.rare_section(lock, inner, depth, take, drop, body)
        if rng.random() < 0.2:
            return self.new_section(lock, inner, depth, take, drop, body)
        if form < 0.3:
            return Node(take, body, drop)
        if form < 0.5 and lock is None:  # leaves early
            leave = rng.choice([self.leave(self.expression(1)), "goto out;"] +
                               (["break;", "continue;"] if loop else []))
            tail = self.block(lock, 0, False, 2)
            after = self.block(inner, depth, False)
            self.out |= leave == "goto out;"
            return Node(take, body, "if (%s) {" % self.condition(),
                        [*self.block(inner, 0, False), Node(drop, fixed=True), *tail,
                         Node(leave, fixed=True)], "}", after, drop)
        if form < 0.6:  # unlocks in both arms
            return Node(take, body, "if (%s) {" % self.condition(),
                        [*self.block(inner, 0, False), Node(drop, fixed=True),
                         *self.block(lock, 0, False, 2)], "} else {",
                        [*self.block(inner, 0, False), Node(drop, fixed=True),
                         *self.block(lock, 0, False, 2)], "}")
        if form < 0.68:  # nested
            return Node(take, body, [self.section(inner, 0, False)], self.block(inner, 0, False), drop)
        if form < 0.74:  # a value that outlives the section
            name = self.fresh("v")
            return Node("{", [Node(take, "unsigned %s = %s;" % (name, self.expression()), body, drop,
                                   "me->own[1] += %s;" % name)], "}")
        if form < 0.8:  # drops the lock and takes it again
            self.sections += 1
            return Node(take, body, drop, self.block(lock, 0, False), take,
                        self.block(inner, depth, False), drop)
        if form < 0.92 and inner < len(CONDITION) and lock is None:  # waits
            tick = self.fresh("tick")
            wait = "pthread_cond_wait(%s, %s)" % (CONDITION[inner], self.mutex(inner))
            timed = "pthread_cond_timedwait(%s, %s, &until)" % (CONDITION[inner], self.mutex(inner))
            loop_form = rng.choice([
                ["while (%s == %s)" % (TICKS[inner], tick), "  %s;" % wait],
                ["while (%s == %s) {" % (TICKS[inner], tick), "  %s;" % wait, "  rounds++;", "}"],
                ["while (%s == %s && error == 0)" % (TICKS[inner], tick), "  error = %s;" % timed],
                ["while (%s == %s)" % (TICKS[inner], tick), "  if (%s == ETIMEDOUT)" % timed,
                 "    break;"]])
            declared = ["unsigned %s;" % tick]
            used = []
            if "rounds++" in " ".join(loop_form):
                declared.append("unsigned rounds = 0;")
                used.append("me->own[2] += rounds > 0u ? 1u : 1u;")
            if "&until" in " ".join(loop_form):
                declared.append("struct timespec until = far();")
            if "error" in " ".join(loop_form):
                declared.append("int error = 0;")
                used.append("me->own[2] += (unsigned)error;")
            return Node("{", [Node(*declared, take, "%s = %s;" % (tick, TICKS[inner]), body,
                                   *loop_form, self.block(inner, depth, False), drop, *used)], "}")
        if form < 0.95:  # a conditional lock
            flag = self.fresh("v")
            return Node("{", [Node("const bool %s = true;" % flag, "if (%s)" % flag, "  " + take, body,
                                   "if (%s)" % flag, "  " + drop)], "}") \
                if not take.startswith("BRACED") else Node(take, body, drop)
        if form < 0.97 and not take.startswith(("BRACED", "lock_three", "nested")):  # tried
            return Node("while (pthread_mutex_trylock(%s) != 0)" % self.mutex(inner), "  sched_yield();",
                        body, "pthread_mutex_unlock(%s);" % self.mutex(inner))
        return Node("if (pthread_mutex_lock(%s) != 0)" % self.mutex(inner), "  abort();", body,
                    "pthread_mutex_unlock(%s);" % self.mutex(inner))

    def rare_section(self, lock, inner, depth, take, drop, body):
        rng = self.rng
        form = rng.randrange(6)
        if form == 0:  # a loop that drops the lock and takes it again, or a branch
            self.sections += 1
            gap = [Node(drop, fixed=True), *self.block(lock, 0, False, 2)]
            if lock is None and rng.random() < 0.3:
                gap.append(Node("if (%s) {" % self.condition(),
                                [Node(self.leave(self.expression(1)), fixed=True)], "}", fixed=True))
            gap.append(Node(take, fixed=True))
            around = [*self.block(inner, 0, False), *gap, *self.block(inner, 0, False)]
            if rng.random() < 0.4:
                first = Node("if (%s) {" % self.condition(), around, "}")
            else:
                if rng.random() < 0.4:
                    around.append(Node("if (%s)" % self.condition(),
                                       "  " + rng.choice(["break;", "continue;"])))
                first = Node(*self.loop(self.fresh("i"), "2u"), around, "}")
            second = []
            if rng.random() < 0.3:
                self.sections += 1
                second = [Node("if (%s) {" % self.condition(),
                               [Node(drop, fixed=True), *self.block(lock, 0, False, 2),
                                Node(take, fixed=True)], "}")]
            return Node(take, body, [first], self.block(inner, 0, False), second, drop)
        if form == 1:  # a section that is tried again
            label, tries = self.fresh("again"), self.fresh("tries")
            return Node("unsigned %s = 0;" % tries, "%s:" % label, "{", [Node(take, body,
                        "if (%s && %s++ < 2u) {" % (self.condition(), tries),
                        [*self.block(inner, 0, False), Node(drop, fixed=True),
                         *self.block(lock, 0, False), Node("goto %s;" % label, fixed=True)], "}",
                        self.block(inner, 0, False), drop)], "}")
        if form == 2:  # unlocks in the cases of a switch
            return Node(take, body, "switch (%s & 3u) {" % self.expression(1), "case 0:",
                        [*self.block(inner, 0, False), Node(drop, "break;", fixed=True)], "case 2:",
                        [Node(drop, fixed=True), *self.block(lock, 0, False),
                         Node("break;", fixed=True)], "default:",
                        [*self.block(inner, 0, False), Node(drop, fixed=True)], "}")
        if form == 3:  # in a case
            return Node("switch (%s & 1u) {" % self.expression(1), "case 0:",
                        [Node(take, body, drop, "break;")], "default:", self.block(lock, 0, False),
                        "}")
        if form == 4 and lock is None and self.returns.startswith("unsigned") and \
                self.returns != "unsigned *":  # a jump in a macro
            return Node(take, body, "if (%s)" % self.condition(),
                        "  LEAVE(%s, %s);" % (self.mutex(inner), self.expression(1)),
                        self.block(inner, depth, False), drop)
        if form == 5 and lock is None:  # a value from inside leaves
            name = self.fresh("v")
            return Node(take, body, "if (%s) {" % self.condition(),
                        [Node("unsigned %s = %s;" % (name, self.expression()), drop,
                              self.leave(name + " * 2u"))], "}", self.block(inner, 0, False), drop)
        return Node("do {", [Node(take, body, "if (%s) {" % self.condition(),
                    [Node(drop, fixed=True), *self.block(lock, 0, False), Node("break;", fixed=True)],
                    "}", self.block(inner, 0, False), drop)], "} while (0);")

    def new_section(self, lock, inner, depth, take, drop, body):
        rng, m = self.rng, self.mutex(inner)
        form = rng.randrange(30)
        name = self.fresh("w")
        more = self.block(inner, 0, False, 2)
        if form == 0 and not self.old:
            return Node("GUARDED(%s) {" % m, body, "}")
        if form == 24 and not self.old:  # ends with its block, or with what leaves that
            leave = lock is None and [Node("if (%s)" % self.condition(),
                                           [Node(self.leave(self.expression()), fixed=True)])]
            return Node("{", [Node("SCOPED(%s);" % m, fixed=True), *body, *(leave or []), *more], "}")
        if form == 1:
            return Node("ADD_LOCKED(%s, %s[0], %s);" % (m, self.sum(inner), self.expression()))
        if form == 2:  # begins in one function and ends in another
            if inner != 6:
                self.before.append("static void %s_%s_begin(struct me *me) {\n  pthread_mutex_lock(%s);\n"
                                   "%s}\nstatic void %s_%s_end(struct me *me) {\n%s"
                                   "  pthread_mutex_unlock(%s);\n}\n" %
                                   (self.name, name, m, "  me->own[0] += 3u;\n", self.name, name,
                                    "  (void)me;\n", m))
                return Node("%s_%s_begin(me);" % (self.name, name), body, "%s_%s_end(me);" % (self.name, name))
        if form == 3:  # a declared array outlives the section
            return Node("{", [Node(take, "unsigned %s[4] = {[2] = %s};" % (name, self.expression()), body,
                                   "struct pair %s_pair = {.first = %s};" % (name, self.expression()), drop,
                                   "me->own[2] ^= %s[2] + %s_pair.first;" % (name, name))], "}")
        if form == 4:  # a compound literal outlives the section
            return Node("{", [Node("struct pair *%s;" % name, take, body, "%s = &(struct pair){%s, 2u};" %
                                   (name, self.expression()), drop, "me->own[2] ^= %s->first;" % name)], "}")
        if form == 5:  # errno is set inside and read after
            return Node(take, body, "errno = (int)(%s & 63u);" % self.expression(1), drop,
                        "me->own[1] += (unsigned)errno;")
        if form == 6:  # errno is set before and read inside
            return Node("errno = (int)(%s & 63u);" % self.expression(1), take,
                        "me->own[1] += (unsigned)errno;", body, drop)
        if form == 7:
            return Node("if (pthread_mutex_trylock(%s) != 0)" % m, "  pthread_mutex_lock(%s);" % m, body,
                        "pthread_mutex_unlock(%s);" % m)
        if form == 8:  # in a loop that the section leaves
            return Node("for (;;) {", [Node(take, body, "if (%s) {" % self.condition(),
                        [Node(drop, "break;", fixed=True)], "}", more, drop, "break;", fixed=True)], "}")
        if form == 9 and inner != 6:
            return Node("{", [Node("pthread_mutex_t *%s = %s;" % (name, m),
                                   "pthread_mutex_lock(%s);" % name, body,
                                   "pthread_mutex_unlock(%s);" % name)], "}")
        if form == 10:
            simple = self.sum(inner) + "[1] += %s;" % self.expression(1)
            return Node("%s %s %s" % (take, simple, drop))
        if form == 11:
            return Node(take + " /* taken */", "// what is below runs alone", body,
                        drop + " // given back")
        if form == 12 and lock is None:
            return Node(take, body, drop, "if (%s) {" % self.condition(), [Node(take, more, drop,
                        self.leave(self.expression(1)))], "}", *[take, self.block(inner, 1, False), drop])
        if form == 13:
            return Node("if (%s) {" % self.condition(), [Node(take, body, drop)], "} else {",
                        [Node(take, more, drop)], "}")
        if form == 14:
            return Node("{", [Node("unsigned *%s = NULL;" % name, take, body,
                                   "%s = malloc(sizeof *%s);" % (name, name), "*%s = %s;" %
                                   (name, self.expression()), drop, "me->own[0] += *%s;" % name,
                                   "free(%s);" % name)], "}")
        if form == 15 and inner < 4 and lock is None:
            return self.waiting_section(inner, take, drop, body, more)
        if form == 16 and inner < 4 and lock is None:
            return self.waiting_section(inner, take, drop, body, more)
        if form == 17 and lock is None:  # va_list
            self.before.append(
                "static unsigned %s_%s(struct me *me, unsigned count, ...) {\n  unsigned sum = 0;\n"
                "  va_list list;\n  va_start(list, count);\n  pthread_mutex_lock(%s);\n"
                "  while (count-- > 1u)\n    sum += va_arg(list, unsigned);\n  %s[0] += sum + me->id;\n"
                "  pthread_mutex_unlock(%s);\n  sum ^= va_arg(list, unsigned);\n  va_end(list);\n"
                "  return sum;\n}\n" % (self.name, name, LOCK[5], SUM[5], LOCK[5]))
            return Node("me->own[3] += %s_%s(me, 3u, %s, 2u, %s);" %
                        (self.name, name, self.expression(1), self.expression(1)))
        if form == 18 and lock is None:  # hand over hand
            if inner < 4:
                return Node(take, body, "pthread_mutex_lock(&locks[0]);", more, drop,
                            "sums[0][1] += 3u;", "pthread_mutex_unlock(&locks[0]);")
        if form == 19:
            return Node("{", [Node(take, "static const unsigned %s_step = 5u;" % name,
                                   "const unsigned %s = %s;" % (name, self.expression()), body, drop,
                                   "me->own[1] ^= %s + %s_step;" % (name, name))], "}")
        if form == 20:  # behind a label
            return Node("{", [Node("unsigned %s = 0;" % name, "%s_again:" % name, take, body, drop,
                                   "if (%s++ < 2u && %s)" % (name, self.condition()),
                                   "  goto %s_again;" % name)], "}")
        if form in (21, 22):  # unlocks in a block of its own, whose rest may lock again
            tick, wait = self.fresh("tick"), []
            if inner < 4 and lock is None and rng.random() < 0.5:
                wait = ["while (%s == %s)" % (TICKS[inner], tick),
                        "  pthread_cond_wait(%s, %s);" % (CONDITION[inner], m)]
            again = []
            if form == 22:
                self.sections += 1
                again = [Node(take, self.block(inner, 0, False), drop)]
            start = TICKS[inner] if wait else "0u"
            return Node("{", [Node("unsigned %s;" % tick, take, "%s = %s;" % (tick, start), body, *wait, "{",
                        [Node("const unsigned %s = %s;" % (name, self.expression()),
                              "unsigned char %s_byte = (unsigned char)%s;" %
                              (name, self.expression(1)), fixed=True), *more,
                         Node(drop, "me->own[2] ^= %s + %s_byte;" % (name, name), fixed=True),
                         *self.block(lock, 0, False), *again], "}", "(void)%s;" % tick)], "}")
        if form == 23 and lock is None:  # leaves, and locks again before
            self.sections += 1
            return Node(take, body, "if (%s) {" % self.condition(),
                        [Node(drop, fixed=True), *self.block(lock, 0, False),
                         Node(take, self.block(inner, 0, False), drop, fixed=True),
                         Node(self.leave(self.expression(1)), fixed=True)], "}", more, drop)
        if form in (25, 26):  # the block of the `if` that asks for the lock
            test = rng.choice(["pthread_mutex_lock(%s) == 0", "!pthread_mutex_lock(%s)"]) % m
            inside = [Node(body, more, "pthread_mutex_unlock(%s);" % m)]
            if form == 25:
                return Node("if (%s) {" % test, inside, "}")
            return Node("if (%s)" % self.condition(), "  me->own[0]++;", "else if (%s) {" % test, inside,
                        "}")
        if form in (28, 29):  # likewise, but the other arm, or the result in a variable
            inside = [Node(body, more, "pthread_mutex_unlock(%s);" % m)]
            failed = [Node("me->own[1]++;", fixed=True)]
            if form == 28 and rng.random() < 0.5:
                return Node("if (pthread_mutex_lock(%s) != 0) {" % m, failed, "} else {", inside, "}")
            if form == 28:
                return Node("if (pthread_mutex_lock(%s) == 0) {" % m, inside, "} else {", failed, "}")
            take, test, otherwise = rng.choice([
                (["int %s = pthread_mutex_lock(%s);" % (name, m)], "%s == 0" % name, []),
                (["int %s;" % name, "%s = pthread_mutex_lock(%s);" % (name, m)], "!%s" % name, []),
                (["int %s = 5;" % name], "(%s = pthread_mutex_lock(%s)) == 0" % (name, m),
                 ["else {", failed, "}"])])
            return Node("{", [Node(*take, "if (%s) {" % test, inside, "}", *otherwise,
                                   "me->own[2] += (unsigned)%s;" % name, fixed=True)], "}")
        if form == 27 and lock is None:  # behind the last way out stands what never returns
            found = [Node("pthread_mutex_unlock(%s);" % m, fixed=True), *self.block(lock, 0, False),
                     Node(self.leave(self.expression(1)), fixed=True)]
            return Node("if (%s) {" % self.condition(),
                        [Node("const unsigned %s = %s & 3u;" % (name, self.expression(1)),
                              "pthread_mutex_lock(%s);" % m, body,
                              *self.loop(name + "_i", "4u"),
                              [Node("if (%s_i == %s) {" % (name, name), found, "}", fixed=True), *more],
                              "}", "abort();", fixed=True)], "}")
        return Node(take, body, drop)

    def waiting_section(self, inner, take, drop, body, more):
        """Waits for a tick, and perhaps for another."""
        rng, tick, error = self.rng, self.fresh("tick"), self.fresh("error")
        ticks, m = TICKS[inner], self.mutex(inner)
        wait = "pthread_cond_wait(%s, %s)" % (CONDITION[inner], m)
        timed = "pthread_cond_timedwait(%s, %s, &until)" % (CONDITION[inner], m)
        again = Node("%s = %s;" % (tick, ticks), fixed=True)
        first = rng.choice([
            ["while (%s == %s)" % (ticks, tick), "  %s;" % wait],
            ["for (;;) {", "  if (%s != %s)" % (ticks, tick), "    break;", "  %s;" % wait, "}"],
            ["do {", "  %s;" % wait, "} while (%s == %s);" % (ticks, tick)],
            ["do {", "  %s = %s;" % (error, timed), "} while (%s == 0 && %s == %s);" % (error, ticks, tick)],
            ["while (%s == %s) {" % (ticks, tick), "  unsigned before = %s;" % ticks, "  %s;" % wait,
             "  me->own[3] |= before == %s ? 1u : 2u;" % tick, "}"],
            ["if (%s == %s) {" % (ticks, tick), "  while (%s == %s)" % (ticks, tick), "    (void)%s;" % wait,
             "  me->own[3] += 1u;", "}"]])
        second = rng.choice([
            ["while (%s == %s)" % (ticks, tick), "  %s;" % wait],
            ["while (%s == %s) {" % (ticks, tick), "  %s = %s;" % (error, timed),
             "  if (%s == ETIMEDOUT) {" % error, "    %s" % drop, "    " + self.leave("1u"), "  }", "}"],
            ["while (%s == %s && %s == 0)" % (ticks, tick, error), "  %s = %s;" % (error, timed)],
            ["if (%s) {" % self.condition(), "  while (%s == %s)" % (ticks, tick), "    %s;" % wait,
             "  %s" % drop, "  me->own[1]++;", "  " + self.leave(self.expression(1)), "}"]])
        # A wait may end by chance: what it left behind is not printed.
        return Node("{", [Node("unsigned %s;" % tick, "int %s = 0;" % error, "struct timespec until = far();",
                               take, "%s = %s;" % (tick, ticks), body, *first, more, [again], *second,
                               self.block(inner, 1, False, 2), drop,
                               "me->own[2] += (unsigned)%s; (void)until;" % error)], "}")

    def function(self):
        self.out, self.after = False, ""
        body = self.declarations()
        if self.rng.random() < 0.1:  # recursive
            body.append(Node("if (b == 14u)", "  a += %s(me, a, 15u);" % self.name))
        body += self.block(None, 1, False, 2)
        for _ in range(self.rng.randrange(1, 4)):
            if self.rng.random() < 0.25:
                i = self.fresh("i")
                body.append(Node(*self.loop(i, "3u"), [self.section(None, 1, True)], "}"))
            else:
                body.append(self.section(None, 2, False))
            body += self.block(None, 1, False, 2)
        body.append(Node("goto out;", "out:", fixed=True) if self.out else Node("", fixed=True))
        terms = " + ".join(["a"] + ["(unsigned)%s * %du" % (v, 3 + i) for i, v in enumerate(self.values)]
                           + ["%s[2]" % v for v in self.arrays] + ["%s.first" % v for v in self.pairs])
        body.append(Node(self.leave(terms), fixed=True))
        head = "unsigned %s(struct me *me, unsigned a, unsigned b) {" % self.name
        if self.rng.random() < 0.1:
            if not self.new:
                head = "unsigned %s(me, a, b) struct me *me; unsigned a, b; {" % self.name
        elif self.rng.random() < 0.2:
            head = self.rng.choice(["unsigned %s(struct me *const restrict me, unsigned a, unsigned b) {",
                                    "unsigned %s(struct me me[static 1], register unsigned a, unsigned b)\n{"
                                    if not self.old else "unsigned\n%s(struct me *me, unsigned a, unsigned b)\n{"]
                                   ) % self.name
            if "register" in head and "&a" in "".join(line for node in body for line in node.lines(0)):
                head = head.replace("register ", "")
        if self.returns != "unsigned":
            # Another function makes a number of what it returns.
            head = head.replace("unsigned %s(" % self.name, "static %s inner_%s(" % (self.returns, self.name))
            head = head.replace("unsigned\n%s(" % self.name, "static %s\ninner_%s(" % (self.returns, self.name))
            head = "unsigned %s(struct me *me, unsigned a, unsigned b);\n" % self.name + head
            call = "inner_%s(me, a, b)" % self.name
            number = {"struct pair": "%s.first", "void": "(%s, me->own[0])", "unsigned *": "*%s"}
            self.after = "unsigned %s(struct me *me, unsigned a, unsigned b) {\n  return (unsigned)%s;\n}\n" % (
                self.name, number.get(self.returns, "%s") % call)
        if self.rng.random() < 0.05:  # the name that the first section would have
            self.before.append("static __attribute__((unused)) unsigned %s_section(unsigned n) { return n; }\n"
                               % self.name)
        if self.rng.random() < 0.2:
            self.before.append("/* What the next function is for. */\n")
        head = "".join(self.before) + head
        function = Function(self.name, head, body, self.unit)
        function.after = self.after
        return function


class Program:
    def __init__(self, seed, functions=24, units=3, rounds=6):
        self.seed, self.rounds, self.units = seed, rounds, units
        rng = random.Random(seed)
        self.flags = rng.choice(STANDARDS)
        # Without assertions, or built both ways.
        self.quiet = rng.choice(["never", "never", "always", "also"])
        self.functions, self.sections = [], 0
        slots = list(range(64))
        for i in range(functions):
            maker = Maker(rng, "f%d" % i, i % units, self.flags, slots)
            self.functions.append(maker.function())
            self.sections += maker.sections

        # A generator of their own: the functions of a seed stay what they were.
        others = random.Random("features %d" % seed)
        self.features = {name: features.ALL[name](others)
                         for name in others.sample(sorted(features.ALL), 3)}

    def configurations(self):
        """The flags of each."""
        loud, quiet = self.flags, self.flags + ["-DNDEBUG"]
        return {"never": [loud], "always": [quiet], "also": [loud, quiet]}[self.quiet]

    def files(self):
        names = [f.name for f in self.functions] + list(self.features)
        calls = "\n".join("    hash = hash * 1099511u + %s(&me, me.id * 31u + round, round * 7u);" % name
                          for name in names)
        declarations = "\n".join(["unsigned %s(struct me *me, unsigned a, unsigned b);" % name
                                  for name in names] +
                                 ["unsigned long long %s_sum(void);" % name for name in self.features])
        sums = "\n".join('  printf("%s %%llx\\n", %s_sum());' % (name, name) for name in self.features)
        main = MAIN.replace("@CALLS@", calls).replace("@ROUNDS@", str(self.rounds))
        main = main.replace("@SUMS@", sums)
        result = {"common.h": HEADER, "main.c": main.replace("@DECLARATIONS@", declarations)}
        for unit in range(self.units):
            text = "\n".join(f.text() for f in self.functions if f.unit == unit)
            if text:
                result["unit%d.c" % unit] = '#include "common.h"\n\n' + text
        for files in self.features.values():
            result.update(files)
        result, self.layered = layers.layered(result, self.seed)
        return result
