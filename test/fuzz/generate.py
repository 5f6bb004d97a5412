# SPDX-License-Identifier: MIT
"""Random programs of critical sections whose output does not depend on the schedule.

Each thread has data of its own, which its sections read and write freely, and all threads add to
the accumulators of the lock that they hold, which nobody reads before the end. Sums do not depend
on the order of their parts, but an update that is lost, or made without the lock, changes them.

A program is a list of functions, a function a tree of nodes, so that run.py can take out any
part. All arithmetic is on unsigned numbers: no program has undefined behaviour by its values.
"""
import random

LOCKS = 6  # lock K is spelled in way K, see PRELUDE
SCALARS = {"unsigned": "%du", "unsigned char": "%d", "unsigned short": "%d",
           "unsigned long long": "%dull", "bool": "%d", "enum color": "%d", "long": "%d",
           "double": "%d.0", "signed char": "%d"}

HEADER = r"""#ifndef COMMON_H
#define COMMON_H
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum color { RED, GREEN, BLUE, BLACK };
struct pair {
  unsigned first, second;
};
struct me {
  unsigned id, own[4];
  struct pair pair;
};
struct guarded {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned long long sum[2];
  unsigned ticks;
};
typedef unsigned (*operation)(unsigned);
extern pthread_mutex_t lock0, lock3, locks[2];
extern pthread_cond_t changed0, changed3;
extern struct guarded guarded;
extern struct guarded *pointed;
extern unsigned long long sum0[2], sum3[2], sums[2][2];
extern unsigned ticks0, ticks3;
unsigned mix(unsigned *value, unsigned other);
unsigned twice(unsigned value);
extern __thread unsigned mine;
struct timespec far(void);
#define LOCK(m) do { pthread_mutex_lock(m); } while (0)
#define UNLOCK(m) do { pthread_mutex_unlock(m); } while (0)
#define BRACED_LOCK(m) {pthread_mutex_lock(&(m));}
#define BRACED_UNLOCK(m) {pthread_mutex_unlock(&(m));}
#define LOCK_VALUE(m) ({ pthread_mutex_lock(m); })
#define UNLOCK_VALUE(m) ({ pthread_mutex_unlock(m); })
#define LEAVE(m, value) do { pthread_mutex_unlock(m); return (value); } while (0)
#define SKIP_UNLESS(condition, label) if (!(condition)) goto label
#define BUMP(x) ((x) += 3u)
#define SWAP(a, b) do { unsigned swap = (a); (a) = (b); (b) = swap; } while (0)
static inline void lock_three(void) { pthread_mutex_lock(&lock3); }
static inline void unlock_three(void) { pthread_mutex_unlock(&lock3); }
static inline unsigned add_to_five(unsigned value) {
  unsigned result = value * 3u;
  pthread_mutex_lock(&locks[1]);
  sums[1][0] += value;
  result ^= value >> 2;
  pthread_mutex_unlock(&locks[1]);
  return result;
}
#endif
"""

