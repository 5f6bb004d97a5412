/* SPDX-License-Identifier: MIT
 * A class with a server whose place stands in the table: it runs a section there, or nowhere. The
 * processor has the highest number that there can be, which no machine of ours has. RELOCK_SERVERS
 * gives it another one: then it gets a section, however long it takes to start. */
#include <relock/relock.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
RELOCK_LOCK_CLASS(served, "served", "rcl:2");
RELOCK_SERVER_PLACE(2, 4095);
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(served);

static int count(void *context) { return ++*(int *)context; }

int main(void) {
  int counted = 0;
  relock_server_statistics_t first, second = {0};
  time_t end = time(NULL) + (getenv("RELOCK_SERVERS") ? 60 : 2);
  while (!second.sections && time(NULL) < end) {
    relock_execute_any_thread(&mutex, count, &counted);
    relock_server_statistics(2, &second);
    usleep(1000);
  }
  relock_server_statistics(1, &first);
  printf("server 1 %s, server 2 %s\n", first.sections ? "used" : "unused",
         second.sections ? "used" : "unused");
  return 0;
}
