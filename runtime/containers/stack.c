/* SPDX-License-Identifier: MIT */
#include <relock/containers.h>

#include <errno.h>

struct stack_section {
  relock_stack_t *stack;
  relock_node_t *node;
};
_Static_assert(sizeof(struct stack_section) <= RELOCK_COPY_MAX, "travels with the request");

static int push_section(void *context) {
  struct stack_section *section = context;
  relock_node_t **top = &section->stack->relock_private.top;
  section->node->relock_next = *top;
  *top = section->node;
  return 0;
}

static int pop_section(void *context) {
  struct stack_section *section = context;
  relock_node_t **top = &section->stack->relock_private.top;
  section->node = *top;
  if (*top)
    *top = (*top)->relock_next;
  return 0;
}

int relock_stack_init(relock_stack_t *stack, relock_class_t *lock_class) {
  stack->relock_private.top = NULL;
  return relock_mutex_init(&stack->relock_private.mutex, NULL, lock_class);
}

int relock_stack_push(relock_stack_t *stack, relock_node_t *node) {
  struct stack_section section = {stack, node};
  if (!node)
    return EINVAL;
  relock_execute_copy_any_thread(&stack->relock_private.mutex, push_section, &section,
                                 sizeof section);
  return 0;
}

relock_node_t *relock_stack_pop(relock_stack_t *stack) {
  struct stack_section section = {stack, NULL};
  relock_execute_copy_any_thread(&stack->relock_private.mutex, pop_section, &section,
                                 sizeof section);
  return section.node;
}

int relock_stack_destroy(relock_stack_t *stack) {
  return stack->relock_private.top ? EBUSY : relock_mutex_destroy(&stack->relock_private.mutex);
}
