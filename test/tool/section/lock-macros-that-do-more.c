// SPDX-License-Identifier: MIT
// A macro that takes the lock and then does more, or does something and then releases it: what it does
// besides is the section's. Its function uses a second macro, which has that only. It stands behind the
// first one, in each configuration; without parameters where it names none. What stays a lock goes on
// using the first macro.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s --implicit-check-not=UNUSED_HELD
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct zone {
  pthread_mutex_t lock;
  bool locked;
  int serial, refs;
};

// CHECK:      #define LOCK_ZONE(z)                  \
// CHECK-NEXT:   do {                                \
// CHECK-NEXT:     relock_mutex_lock(&(z)->lock);   \
// CHECK-NEXT:     if ((z)->locked)                  \
// CHECK-NEXT:       abort();                        \
// CHECK-NEXT:     (z)->locked = true;               \
// CHECK-NEXT:   } while (0)
// CHECK-NEXT: #define LOCK_ZONE_HELD(z)             \
// CHECK-NEXT:   do {                                \
// CHECK-NEXT:     if ((z)->locked)                  \
// CHECK-NEXT:       abort();                        \
// CHECK-NEXT:     (z)->locked = true;               \
// CHECK-NEXT:   } while (0)
// CHECK-NEXT: #define UNLOCK_ZONE(z)
#define LOCK_ZONE(z)                  \
  do {                                \
    pthread_mutex_lock(&(z)->lock);   \
    if ((z)->locked)                  \
      abort();                        \
    (z)->locked = true;               \
  } while (0)
#define UNLOCK_ZONE(z)                \
  do {                                \
    (z)->locked = false;              \
    pthread_mutex_unlock(&(z)->lock); \
  } while (0)
// CHECK:      #define UNLOCK_ZONE_HELD(z)           \
// CHECK-NEXT:   do {                                \
// CHECK-NEXT:     (z)->locked = false;              \
// CHECK-NEXT:   } while (0)

// CHECK: struct bump_section {
// CHECK:        LOCK_ZONE_HELD(zone);
// CHECK-NEXT:   zone->serial += section->by;
// CHECK-NEXT:   *section->now = zone->serial;
// CHECK-NEXT:   UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:   return 0;
static int bump(struct zone *zone, int by) {
  LOCK_ZONE(zone); // by all
  zone->serial += by;
  int now = zone->serial;
  UNLOCK_ZONE(zone);
  return now;
}
// CHECK: static int bump(
// CHECK-NOT: LOCK_ZONE
// CHECK: return now;

// CHECK:      static int early_section(
// CHECK:        LOCK_ZONE_HELD(zone);
// CHECK-NEXT:   if (zone->refs == 0) {
// CHECK-NEXT:     UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:     return 1;
// CHECK-NEXT:   }
// CHECK-NEXT:   if (zone->refs > 5) {
// CHECK-NEXT:     zone->refs--;
// CHECK-NEXT:     UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:     return 2;
// CHECK-NEXT:   }
// CHECK-NEXT:   zone->serial += section->by;
// CHECK-NEXT:   UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:   return 0;
static int early(struct zone *zone, int by) {
  int result = 1;
  LOCK_ZONE(zone);
  if (zone->refs == 0) {
    UNLOCK_ZONE(zone);
    return -1;
  }
  if (zone->refs > 5) {
    zone->refs--;
    UNLOCK_ZONE(zone);
    /* There is more to do. */
    result = 7;
    goto out;
  }
  zone->serial += by;
  UNLOCK_ZONE(zone);
out:
  return result;
}
// CHECK:      if (taken == 2) {
// CHECK-NEXT:   /* There is more to do. */
// CHECK-NEXT:   result = 7;

// CHECK:      static int gap_section(
// CHECK:          LOCK_ZONE_HELD(zone);
// CHECK-NEXT:     while (zone->refs) {
// CHECK-NEXT:       zone->refs--;
// CHECK-NEXT:       UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:       RELOCK_RETURN_TO(&section->resume, 1);
// CHECK-NEXT:       LOCK_ZONE_HELD(zone);
// CHECK-NEXT:     }
// CHECK-NEXT:     UNLOCK_ZONE_HELD(zone);
static void gap(struct zone *zone) {
  LOCK_ZONE(zone);
  while (zone->refs) {
    zone->refs--;
    UNLOCK_ZONE(zone);
    free(malloc(8)); // without the lock
    LOCK_ZONE(zone);
  }
  UNLOCK_ZONE(zone);
}

