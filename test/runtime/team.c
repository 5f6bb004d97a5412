/* SPDX-License-Identifier: MIT
 *
 * Teams (runtime/collectives/team.c): wrong uses, broadcasts and reductions of up to 65 members,
 * any length and any root, one after the other without a barrier, after 2^31 steps, fork.
 *
 *   team [MEMBERS OPERATIONS SEED]    instead, operations whose members come early, late or asleep
 */
#define _GNU_SOURCE
#include "../../runtime/collectives/team.h"
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *check_case;

enum { MOST_MEMBERS = 128, PIECE = RELOCK_TEAM_PIECE, MOST_BYTES = 3 * PIECE };

static relock_team_t team;
static unsigned members_now, operations_now, first_seed;
static bool delays;

static void run_all(unsigned members, void *(*run)(void *)) {
  pthread_t thread[MOST_MEMBERS];
  for (uintptr_t i = 0; i < members; i++)
    CHECK_EQUAL(pthread_create(&thread[i], NULL, run, (void *)i), 0);
  for (unsigned i = 0; i < members; i++)
    CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
}

static void add(void *into, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((uint64_t *)into)[i] += ((const uint64_t *)from)[i];
}

/* --- wrong uses ------------------------------------------------------------------------------ */

static void wrong_uses(void) {
  check_case = "wrong_uses";
  uint64_t value = 7;
  memset(&team, 0, sizeof team);
  CHECK_EQUAL(relock_team_broadcast(&team, 0, 0, &value, sizeof value), EINVAL);
  CHECK_EQUAL(relock_team_reduce(&team, 0, 0, &value, 1, sizeof value, add), EINVAL);
  CHECK_EQUAL(relock_team_reduce_all(&team, 0, &value, 1, sizeof value, add), EINVAL);
  CHECK_EQUAL(relock_team_destroy(&team), EINVAL);
  CHECK_EQUAL(relock_team_init(&team, 0), EINVAL);
  CHECK_EQUAL(relock_team_init(&team, RELOCK_TEAM_MEMBERS + 1), EOVERFLOW);
  CHECK_EQUAL(relock_team_init(&team, UINT32_MAX), EOVERFLOW);
  CHECK_EQUAL(relock_team_init(&team, RELOCK_TEAM_MEMBERS), 0);
  CHECK_EQUAL(relock_team_destroy(&team), 0);
  CHECK_EQUAL(relock_team_broadcast(&team, 0, 0, &value, sizeof value), EINVAL);

  CHECK_EQUAL(relock_team_init(&team, 2), 0);
  CHECK_EQUAL(relock_team_broadcast(&team, 2, 0, &value, sizeof value), EDOM);
  CHECK_EQUAL(relock_team_broadcast(&team, 0, 2, &value, sizeof value), EDOM);
  CHECK_EQUAL(relock_team_broadcast(&team, 0, UINT32_MAX, &value, 0), EDOM);
  CHECK_EQUAL(relock_team_reduce(&team, 2, 0, &value, 1, sizeof value, add), EDOM);
  CHECK_EQUAL(relock_team_reduce(&team, 0, 2, &value, 1, sizeof value, add), EDOM);
  CHECK_EQUAL(relock_team_reduce_all(&team, 2, &value, 1, sizeof value, add), EDOM);
  CHECK_EQUAL(relock_team_reduce(&team, 0, 0, &value, 1, 0, add), EINVAL);
  CHECK_EQUAL(relock_team_reduce_all(&team, 0, &value, 0, 0, add), EINVAL);
  CHECK_EQUAL(relock_team_reduce(&team, 0, 0, &value, 1, PIECE + 1, add), EOVERFLOW);
  CHECK_EQUAL(relock_team_reduce(&team, 0, 0, &value, SIZE_MAX / 8 + 1, 8, add), EOVERFLOW);
  CHECK_EQUAL(relock_team_reduce_all(&team, 0, &value, SIZE_MAX, PIECE, add), EOVERFLOW);
  CHECK_EQUAL(value, 7);
  /* Nothing has been done, so nobody waits. */
  CHECK_EQUAL(relock_team_destroy(&team), 0);
}

