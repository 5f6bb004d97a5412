/* SPDX-License-Identifier: MIT
 *
 * The interface of librelock.so.0 as programs have been compiled against it: the types of its
 * functions, the sizes of its structures, the places of their members, and its constants, on
 * processors with 64 bits. It compiles as long as the headers still mean the same; that is
 * what test/packaging/abi.test asks. What is added to them is added here; a line that is here goes
 * or changes only with a new soname (CONTRIBUTING.md). */
#include <relock/barriers.h>
#include <relock/containers.h>
#include <relock/relock.h>
#include <relock/teams.h>

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), "size of " #type)
#define ALIGN(type, align) _Static_assert(_Alignof(type) == (align), "alignment of " #type)
#define AT(type, member, offset)                                                                   \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member)
#define VALUE(constant, value) _Static_assert((constant) == (value), #constant)

int relock_execute(relock_mutex_t *mutex, relock_section_t section, void *context);
int relock_execute_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context);
int relock_execute_copy(relock_mutex_t *mutex, relock_section_t section, void *context,
                        size_t size);
int relock_execute_copy_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context,
                                   size_t size);
int relock_mutex_init(relock_mutex_t *mutex, const pthread_mutexattr_t *attributes,
                      relock_class_t *lock_class);
int relock_mutex_destroy(relock_mutex_t *mutex);
int relock_mutex_lock(relock_mutex_t *mutex);
int relock_mutex_trylock(relock_mutex_t *mutex);
int relock_mutex_timedlock(relock_mutex_t *mutex, const struct timespec *deadline);
int relock_mutex_clocklock(relock_mutex_t *mutex, relock_clockid_t clock,
                           const struct timespec *deadline);
int relock_mutex_unlock(relock_mutex_t *mutex);
int relock_cond_init(relock_cond_t *cond, const pthread_condattr_t *attributes);
int relock_cond_destroy(relock_cond_t *cond);
int relock_cond_wait(relock_cond_t *cond, relock_mutex_t *mutex);
int relock_cond_timedwait(relock_cond_t *cond, relock_mutex_t *mutex,
                          const struct timespec *deadline);
int relock_cond_clockwait(relock_cond_t *cond, relock_mutex_t *mutex, relock_clockid_t clock,
                          const struct timespec *deadline);
int relock_cond_signal(relock_cond_t *cond);
int relock_cond_broadcast(relock_cond_t *cond);
int relock_barrier_init(relock_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                        unsigned count);
int relock_barrier_destroy(relock_barrier_t *barrier);
int relock_barrier_wait(relock_barrier_t *barrier);
int relock_team_init(relock_team_t *team, unsigned members);
int relock_team_destroy(relock_team_t *team);
int relock_team_broadcast(relock_team_t *team, unsigned member, unsigned root, void *buffer,
                          size_t bytes);
int relock_team_reduce(relock_team_t *team, unsigned member, unsigned root, void *buffer,
                       size_t count, size_t size,
                       void (*combine)(void *into, const void *from, size_t count));
int relock_team_reduce_all(relock_team_t *team, unsigned member, void *buffer, size_t count,
                           size_t size,
                           void (*combine)(void *into, const void *from, size_t count));
int relock_execute_resumable(relock_mutex_t *mutex, relock_section_t section, void *context,
                             relock_resume_t *resume);
int relock_execute_resumable_any_thread(relock_mutex_t *mutex, relock_section_t section,
                                        void *context, relock_resume_t *resume);
int relock_execute_resumable_from(relock_mutex_t *mutex, relock_section_t section, void *context,
                                  relock_resume_t *resume);
int relock_execute_resumable_from_any_thread(relock_mutex_t *mutex, relock_section_t section,
                                             void *context, relock_resume_t *resume);
void relock_class_register(relock_class_t *lock_class);
void relock_class_remember(relock_class_t *lock_class);
void relock_class_statistics(relock_class_t *lock_class, relock_statistics_t *statistics);
int relock_statistics_write(const char *file);
relock_class_t *relock_class_next(const relock_class_t *previous);
void relock_class_visit(void (*visit)(relock_class_t *lock_class, void *context), void *context);
int relock_class_move(relock_class_t *lock_class, const char *algorithm);
int relock_server_place(unsigned server, int cpu);
int relock_mutex_set_server(relock_mutex_t *mutex, unsigned server);
int relock_servers_balance(unsigned servers);
int relock_thread_set_urgent(int urgent);
int relock_thread_limit_share(unsigned percent);
int relock_submit(relock_mutex_t *mutex, relock_section_t section, const void *context,
                  size_t size);
int relock_submitted_is_done(void);
void relock_submitted_wait(void);
void relock_submission_start(relock_submission_t *submission, relock_mutex_t *mutex,
                             relock_section_t section, void *context);
