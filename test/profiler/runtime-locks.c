// SPDX-License-Identifier: MIT
// A program with librelock has one profile: its pthread locks, and beside them those of the runtime,
// whether that is linked statically or not, and in forked processes, too.
// REQUIRES: plain
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: %cc -g -O1 -I%include %s -o %t.shared -L%librelock_dir -lrelock -Wl,-rpath,%librelock_dir
// RUN: for linked in %t %t.shared; do \
// RUN:   %relock profile -o %t.dir/profile -- $linked 2> %t.dir/err || exit 1; \
// RUN:   %python %S/Inputs/expect.py %t.dir/profile \
// RUN:     'lock("plain")["acquisitions"] == 11 and lock("plain")["hold"]["count"] == 11' \
// RUN:     'lock("converted")["acquisitions"] == 1009 and lock("converted")["objects"] == 1' \
// RUN:     'lock("converted")["librelock"]["executed"] == 997' \
// RUN:     'lock("converted")["hold"]["count"] == 1009 and lock("converted")["wait"]["count"] == 1' \
// RUN:     'site("converted", "add", "main")["acquisitions"] == 997' \
// RUN:     'site("converted", "hold")["acquisitions"] == 11' \
// RUN:     'lock("converted")["wait"]["total_ns"] >= 30000000' \
// RUN:     'not any(profile["dropped"].values()) and profile["threads"] == 2' || exit 1; \
// RUN: done
//
// RUN: %relock report %t.dir/profile | FileCheck %s
// CHECK: in critical sections
// CHECK: librelock: 1 lock class is the runtime's; in their sections, acquisition
// CHECK: converted 1009 {{.*}} wait {{([0-9.]+[mun]?s *)+$}}
// CHECK-NEXT: {{^ +}}hold {{([0-9.]+[mun]?s *)+$}}
// CHECK-NEXT: ccsynch, executed 997
// CHECK: plain 11
//
// What both runs measure is compared, by name.
// RUN: %relock report --diff %t.dir/profile %t.dir/profile > %t.dir/diff
// RUN: tr -s '\n ' ' ' < %t.dir/diff > %t.dir/joined
// RUN: grep "of the threads' time in critical sections.*, of them [0-9.]*% in librelock's; profiler:" %t.dir/joined
// RUN: not grep 'counted apart' %t.dir/joined
// RUN: FileCheck %s --check-prefix=DIFF < %t.dir/diff
// DIFF: {{^converted +before .* +[0-9.]+[mun]?s +[0-9.]+[mun]?s$}}
// DIFF: {{^plain +before .* +[0-9.]+[num]s +[0-9.]+[nu]s$}}
//
// RELOCK_STATS goes on as it was.
// RUN: cd %t.dir && env RELOCK_STATS=./own.profile %relock profile -o also -- %t
// RUN: %python %S/Inputs/expect.py %t.dir/own.profile 'lock("converted")["acquisitions"] == 1009'
// RUN: %python %S/Inputs/expect.py %t.dir/also 'lock("converted")["acquisitions"] == 1009'
//
// A forked process that uses only converted locks has a profile like others.
// RUN: %relock profile -o %t.dir/parent -- %t fork
// RUN: %python %S/Inputs/expect.py %t.dir/parent 'lock("converted")["acquisitions"] == 1009'
// RUN: %python %S/Inputs/expect.py %t.dir/parent.* 'lock("converted")["acquisitions"] == 7' \
// RUN:   'profile["program"]["forked"]'
//
// One that is killed leaves what the preload library has recorded, and says what is missing.
// RUN: (%relock profile -o %t.dir/killed -- %t kill; test $? = 1)
// RUN: %python %S/Inputs/expect.py %t.dir/killed 'lock("plain")["acquisitions"] == 11' \
// RUN:   'profile["dropped"]["runtimes"] == 1' 'len(profile["classes"]) == 1'
// RUN: %relock report %t.dir/killed | FileCheck %s --check-prefix=KILLED
// KILLED: not recorded: counts of librelock, of processes 1
#include "Inputs/until-it-waits.h"
#include <relock/relock.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(converted_class, "converted", "ccsynch");
static relock_mutex_t converted = RELOCK_MUTEX_INITIALIZER(converted_class);
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;

static int add(void *sum) {
  ++*(int *)sum;
  return 0;
}

static void hold(int times) {
  for (int i = 0; i < times; i++) {
    relock_mutex_lock(&converted);
    relock_mutex_unlock(&converted);
  }
}

static void *wait_for_it(void *unused) {
  about_to_wait();
  hold(1);
  return unused;
}

int main(int count, char **words) {
  int sum = 0;
  for (int i = 0; i < 11; i++) {
    pthread_mutex_lock(&plain);
    pthread_mutex_unlock(&plain);
  }
  for (int i = 0; i < 997; i++)
    relock_execute(&converted, add, &sum);
  hold(10);
  relock_mutex_lock(&converted);
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_it, NULL);
  until_it_waits(thread);
  relock_mutex_unlock(&converted);
  pthread_join(thread, NULL);
  if (count > 1 && !strcmp(words[1], "kill"))
    raise(SIGKILL);
  if (count > 1 && fork() == 0) {
    hold(7);
    exit(0);
  }
  wait(NULL);
  return sum != 997;
}
