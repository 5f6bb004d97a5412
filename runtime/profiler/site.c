/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "site.h"
#include "record.h"

#include <link.h>
#include <string.h>
#include <unwind.h>

enum { MODULES_MAX = 1024 };

static struct relock_module *modules[MODULES_MAX];
static unsigned module_count;
static unsigned long long changes_seen;
static uint64_t own_low, own_high;

struct walk {
  uint64_t *frames;
  uint32_t count;
};

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument) {
  struct walk *walk = argument;
  uint64_t address = _Unwind_GetIP(context);
  if (!address || walk->count == RELOCK_FRAMES)
    return _URC_END_OF_STACK;
  if (address < own_low || address >= own_high)
    walk->frames[walk->count++] = address;
  return _URC_NO_REASON;
}

/* Follows the unwind tables, which stripped programs keep; frame pointers are not needed. */
uint32_t site_backtrace(uint64_t frames[RELOCK_FRAMES]) {
  struct walk walk = {frames, 0};
  _Unwind_Backtrace(visit, &walk);
  return walk.count;
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
  uint64_t low, high, own = (uint64_t)(uintptr_t)&visit_module;
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
  if (own >= low && own < high) {
    own_low = low;
    own_high = high;
  }
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
