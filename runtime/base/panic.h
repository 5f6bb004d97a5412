/* SPDX-License-Identifier: MIT
 *
 * How the runtime ends a program: misuse that cannot be reported by an error number.
 */
#ifndef RELOCK_BASE_PANIC_H
#define RELOCK_BASE_PANIC_H

/* Prints "relock: <message>" to standard error, whole and at once. */
__attribute__((format(printf, 1, 2))) void relock_say(const char *format, ...);

/* Prints "relock: <message>" and aborts. The message names the function, what is wrong with
 * which object, and what to do about it. */
__attribute__((noreturn, format(printf, 1, 2))) void relock_panic(const char *format, ...);

/* Prints "relock: <message>" and ends the program with status 2 (wrong usage), without running
 * exit handlers. */
__attribute__((noreturn, format(printf, 1, 2))) void relock_usage_error(const char *format, ...);

#endif
