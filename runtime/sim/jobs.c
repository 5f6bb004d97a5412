/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] = "/proc/self/exe";

struct running {
  struct sim_job job;
  pid_t child;
  FILE *output;
};

static __attribute__((noreturn)) void fail(const char *what) {
  fprintf(stderr, "relock-simulator: %s: %s\n", what, strerror(errno));
  exit(2);
}

void sim_job_word(struct sim_job *job, const char *format, ...) {
  char *at = job->room + job->used;
  const size_t left = sizeof job->room - job->used;
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(at, left, format, arguments);
  va_end(arguments);
  errno = E2BIG;
  if (length < 0 || (size_t)length >= left || job->word_count == SIM_MAX_WORDS - 1)
    fail("the command of a point");
  job->words[job->word_count++] = at;
  job->used += (size_t)length + 1;
}

static void start(struct running *running) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail("no pipe");
  running->child = fork();
  if (running->child < 0)
    fail("no process");
  if (running->child == 0) {
    dup2(ends[1], 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(program, running->job.words);
    fail(program);
  }
  close(ends[1]);
  running->output = fdopen(ends[0], "r");
  if (!running->output)
    fail("no memory for a pipe");
}

/* Repeats what it prints. */
static void finish(struct running *running) {
  char buffer[4096];
  for (size_t length; (length = fread(buffer, 1, sizeof buffer, running->output)) > 0;)
    fwrite(buffer, 1, length, stdout);
  fclose(running->output);
  fflush(stdout);
  int status;
  while (waitpid(running->child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (status == 0)
    return;
  char why[100] = "it has said why";
  if (WIFSIGNALED(status))
    snprintf(why, sizeof why, "it died of signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  fprintf(stderr, "relock-simulator: no result of %s: %s\n", running->job.name, why);
  exit(WIFSIGNALED(status) ? 3 : WEXITSTATUS(status));
}

void sim_run_jobs(size_t count, int at_a_time,
                  void (*describe)(size_t number, struct sim_job *job, void *context),
                  void *context) {
  struct running *ring = calloc((size_t)at_a_time, sizeof *ring);
  if (!ring)
    fail("no memory for the points");
  size_t started = 0;
  for (size_t i = 0; i < count; i++) {
    for (; started < count && started < i + (size_t)at_a_time; started++) {
      struct running *next = &ring[started % (size_t)at_a_time];
      next->job = (struct sim_job){.used = 0};
      describe(started, &next->job, context);
      start(next);
    }
    finish(&ring[i % (size_t)at_a_time]);
  }
  free(ring);
}
