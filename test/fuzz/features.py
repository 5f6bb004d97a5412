# SPDX-License-Identifier: MIT
"""What is written around locks rather than in sections: files, names, types, initialisers, macros.

A feature is a few files with one function that each thread calls, `NAME(me, a, b)`, and one that
says at the end what all have added up, `NAME_sum()`.
"""

MACROS = ["CHECKED_LOCK"]  # that take a lock where they are used


def function(name, body, result="a + b"):
    return "unsigned %s(struct me *me, unsigned a, unsigned b) {\n%s  (void)me;\n  return %s;\n}\n" % (
        name, body, result)


def total(name, value):
    return "unsigned long long %s_sum(void) { return %s; }\n" % (name, value)


def twins(rng):
    """Static locks of one name on the same line of two files of one name."""
    files = {}
    for folder in ("d1", "d2"):
        files[folder + "/list.c"] = (
            '#include "../common.h"\nstatic pthread_mutex_t lock%s;\nstatic unsigned long long sum;\n%s%s' % (
                " = PTHREAD_MUTEX_INITIALIZER" if rng.random() < 0.7 else "",
                function("twins_" + folder, "  pthread_mutex_lock(&lock);\n  sum += a * 3u + b;\n"
                         "  pthread_mutex_unlock(&lock);\n"),
                total("twins_" + folder, "sum")))
    files["twins.c"] = (
        '#include "common.h"\nunsigned twins_d1(struct me *, unsigned, unsigned);\n'
        "unsigned twins_d2(struct me *, unsigned, unsigned);\nunsigned long long twins_d1_sum(void);\n"
        "unsigned long long twins_d2_sum(void);\n" +
        function("twins", "", "twins_d1(me, a, b) ^ twins_d2(me, b, a)") +
        total("twins", "twins_d1_sum() * 5u + twins_d2_sum()"))
    return files


def unnamed(rng):
    """A lock in an unnamed struct in a named one, seen by two files."""
    header = ("#ifndef HOLDER_H\n#define HOLDER_H\nstruct holder {\n  unsigned before;\n  struct {\n"
              "    unsigned n;\n    pthread_mutex_t lock;\n  } %s;\n  unsigned long long sum;\n};\n"
              "extern struct holder holder;\nvoid more(unsigned);\n#endif\n")
    inner = rng.choice(["inner", ""])
    lock = "holder.%slock" % (inner and inner + ".")
    use = "  pthread_mutex_lock(&%s);\n  holder.sum += %%s;\n  pthread_mutex_unlock(&%s);\n" % (lock, lock)
    return {
        "holder.h": header % inner,
        "unnamed.c": '#include "common.h"\n#include "holder.h"\nstruct holder holder%s;\n' %
                     rng.choice(["", " = {.before = 1}", " = {.%slock = PTHREAD_MUTEX_INITIALIZER}" %
                                 (inner and inner + ".")]) +
                     function("unnamed", use % "a" + "  more(b);\n") + total("unnamed", "holder.sum"),
        "more.c": '#include "common.h"\n#include "holder.h"\nvoid more(unsigned n) {\n%s}\n' % (use % "n * 7u"),
    }


def literals(rng):
    """Text that goes on in the next line, and macros that make strings of names."""
    text = rng.choice(['"a {\\\n      b; }\\\nlock(c)"', '"/* n */" "\\\n\t// n"', '"%d \\"n\\" \\\n}"'])
    body = ("  unsigned n = a;\n  pthread_mutex_lock(&lock);\n  n += (unsigned)%s[b %% 5u] + SHOW(n);\n"
            "  sum += n;\n  pthread_mutex_unlock(&lock);\n" % text)
    return {"literals.c": '#include "common.h"\n#define SHOW(x) ((unsigned)sizeof(#x ""))\n'
                          "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
                          "static unsigned long long sum;\n" + function("literals", body, "n") +
                          "#undef SHOW\n#define SHOW(x) x\n" + total("literals", "SHOW(sum)")}


def checked(rng):
    """The project's own macros around locks and their initialisers."""
    first = rng.choice(["PTHREAD_MUTEX_INITIALIZER", "{{0}}"])
    return {"checked.c": '#include "common.h"\n#define OS_MUTEX_INIT %s\n#define OS_MUTEX(n) pthread_mutex_t n\n'
                         "#define CHECKED_LOCK(m) \\\n  do { \\\n    int error = pthread_mutex_lock(m); \\\n"
                         "    if (error) { \\\n      give_up(\"lock\", \"checked\", error); \\\n    } \\\n  } while (0)\n"
                         "#define CHECKED_UNLOCK(m) \\\n  do { \\\n    if (pthread_mutex_unlock(m)) \\\n      abort(); \\\n"
                         "  } while (0)\n"
                         "static pthread_mutex_t first = OS_MUTEX_INIT;\nstatic OS_MUTEX(second);\n"
                         "static unsigned long long one, two;\n" % first +
                         function("checked", "  CHECKED_LOCK(&first);\n  one += a;\n  CHECKED_UNLOCK(&first);\n"
                                             "  CHECKED_LOCK(&second);\n  two += b;\n  CHECKED_UNLOCK(&second);\n") +
                         total("checked", "one * 3u + two")}


