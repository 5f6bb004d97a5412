/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "site.h"
#include "store.h"

#include <link.h>
#include <string.h>
#include <unwind.h>

enum { MODULES_MAX = 1024, KNOWN_STACKS = 4, STACK_MAX = RELOCK_FRAMES + 16 };

static struct relock_module *modules[MODULES_MAX];
static unsigned module_count;
static unsigned long long changes_seen;
#ifdef RELOCK_PROFILER_STATIC
/* All of our code, which the linker knows by the name of its section. */
extern const char own_begin[] __asm__("__start_relock_profiler_text");
extern const char own_end[] __asm__("__stop_relock_profiler_text");
#define own_low ((uint64_t)(uintptr_t)own_begin)
#define own_high ((uint64_t)(uintptr_t)own_end)
#else
static uint64_t own_low, own_high; /* the module that is ours */
#endif

/* A stack that was unwound, with the places of its return addresses. A program makes its mutexes,
 * and waits, in few calls, so most stacks have been there before: as long as all return addresses
 * are where they were found, there is nothing to unwind, which would take a hundred times as long.
 * The first one is that of site_backtrace itself: each is then the caller's of the one before,
 * whose frame has the size it had. (Only a frame of variable size can differ, and would have to
 * leave old return addresses exactly where they lay.) */
struct known_stack {
  uint32_t depth; /* 0: none; the profiler's own functions included, and librelock's */
  uint32_t own;   /* of them, a bit for each */
  const uint64_t *at[STACK_MAX];
  uint64_t address[STACK_MAX];
};

static __thread struct known_stack known[KNOWN_STACKS];
static __thread uint32_t next_known;

_Static_assert(STACK_MAX <= 32, "a bit for each");

struct walk {
  const uint64_t *start; /* where the return address of site_backtrace lies */
  uint64_t from;         /* nothing before that return address is wanted; 0: not any more */
  bool started, exact;   /* `exact`: all return addresses lie below their callers' frames */
  struct known_stack stack;
};

static bool is_own(uint64_t address) { return address >= own_low && address < own_high; }

static uint32_t wanted(const struct known_stack *stack) {
  return stack->depth - (uint32_t)__builtin_popcount(stack->own);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument) {
  struct walk *walk = argument;
  struct known_stack *stack = &walk->stack;
  uint64_t address = _Unwind_GetIP(context);
  const uint64_t *at = (const uint64_t *)_Unwind_GetCFA(context) - 1;
  if (!address || wanted(stack) == RELOCK_FRAMES || stack->depth == STACK_MAX)
    return _URC_END_OF_STACK;
  walk->started |= at == walk->start;
  if (walk->started || !is_own(address)) {
    walk->exact &= walk->started && *at == address;
    if (walk->from == address)
      walk->from = 0;
    stack->own |= (uint32_t)(walk->from || is_own(address)) << stack->depth;
    stack->at[stack->depth] = at;
    stack->address[stack->depth++] = address;
  }
  return _URC_NO_REASON;
}

static bool is_current(const struct known_stack *stack, const uint64_t *start) {
  if (!stack->depth || stack->at[0] != start)
    return false;
  for (uint32_t i = 0; i < stack->depth; i++)
    if (*stack->at[i] != stack->address[i])
      return false;
  return true;
}

static uint32_t without_own(const struct known_stack *stack, uint64_t frames[RELOCK_FRAMES]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < stack->depth && count < RELOCK_FRAMES; i++)
    if (!(stack->own >> i & 1))
      frames[count++] = stack->address[i];
  return count;
}

/* Follows the unwind tables, which stripped programs keep; frame pointers are not needed. */
__attribute__((noinline)) uint32_t site_backtrace(uint64_t from, uint64_t frames[RELOCK_FRAMES]) {
  const uint64_t *start = (const uint64_t *)__builtin_frame_address(0) + 1;
  struct walk walk = {.start = start, .from = from, .exact = true};
  for (uint32_t i = 0; i < KNOWN_STACKS; i++)
    if (is_current(&known[i], start))
      return without_own(&known[i], frames);
  _Unwind_Backtrace(visit, &walk);
  if (walk.exact)
    known[next_known++ % KNOWN_STACKS] = walk.stack;
  return without_own(&walk.stack, frames);
}

static void module_range(const struct dl_phdr_info *info, uint64_t *low, uint64_t *high) {
  *low = UINT64_MAX;
  *high = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uint64_t start = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD)
      continue;
    *low = start < *low ? start : *low;
    *high = start + segment->p_memsz > *high ? start + segment->p_memsz : *high;
  }
}

static void add_module(const struct dl_phdr_info *info, uint64_t low, uint64_t high,
                       const char *path) {
  size_t length = strlen(path) + 1;
  struct relock_module *module = NULL;
  if (module_count < MODULES_MAX)
    module = record_allocate(RELOCK_RECORD_MODULE, sizeof *module + length);
  if (!module) {
    count_drop(&header->dropped_modules);
    return;
  }
  module->bias = info->dlpi_addr;
  module->low = low;
  module->high = high;
  module->loaded = 1;
  module->path_size = (uint32_t)length;
  memcpy(module->path, path, length);
  modules[module_count++] = module;
}

static void note_own(uint64_t low, uint64_t high) {
#ifdef RELOCK_PROFILER_STATIC
  (void)low, (void)high;
#else
  uint64_t own = (uint64_t)(uintptr_t)&note_own;
  if (own >= low && own < high) {
    own_low = low;
    own_high = high;
  }
#endif
}

struct visit {
  bool changed; /* and the record lock is held */
};

static void begin_changes(unsigned long long changes) {
  __atomic_store_n(&changes_seen, changes, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < module_count; i++)
    modules[i]->loaded = 0;
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *argument) {
  struct visit *visit = argument;
  unsigned long long changes = info->dlpi_adds + info->dlpi_subs;
  const char *path = info->dlpi_name;
  uint64_t low, high;
  (void)size;
  if (!visit->changed) {
    if (changes == __atomic_load_n(&changes_seen, __ATOMIC_RELAXED))
      return 1;
    record_lock();
    visit->changed = true;
    begin_changes(changes);
    if (!path[0])
      path = header->executable;
  }
  module_range(info, &low, &high);
  if (low >= high || !path[0])
    return 0;
  note_own(low, high);
  for (unsigned i = 0; i < module_count; i++)
    if (modules[i]->low == low && modules[i]->high == high && !strcmp(modules[i]->path, path)) {
      modules[i]->loaded = 1;
      return 0;
    }
  add_module(info, low, high, path);
  return 0;
}

/* The loader holds a lock of its own while it calls back, and a program's callback may lock a
 * mutex that is new to us: so the record lock is always taken after the loader's, never before. */
void site_refresh_modules(void) {
  struct visit visit = {false};
  dl_iterate_phdr(visit_module, &visit);
  if (visit.changed)
    record_unlock();
}

bool site_is_static(uint64_t address) {
  for (unsigned i = 0; i < module_count; i++)
    if (modules[i]->loaded && address >= modules[i]->low && address < modules[i]->high)
      return true;
  return false;
}