int relock_submission_is_done(const relock_submission_t *submission);
int relock_submission_wait(relock_submission_t *submission);
int relock_server_statistics(unsigned server, relock_server_statistics_t *statistics);
const char *relock_algorithms(void);
void relock_check_options(void);
int relock_counter_init(relock_counter_t *counter, relock_class_t *lock_class, uint64_t start);
uint64_t relock_counter_add(relock_counter_t *counter, uint64_t amount);
uint64_t relock_counter_read(relock_counter_t *counter);
int relock_counter_destroy(relock_counter_t *counter);
int relock_stack_init(relock_stack_t *stack, relock_class_t *lock_class);
int relock_stack_push(relock_stack_t *stack, relock_node_t *node);
relock_node_t *relock_stack_pop(relock_stack_t *stack);
int relock_stack_destroy(relock_stack_t *stack);
int relock_queue_init(relock_queue_t *queue, relock_class_t *lock_class);
int relock_queue_enqueue(relock_queue_t *queue, relock_node_t *node);
relock_node_t *relock_queue_dequeue(relock_queue_t *queue);
int relock_queue_destroy(relock_queue_t *queue);
int relock_two_lock_queue_init(relock_two_lock_queue_t *queue, relock_class_t *enqueue_class,
                               relock_class_t *dequeue_class, relock_value_node_t *dummy);
int relock_two_lock_queue_enqueue(relock_two_lock_queue_t *queue, relock_value_node_t *node,
                                  void *value);
relock_value_node_t *relock_two_lock_queue_dequeue(relock_two_lock_queue_t *queue, void **value);
int relock_two_lock_queue_destroy(relock_two_lock_queue_t *queue, relock_value_node_t **dummy);
int relock_map_init(relock_map_t *map, relock_class_t *lock_class, relock_map_part_t *parts,
                    size_t part_count, relock_map_node_t **buckets, size_t bucket_count,
                    relock_hash_t hash, relock_equal_t equal);
int relock_map_spread(relock_map_t *map, unsigned servers);
int relock_map_get(relock_map_t *map, const void *key, void **value);
int relock_map_put(relock_map_t *map, relock_map_node_t *node, relock_map_node_t **replaced);
relock_map_node_t *relock_map_remove(relock_map_t *map, const void *key);
relock_map_node_t *relock_map_clear(relock_map_t *map);
int relock_map_destroy(relock_map_t *map);

