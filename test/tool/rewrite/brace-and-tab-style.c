// SPDX-License-Identifier: MIT
// The extracted function has the style of its file: braces on lines of their own, tabs.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s --strict-whitespace --match-full-lines
//      CHECK:struct add_section
// CHECK-NEXT:{
// CHECK-NEXT:	int amount;
// CHECK-NEXT:	int *result;
// CHECK-NEXT:};
//      CHECK:static int add_section(void *context)
// CHECK-NEXT:{
// CHECK-NEXT:	struct add_section *section = context;
//      CHECK:	if (section->amount > 0)
// CHECK-NEXT:	{
// CHECK-NEXT:		total += 1;
// CHECK-NEXT:	}
//      CHECK:static int add(int amount)
// CHECK-NEXT:{
// CHECK-NEXT:	int result;
// CHECK-NEXT:	struct add_section section = {.amount = amount, .result = &result};
// CHECK-NEXT:	relock_execute_any_thread(&lock, add_section, &section);
// CHECK-NEXT:	return result;
// CHECK-NEXT:}
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int add(int amount)
{
	int result;
	pthread_mutex_lock(&lock);
	if (amount > 0)
	{
		total += 1;
	}
	result = total;
	pthread_mutex_unlock(&lock);
	return result;
}

int main(void)
{
	int added = add(2);
	printf("%d %d\n", added, total);
	return 0;
}
