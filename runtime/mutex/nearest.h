/* SPDX-License-Identifier: MIT
 *
 * Which name was probably meant.
 */
#ifndef RELOCK_MUTEX_NEAREST_H
#define RELOCK_MUTEX_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* How far a mistyped name, which is not terminated, is from one that there is: characters that are
 * missing, too many or others. The last part of a name alone, `lock` of `cache.c:lock`, is 1 away.
 * Negative: too far to have been meant. */
int relock_name_distance(const char *mistyped, size_t length, const char *name);

#endif