MAIN = r"""#include "common.h"
pthread_mutex_t lock0 = PTHREAD_MUTEX_INITIALIZER, lock3 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
pthread_cond_t changed0 = PTHREAD_COND_INITIALIZER, changed3 = PTHREAD_COND_INITIALIZER;
struct guarded guarded = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
struct guarded *pointed;
unsigned long long sum0[2], sum3[2], sums[2][2];
unsigned ticks0, ticks3;
__thread unsigned mine;
static int ended;

unsigned mix(unsigned *value, unsigned other) {
  *value = *value * 33u ^ other;
  return *value >> 3;
}
unsigned twice(unsigned value) { return value * 2u; }
struct timespec far(void) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 600;
  return deadline;
}

@DECLARATIONS@
static unsigned long long result[16];

static void *work(void *argument) {
  struct me me = {.id = (unsigned)(size_t)argument};
  unsigned long long hash = 1469598103u;
  for (unsigned round = 0; round < @ROUNDS@; round++) {
@CALLS@
  }
  for (int i = 0; i < 4; i++)
    hash = hash * 1099511u + me.own[i];
  result[me.id] = hash * 1099511u + me.pair.first * 7u + me.pair.second;
  return NULL;
}

/* Waiters wait for a tick: there is always one more. */
static void *tick(void *unused) {
  while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) {
    pthread_mutex_lock(&lock0);
    ticks0++;
    pthread_cond_broadcast(&changed0);
    pthread_mutex_unlock(&lock0);
    lock_three();
    ticks3++;
    pthread_cond_signal(&changed3);
    pthread_cond_broadcast(&changed3);
    unlock_three();
    pthread_mutex_lock(&pointed->lock);
    pointed->ticks++;
    pthread_mutex_unlock(&pointed->lock);
    pthread_cond_broadcast(&pointed->changed);
    pthread_mutex_lock(&guarded.lock);
    guarded.ticks++;
    pthread_cond_broadcast(&guarded.changed);
    pthread_mutex_unlock(&guarded.lock);
    sched_yield();
  }
  return unused;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t threads[16], ticker;
  pointed = calloc(1, sizeof *pointed);
  pthread_mutex_init(&pointed->lock, NULL);
  pthread_cond_init(&pointed->changed, NULL);
  pthread_create(&ticker, NULL, tick, NULL);
  for (int i = 0; i < count; i++)
    pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
  __atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
  pthread_join(ticker, NULL);
  for (int i = 0; i < count; i++)
    printf("thread %d: %llx\n", i, result[i]);
  for (int i = 0; i < 2; i++)
    printf("sums %llx %llx %llx %llx %llx %llx\n", sum0[i], guarded.sum[i], pointed->sum[i],
           sum3[i], sums[0][i], sums[1][i]);
  return 0;
}
"""

# How each lock is named, its accumulators, its condition and ticks (locks 4 and 5 have none).
LOCK = ["&lock0", "&guarded.lock", "&pointed->lock", "&lock3", "&locks[0]", "&locks[1]"]
SUM = ["sum0", "guarded.sum", "pointed->sum", "sum3", "sums[0]", "sums[1]"]
CONDITION = ["&changed0", "&guarded.changed", "&pointed->changed", "&changed3"]
TICKS = ["ticks0", "guarded.ticks", "pointed->ticks", "ticks3"]


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
        self.name, self.head, self.body, self.unit = name, head, body, unit

    def text(self):
        return "\n".join([self.head, *(line for node in self.body for line in node.lines(1)), "}", ""])


