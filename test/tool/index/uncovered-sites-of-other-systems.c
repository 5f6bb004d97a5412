// SPDX-License-Identifier: MIT
// Text that Linux never compiles, whatever the program defines, keeps no class, and is listed; what
// depends on anything else, or on a macro that a program may define, keeps its class.
// RUN: (%verdicts %s; true) | FileCheck %s
// RUN: %program %s %t && cd %t && %relock rewrite -p build --lock=apple=mcs --in-place 2> err
// RUN: FileCheck --check-prefix=LEFT %s < err
// CHECK:      apple ({{.*}}): convert
// CHECK:      audit ({{.*}}): keep
// CHECK:      behind ({{.*}}): convert
// CHECK:      compared ({{.*}}): keep
// CHECK:      either ({{.*}}): keep
// CHECK:      inverted ({{.*}}): convert
// CHECK:      late ({{.*}}): convert
// CHECK:      neither ({{.*}}): convert
// CHECK:      nested ({{.*}}): convert
// CHECK:      win32 ({{.*}}): keep
// CHECK:      pthread_mutex_lock in text for another system (#ifdef AUDIT, #if defined __sun) [uncovered]
// CHECK:      pthread_mutex_lock in text for another system (#ifdef __APPLE__) [uncovered]
// CHECK:      pthread_mutex_lock in text for another system (#else of #ifdef __linux__) [uncovered]
// CHECK:      pthread_mutex_lock in text for another system (#else of #ifdef __linux__) [uncovered]
// CHECK:      pthread_mutex_lock in text that no indexed configuration compiles (#if _MSC_VER > 1900) [uncovered]
// CHECK:      10 lock sites: 0 delegate, 0 hold, 0 keep, 10 uncovered
// LEFT:       uncovered-sites-of-other-systems.c:[[#]]:{{.*}} pthread_mutex_lock stays as it is: it is for another system, without librelock [uncovered]
#include <pthread.h>

static pthread_mutex_t apple;
static pthread_mutex_t audit;
static pthread_mutex_t behind;
static pthread_mutex_t compared;
static pthread_mutex_t either;
static pthread_mutex_t inverted;
static pthread_mutex_t late;
static pthread_mutex_t neither;
static pthread_mutex_t nested;
static pthread_mutex_t win32;
int total;

void all(void) {
#ifdef AUDIT
  pthread_mutex_lock(&audit);
#if defined __sun
  pthread_mutex_lock(&nested);
#endif
#endif
#ifdef __APPLE__ /* of a Mac */
  pthread_mutex_lock(&apple);
#endif
#ifdef __linux__
  total++;
#elif AUDIT
  pthread_mutex_lock(&late);
#else
  pthread_mutex_lock(&behind);
#endif
#if _MSC_VER > 1900
  pthread_mutex_lock(&compared);
#endif
#if defined(__APPLE__) || AUDIT
  pthread_mutex_lock(&either);
#endif
#if !(defined(__unix__) && !defined _WIN32) && AUDIT
  pthread_mutex_lock(&inverted);
#endif
#if defined(__FreeBSD__) && __FreeBSD__ >= 8 || __NetBSD__
  pthread_mutex_lock(&neither);
#endif
#ifdef WIN32
  pthread_mutex_lock(&win32);
#endif
}