/* Of nothing, an operation waits for nobody. Of one member, nor does any. */
static void nothing(void) {
  check_case = "nothing";
  uint64_t value[PIECE] = {7};
  CHECK_EQUAL(relock_team_init(&team, 2), 0);
  CHECK_EQUAL(relock_team_broadcast(&team, 1, 0, NULL, 0), 0);
  CHECK_EQUAL(relock_team_reduce(&team, 0, 0, NULL, 0, 8, add), 0);
  CHECK_EQUAL(relock_team_reduce_all(&team, 1, NULL, 0, 8, add), 0);
  CHECK_EQUAL(relock_team_destroy(&team), 0);
  CHECK_EQUAL(relock_team_init(&team, 1), 0);
  for (int i = 0; i < 10; i++) {
    CHECK_EQUAL(relock_team_broadcast(&team, 0, 0, value, sizeof value), 0);
    CHECK_EQUAL(relock_team_reduce(&team, 0, 0, value, PIECE, 8, add), 0);
    CHECK_EQUAL(relock_team_reduce_all(&team, 0, value, PIECE, 8, add), 0);
  }
  CHECK_EQUAL(value[0], 7);
  CHECK_EQUAL(relock_team_destroy(&team), 0);
}

/* A team stays whose members have not all had the same operations. */
static void *send_little(void *member) {
  uint64_t value = 1;
  CHECK_EQUAL(relock_team_broadcast(&team, (unsigned)(uintptr_t)member, 0, &value, sizeof value),
              0);
  return NULL;
}
static void busy(void) {
  check_case = "busy";
  CHECK_EQUAL(relock_team_init(&team, 2), 0);
  send_little((void *)0);
  CHECK_EQUAL(relock_team_destroy(&team), EBUSY);
  send_little((void *)1);
  CHECK_EQUAL(relock_team_destroy(&team), 0);
}

/* --- operations ------------------------------------------------------------------------------ */

static unsigned draw(unsigned *seed, unsigned below) { return (unsigned)rand_r(seed) % below; }

/* In one of four operations: a member comes late, asleep, or having let others go first. */
static void delay(unsigned *seed) {
  switch (draw(seed, 16)) {
  case 0:
    usleep(draw(seed, 100));
    break;
  case 1:
  case 2:
    sched_yield();
    break;
  case 3:
    for (unsigned i = draw(seed, 1000); i > 0; i--)
      __asm__ __volatile__("");
    break;
  }
}

/* Little, more, a piece, and some pieces, each of them just and just not. */
static size_t draw_bytes(unsigned *seed) {
  static const size_t sizes[] = {0,         1,    8,         RELOCK_TEAM_LITTLE,
                                 57,        300,  PIECE - 1, PIECE,
                                 PIECE + 1, 5000, 2 * PIECE, MOST_BYTES};
  return sizes[draw(seed, sizeof sizes / sizeof *sizes)];
}

static uint8_t byte_of(unsigned operation, size_t at) { return (uint8_t)(operation * 131 + at); }

static void one_broadcast(unsigned self, unsigned root, unsigned operation, size_t bytes) {
  uint8_t buffer[MOST_BYTES + 1];
  memset(buffer, 0xee, sizeof buffer);
  for (size_t i = 0; i < bytes && self == root; i++)
    buffer[i] = byte_of(operation, i);
  CHECK_EQUAL(relock_team_broadcast(&team, self, root, buffer, bytes), 0);
  for (size_t i = 0; i < bytes; i++)
    CHECK_EQUAL(buffer[i], byte_of(operation, i));
  CHECK_EQUAL(buffer[bytes], 0xee);
}

