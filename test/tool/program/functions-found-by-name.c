// SPDX-License-Identifier: MIT
// A pointer that dlsym() finds by a name that stands there calls that function: the next one behind
// the program's own is the library's, and of all the program's it is the program's, if it has one. By
// other handles, or other names, it may be anything.
// RUN: %verdicts %s | FileCheck %s
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

// As in a library for LD_PRELOAD.
static int (*next_dup)(int), (*next_ftruncate)(int, off_t), (*next_link)(const char *, const char *);
static ssize_t (*next_write)(int, const void *, size_t);
int dup(int fd) { return next_dup(fd); }
int ftruncate(int fd, off_t length) { return next_ftruncate(fd, length); }
int link(const char *from, const char *to) { return next_link(from, to); }
ssize_t write(int fd, const void *data, size_t length) { return next_write(fd, data, length); }

static int waits(int fd) { return pause() + fd; }
long shown(int fd) { return fd + 1L; }
long sleeps(int fd) { return waits(fd); }
static long (*show)(int), (*wait_for)(int), (*plug)(int);
static void find(const char *name, void *plugin) {
  next_dup = dlsym(RTLD_NEXT, "dup");
  next_write = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  next_ftruncate = dlsym(RTLD_NEXT, name);
  next_link = dlsym(plugin, "link");
  show = dlsym(RTLD_DEFAULT, "shown");
  wait_for = dlsym(RTLD_DEFAULT, "sleeps");
  plug = dlsym(RTLD_DEFAULT, "plug");
}

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long sum;
// CHECK: delegate straight next_of_library
static void next_of_library(void) {
  pthread_mutex_lock(&m);
  sum += dup(0);
  pthread_mutex_unlock(&m);
}
// CHECK: hold straight next_that_blocks
// CHECK-NEXT: 'write' calls 'pointer next_write' calls 'write', which may block
static void next_that_blocks(void) {
  pthread_mutex_lock(&m);
  sum += write(1, "", 0);
  pthread_mutex_unlock(&m);
}
// CHECK: hold straight by_another_name
// CHECK-NEXT: 'ftruncate' calls through a pointer, which is not followed
static void by_another_name(void) {
  pthread_mutex_lock(&m);
  sum += ftruncate(0, 0);
  pthread_mutex_unlock(&m);
}
// CHECK: hold straight of_a_plugin
// CHECK-NEXT: 'link' calls through a pointer, which is not followed
static void of_a_plugin(void) {
  pthread_mutex_lock(&m);
  sum += link("a", "b");
  pthread_mutex_unlock(&m);
}
// CHECK: delegate straight of_the_program
static void of_the_program(void) {
  pthread_mutex_lock(&m);
  sum += show(0);
  pthread_mutex_unlock(&m);
}
// CHECK: hold straight of_the_program_that_blocks
// CHECK-NEXT: 'pause', which may block
static void of_the_program_that_blocks(void) {
  pthread_mutex_lock(&m);
  sum += wait_for(0);
  pthread_mutex_unlock(&m);
}
// CHECK: hold straight of_a_library
// CHECK-NEXT: 'plug', which is not in the program
static void of_a_library(void) {
  pthread_mutex_lock(&m);
  sum += plug(0);
  pthread_mutex_unlock(&m);
}

int main(int argc, char **argv) {
  find(argv[argc - 1], dlopen(argv[0], RTLD_NOW));
  next_of_library();
  next_that_blocks();
  by_another_name();
  of_a_plugin();
  of_the_program();
  of_the_program_that_blocks();
  of_a_library();
  return 0;
}