class Maker:
    """Makes one function."""

    def __init__(self, rng, name, unit):
        self.rng, self.name, self.unit = rng, name, unit
        self.names = 0
        self.values = []   # variables of unsigned arithmetic, in scope
        self.arrays, self.pairs, self.pointers = [], [], []
        self.read_only, self.qualified = set(), set()
        self.sections = 0

    def fresh(self, prefix):
        self.names += 1
        return "%s%d" % (prefix, self.names)

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
        return "(unsigned)%s" % self.rng.choice(self.values)

    def expression(self, depth=2):
        if depth == 0 or self.rng.random() < 0.3:
            return self.value()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        form = self.rng.choice(["(%s + %s)", "(%s ^ %s)", "(%s * 5u - %s)", "(%s / (1u + (%s & 7u)))",
                                "(%s > %s ? 3u : 9u)", "twice(%s + %s)"])
        return form % (a, b)

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
        name, = self.rng.sample(writable, 1)
        return name, self.types[name]

    # --- statements ---

    def declarations(self):
        self.types = {"a": "unsigned", "b": "unsigned"}
        self.values += ["a", "b"]
        result = []
        for _ in range(self.rng.randrange(2, 5)):
            kind = self.rng.choice(list(SCALARS))
            name = self.fresh("v")
            limit = {"bool": 2, "enum color": 4}.get(kind, 100)
            start = SCALARS[kind] % self.rng.randrange(limit)
            if kind == "enum color":
                start = "(enum color)" + start
            qualifier = self.rng.choice([""] * 12 + ["const ", "const ", "register ", "volatile "])
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
        if self.rng.random() < 0.1:  # of variable length
            name = self.fresh("array")
            result.append(Node("unsigned %s[4u + (b & 3u)];" % name,
                               "memset(%s, 1, sizeof %s);" % (name, name), fixed=True))
            self.arrays.append(name)
        if self.rng.random() < 0.15:
            name = self.fresh("pair")
            result.append(Node("struct { unsigned first : 20, second; } %s = {a & 255u, 2u};" % name,
                               fixed=True))
            self.pairs.append(name)
        if self.rng.random() < 0.15:
            name = self.fresh("pair")
            result.append(Node("struct %s_type { unsigned char first; unsigned second; } %s = {1, b};"
                               % (name, name), fixed=True))
            self.pairs.append(name)
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
            return Node("%s[%d] += %s;" % (SUM[lock], rng.randrange(2), self.expression()))
        if choice < 0.5 or depth == 0:
            return self.assign()
        if choice < 0.52:
            return Node("mine = mine * 5u + %s;" % self.expression(1),
                        "me->own[%d] ^= mine;" % rng.randrange(4))
        if choice < 0.53:
            table = self.fresh("table")
            return Node("{", "  static const unsigned %s[4] = {5u, 6u, 7u, 9u};" % table,
                        "  me->own[3] += %s[%s & 3u];" % (table, self.expression(1)), "}")
        if choice < 0.535:
            name = self.fresh("function")
            return Node("{", "  operation %s = twice;" % name,
                        "  me->own[3] += %s(%s);" % (name, self.expression(1)), "}")
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
            return Node("for (unsigned %s = 0; %s < %du; %s++) {" % (i, i, rng.randrange(1, 4), i),
                        body, "}")
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
        m = LOCK[lock]
        forms = [("pthread_mutex_lock(%s);" % m, "pthread_mutex_unlock(%s);" % m)] * 3
        forms += [("LOCK(%s);" % m, "UNLOCK(%s);" % m),
                  ("LOCK_VALUE(%s);" % m, "UNLOCK_VALUE(%s);" % m)]
        if m.startswith("&"):
            forms += [("BRACED_LOCK(%s)" % m[1:], "BRACED_UNLOCK(%s)" % m[1:])]
        if lock == 3:
            forms += [("lock_three();", "unlock_three();")] * 3
        return self.rng.choice(forms)

    def section(self, lock, depth, loop):
        """Statements that take a lock above `lock` and release it; loop: inside a loop."""
        rng = self.rng
        inner = rng.randrange(0 if lock is None else lock + 1, LOCKS)
        take, drop = self.spelled(inner)
        self.sections += 1
        form = rng.random()
        body = self.block(inner, depth, False, 4)
        if rng.random() < 0.2:
            return self.rare_section(lock, inner, depth, take, drop, body)
        if form < 0.3:
            return Node(take, body, drop)
        if form < 0.5 and lock is None:  # leaves early
            leave = rng.choice(["return %s;" % self.expression(1), "goto out;"] +
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
        if form < 0.68 and inner + 1 < LOCKS:  # nested
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
            wait = "pthread_cond_wait(%s, %s)" % (CONDITION[inner], LOCK[inner])
            timed = "pthread_cond_timedwait(%s, %s, &until)" % (CONDITION[inner], LOCK[inner])
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
        if form < 0.97 and not take.startswith(("BRACED", "lock_three")):  # tried
            return Node("while (pthread_mutex_trylock(%s) != 0)" % LOCK[inner], "  sched_yield();",
                        body, "pthread_mutex_unlock(%s);" % LOCK[inner])
        return Node("if (pthread_mutex_lock(%s) != 0)" % LOCK[inner], "  abort();", body,
                    "pthread_mutex_unlock(%s);" % LOCK[inner])

    def rare_section(self, lock, inner, depth, take, drop, body):
        rng = self.rng
        form = rng.randrange(6)
        if form == 0:  # a loop that drops the lock and takes it again
            self.sections += 1
            i = self.fresh("i")
            return Node(take, body, "for (unsigned %s = 0; %s < 2u; %s++) {" % (i, i, i),
                        [*self.block(inner, 0, False), Node(drop, fixed=True),
                         *self.block(lock, 0, False), Node(take, fixed=True)], "}", drop)
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
        if form == 4 and lock is None:  # a jump in a macro
            return Node(take, body, "if (%s)" % self.condition(),
                        "  LEAVE(%s, %s);" % (LOCK[inner], self.expression(1)),
                        self.block(inner, depth, False), drop)
        if form == 5 and lock is None:  # a value from inside leaves
            name = self.fresh("v")
            return Node(take, body, "if (%s) {" % self.condition(),
                        [Node("unsigned %s = %s;" % (name, self.expression()), drop,
                              "return %s * 2u;" % name)], "}", self.block(inner, 0, False), drop)
        return Node("do {", [Node(take, body, "if (%s) {" % self.condition(),
                    [Node(drop, fixed=True), *self.block(lock, 0, False), Node("break;", fixed=True)],
                    "}", self.block(inner, 0, False), drop)], "} while (0);")

    def function(self):
        self.out = False
        body = self.declarations()
        if self.rng.random() < 0.1:  # recursive
            body.append(Node("if (b == 14u)", "  a += %s(me, a, 15u);" % self.name))
        body += self.block(None, 1, False, 2)
        for _ in range(self.rng.randrange(1, 4)):
            if self.rng.random() < 0.25:
                i = self.fresh("i")
                body.append(Node("for (unsigned %s = 0; %s < 3u; %s++) {" % (i, i, i),
                                 [self.section(None, 1, True)], "}"))
            else:
                body.append(self.section(None, 2, False))
            body += self.block(None, 1, False, 2)
        body.append(Node("goto out;", "out:", fixed=True) if self.out else Node("", fixed=True))
        terms = " + ".join(["a"] + ["(unsigned)%s * %du" % (v, 3 + i) for i, v in enumerate(self.values)]
                           + ["%s[2]" % v for v in self.arrays] + ["%s.first" % v for v in self.pairs])
        body.append(Node("return %s;" % terms, fixed=True))
        head = "unsigned %s(struct me *me, unsigned a, unsigned b) {" % self.name
        if self.rng.random() < 0.1:
            head = "unsigned %s(me, a, b) struct me *me; unsigned a, b; {" % self.name
        return Function(self.name, head, body, self.unit)


class Program:
    def __init__(self, seed, functions=24, units=3, rounds=6):
        self.seed, self.rounds, self.units = seed, rounds, units
        rng = random.Random(seed)
        self.functions, self.sections = [], 0
        for i in range(functions):
            maker = Maker(rng, "f%d" % i, i % units)
            self.functions.append(maker.function())
            self.sections += maker.sections

    def files(self):
        calls = "\n".join("    hash = hash * 1099511u + %s(&me, me.id * 31u + round, round * 7u);" % f.name
                          for f in self.functions)
        declarations = "\n".join("unsigned %s(struct me *me, unsigned a, unsigned b);" % f.name
                                 for f in self.functions)
        main = MAIN.replace("@CALLS@", calls).replace("@ROUNDS@", str(self.rounds))
        result = {"common.h": HEADER, "main.c": main.replace("@DECLARATIONS@", declarations)}
        for unit in range(self.units):
            text = "\n".join(f.text() for f in self.functions if f.unit == unit)
            if text:
                result["unit%d.c" % unit] = '#include "common.h"\n\n' + text
        return result
