/* SPDX-License-Identifier: MIT
 *
 * A library with a container and its class, which go with it.
 */
#include <relock/containers.h>

RELOCK_LOCK_CLASS(contained_in_plugin, "contained_in_plugin", "ccsynch");
static relock_stack_t stack = RELOCK_STACK_INITIALIZER(contained_in_plugin);
static relock_node_t node;

int use_stack(void) {
  return relock_stack_push(&stack, &node) || relock_stack_destroy(&stack) == 0 ||
         relock_stack_pop(&stack) != &node || relock_stack_destroy(&stack) != 0;
}
