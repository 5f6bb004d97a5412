/// Drops the handling of errors that locking a mutex cannot give: `if (pthread_mutex_lock(&m) != 0)
/// return -1;` locks, no more. A section whose lock call is tested is held otherwise. Only a mutex of
/// the default or the normal type cannot fail; a file that names another type, robust mutexes or
/// priority protocols is left alone.
/// False positives: a mutex that another file gives such a type, or that is locked before it is
/// initialised or after it is destroyed, where that is an error of its own. In an assertion, nothing
/// is changed: without assertions, it would not lock.
//
// SPDX-License-Identifier: MIT
// Confidence: Moderate
// Names: ^pthread_mutex_lock$

virtual report
virtual patch

@other_type@
identifier type =~ "^PTHREAD_MUTEX_(RECURSIVE|ERRORCHECK)(_NP)?$|^PTHREAD_(RECURSIVE|ERRORCHECK)_MUTEX_INITIALIZER_NP$|^PTHREAD_MUTEX_ROBUST(_NP)?$|^PTHREAD_PRIO_(INHERIT|PROTECT)$";
@@
  type

@tested depends on patch && !other_type@
expression mutex;
statement S;
@@
(
- if (pthread_mutex_lock(mutex) != 0) S
+ pthread_mutex_lock(mutex);
|
- if (0 != pthread_mutex_lock(mutex)) S
+ pthread_mutex_lock(mutex);
|
- if (pthread_mutex_lock(mutex)) S
+ pthread_mutex_lock(mutex);
|
- if (pthread_mutex_lock(mutex) < 0) S
+ pthread_mutex_lock(mutex);
)

@kept depends on patch && !other_type@
expression mutex;
idexpression int result;
statement S;
@@
(
- if ((result = pthread_mutex_lock(mutex)) != 0) S
+ pthread_mutex_lock(mutex);
+ result = 0;
|
- if ((result = pthread_mutex_lock(mutex))) S
+ pthread_mutex_lock(mutex);
+ result = 0;
|
- result = pthread_mutex_lock(mutex);
- if (result != 0) S
+ pthread_mutex_lock(mutex);
+ result = 0;
|
- result = pthread_mutex_lock(mutex);
- if (result) S
+ pthread_mutex_lock(mutex);
+ result = 0;
)

@places depends on report && !other_type@
expression mutex;
idexpression int result;
statement S;
position p;
@@
(
  if (\(pthread_mutex_lock@p(mutex) != 0\|0 != pthread_mutex_lock@p(mutex)\|pthread_mutex_lock@p(mutex) < 0\|pthread_mutex_lock@p(mutex)\)) S
|
  if (\((result = pthread_mutex_lock@p(mutex)) != 0\|(result = pthread_mutex_lock@p(mutex))\)) S
|
  result = pthread_mutex_lock@p(mutex);
  if (\(result != 0\|result\)) S
)

@script:python@
p << places.p;
@@
print("%s:%s:%s: the result of locking is tested" % (p[0].file, p[0].line, int(p[0].column) + 1))

// What Coccinelle has read, for `relock patches`.
@seen depends on report@
identifier called =~ "^pthread_mutex_lock$";
position p;
@@
  called@p

@script:python@
p << seen.p;
@@
print("seen %s:%s:%s" % (p[0].file, p[0].line, int(p[0].column) + 1))
