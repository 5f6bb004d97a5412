// SPDX-License-Identifier: MIT
// A function whose statements stand further right than by one tab, in a block that is commented out,
// does not make that the indentation of what is written.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s --match-full-lines --strict-whitespace
// CHECK:struct add_section {
// CHECK-NEXT:	int *old;
// CHECK:static int add_section(void *context) {
// CHECK-NEXT:	struct add_section *section = context;
// CHECK:	if (n > 3) {
// CHECK-NEXT:		total += n;
// CHECK:		relock_execute_any_thread(&lock, add_section, &section);
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
int add(int n) {
/*	if (n < 0) {
		return 0;
	} else {
*/
		int old;
		pthread_mutex_lock(&lock);
		old = total;
		if (n > 3) {
			total += n;
		}
		pthread_mutex_unlock(&lock);
		return old;
//	}
}
int main(void) { printf("%d\n", add(3)); return 0; }