// CHECK:      static int ends_section(
// CHECK:          LOCK_ZONE_HELD(zone);
// CHECK:            UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:       return 2;
// CHECK:            UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:       RELOCK_RETURN_TO(&section->resume, 1);
// CHECK-NEXT:       LOCK_ZONE_HELD(zone);
// CHECK:          if (zone->serial > 90)
// CHECK-NEXT:       goto out;
// CHECK-NEXT:     zone->serial += 10;
// CHECK:        }
// CHECK-NEXT: out:
// CHECK-NEXT:   UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:   return 0;
static int ends(struct zone *zone, int n) {
  LOCK_ZONE(zone);
  if (n == 0) {
    UNLOCK_ZONE(zone);
    return -1;
  }
  if (n == 1) {
    UNLOCK_ZONE(zone);
    free(malloc(n));
    LOCK_ZONE(zone);
  }
  if (zone->serial > 90)
    goto out;
  zone->serial += 10;
out:
  UNLOCK_ZONE(zone);
  return n;
}

// CHECK:      static int arms_section(
// CHECK:          zone->serial++;
// CHECK-NEXT:     UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:     return 0;
// CHECK-NEXT:   } else {
// CHECK-NEXT:     zone->serial--;
// CHECK-NEXT:     UNLOCK_ZONE_HELD(zone);
// CHECK-NEXT:     return 0;
static void arms(struct zone *zone, int n) {
  LOCK_ZONE(zone);
  if (n) {
    zone->serial++;
    UNLOCK_ZONE(zone);
  } else {
    zone->serial--;
    UNLOCK_ZONE(zone);
  }
}

static pthread_mutex_t stats = PTHREAD_MUTEX_INITIALIZER;
static int locks, unlocks, sum;

// CHECK:      #define stats_lock(m) ({ relock_mutex_lock(m); locks++; })
// CHECK-NEXT: #define stats_lock_held() ({ locks++; })
#define stats_lock(m) ({ pthread_mutex_lock(m); locks++; })
// CHECK:      #define STATS_UNLOCK { unlocks++; relock_mutex_unlock(&stats); }
// CHECK-NEXT: #define STATS_UNLOCK_HELD { unlocks++; }
#define STATS_UNLOCK { unlocks++; pthread_mutex_unlock(&stats); }

// CHECK:      static int add_section(
// CHECK:        stats_lock_held();
// CHECK-NEXT:   sum += {{.*}};
// CHECK-NEXT:   STATS_UNLOCK_HELD;
// CHECK-NEXT:   return 0;
static void add(int n) {
  stats_lock(&stats);
  sum += n;
  STATS_UNLOCK;
}

// One of the two is enough.
// CHECK:      static int half_section(
// CHECK:        stats_lock_held();
// CHECK-NEXT:   sum -= {{.*}};
// CHECK-NEXT:   return 0;
static void half(int n) {
  stats_lock(&stats);
  sum -= n;
  pthread_mutex_unlock(&stats);
}

#define UNUSED(m) do { pthread_mutex_lock(m); locks++; } while (0)

int main(void) {
  struct zone zone = {.refs = 8};
  pthread_mutex_init(&zone.lock, NULL);
  printf("%d\n", bump(&zone, 2));
  printf("%d\n", early(&zone, 3));
  gap(&zone);
  printf("%d\n", early(&zone, 3));
  zone.refs = 2;
  printf("%d\n", early(&zone, 4));
  for (int n = 0; n < 3; n++)
    printf("%d\n", ends(&zone, n));
  zone.serial += 90;
  printf("%d\n", ends(&zone, 3));
  arms(&zone, 0);
  arms(&zone, 1);
  arms(&zone, 1);
  add(5);
  half(2);
  printf("%d %d %d %d %d %d\n", zone.serial, zone.refs, zone.locked, sum, locks, unlocks);
  return 0;
}
