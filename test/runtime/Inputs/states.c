/* SPDX-License-Identifier: MIT
 *
 * Threads in all states in which a debugger may find them; reached() is called when all are. */
#include <dirent.h>
#include <relock/relock.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(plain, "plain", "adaptive");
RELOCK_LOCK_CLASS(tree, "tree", "mcs");
RELOCK_LOCK_CLASS(queue, "queue", "ccsynch");
static relock_mutex_t plain_lock = RELOCK_MUTEX_INITIALIZER(plain);
static relock_mutex_t queue_lock = RELOCK_MUTEX_INITIALIZER(queue);
static relock_mutex_t tree_lock; /* recursive */
static relock_mutex_t free_lock __attribute__((used));
static relock_cond_t not_empty, resumed;

static int count_section(void *context) {
  ++*(int *)context;
  return 0;
}

static void *hold(void *unused) { /* Thread 2 */
  relock_mutex_lock(&tree_lock);
  relock_mutex_lock(&plain_lock);
  return unused;
}

static void *hold_twice(void *unused) { /* Thread 3 */
  relock_mutex_lock(&tree_lock);
  return unused;
}

static void *execute(void *count) { /* Thread 4 */
  relock_execute(&plain_lock, count_section, count);
  return NULL;
}

static void *wait_for_item(void *unused) { /* Thread 5 */
  relock_mutex_lock(&queue_lock);
  relock_cond_wait(&not_empty, &queue_lock);
  return unused;
}

struct wait_section {
  relock_resume_t resume;
};

static int wait_section(void *context) {
  struct wait_section *section = context;
  switch (section->resume.at) {
  case 0:
    RELOCK_COND_WAIT(&section->resume, &resumed, 1);
  }
  return 0;
}

static void *wait_resumably(void *unused) { /* Thread 6 */
  struct wait_section section;
  relock_execute_resumable(&queue_lock, wait_section, &section, &section.resume);
  return unused;
}

static int sleepers(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; (task = readdir(tasks));) {
    char text[300];
    snprintf(text, sizeof text, "/proc/self/task/%s/stat", task->d_name);
    FILE *file = fopen(text, "r");
    count += file && fgets(text, sizeof text, file) && strstr(text, ") S ");
    if (file)
      fclose(file);
  }
  closedir(tasks);
  return count;
}

__attribute__((noinline)) void reached(void) { __asm__ volatile(""); }

int main(void) {
  static void *(*const threads[])(void *) = {hold, hold_twice, execute, wait_for_item,
                                             wait_resumably};
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  relock_mutex_init(&tree_lock, &recursive, RELOCK_CLASS(tree));
  relock_mutex_lock(&plain_lock);
  for (int i = 0; i < 5; i++) {
    static int count;
    pthread_t thread;
    pthread_create(&thread, NULL, threads[i], &count);
    while (sleepers() < i + 1)
      usleep(1000);
  }
  reached();
  return 0;
}
