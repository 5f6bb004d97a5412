/// Lists where a program makes mutexes that cannot be converted: shared with other processes,
/// robust, with a priority protocol or ceiling; and operations that Relock does not have.
/// False positives: an attribute that is set to its default by a variable.
//
// SPDX-License-Identifier: MIT
// Confidence: High
// Names: ^pthread_(mutex|cond)attr_setpshared$|^pthread_mutexattr_(setrobust(_np)?|setprotocol|setprioceiling)$|^pthread_mutex_(consistent|[gs]etprioceiling)$

virtual report

@shared depends on report@
expression attributes, value != PTHREAD_PROCESS_PRIVATE;
identifier set =~ "^pthread_(mutex|cond)attr_setpshared$";
position p;
@@
  set@p(attributes, value)

@robust depends on report@
expression attributes, value != PTHREAD_MUTEX_STALLED;
identifier set =~ "^pthread_mutexattr_setrobust(_np)?$";
position p;
@@
  set@p(attributes, value)

@priority depends on report@
expression attributes, value != PTHREAD_PRIO_NONE;
position p;
@@
  pthread_mutexattr_setprotocol@p(attributes, value)

@other depends on report@
identifier operation =~ "^pthread_mutex_(consistent|[gs]etprioceiling)$|^pthread_mutexattr_setprioceiling$";
position p;
@@
  operation@p(...)

@script:python@
p << shared.p;
@@
print("%s:%s:%s: is shared with other processes [process-shared]" % (p[0].file, p[0].line, int(p[0].column) + 1))

@script:python@
p << robust.p;
@@
print("%s:%s:%s: is robust [robust]" % (p[0].file, p[0].line, int(p[0].column) + 1))

@script:python@
p << priority.p;
@@
print("%s:%s:%s: has a priority protocol [priority]" % (p[0].file, p[0].line, int(p[0].column) + 1))

@script:python@
p << other.p;
operation << other.operation;
@@
print("%s:%s:%s: %s has no counterpart [unsupported-operation]" % (p[0].file, p[0].line, int(p[0].column) + 1, operation))

// What is harmless, for `relock patches`, which looks for names that Coccinelle has not parsed.
@harmless depends on report@
identifier set =~ "^pthread_(mutex|cond)attr_set(pshared|robust|robust_np|protocol)$";
expression attributes;
position p;
@@
(
  set@p(attributes, PTHREAD_PROCESS_PRIVATE)
|
  set@p(attributes, PTHREAD_MUTEX_STALLED)
|
  set@p(attributes, PTHREAD_PRIO_NONE)
)

@script:python@
p << harmless.p;
@@
print("seen %s:%s:%s" % (p[0].file, p[0].line, int(p[0].column) + 1))
