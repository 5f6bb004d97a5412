/* SPDX-License-Identifier: MIT
 *
 * Included before each source that is explored: functions of the C library in whose place the
 * explorer has its own, see events.c and tsan.c.
 */
#define memset __tsan_memset
#define memcpy __tsan_memcpy
#define pthread_key_create explore_key_create
#define pthread_atfork explore_atfork
#define pthread_testcancel explore_testcancel
#define pthread_setcanceltype explore_setcanceltype
#define pthread_setcancelstate explore_setcancelstate
#define __pthread_register_cancel explore_register_cancel
#define __pthread_unregister_cancel explore_unregister_cancel
#define __pthread_unwind_next explore_unwind_next
