/* SPDX-License-Identifier: MIT
 *
 * Included before each source that is simulated: functions of the C library that touch memory.
 */
#define memset __tsan_memset
#define memcpy __tsan_memcpy
