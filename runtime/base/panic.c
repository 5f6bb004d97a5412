/* SPDX-License-Identifier: MIT
 *
 * Fatal messages. Written with one write(), from a buffer on the stack: the heap and stdio may be
 * in any state.
 */
#include "panic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print(const char *format, va_list arguments) {
  char text[4096] = "relock: ";
  const int prefix = 8, room = (int)sizeof text - prefix - 1;
  int length = vsnprintf(text + prefix, (size_t)room, format, arguments);
  if (length > room - 1)
    length = room - 1;
  text[prefix + length] = '\n';
  if (write(STDERR_FILENO, text, (size_t)(prefix + length + 1)) < 0)
    return; /* nowhere left to say it */
}

void relock_say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
}

void relock_panic(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
  abort();
}

void relock_usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
  _exit(2);
}
