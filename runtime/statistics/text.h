/* SPDX-License-Identifier: MIT
 *
 * Texts in memory. Making one asks the system for nothing, as the program may have forbidden it,
 * and uses nothing of the C library that has a state, as signal handlers make them, too.
 */
#ifndef RELOCK_STATISTICS_TEXT_H
#define RELOCK_STATISTICS_TEXT_H

#include <stddef.h>

/* Makes room; before the first text. */
void relock_text_prepare(void);

/* Begins a text, in memory that the one before it had: by one thread at a time. */
void relock_text_begin(void);

void relock_put_char(char c);

/* Of the conversions of printf there are %s, %d, %u, %x and %%; %lu and %lx; and %06u, so many
 * digits, with zeros in front. */
__attribute__((format(printf, 1, 2))) void relock_put(const char *format, ...);

/* With six digits behind the point, whatever the program's locale. */
void relock_put_number(double number);

/* Null: there is no room for it. */
const char *relock_text_end(size_t *length);

#endif