static uint64_t element_of(unsigned operation, size_t at, unsigned member) {
  return ((uint64_t)operation << 32) + at * MOST_MEMBERS + member;
}

static void one_reduction(unsigned self, unsigned root, unsigned operation, size_t bytes,
                          bool all) {
  enum { MOST = MOST_BYTES / 8 };
  uint64_t buffer[MOST + 1];
  const size_t count = bytes / 8;
  const uint64_t members = members_now, numbers = members * (members - 1) / 2;
  for (size_t i = 0; i < count; i++)
    buffer[i] = element_of(operation, i, self);
  buffer[count] = 0xee;
  CHECK_EQUAL(all ? relock_team_reduce_all(&team, self, buffer, count, 8, add)
                  : relock_team_reduce(&team, self, root, buffer, count, 8, add),
              0);
  for (size_t i = 0; i < count; i++)
    CHECK_EQUAL(buffer[i], all || self == root ? element_of(operation, i, 0) * members + numbers
                                               : element_of(operation, i, self));
  CHECK_EQUAL(buffer[count], 0xee);
}

/* The same operations in all members, whose seed is one; each delays by another. */
static void *operate(void *number) {
  const unsigned self = (unsigned)(uintptr_t)number;
  unsigned seed = first_seed, own_seed = first_seed * MOST_MEMBERS + self;
  for (unsigned operation = 0; operation < operations_now; operation++) {
    const unsigned kind = draw(&seed, 4), root = draw(&seed, members_now);
    const size_t bytes = draw_bytes(&seed);
    if (delays)
      delay(&own_seed);
    if (kind < 2)
      one_broadcast(self, root, operation, bytes);
    else
      one_reduction(self, root, operation, bytes, kind == 3);
  }
  return NULL;
}

static void operations(unsigned members, unsigned number) {
  check_case = "operations";
  members_now = members;
  operations_now = number;
  CHECK_EQUAL(relock_team_init(&team, members), 0);
  run_all(members, operate);
  CHECK_EQUAL(relock_team_destroy(&team), 0);
}

/* An element that is no number, with a size that divides no piece. */
struct triple {
  char text[3];
};
static void greatest(void *into, const void *from, size_t count) {
  struct triple *mine = into;
  const struct triple *other = from;
  for (size_t i = 0; i < count; i++)
    if (memcmp(&mine[i], &other[i], sizeof *mine) < 0)
      mine[i] = other[i];
}
static void *reduce_triples(void *number) {
  enum { COUNT = 3000 };
  struct triple triple[COUNT];
  for (unsigned i = 0; i < COUNT; i++)
    memcpy(triple[i].text, (char[]){(char)(i / 100), (char)(i % 100), (char)(uintptr_t)number}, 3);
  CHECK_EQUAL(relock_team_reduce_all(&team, (unsigned)(uintptr_t)number, triple, COUNT,
                                     sizeof *triple, greatest),
              0);
  for (unsigned i = 0; i < COUNT; i++)
    CHECK(memcmp(triple[i].text, (char[]){(char)(i / 100), (char)(i % 100), 6}, 3) == 0);
  return NULL;
}
static void other_elements(void) {
  check_case = "other_elements";
  CHECK_EQUAL(relock_team_init(&team, 7), 0);
  run_all(7, reduce_triples);
  CHECK_EQUAL(relock_team_destroy(&team), 0);
}

/* A sum of floating-point numbers is the same in all members, and each time. */
static double sum_of[MOST_MEMBERS];
static void add_doubles(void *into, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((double *)into)[i] += ((const double *)from)[i];
}
static void *reduce_double(void *number) {
  const unsigned self = (unsigned)(uintptr_t)number;
  double value = 1.0 / (self + 3);
  CHECK_EQUAL(relock_team_reduce_all(&team, self, &value, 1, sizeof value, add_doubles), 0);
  sum_of[self] = value;
  return NULL;
}
static void same_sums(void) {
  check_case = "same_sums";
  double first = 0;
  for (int time = 0; time < 10; time++) {
    CHECK_EQUAL(relock_team_init(&team, 23), 0);
    run_all(23, reduce_double);
    CHECK_EQUAL(relock_team_destroy(&team), 0);
    if (time == 0)
      first = sum_of[0];
    for (unsigned i = 0; i < 23; i++)
      CHECK(memcmp(&sum_of[i], &first, sizeof first) == 0);
  }
}

