/// Retargets the pthread mutexes and condition variables of a program to Relock, lock for lock:
/// types, initialisers, and every operation, in all branches of #if, whatever a build compiles.
/// No section is extracted: each thread takes the converted lock itself. All files that can name
/// a lock must be converted together. Lock classes are not told apart: every lock belongs to the
/// class `default`, whose algorithm RELOCK_LOCKS=default=NAME chooses.
/// False positives: mutexes that other processes share, robust ones and those with a priority
/// protocol must stay; relock_mutex_init refuses them at run time (ENOTSUP), and
/// find/unconvertible.cocci lists where they are made. Not seen: names that macros paste together.
//
// SPDX-License-Identifier: MIT
// Confidence: High
// Names: ^(pthread_(mutex|cond)_(t|lock|trylock|timedlock|clocklock|unlock|init|destroy|wait|timedwait|clockwait|signal|broadcast)|PTHREAD_((ADAPTIVE_|RECURSIVE_|ERRORCHECK_)?MUTEX|COND)_INITIALIZER(_NP)?)$

virtual patch

@included@
@@
  #include <relock/relock.h>

@header depends on patch && !included@
@@
  #include <pthread.h>
+ #include <relock/relock.h>

@mutex_alias depends on patch@
identifier name;
identifier type =~ "^pthread_mutex_t$";
@@
  #define name
- type
+ relock_mutex_t

@condition_alias depends on patch@
identifier name;
identifier type =~ "^pthread_cond_t$";
@@
  #define name
- type
+ relock_cond_t

@init_alias depends on patch@
identifier name;
symbol pthread_mutex_init;
@@
- #define name pthread_mutex_init
+ #define name(mutex, attributes) relock_mutex_init(mutex, attributes, NULL)

@mutex_type depends on patch@
typedef pthread_mutex_t, relock_mutex_t;
@@
- pthread_mutex_t
+ relock_mutex_t

@condition_type depends on patch@
typedef pthread_cond_t, relock_cond_t;
@@
- pthread_cond_t
+ relock_cond_t

@static_value depends on patch@
symbol PTHREAD_MUTEX_INITIALIZER, PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
symbol PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
symbol PTHREAD_COND_INITIALIZER, RELOCK_COND_INITIALIZER;
symbol RELOCK_DEFAULT_MUTEX_INITIALIZER, RELOCK_DEFAULT_RECURSIVE_MUTEX_INITIALIZER;
symbol RELOCK_DEFAULT_ERRORCHECK_MUTEX_INITIALIZER;
@@
(
- PTHREAD_MUTEX_INITIALIZER
+ RELOCK_DEFAULT_MUTEX_INITIALIZER
|
- PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
+ RELOCK_DEFAULT_MUTEX_INITIALIZER
|
- PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
+ RELOCK_DEFAULT_RECURSIVE_MUTEX_INITIALIZER
|
- PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP
+ RELOCK_DEFAULT_ERRORCHECK_MUTEX_INITIALIZER
|
- PTHREAD_COND_INITIALIZER
+ RELOCK_COND_INITIALIZER
)

@init depends on patch@
expression mutex, attributes;
@@
- pthread_mutex_init(mutex, attributes)
+ relock_mutex_init(mutex, attributes, NULL)

@operation depends on patch@
symbol pthread_mutex_lock, relock_mutex_lock, pthread_mutex_unlock, relock_mutex_unlock;
symbol pthread_mutex_trylock, relock_mutex_trylock, pthread_mutex_timedlock;
symbol relock_mutex_timedlock, pthread_mutex_clocklock, relock_mutex_clocklock;
symbol pthread_mutex_destroy, relock_mutex_destroy;
symbol pthread_cond_init, relock_cond_init, pthread_cond_destroy, relock_cond_destroy;
symbol pthread_cond_wait, relock_cond_wait, pthread_cond_timedwait, relock_cond_timedwait;
symbol pthread_cond_clockwait, relock_cond_clockwait;
symbol pthread_cond_signal, relock_cond_signal, pthread_cond_broadcast, relock_cond_broadcast;
@@
(
- pthread_mutex_lock
+ relock_mutex_lock
|
- pthread_mutex_unlock
+ relock_mutex_unlock
|
- pthread_mutex_trylock
+ relock_mutex_trylock
|
- pthread_mutex_timedlock
+ relock_mutex_timedlock
|
- pthread_mutex_clocklock
+ relock_mutex_clocklock
|
- pthread_mutex_destroy
+ relock_mutex_destroy
|
- pthread_cond_init
+ relock_cond_init
|
- pthread_cond_destroy
+ relock_cond_destroy
|
- pthread_cond_wait
+ relock_cond_wait
|
- pthread_cond_timedwait
+ relock_cond_timedwait
|
- pthread_cond_clockwait
+ relock_cond_clockwait
|
- pthread_cond_signal
+ relock_cond_signal
|
- pthread_cond_broadcast
+ relock_cond_broadcast
)
