/// Retargets the pthread barriers of a program to Relock: the type and every operation, in all
/// branches of #if, whatever a build compiles. All files that can name a barrier must be converted
/// together. Mutexes and condition variables stay.
/// False positives: barriers that other processes share must stay; relock_barrier_init refuses them
/// at run time (ENOTSUP). Not seen: names that macros paste together.
//
// SPDX-License-Identifier: MIT
// Confidence: High
// Names: ^pthread_barrier_(t|init|wait|destroy)$

virtual patch

@included@
@@
  #include <relock/barriers.h>

@header depends on patch && !included@
@@
  #include <pthread.h>
+ #include <relock/barriers.h>

@barrier_alias depends on patch@
identifier name;
identifier type =~ "^pthread_barrier_t$";
@@
  #define name
- type
+ relock_barrier_t

@barrier_type depends on patch@
typedef pthread_barrier_t, relock_barrier_t;
@@
- pthread_barrier_t
+ relock_barrier_t

@operation depends on patch@
symbol pthread_barrier_init, relock_barrier_init, pthread_barrier_wait, relock_barrier_wait;
symbol pthread_barrier_destroy, relock_barrier_destroy;
@@
(
- pthread_barrier_init
+ relock_barrier_init
|
- pthread_barrier_wait
+ relock_barrier_wait
|
- pthread_barrier_destroy
+ relock_barrier_destroy
)