SIZE(relock_class_t, 128);
ALIGN(relock_class_t, 64);
AT(relock_class_t, name, 0);
AT(relock_class_t, algorithm, 8);
AT(relock_class_t, relock_ops, 16);
AT(relock_class_t, relock_next, 24);
AT(relock_class_t, relock_index, 32);
AT(relock_class_t, relock_flags, 36);
AT(relock_class_t, relock_mutexes, 40);
AT(relock_class_t, relock_server, 48);
AT(relock_class_t, relock_private, 56);
SIZE(relock_mutex_t, sizeof(pthread_mutex_t));
ALIGN(relock_mutex_t, 8);
AT(relock_mutex_t, relock_private.lock_class, 0);
AT(relock_mutex_t, relock_private.tail, 8);
AT(relock_mutex_t, relock_private.owner, 16);
AT(relock_mutex_t, relock_private.word, 24);
AT(relock_mutex_t, relock_private.open, 28);
AT(relock_mutex_t, relock_private.server, 29);
AT(relock_mutex_t, relock_private.holder, 30);
AT(relock_mutex_t, relock_private.recursion, 32);
AT(relock_mutex_t, relock_private.generation, 36);
AT(relock_mutex_t, relock_private.kind, 38);
AT(relock_mutex_t, relock_private.executing, 39);
SIZE(relock_cond_t, 48);
ALIGN(relock_cond_t, 8);
AT(relock_cond_t, relock_private.first, 0);
AT(relock_cond_t, relock_private.last, 8);
AT(relock_cond_t, relock_private.incoming, 16);
AT(relock_cond_t, relock_private.lock, 24);
AT(relock_cond_t, relock_private.clock, 28);
AT(relock_cond_t, relock_private.destroyer, 32);
AT(relock_cond_t, relock_private.generation, 36);
SIZE(relock_barrier_t, sizeof(pthread_barrier_t));
ALIGN(relock_barrier_t, 8);
AT(relock_barrier_t, relock_private.algorithm, 0);
AT(relock_barrier_t, relock_private.nodes, 8);
AT(relock_barrier_t, relock_private.count, 16);
AT(relock_barrier_t, relock_private.first, 20);
AT(relock_barrier_t, relock_private.places, 24);
SIZE(relock_team_t, 24);
ALIGN(relock_team_t, 8);
AT(relock_team_t, relock_private.members, 0);
AT(relock_team_t, relock_private.count, 8);
AT(relock_team_t, relock_private.fan, 12);
SIZE(relock_resume_t, 40);
ALIGN(relock_resume_t, 8);
AT(relock_resume_t, at, 0);
AT(relock_resume_t, error, 4);
AT(relock_resume_t, relock_private.cond, 8);
AT(relock_resume_t, relock_private.deadline, 16);
AT(relock_resume_t, relock_private.clock, 32);
AT(relock_resume_t, relock_private.timing, 36);
SIZE(relock_statistics_t, 88);
ALIGN(relock_statistics_t, 8);
AT(relock_statistics_t, algorithm, 0);
AT(relock_statistics_t, server, 8);
AT(relock_statistics_t, mutexes, 16);
AT(relock_statistics_t, held, 24);
AT(relock_statistics_t, executed, 32);
AT(relock_statistics_t, delegated, 40);
AT(relock_statistics_t, batches, 48);
AT(relock_statistics_t, contended, 56);
AT(relock_statistics_t, parked, 64);
AT(relock_statistics_t, switches, 72);
AT(relock_statistics_t, wait_ns, 80);
SIZE(relock_submission_t, 40);
ALIGN(relock_submission_t, 8);
AT(relock_submission_t, relock_private.next, 0);
AT(relock_submission_t, relock_private.section, 8);
AT(relock_submission_t, relock_private.context, 16);
AT(relock_submission_t, relock_private.result, 24);
AT(relock_submission_t, relock_private.done, 28);
AT(relock_submission_t, relock_private.server, 32);
SIZE(relock_server_statistics_t, 96);
ALIGN(relock_server_statistics_t, 8);
AT(relock_server_statistics_t, sections, 0);
AT(relock_server_statistics_t, passes, 8);
AT(relock_server_statistics_t, active_passes, 16);
AT(relock_server_statistics_t, use_rate, 24);
AT(relock_server_statistics_t, false_serialization, 32);
AT(relock_server_statistics_t, slow_rate, 40);
AT(relock_server_statistics_t, manager_wakes, 48);
AT(relock_server_statistics_t, activations, 56);
AT(relock_server_statistics_t, sleeps, 64);
AT(relock_server_statistics_t, cache_misses, 72);
AT(relock_server_statistics_t, threads, 80);
AT(relock_server_statistics_t, clients, 84);
AT(relock_server_statistics_t, cpu, 88);
AT(relock_server_statistics_t, realtime, 92);
SIZE(relock_node_t, 8);
AT(relock_node_t, relock_next, 0);
SIZE(relock_counter_t, 128);
ALIGN(relock_counter_t, 64);
AT(relock_counter_t, relock_private.mutex, 0);
AT(relock_counter_t, relock_private.value, 64);
SIZE(relock_stack_t, 128);
ALIGN(relock_stack_t, 64);
AT(relock_stack_t, relock_private.mutex, 0);
AT(relock_stack_t, relock_private.top, 64);
SIZE(relock_queue_t, 128);
ALIGN(relock_queue_t, 64);
AT(relock_queue_t, relock_private.mutex, 0);
AT(relock_queue_t, relock_private.first, 64);
AT(relock_queue_t, relock_private.last, 72);
SIZE(relock_value_node_t, 16);
AT(relock_value_node_t, relock_next, 0);
AT(relock_value_node_t, relock_value, 8);
SIZE(relock_two_lock_queue_t, 256);
ALIGN(relock_two_lock_queue_t, 64);
AT(relock_two_lock_queue_t, relock_private.dequeue_mutex, 0);
AT(relock_two_lock_queue_t, relock_private.dummy, 64);
AT(relock_two_lock_queue_t, relock_private.enqueue_mutex, 128);
AT(relock_two_lock_queue_t, relock_private.last, 192);
SIZE(relock_map_node_t, 32);
AT(relock_map_node_t, key, 0);
AT(relock_map_node_t, value, 8);
AT(relock_map_node_t, relock_hash, 16);
AT(relock_map_node_t, relock_next, 24);
SIZE(relock_map_part_t, 64);
ALIGN(relock_map_part_t, 64);
AT(relock_map_part_t, relock_mutex, 0);
SIZE(relock_map_t, 40);
ALIGN(relock_map_t, 8);
AT(relock_map_t, relock_private.parts, 0);
AT(relock_map_t, relock_private.buckets, 8);
AT(relock_map_t, relock_private.hash, 16);
AT(relock_map_t, relock_private.equal, 24);
AT(relock_map_t, relock_private.part_bits, 32);
AT(relock_map_t, relock_private.bucket_bits, 36);
VALUE(RELOCK_TYPE_NORMAL, 0);
VALUE(RELOCK_TYPE_RECURSIVE, 1);
VALUE(RELOCK_TYPE_ERRORCHECK, 2);
VALUE(RELOCK_MAX_SERVERS, 16);
VALUE(RELOCK_TEAM_MEMBERS, 1024);
VALUE(RELOCK_TEAM_PIECE, 4096);
VALUE(RELOCK_MAX_CPUS, 4096);
VALUE(RELOCK_ANY_CPU, -1);
VALUE(RELOCK_WAIT_UNTIMED, 0);
VALUE(RELOCK_WAIT_OWN_CLOCK, 1);
VALUE(RELOCK_WAIT_CLOCK, 2);
VALUE(RELOCK_WAITS, -2147483647 - 1);
VALUE(RELOCK_COPY_MAX, 40);