def zeros(rng):
    """Locks that nothing initialises, in structs and arrays."""
    bound = rng.choice(["STRIPES", "4", "STRIPES * 2 - 4"])
    return {"zeros.c": '#include "common.h"\n#define STRIPES 4\n'
                       "struct slot {\n  unsigned long long sum;\n  pthread_mutex_t lock;\n};\n"
                       "static struct slot slots[%s]%s;\nstatic pthread_mutex_t stripes[%s];\n"
                       "static unsigned long long striped[4];\n" %
                       (bound, rng.choice(["", " = {{.sum = 0}, {0, PTHREAD_MUTEX_INITIALIZER}}"]), bound) +
                       function("zeros", "  static struct slot local;\n"
                                         "  pthread_mutex_lock(&slots[a & 3u].lock);\n  slots[a & 3u].sum += b;\n"
                                         "  pthread_mutex_unlock(&slots[a & 3u].lock);\n"
                                         "  pthread_mutex_lock(stripes + (b & 3u));\n  striped[b & 3u] += a;\n"
                                         "  pthread_mutex_unlock(stripes + (b & 3u));\n"
                                         "  pthread_mutex_lock(&local.lock);\n  local.sum++;\n"
                                         "  pthread_mutex_unlock(&local.lock);\n") +
                       total("zeros", "slots[0].sum + slots[1].sum * 3u + slots[2].sum * 5u + slots[3].sum * 7u + "
                                      "striped[0] * 11u + striped[1] * 13u + striped[2] * 17u + striped[3] * 19u")}


def conditions(rng):
    """A condition variable by pointers: a field, a variable, a parameter."""
    return {"conditions.c": '#include "common.h"\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n'
                            "static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;\n"
                            "static struct {\n  pthread_cond_t *when;\n} told = {&changed};\n"
                            "static unsigned long long turns, sum;\n"
                            "static void tell(pthread_cond_t *%s) { pthread_cond_broadcast(%s); }\n" %
                            (("c", "c") if rng.random() < 0.5 else ("lock", "lock")) +
                            function("conditions", "  pthread_cond_t *mine_too = told.when;\n  struct timespec soon;\n"
                                                   "  clock_gettime(CLOCK_REALTIME, &soon);\n"
                                                   "  pthread_mutex_lock(&lock);\n  sum += a ^ b;\n  turns++;\n"
                                                   "  tell(%s);\n"
                                                   "  if (turns & 1u)\n    pthread_cond_timedwait(mine_too, &lock, &soon);\n"
                                                   "  sum += 3u;\n  pthread_mutex_unlock(&lock);\n" %
                                     rng.choice(["mine_too", "told.when", "&changed"])) +
                            total("conditions", "sum")}


def sizes(rng):
    """Types and bounds that are not the same on another machine."""
    bound = rng.choice(["sizeof(struct head) + 1", "sizeof(long) * 4", "COUNT", "COUNT + sizeof(void *)"])
    return {"sizes.c": '#include "common.h"\n#define COUNT 40\nstruct head {\n  long n[4];\n  char *text;\n};\n'
                       "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic unsigned long long sum;\n" +
                       function("sizes", "  unsigned char buffer[%s];\n  char *end;\n  char digits[16];\n"
                                         "  memset(buffer, (int)(a & 15u), sizeof buffer);\n"
                                         "  snprintf(digits, sizeof digits, \"%%u;%%u\", a %% 1000u, b %% 1000u);\n"
                                         "  pthread_mutex_lock(&lock);\n  buffer[3] = (unsigned char)b;\n"
                                         "  sum += (unsigned)strtoul(digits, &end, 10) + buffer[5];\n"
                                         "  pthread_mutex_unlock(&lock);\n  a = buffer[3] + (unsigned)strtoul(end + 1, &end, 10);\n"
                                % bound) + total("sizes", "sum")}


