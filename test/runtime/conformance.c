/* SPDX-License-Identifier: MIT
 *
 * The one conformance client of all lock algorithms.
 *
 *   conformance ALGORITHM [CASE]
 *
 * runs itself again with RELOCK_LOCKS="*=ALGORITHM", so that zero-filled mutexes and all classes
 * are served by it. Each case is a property; the first that does not hold ends the program with
 * status 1 and a message. A case that hangs is ended by a watchdog.
 */
#define _GNU_SOURCE
#include "conformance.h"
#include "check.h"
#include "environment.h"
#include "resumable.h"
#include "semantics.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

const char *check_case = "start";
static const char *algorithm;

bool has_server(void) { return strstr(algorithm, "rcl"); }

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
#define CASE(function) {#function, function}
    CASE(use_before_main),
    CASE(zero_filled_and_static),
    CASE(unsupported_attributes),
    CASE(mutual_exclusion_of_all_ways),
    CASE(own_context_and_result_once_per_call),
    CASE(lock_only_where_a_condition_holds),
    CASE(sections_are_delegated_with_identity_or_not_at_all),
    CASE(section_run_by_another_thread_is_not_cancelled),
    CASE(nesting_in_any_order),
    CASE(try_and_timed_locks),
    CASE(unlock_by_another_thread),
    CASE(errorcheck_type),
    CASE(recursive_type),
    CASE(error_numbers_of_held_mutexes),
    CASE(error_numbers_while_a_section_runs),
    CASE(recursion_has_an_end),
    CASE(memory_is_reused_for_other_mutexes),
    CASE(unlocking_in_any_order),
    CASE(nesting_deeper_than_request_lines),
    CASE(sections_within_their_own_mutex),
    CASE(contexts_of_all_sizes),
    CASE(statistics_are_exact),
    CASE(signal_and_broadcast),
    CASE(no_lost_wake_up),
    CASE(timed_condition_waits),
    CASE(deadlines_race_with_signals),
    CASE(deadline_does_not_consume_a_signal),
    CASE(condition_wait_can_be_cancelled),
    CASE(resumable_and_holding_threads_share_a_buffer),
    CASE(resumable_sections_return_for_work_and_go_on),
    CASE(resumable_sections_keep_identity_and_place),
    CASE(waits_end_in_the_order_in_which_they_began),
    CASE(broadcast_ends_all_waits_and_the_condition),
    CASE(resumable_timed_waits),
    CASE(resumable_waits_that_cannot_begin),
    CASE(deadline_of_a_section_does_not_consume_a_signal),
    CASE(destroy_waits_for_threads_that_leave),
    CASE(resumable_waits_can_be_cancelled),
    CASE(cancellation_does_not_consume_a_signal),
    CASE(resumable_sections_of_typed_mutexes),
    CASE(resumable_section_inside_another_section),
    CASE(others_go_on_while_sections_wait),
    CASE(waiters_of_the_parent_are_not_in_the_child),
    CASE(sections_keep_thread_identity),
    CASE(contended_sections_keep_thread_identity),
    CASE(errno_is_not_changed),
    CASE(threads_come_and_go),
    CASE(last_section_may_free_the_mutex),
    CASE(holders_are_not_starved),
    CASE(thread_exit_handlers_use_locks),
    CASE(signals_arrive_all_the_time),
    CASE(cancellation_waits_for_its_points),
    CASE(cleanup_handler_unlocks_behind_a_section),
    CASE(streams_locked_by_the_client),
    CASE(fork_in_every_phase),
    CASE(libraries_come_and_go),
    CASE(ten_thousand_threads),
    CASE(fork_in_threaded_program),
};
enum { CASES = sizeof cases / sizeof *cases };

static void watchdog(int signal) {
  (void)signal;
  static const char text[] = "conformance: no end within the time limit: ";
  if (write(2, text, sizeof text - 1) < 0 || write(2, check_case, strlen(check_case)) < 0 ||
      write(2, "\n", 1) < 0)
    _exit(4);
  _exit(3);
}

/* Why a case is not run under an emulator; null if it is. */
static const char *not_emulated(const char *name) {
  if (!getenv("TEST_EMULATOR"))
    return NULL;
  if (strcmp(name, "fork_in_threaded_program") == 0 || strcmp(name, "fork_in_every_phase") == 0 ||
      strcmp(name, "waiters_of_the_parent_are_not_in_the_child") == 0)
    return "no threads in the child of a threaded process"; /* see check.h */
  return strcmp(name, "ten_thousand_threads") == 0 ? "too slow" : NULL;
}

/* Chooses the algorithm as a user would: by the environment, which is read at start. */
static void restart(char **argv, const char *name) {
  char locks[64];
  snprintf(locks, sizeof locks, "*=%s", name);
  const char *now = getenv("RELOCK_LOCKS");
  if (now && strcmp(now, locks) == 0)
    return;
  setenv("RELOCK_LOCKS", locks, 1);
  if (getenv("TEST_EMULATOR")) { /* the kernel cannot run this program by itself */
    char *shell[] = {"sh",    "-c", "exec $TEST_EMULATOR \"$0\" \"$@\"", argv[0], argv[1],
                     argv[2], NULL};
    execv("/bin/sh", shell);
  }
  execv("/proc/self/exe", argv);
  perror("conformance: cannot restart");
  exit(2);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: conformance ALGORITHM [CASE]\n");
    return 2;
  }
  restart(argv, argv[1]);
  algorithm = argv[1];
  signal(SIGALRM, watchdog);
  int run = 0, left_out = 0;
  for (int i = 0; i < CASES; i++) {
    if (argc == 3 && strcmp(argv[2], cases[i].name) != 0)
      continue;
    const char *reason = not_emulated(cases[i].name);
    if (reason) {
      printf("%-45s not run under the emulator: %s\n", cases[i].name, reason);
      left_out++;
      continue;
    }
    check_case = cases[i].name;
    alarm(getenv("TEST_EMULATOR") ? 240 : 60);
    double start = check_seconds();
    cases[i].run();
    alarm(0);
    printf("%-45s %6.2f s\n", cases[i].name, check_seconds() - start);
    fflush(stdout);
    run++;
  }
  CHECK(run > 0);
  printf("%s: %s%d properties %shold, sections are %s\n", algorithm,
         run + left_out == CASES ? "all " : "", run, left_out ? "that can be emulated " : "",
         delegates() ? "delegated" : "run by their callers");
  return 0;
}
