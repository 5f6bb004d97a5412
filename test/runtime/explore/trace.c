/* SPDX-License-Identifier: MIT
 *
 * Names of addresses and places in the code, from the program's own symbol table and, for lines,
 * from addr2line; and the record of what an execution did.
 */
#define _GNU_SOURCE
#include "engine.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_EVENTS = 30000, SHOWN = 400, EVENT_TEXT = 120, MAX_NAMES = 64 };

bool tracing;

static struct event {
  int thread;
  uintptr_t pc;
  char text[EVENT_TEXT];
} events[MAX_EVENTS];
static int event_count;

static const Elf64_Sym *symbols;
static const char *symbol_names;
static size_t symbol_count;
extern const char __ehdr_start[]; /* where the program is loaded, by the linker */

static struct {
  const char *name;
  uintptr_t start;
  size_t size;
} names[MAX_NAMES];
static int name_count;

static struct {
  uintptr_t start, end;
} decrements[64];
static int decrement_count;

/* --- symbols --------------------------------------------------------------------------------- */

static void find_decrements(void) {
  for (size_t i = 0; i < symbol_count; i++)
    if ((strcmp(symbol_names + symbols[i].st_name, "relock_owner_decrement") == 0 ||
         strcmp(symbol_names + symbols[i].st_name, "relock_owner_cas") == 0) &&
        decrement_count < 64) {
      decrements[decrement_count].start = (uintptr_t)__ehdr_start + symbols[i].st_value;
      decrements[decrement_count].end = decrements[decrement_count].start + symbols[i].st_size;
      decrement_count++;
    }
}

void load_symbols(void) {
  int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0)
    return;
  const char *image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (image == MAP_FAILED)
    return;
  const Elf64_Ehdr *header = (const void *)image;
  const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++)
    if (sections[i].sh_type == SHT_SYMTAB) {
      symbols = (const void *)(image + sections[i].sh_offset);
      symbol_count = sections[i].sh_size / sizeof *symbols;
      symbol_names = image + sections[sections[i].sh_link].sh_offset;
    }
  find_decrements();
}

bool is_decrement(uintptr_t pc) {
  for (int i = 0; i < decrement_count; i++)
    if (pc - decrements[i].start < decrements[i].end - decrements[i].start)
      return true;
  return false;
}

static const Elf64_Sym *symbol_at(uintptr_t address) {
  uintptr_t offset = address - (uintptr_t)__ehdr_start;
  for (size_t i = 0; i < symbol_count; i++)
    if (symbols[i].st_size && offset - symbols[i].st_value < symbols[i].st_size)
      return &symbols[i];
  return NULL;
}

const char *function_name(uintptr_t pc) {
  const Elf64_Sym *symbol = pc ? symbol_at(pc) : NULL;
  return symbol ? symbol_names + symbol->st_name : "?";
}

void name_memory(const char *name, const void *address, size_t size) {
  if (name_count < MAX_NAMES) {
    names[name_count].name = name;
    names[name_count].start = (uintptr_t)address;
    names[name_count].size = size;
    name_count++;
  }
}

void forget_names(void) { name_count = 0; }

const char *address_name(const void *pointer) {
  static char buffers[4][96];
  static int next;
  char *text = buffers[next++ % 4];
  uintptr_t address = (uintptr_t)pointer;
  for (int i = name_count - 1; i >= 0; i--)
    if (address - names[i].start < names[i].size) {
      snprintf(text, sizeof buffers[0], "%s+%zu", names[i].name,
               (size_t)(address - names[i].start));
      return text;
    }
  const Elf64_Sym *symbol = symbol_at(address);
  if (symbol)
    snprintf(text, sizeof buffers[0], "%s+%zu", symbol_names + symbol->st_name,
             (size_t)(address - (uintptr_t)__ehdr_start - symbol->st_value));
  else
    snprintf(text, sizeof buffers[0], "%s%p", on_fiber_stack(pointer) ? "stack " : "", pointer);
  return text;
}

/* --- lines ----------------------------------------------------------------------------------- */

static void shorten(char *line) {
  line[strcspn(line, "\n")] = '\0';
  char *remark = strstr(line, " (");
  if (remark)
    *remark = '\0';
  char *slash = strrchr(line, '/');
  if (slash)
    memmove(line, slash + 1, strlen(slash));
}

void source_lines(const uintptr_t *pcs, int count, char (*lines)[64]) {
  char program[PATH_MAX], name[] = "/tmp/explore-XXXXXX";
  for (int i = 0; i < count; i++)
    snprintf(lines[i], sizeof lines[i], "?");
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  int file = mkstemp(name);
  if (length < 0 || file < 0)
    return;
  program[length] = '\0';
  for (int i = 0; i < count; i++) /* the call is before where it returns to */
    dprintf(file, "0x%lx\n", (unsigned long)(pcs[i] - (uintptr_t)__ehdr_start - 1));
  close(file);
  char command[PATH_MAX + 100], text[PATH_MAX];
  snprintf(command, sizeof command, "addr2line -e '%s' < %s 2>/dev/null", program, name);
  FILE *output = popen(command, "r");
  for (int i = 0; output && i < count && fgets(text, sizeof text, output); i++) {
    shorten(text);
    snprintf(lines[i], sizeof lines[i], "%.60s", text);
  }
  if (output)
    pclose(output);
  unlink(name);
}

/* --- events ---------------------------------------------------------------------------------- */

const char *order_name(int order) {
  static const char *const order_names[] = {"relaxed", "consume", "acquire",
                                            "release", "acq_rel", "seq_cst"};
  return order_names[order];
}

void trace_begin(void) { event_count = 0; }

void trace_event(uintptr_t pc, const char *format, ...) {
  if (event_count == MAX_EVENTS)
    return;
  struct event *event = &events[event_count++];
  event->thread = current ? current->id : -1;
  event->pc = pc;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(event->text, sizeof event->text, format, arguments);
  va_end(arguments);
}

void trace_print(void) {
  int first = event_count > SHOWN ? event_count - SHOWN : 0;
  int count = event_count - first;
  uintptr_t *pcs = calloc((size_t)count + 1, sizeof *pcs);
  char(*lines)[64] = calloc((size_t)count + 1, sizeof *lines);
  for (int i = 0; i < count; i++)
    pcs[i] = events[first + i].pc ? events[first + i].pc : (uintptr_t)__ehdr_start + 1;
  source_lines(pcs, count, lines);
  for (int i = 0; i < count; i++) {
    const struct event *event = &events[first + i];
    printf("  %*s%d: %s", 4 * event->thread, "", event->thread, event->text);
    if (event->pc)
      printf("   [%s %s]", function_name(event->pc), lines[i]);
    putchar('\n');
  }
  free(pcs);
  free(lines);
}

void print_calls(const struct thread *thread) {
  static const char *const states[] = {"runs", "sleeps", "waits at the barrier", "has ended"};
  printf("thread %d %s%s", thread->id, states[thread->state],
         thread->state == RUNNING && thread->yielded ? " (has yielded)" : "");
  int calls = thread->calls < MAX_CALLS ? thread->calls : MAX_CALLS;
  for (int i = calls - 1; i > 0 && thread->state != ENDED; i--)
    printf("%s%s", i == calls - 1 ? ", called by " : " < ", function_name(thread->call[i]));
  putchar('\n');
}