def handlers(rng):
    """A handler that unlocks, and a scope that does."""
    routine = rng.choice(["(void (*)(void *))(void *)pthread_mutex_unlock", "release"])
    return {"handlers.c": '#include "common.h"\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n'
                          "static unsigned long long sum;\n"
                          "static void release(void *m) { pthread_mutex_unlock(m); }\n"
                          "static inline void leave(pthread_mutex_t **m) { pthread_mutex_unlock(*m); }\n" +
                          function("handlers", "  {\n    pthread_mutex_t *held __attribute__((cleanup(leave))) = &lock;\n"
                                               "    pthread_mutex_lock(held);\n    sum += b;\n  }\n"
                                               "  pthread_cleanup_push(%s, &lock);\n  pthread_mutex_lock(&lock);\n"
                                               "  sum += a;\n  pthread_cleanup_pop(1);\n  pthread_mutex_lock(&lock);\n"
                                               "  sum += 3u;\n  pthread_mutex_unlock(&lock);\n"
                                               "  if (a == b + 100000u)\n    release(&lock);\n" % routine) +
                          total("handlers", "sum")}


def outside(rng):
    """A lock in a struct of a library's header, which is nobody's to edit."""
    before = rng.choice(["", "  unsigned before;\n"])
    lock, unlock = rng.choice([("pthread_mutex_lock(&box.lock)", "pthread_mutex_unlock(&box.lock)"),
                               ("box_lock(&box)", "box_unlock(&box)")])
    return {OUTSIDE + "box.h": "#ifndef BOX_H\n#define BOX_H\n#include <pthread.h>\n"
                               "struct box {\n%s  pthread_mutex_t lock;\n  unsigned long long sum;\n};\n"
                               "static inline void box_init(struct box *b) { pthread_mutex_init(&b->lock, 0); }\n"
                               "static inline int box_lock(struct box *b) { return pthread_mutex_lock(&b->lock); }\n"
                               "static inline int box_unlock(struct box *b) { return pthread_mutex_unlock(&b->lock); }\n"
                               "#endif\n" % before,
            "outside.c": '#include "common.h"\n#include "%sbox.h"\nstatic struct box box;\n'
                         "static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;\n"
                         "static pthread_once_t once = PTHREAD_ONCE_INIT;\n"
                         "static void begin(void) { box_init(&box); }\n" % OUTSIDE +
                         function("outside", "  pthread_once(&once, begin);\n  %s;\n  box.sum += a;\n  %s;\n"
                                             "  pthread_mutex_lock(&own);\n  b ^= a;\n"
                                             "  pthread_mutex_unlock(&own);\n" % (lock, unlock)) +
                         total("outside", "box.sum")}


def started(rng):
    """Locks of several classes that macros initialise, which check, count, or use one another."""
    start = rng.choice([
        "#define START(l) pthread_mutex_init(l, NULL)\n",
        "#define START(l) do { if (pthread_mutex_init(l, NULL) != 0) abort(); } while (0)\n",
        "#define START(l) /* or ends */ \\\n  { \\\n    int error = pthread_mutex_init((l), NULL); \\\n"
        "    if (error) FAILS(pthread_mutex_init); \\\n  }\n"])
    begin = rng.choice(["#define BEGIN(l) START(l)\n",
                        "#define BEGIN(l) do { START(l); begun++; } while (0) // counts\n",
                        "#define BEGIN_ALL(s) do { START(&(s)->lock); (s)->sum = 0; } while (0)\n"
                        "#define BEGIN(l) START(l)\n"])
    names = ["left", "middle", "right"][:rng.randrange(1, 4)]
    uses = ["%s(&%s.lock);" % (rng.choice(["START", "BEGIN"]), name) if "BEGIN_ALL" not in begin or rng.random() < 0.5
            else "BEGIN_ALL(&%s);" % name for name in names]
    rng.shuffle(uses)
    return {"started.c": '#include "common.h"\n#include <stdlib.h>\n'
                         "#define FAILS(f) do { puts(#f); abort(); } while (0)\n" + start + begin +
                         "static unsigned begun;\n" +
                         "".join("static struct %s {\n  pthread_mutex_t lock;\n  unsigned long long sum;\n} %s;\n" %
                                 (name, name) for name in names) +
                         "static pthread_once_t once = PTHREAD_ONCE_INIT;\n"
                         "static void begin(void) {\n  begun = 0;\n  %s\n}\n" % "\n  ".join(uses) +
                         function("started", "  pthread_once(&once, begin);\n" + "".join(
                             "  pthread_mutex_lock(&%s.lock);\n  %s.sum += %s;\n  pthread_mutex_unlock(&%s.lock);\n" %
                             (name, name, rng.choice(["a", "b * 3u"]), name) for name in names)) +
                         total("started", " + ".join("%s.sum" % name for name in names))}


OUTSIDE = "../library/"  # from the program's folder

ALL = {"twins": twins, "unnamed": unnamed, "literals": literals, "checked": checked, "zeros": zeros,
       "conditions": conditions, "sizes": sizes, "handlers": handlers,
       "outside": outside, "started": started}
