/* SPDX-License-Identifier: MIT
 *
 * See explain.h. A table by address, as long as there are places for all of the runtime's accesses.
 */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 4096 };

extern const char image[] __asm__("__executable_start"); /* of the linker */

static struct sim_place table[PLACES];
static bool counts;

void sim_explain(bool places) {
  counts = places;
  memset(table, 0, sizeof table);
}

void sim_place_missed(const void *place, uint64_t cycles) {
  if (!counts)
    return;
  const uintptr_t address = (uintptr_t)place - (uintptr_t)image;
  unsigned at = (unsigned)(address * UINT64_C(0x9e3779b97f4a7c15) >> 52); /* below PLACES */
  for (unsigned tries = 0; tries < PLACES; tries++, at = (at + 1) % PLACES) {
    if (table[at].address && table[at].address != address)
      continue;
    table[at].address = address;
    table[at].misses++;
    table[at].cycles += cycles;
    return;
  }
}

static int dearer(const void *left, const void *right) {
  const struct sim_place *a = left, *b = right;
  if (a->cycles != b->cycles)
    return a->cycles < b->cycles ? 1 : -1;
  return a->address < b->address ? -1 : a->address > b->address;
}

unsigned sim_places(struct sim_place *places, unsigned most) {
  static struct sim_place sorted[PLACES];
  unsigned count = 0;
  memcpy(sorted, table, sizeof table);
  qsort(sorted, PLACES, sizeof *sorted, dearer);
  for (; count < most && sorted[count].address; count++)
    places[count] = sorted[count];
  return count;
}
