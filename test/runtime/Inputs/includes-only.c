/* SPDX-License-Identifier: MIT
 * Includes the table and uses no lock. */
#include "two-units.h"
#include <stdio.h>
int main(void) {
  puts("links without librelock");
  return 0;
}
