/// Lists every operation on a pthread mutex or condition variable that the text calls by its name,
/// in all branches of #if and in the bodies of macros, whatever a build compiles.
/// Not seen: names that macros paste together, calls through pointers.
//
// SPDX-License-Identifier: MIT
// Confidence: High
// Names: ^pthread_mutex_(lock|trylock|timedlock|clocklock|unlock|init|destroy)$|^pthread_cond_(wait|timedwait|clockwait|signal|broadcast|init|destroy)$

virtual report

@operation depends on report@
identifier called =~ "^pthread_mutex_(lock|trylock|timedlock|clocklock|unlock|init|destroy)$|^pthread_cond_(wait|timedwait|clockwait|signal|broadcast|init|destroy)$";
expression list arguments;
position p;
@@
  called@p(arguments)

@script:python@
p << operation.p;
called << operation.called;
arguments << operation.arguments;
@@
print("%s:%s:%s: %s(%s)" % (p[0].file, p[0].line, int(p[0].column) + 1, called, arguments))
