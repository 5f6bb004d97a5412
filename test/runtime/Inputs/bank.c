/* SPDX-License-Identifier: MIT
 *
 * The program of runtime/doc/debugging.md: bank ACCOUNT..., with a teller for each. */
#include <dirent.h>
#include <relock/relock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(accounts, "accounts", "ccsynch");
static relock_mutex_t accounts_lock = RELOCK_MUTEX_INITIALIZER(accounts);
static long balances[2];

static long *find(int account) { return account < 2 ? &balances[account] : NULL; }

struct deposit_section {
  int account;
  long amount;
};

static int deposit_section(void *context) {
  struct deposit_section *section = context;
  long *balance = find(section->account);
  *balance += section->amount;
  return 0;
}

static void deposit(int account, long amount) {
  struct deposit_section section = {account, amount};
  relock_execute(&accounts_lock, deposit_section, &section);
}

static void *teller(void *account) {
  for (int i = 0; i < 10000; i++)
    deposit(atoi(account), 10);
  return NULL;
}

/* How many threads of the process sleep. */
static int sleepers(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; (task = readdir(tasks));) {
    char text[300];
    snprintf(text, sizeof text, "/proc/self/task/%s/stat", task->d_name);
    FILE *file = fopen(text, "r");
    count += file && fgets(text, sizeof text, file) && strstr(text, ") S ");
    if (file)
      fclose(file);
  }
  closedir(tasks);
  return count;
}

/* The lock is let go when all tellers wait for it, one behind the other. */
int main(int argc, char **argv) {
  pthread_t thread[argc];
  relock_mutex_lock(&accounts_lock);
  for (int i = 1; i < argc; i++) {
    pthread_create(&thread[i], NULL, teller, argv[i]);
    while (sleepers() < i)
      usleep(1000);
  }
  relock_mutex_unlock(&accounts_lock);
  for (int i = 1; i < argc; i++)
    pthread_join(thread[i], NULL);
  return 0;
}
