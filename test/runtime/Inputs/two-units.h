/* SPDX-License-Identifier: MIT
 * A table of lock classes as the rewriter writes it, included by every file of a program. */
#include <relock/relock.h>
RELOCK_LOCK_CLASS(alpha_lock, "alpha_lock", "posix");
RELOCK_LOCK_CLASS(beta_c_lock, "beta.c:lock", "mcs");
RELOCK_LOCK_CLASS(pair_second, "pair.second", "ccsynch");

RELOCK_SERVER_PLACE(16, RELOCK_ANY_CPU);
RELOCK_SERVER_PLACE(1, 3);

struct pair {
  int first;
  relock_mutex_t second;
};
extern relock_mutex_t alpha_lock;
int add_in_other_unit(struct pair *pair);
relock_class_t *class_in_other_unit(void);
