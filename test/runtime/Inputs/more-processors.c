/* Preloaded: the runtime sees 8 processors more than there are, and so does what it does on a
 * machine with several, or where threads do not quite outnumber them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MORE = 8 };

static long add_processors(long size, unsigned char *set) {
  int left = MORE;
  for (long i = 0; i < size && left > 0; i++)
    for (int bit = 0; bit < 8 && left > 0; bit++)
      if (!(set[i] >> bit & 1)) {
        set[i] |= (unsigned char)(1 << bit);
        left--;
      }
  static const char said[] = "8 processors more\n";
  return write(1, said, sizeof said - 1) > 0 ? size : -1;
}

/* It reads six arguments, of which the caller has given fewer, perhaps. */
__attribute__((no_sanitize_address)) long syscall(long number, ...) {
  static long (*real)(long, ...);
  long of[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++)
    of[i] = va_arg(arguments, long);
  va_end(arguments);
  if (!real) {
    void *found = dlsym(RTLD_NEXT, "syscall");
    memcpy(&real, &found, sizeof real);
  }
  const long result = real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
  return number == SYS_sched_getaffinity && result > 0 ? add_processors(of[1], (void *)of[2])
                                                       : result;
}
