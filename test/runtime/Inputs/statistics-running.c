/* SPDX-License-Identifier: MIT
 * Statistics that are written while the program runs. Modes:
 *   write FILE   by relock_statistics_write, with its errors
 *   race FILE    by two threads at once, while a third reads
 *   every FILE   waits until RELOCK_STATS_EVERY has written the file twice
 *   threads      counts the threads that write statistics
 *   fork         a child ends, too */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <relock/relock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
RELOCK_LOCK_CLASS(counted, "counted", "posix");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(counted);

static void use(void) {
  relock_mutex_lock(&mutex);
  relock_mutex_unlock(&mutex);
}

static void write_once(const char *file) {
  use();
  errno = 77;
  int good = relock_statistics_write(file);
  int folder = relock_statistics_write("/nowhere/to/be/found.profile");
  char name[8192];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = 0;
  int too_long = relock_statistics_write(name);
  printf("%d %s %s, errno %d\n", good, strerrorname_np(folder), strerrorname_np(too_long), errno);
  use();
}

static void *write_often(void *file) {
  for (int i = 0; i < 300; i++)
    if (relock_statistics_write(file) != 0)
      abort();
  return NULL;
}

/* Every version of the file is whole. */
static void read_once(const char *file) {
  static char text[1 << 16];
  FILE *in = fopen(file, "r");
  size_t length = in ? fread(text, 1, sizeof text, in) : 0;
  if (length < 100 || text[0] != '{' || memcmp(text + length - 4, "]\n}\n", 4) != 0) {
    printf("%zu bytes, not whole\n", length);
    exit(1);
  }
  fclose(in);
}

static void race(char *file) {
  pthread_t writer[2];
  relock_statistics_write(file);
  for (int i = 0; i < 2; i++)
    pthread_create(&writer[i], NULL, write_often, file);
  for (int i = 0; i < 300; i++)
    read_once(file);
  for (int i = 0; i < 2; i++)
    pthread_join(writer[i], NULL);
  puts("always whole");
}

static void wait_for(const char *file) {
  struct stat first, now;
  use();
  while (stat(file, &first) != 0)
    usleep(10000);
  do
    usleep(10000);
  while (stat(file, &now) == 0 && now.st_ino == first.st_ino &&
         now.st_mtim.tv_nsec == first.st_mtim.tv_nsec);
  char command[4200];
  snprintf(command, sizeof command, "grep -o 'ended[^,]*' %s", file);
  fflush(stdout);
  if (system(command) != 0)
    exit(1);
  use();
}

/* ThreadSanitizer has a thread of its own, so they are told apart by their names. */
static int threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; (task = readdir(tasks));) {
    char file[300], name[32] = "";
    snprintf(file, sizeof file, "/proc/self/task/%s/comm", task->d_name);
    FILE *in = task->d_name[0] != '.' ? fopen(file, "r") : NULL;
    count += in && fgets(name, sizeof name, in) && strcmp(name, "relock-stats\n") == 0;
    if (in)
      fclose(in);
  }
  closedir(tasks);
  return count;
}

int main(int argc, char **argv) {
  char *file = argc > 2 ? argv[2] : "";
  if (strcmp(argv[1], "write") == 0)
    write_once(file);
  else if (strcmp(argv[1], "race") == 0)
    race(file);
  else if (strcmp(argv[1], "every") == 0)
    wait_for(file);
  else if (strcmp(argv[1], "threads") == 0)
    printf("%d threads\n", threads());
  else if (fork() == 0)
    use();
  else
    wait(NULL);
  return 0;
}
