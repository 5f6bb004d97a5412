// SPDX-License-Identifier: MIT
// The program has its own standard streams, file descriptors and signals, and its exit status is
// passed on as 1 with a message.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: echo seven | not %relock profile -o %t.profile -- %t 7 > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT < %t.out
// RUN: FileCheck %s --check-prefix=ERR < %t.err
// OUT: {{^}}read seven, next descriptor 3{{$}}
// OUT-NOT: {{.}}
// ERR: {{^}}own message{{$}}
// ERR: ended with exit status 7 [profile-exit-status]
// ERR: profile written to {{.*}}; next: relock report
// RUN: %relock profile -o %t.profile -- %t 0 < /dev/null
// RUN: trap '' INT; %relock profile -o %t.profile -- %t ignored < /dev/null
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  char line[20] = "nothing";
  struct sigaction action;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  if (fgets(line, sizeof line, stdin))
    line[strcspn(line, "\n")] = 0;
  printf("read %s, next descriptor %d\n", line, open("/dev/null", O_RDONLY));
  fputs("own message\n", stderr);
  sigaction(SIGINT, NULL, &action);
  if (count > 1 && strcmp(words[1], "ignored") == 0)
    return action.sa_handler == SIG_IGN ? 0 : 1;
  return count > 1 ? atoi(words[1]) : 0;
}
