/* SPDX-License-Identifier: MIT */
#include "threads.h"
#include "events.h"
#include "processor.h"
#include "real.h"
#include "sample.h"

#include <string.h>

enum { EARLY_NAMES = 64 };

/* A thread that has been created and named, but has not run yet. */
struct early_name {
  pthread_t id;
  bool waiting;
  char name[16];
};

static struct thread *free_threads, **all_threads;
static struct early_name early_names[EARLY_NAMES]; /* a ring */
static uint32_t early_next;
static uint32_t thread_count, thread_capacity;

/* Threads. */

static bool remember_thread(struct thread *thread) {
  if (thread_count == thread_capacity) {
    uint32_t capacity = thread_capacity ? 2 * thread_capacity : 256;
    struct thread **threads = private_allocate(capacity * sizeof *threads);
    if (!threads)
      return false;
    if (thread_count)
      memcpy(threads, all_threads, thread_count * sizeof *threads);
    all_threads = threads;
    thread_capacity = capacity;
  }
  all_threads[thread_count++] = thread;
  return true;
}

static struct thread *new_thread(void) {
  const uintptr_t line = _Alignof(struct thread);
  struct thread *thread = private_allocate(sizeof *thread + line);
  if (!thread)
    return NULL;
  thread = (struct thread *)(((uintptr_t)thread + line - 1) & -line);
  thread->record = record_allocate(RELOCK_RECORD_THREAD, sizeof *thread->record);
  if (!thread->record || !remember_thread(thread))
    return NULL;
  thread->id = thread->record->id = thread_count; /* 0 is nobody */
  thread->once = 1;
  thread->header = header;
  thread->trylock = real.trylock;
  thread->unlock = real.unlock;
  events_begin_thread(thread);
  sample_begin(thread);
  return thread;
}

struct thread *thread_take(void) {
  struct thread *thread;
  record_lock();
  thread = free_threads;
  if (thread)
    free_threads = thread->next_free;
  else
    thread = new_thread();
  record_unlock();
  if (thread)
    thread->start = NULL;
  else
    count_drop(&header->dropped_threads);
  return thread;
}

static void set_name(struct relock_thread_record *record, const char *name) {
  strncpy(record->name, name, sizeof record->name - 1);
}

static void begin_named(struct thread *thread, bool again) {
  record_lock();
  thread->pthread = pthread_self();
  thread->record->live = 1;
  if (!again)
    memset(thread->record->name, 0, sizeof thread->record->name);
  for (uint32_t i = 0; i < EARLY_NAMES; i++)
    if (early_names[i].waiting && pthread_equal(early_names[i].id, thread->pthread)) {
      set_name(thread->record, early_names[i].name);
      early_names[i].waiting = false;
    }
  record_unlock();
}

void thread_name(pthread_t id, const char *name) {
  struct early_name *early;
  record_lock();
  for (uint32_t i = 0; i < thread_count; i++)
    if (all_threads[i]->record->live && pthread_equal(all_threads[i]->pthread, id)) {
      set_name(all_threads[i]->record, name);
      record_unlock();
      return;
    }
  early = &early_names[early_next++ % EARLY_NAMES];
  early->id = id;
  early->waiting = true;
  strncpy(early->name, name, sizeof early->name - 1);
  record_unlock();
}

void thread_begin(struct thread *thread, uint64_t now, bool again) {
  thread->held_count = thread->read_count = thread->pending_count = 0;
  thread->area = processor_area();
  thread->timing.block_processor = thread->budget.processor = 0; /* was another thread's */
  thread->record->section_start = thread->record->wait_start = 0;
  thread->record->start_ticks = now;
  thread->record->started += !again;
  if (!again)
    thread->record->entry = (uintptr_t)thread->start;
  begin_named(thread, again);
}

void thread_finish(struct thread *thread, uint64_t now) {
  struct relock_thread_record *record = thread->record;
  if (record->section_start)
    record->section_time += record->section_weight * (now - record->section_start);
  record->section_start = record->wait_start = 0;
  record->ended_time += now - record->start_ticks;
  record->live = 0;
  events_end_thread(thread);
  thread_give_back(thread);
}

void thread_give_back(struct thread *thread) {
  record_lock();
  thread->next_free = free_threads;
  free_threads = thread;
  record_unlock();
}

void threads_restart(struct thread *survivor) {
  free_threads = NULL;
  for (uint32_t i = 0; i < thread_count; i++)
    events_forget(all_threads[i]);
  events_forgotten();
  for (uint32_t i = 0; i < thread_count; i++)
    if (all_threads[i] != survivor) {
      all_threads[i]->held_count = all_threads[i]->read_count = all_threads[i]->pending_count = 0;
      all_threads[i]->next_free = free_threads;
      free_threads = all_threads[i];
    }
}
