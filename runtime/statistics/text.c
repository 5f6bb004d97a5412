/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "../base/os.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>

enum { ROOM = 16 << 20 }; /* a class takes up to 12 KiB */

static char *buffer;
static size_t used; /* more than ROOM: it did not fit */

void relock_text_prepare(void) {
  if (!buffer)
    buffer = relock_os->reserve(ROOM);
}

void relock_text_begin(void) { used = 0; }

void relock_put_char(char c) {
  if (buffer && used < ROOM)
    buffer[used] = c;
  used++;
}

static void put_string(const char *text) {
  while (*text)
    relock_put_char(*text++);
}

static void put_digits(uint64_t value, unsigned base, unsigned least) {
  char digits[20];
  unsigned count = 0;
  do
    digits[count++] = "0123456789abcdef"[value % base];
  while ((value /= base) > 0);
  for (unsigned i = count; i < least; i++)
    relock_put_char('0');
  while (count > 0)
    relock_put_char(digits[--count]);
}

static void put_integer(int value) {
  if (value < 0)
    relock_put_char('-');
  put_digits(value < 0 ? -(uint64_t)value : (uint64_t)value, 10, 0);
}

void relock_put(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (; *format; format++) {
    if (*format != '%') {
      relock_put_char(*format);
      continue;
    }
    unsigned least = 0;
    bool wide = false;
    for (format++; *format >= '0' && *format <= '9'; format++)
      least = 10 * least + (unsigned)(*format - '0');
    if (*format == 'l') {
      wide = true;
      format++;
    }
    if (*format == 's')
      put_string(va_arg(arguments, const char *));
    else if (*format == 'd')
      put_integer(va_arg(arguments, int));
    else if (*format == '%')
      relock_put_char('%');
    else
      put_digits(wide ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
                 *format == 'x' ? 16 : 10, least);
  }
  va_end(arguments);
}

void relock_put_number(double number) {
  const uint64_t millionths = (uint64_t)(number * 1e6 + 0.5);
  relock_put("%" PRIu64 ".%06" PRIu64, millionths / 1000000, millionths % 1000000);
}

const char *relock_text_end(size_t *length) {
  *length = used;
  return buffer && used < ROOM ? buffer : NULL;
}
