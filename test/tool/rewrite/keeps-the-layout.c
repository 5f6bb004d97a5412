// SPDX-License-Identifier: MIT
// Braces on lines of their own, a tab for each eight columns, comments a column further left.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s --match-full-lines --strict-whitespace
//      CHECK:static int find_section(void *context)
// CHECK-NEXT:{
//      CHECK:  if (n > 2)
// CHECK-NEXT:  {
// CHECK-NEXT:    total ++;
// CHECK-EMPTY:
// CHECK-NEXT:    if (n > 3)
// CHECK-NEXT:      total ++;
// CHECK-NEXT:  }
// CHECK-NEXT: /*
// CHECK-NEXT:  * See if it is there...
// CHECK-NEXT:  */
// CHECK-NEXT:  if (n == total)
// CHECK-NEXT:  {
// CHECK-NEXT:    return 1;
// CHECK-NEXT:  }
// CHECK-NEXT:  total += n +
// CHECK-NEXT:	   n * 2;
//      CHECK:      if (relock_execute_any_thread(&lock, find_section, &section))
// CHECK-NEXT:      {
// CHECK-NEXT:        return (1);
// CHECK-NEXT:      }
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int find(int n)
{
  while (n --)
  {
    if (n > 1)
    {
      pthread_mutex_lock(&lock);
      if (n > 2)
      {
	total ++;

	if (n > 3)
	  total ++;
      }
     /*
      * See if it is there...
      */
      if (n == total)
      {
	pthread_mutex_unlock(&lock);

	return (1);
      }
      total += n +
	       n * 2;
      pthread_mutex_unlock(&lock);
    }
  }
  return (0);
}

int main(void)
{
  for (int i = 0; i < 9; i ++)
    printf("%d ", find(i));
  printf("%d\n", total);
  return (0);
}
