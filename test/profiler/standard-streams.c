// SPDX-License-Identifier: MIT
// A program whose standard streams are closed, or that closes all that is open, finds its file
// descriptors as without the profiler, and nothing is written into its files.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: rm -f %t.out && %relock profile -o %t.profile -- %t %t.out 012 <&- >&- 2>&-; test $? = 0
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009 + 1'
// RUN: echo -n "the program's own" | cmp - %t.out
// RUN: rm -f %t.out && %relock profile -o %t.profile -- %t %t.out 1 >&-
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009 + 1'
// RUN: rm -f %t.out && %relock profile -o %t.profile -- %t %t.out all
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009 + 1'
// RUN: echo -n "the program's own" | cmp - %t.out
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void visit(int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

int main(int count, char **words) {
  const char *text = "the program's own", *closed = words[count - 1];
  int status, file;
  pid_t child;
  if (strcmp(closed, "all") == 0) {
    for (int i = 0; i < 1024; i++)
      close(i);
    closed = "012";
  }
  for (int i = 0; i < 3; i++)
    if ((fcntl(i, F_GETFD) < 0) != (strchr(closed, '0' + i) != NULL))
      return 10 + i;
  visit(1009);
  file = open(words[1], O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file != closed[0] - '0')
    return 20;
  child = fork();
  if (child == 0) {
    visit(991);
    _exit(open("/dev/null", O_RDONLY) == (closed[1] ? 1 : 3) ? 0 : 1);
  }
  waitpid(child, &status, 0);
  visit(1);
  return status || write(file, text, strlen(text)) < 0;
}