/* What a member has written before it sends is seen by those that get it; plain. */
static struct {
  long number;
} *sent;
static void *send_pointers(void *number) {
  const unsigned self = (unsigned)(uintptr_t)number;
  for (unsigned i = 0; i < 1000; i++) {
    void *pointer = NULL;
    if (i % members_now == self) {
      sent = malloc(sizeof *sent);
      sent->number = i;
      pointer = sent;
    }
    CHECK_EQUAL(relock_team_broadcast(&team, self, i % members_now, &pointer, sizeof pointer), 0);
    CHECK_EQUAL(((__typeof__(sent))pointer)->number, i);
    uint64_t seen = 1;
    CHECK_EQUAL(relock_team_reduce(&team, self, (i + 1) % members_now, &seen, 1, 8, add), 0);
    if (self == (i + 1) % members_now) /* which is the next to send */
      free(pointer);
  }
  return NULL;
}
static void pointers(void) {
  check_case = "pointers";
  members_now = 5;
  CHECK_EQUAL(relock_team_init(&team, 5), 0);
  run_all(5, send_pointers);
  CHECK_EQUAL(relock_team_destroy(&team), 0);
}

/* --- 2^31 steps ------------------------------------------------------------------------------ */

/* As if, between two parts, all members had had 2^27 operations of root 0, in which leaves put
 * nothing and the root takes nothing. Sometimes others send: then their words are to be newer than
 * 2^31. */
enum { PART = 8 };
static bool others_send;
static void *have_part(void *number) {
  const unsigned self = (unsigned)(uintptr_t)number;
  for (unsigned i = 0; i < PART; i++)
    one_broadcast(self, others_send ? i % members_now : 0, i, 8);
  return NULL;
}
static void many_steps(void) {
  check_case = "many_steps";
  members_now = 4;
  CHECK_EQUAL(relock_team_init(&team, members_now), 0);
  for (unsigned part = 0; part < 50; part++) {
    others_send = part % 12 == 11;
    for (unsigned i = 0; i < members_now; i++)
      team.relock_private.members[i].step =
          part * RELOCK_TEAM_REFRESHED - PART / 2 * RELOCK_BARRIER_ROUND;
    run_all(members_now, have_part);
  }
  CHECK_EQUAL(relock_team_destroy(&team), 0);
}

/* --- fork ------------------------------------------------------------------------------------ */

static void in_child(void) {
  check_case = "in_child";
  members_now = 4;
  operations_now = 30;
  CHECK_EQUAL(relock_team_init(&team, members_now), 0);
  run_all(members_now, operate);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run_all(members_now, operate);
    CHECK_EQUAL(relock_team_destroy(&team), 0);
    operations(3, 10);
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  run_all(members_now, operate);
  CHECK_EQUAL(relock_team_destroy(&team), 0);
}

int main(int arguments, char **argument) {
  alarm(300);
  if (arguments == 4) {
    delays = true;
    first_seed = (unsigned)atoi(argument[3]);
    printf("team: %s members, %s operations, seed %s\n", argument[1], argument[2], argument[3]);
    operations((unsigned)atoi(argument[1]), (unsigned)atoi(argument[2]));
  } else {
    wrong_uses();
    nothing();
    busy();
    for (unsigned members = 1; members <= 65; members++)
      operations(members, 20);
    operations(2, 5000);
    operations(5, 1000);
    other_elements();
    same_sums();
    pointers();
    many_steps();
    in_child();
  }
  puts("team: ok");
  return 0;
}
