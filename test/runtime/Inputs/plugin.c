/* SPDX-License-Identifier: MIT
 *
 * A library that is loaded at run time and uses locks, of the runtime that the program has.
 */
#include <relock/relock.h>

static relock_mutex_t mutex; /* zero-filled */
static relock_cond_t changed;
static long value, turns;

__attribute__((constructor)) static void use_at_load(void) {
  relock_mutex_lock(&mutex);
  value = 1;
  relock_mutex_unlock(&mutex);
}

static int add(void *context) {
  value += *(long *)context;
  return (int)value;
}

static int add_resumably(void *context) {
  struct {
    relock_resume_t resume;
  } *section = context;
  switch (section->resume.at) {
  case 0:
    turns++;
    relock_cond_broadcast(&changed);
    while (turns % 2)
      RELOCK_COND_WAIT(&section->resume, &changed, 1);
    value++;
  }
  return 0;
}

/* By each of an even number of threads. */
__attribute__((visibility("default"))) void plugin_use(int times) {
  long one = 1;
  for (int i = 0; i < times; i++) {
    relock_mutex_lock(&mutex);
    value++;
    relock_mutex_unlock(&mutex);
    relock_execute(&mutex, add, &one);
    relock_execute_any_thread(&mutex, add, &one);
    relock_execute_copy(&mutex, add, &one, sizeof one);
  }
  struct {
    relock_resume_t resume;
  } section;
  relock_execute_resumable(&mutex, add_resumably, &section, &section.resume);
}

__attribute__((visibility("default"))) long plugin_value(void) {
  relock_mutex_lock(&mutex);
  long now = value;
  relock_mutex_unlock(&mutex);
  return now;
}

/* 0 if all is well. */
__attribute__((visibility("default"))) int plugin_end(void) {
  return relock_cond_destroy(&changed) ? 1 : relock_mutex_destroy(&mutex);
}
