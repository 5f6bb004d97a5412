/* SPDX-License-Identifier: MIT
 *
 * Servers stay live, whatever sections, clients and the system do to them.
 *
 *   servers CASE,... SERVERS,... [-m MODE] [-S SEED]
 *
 * Runs each of the cases ("all") with each of these numbers of servers, 1 to 4, in a process of
 * its own, which it ends with a message when it takes too long. MODE says how servers get their
 * processors: `floating` (any; the default), `shared` (as many as the machine has processors to
 * spare get one, on equal terms with others), `realtime` (the same with SCHED_FIFO, which must be
 * permitted). The seed is printed.
 *
 * The cases are in servers-sections.c (what sections do), servers-clients.c (what clients do) and
 * servers-life.c (what becomes of servers).
 */
#include "servers.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

const char *check_case = "start";
int servers;
enum mode mode;
uint64_t seed;

struct lock locks[MAX_SERVERS][LOCKS];
relock_class_t classes[CLASSES];

static const char *const mode_names[] = {"floating", "shared", "realtime"};
enum { CASE_SECONDS = 20 + 5 * SLOWNESS };

/* --- what the cases use ---------------------------------------------------------------------- */

struct chance chance_of(uint64_t number) {
  return (struct chance){seed * 0x9e3779b97f4a7c15ull + (number + 1) * 0xbf58476d1ce4e5b9ull + 1};
}

uint32_t pick(struct chance *chance, uint32_t below) { /* splitmix64 */
  uint64_t x = chance->state += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return (uint32_t)((x ^ x >> 31) >> 32) % below;
}

void sleep_ms(long milliseconds) {
  struct timespec until = check_deadline(CLOCK_MONOTONIC, milliseconds);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
    continue;
}

void init_lock(struct lock *lock, int set, int number) {
  CHECK_EQUAL(relock_mutex_init(&lock->mutex, NULL, class_of(set, number)), 0);
  CHECK_EQUAL(relock_cond_init(&lock->cond, NULL), 0);
  lock->value = 0;
  lock->inside = 0;
}

void enter(struct lock *lock, long amount) {
  CHECK_EQUAL(lock->inside, 0);
  lock->inside = 1;
  lock->value += amount;
  lock->inside = 0;
}

int add(void *context) {
  struct add *add = context;
  enter(add->lock, add->amount);
  add->elsewhere = kernel_thread() != add->client;
  return (int)add->amount + 1;
}

bool add_once(struct lock *lock, long amount) {
  struct add section = {lock, amount, kernel_thread(), false};
  CHECK_EQUAL(relock_execute_any_thread(&lock->mutex, add, &section), amount + 1);
  return section.elsewhere;
}

struct visit {
  relock_section_t body;
  void *context;
  pid_t client;
  bool here; /* may run in the client's own thread */
  int result;
};

enum { VISITED, NOT_VISITED };

static int visit(void *context) {
  struct visit *visit = context;
  if (!visit->here && kernel_thread() == visit->client)
    return NOT_VISITED;
  visit->result = visit->body(visit->context);
  return VISITED;
}

int on_server(struct lock *lock, relock_section_t body, void *context) {
  struct visit section = {body, context, kernel_thread(), false, 0};
  double end = check_seconds() + CASE_SECONDS;
  while (relock_execute_any_thread(&lock->mutex, visit, &section) == NOT_VISITED)
    CHECK(check_seconds() < end && "the server runs a section");
  return section.result;
}

void demand_service(int set) {
  static struct lock extras[MAX_SERVERS]; /* scenes of several servers play at a time */
  struct lock *extra = &extras[set];
  init_lock(extra, set, LOCKS - 1);
  struct add one = {extra, 1, kernel_thread(), false};
  on_server(extra, add, &one);
}

int on_server_as_client(struct lock *lock, relock_section_t body, void *context) {
  struct visit section = {body, context, kernel_thread(), !switches_identity(), 0};
  double end = check_seconds() + CASE_SECONDS;
  while (relock_execute(&lock->mutex, visit, &section) == NOT_VISITED)
    CHECK(check_seconds() < end && "the server runs a section");
  return section.result;
}

bool on_server_or_here(struct lock *lock, relock_section_t body, void *context) {
  struct visit section = {body, context, kernel_thread(), false, 0};
  for (int i = 0; i < 2000; i++)
    if (relock_execute_any_thread(&lock->mutex, visit, &section) == VISITED)
      return true;
  section.here = true;
  CHECK_EQUAL(relock_execute_any_thread(&lock->mutex, visit, &section), VISITED);
  return false;
}

struct scene {
  void (*run)(int set);
  int set;
};

static void *run_scene(void *context) {
  struct scene *scene = context;
  scene->run(scene->set);
  return NULL;
}

void on_each_server(void (*run)(int set)) {
  struct scene scenes[MAX_SERVERS];
  pthread_t threads[MAX_SERVERS];
  for (int i = 0; i < servers; i++) {
    scenes[i] = (struct scene){run, i};
    threads[i] = check_start(run_scene, &scenes[i]);
  }
  for (int i = 0; i < servers; i++)
    check_join(threads[i]);
}

relock_server_statistics_t statistics_of(int set) {
  relock_server_statistics_t statistics;
  CHECK_EQUAL(relock_server_statistics((unsigned)set + 1, &statistics), 0);
  return statistics;
}

static int captured = -1, original = -1;

void capture_messages(void) {
  captured = memfd_create("messages", MFD_CLOEXEC);
  CHECK(captured >= 0);
  original = dup(2);
  CHECK(original >= 0 && dup2(captured, 2) == 2);
}

const char *messages_so_far(void) {
  static char text[20000];
  ssize_t length = pread(captured, text, sizeof text - 1, 0);
  CHECK(length >= 0);
  text[length] = '\0';
  return text;
}

const char *captured_messages(void) {
  CHECK(dup2(original, 2) == 2);
  const char *text = messages_so_far();
  CHECK(write(2, text, strlen(text)) >= 0); /* a sanitizer may have said something */
  close(original);
  close(captured);
  return text;
}

static char remarks[300];

void remark(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(remarks, sizeof remarks, format, arguments);
  va_end(arguments);
}

/* --- a case, in its process ------------------------------------------------------------------ */

static void name_classes(void) {
  static char names[CLASSES][16], algorithms[CLASSES][8];
  for (int i = 0; i < CLASSES; i++) {
    snprintf(names[i], sizeof names[i], "lock-%d-%d", i / (LOCKS / 2), i % (LOCKS / 2));
    snprintf(algorithms[i], sizeof algorithms[i], "rcl:%d", i / (LOCKS / 2) % servers + 1);
    classes[i].name = names[i];
    classes[i].algorithm = "adaptive";
    relock_class_register(&classes[i]);
    CHECK_EQUAL(relock_class_move(&classes[i], algorithms[i]), 0);
  }
  for (int set = 0; set < MAX_SERVERS; set++)
    for (int i = 0; i < LOCKS; i++)
      init_lock(&locks[set][i], set, i);
}

#ifdef __SANITIZE_ADDRESS__
/* LeakSanitizer's hook. At exit it stops one thread after the other and waits for each: for ever,
 * if one whose turn comes later runs without end, at a higher priority, on the same processor. */
int __lsan_is_turned_off(void) { return mode == REALTIME; }
#endif

static int run_here(const struct test_case *test_case) {
  name_classes();
  double start = check_seconds();
  test_case->run();
  printf("%-40s %d server%s %6.2f s%s%s\n", test_case->name, servers, servers > 1 ? "s" : " ",
         check_seconds() - start, *remarks ? "  " : "", remarks);
  fflush(stdout);
  return 0;
}

/* --- all cases ------------------------------------------------------------------------------- */

static const struct test_case *const lists[] = {section_cases, client_cases, life_cases};
enum { LISTS = sizeof lists / sizeof *lists };

static const struct test_case *find_case(const char *name, size_t length) {
  for (int i = 0; i < LISTS; i++)
    for (const struct test_case *each = lists[i]; each->name; each++)
      if (strlen(each->name) == length && memcmp(each->name, name, length) == 0)
        return each;
  return NULL;
}

/* The processors that this process may use, from the lowest on. */
static int allowed_processors(int allowed[CPU_SETSIZE]) {
  cpu_set_t set;
  CHECK_EQUAL(sched_getaffinity(0, sizeof set, &set), 0);
  int count = 0;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &set))
      allowed[count++] = i;
  return count;
}

static void use_only(int count, const int processors[]) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < count; i++)
    CPU_SET(processors[i], &set);
  CHECK_EQUAL(sched_setaffinity(0, sizeof set, &set), 0);
}

/* "1=cpu:7,2=cpu:6,3=any": one processor is left to the clients. */
static void place_by_mode(char *text, size_t size) {
  int allowed[CPU_SETSIZE], count = allowed_processors(allowed);
  size_t used = 0;
  for (int i = 0; i < servers && used < size; i++) {
    const char *comma = i ? "," : "";
    if (i + 1 < count)
      used += (size_t)snprintf(text + used, size - used, "%s%d=cpu:%d", comma, i + 1,
                               allowed[count - 1 - i]);
    else
      used += (size_t)snprintf(text + used, size - used, "%s%d=any", comma, i + 1);
  }
}

static void place_servers(enum placing placing) {
  int allowed[CPU_SETSIZE];
  char text[MAX_SERVERS * 20] = "";
  allowed_processors(allowed);
  if (placing == EACH_OF_TWO) {
    use_only(2, allowed);
    snprintf(text, sizeof text, "1=cpu:%d,2=cpu:%d", allowed[0], allowed[1]);
  } else if (placing == FORBIDDEN) {
    use_only(1, allowed);
    snprintf(text, sizeof text, "1=cpu:%d", allowed[0] + 1);
  } else if (mode != FLOATING) {
    place_by_mode(text, sizeof text);
  }
  setenv("RELOCK_SERVERS", text, 1);
}

static void set_environment(const struct test_case *test_case) {
  char tune[200];
  /* What one client asks for is to be the server's, too. */
  snprintf(tune, sizeof tune, "server_fifo=%d,server_lone=0%s%s", mode == REALTIME,
           test_case->tune ? "," : "", test_case->tune ? test_case->tune : "");
  setenv("RELOCK_TUNE", tune, 1);
  unsetenv("RELOCK_LOCKS");
  place_servers(test_case->placing);
}

static pid_t start_case(const struct test_case *test_case) {
  fflush(stdout);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    char seed_text[24], servers_text[12];
    snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
    snprintf(servers_text, sizeof servers_text, "%d", servers);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_environment(test_case);
    execl("/proc/self/exe", "servers", test_case->name, servers_text, "-m", mode_names[mode], "-S",
          seed_text, "-i", NULL);
    perror("servers: cannot start a case");
    _exit(127);
  }
  setpgid(child, child);
  return child;
}

static void read_line(pid_t process, const char *thread, const char *file, char *text, int size) {
  char path[320];
  snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)process, thread, file);
  FILE *stream = fopen(path, "r");
  text[0] = '\0';
  if (stream) {
    if (fgets(text, size, stream))
      text[strcspn(text, "\n")] = '\0';
    fclose(stream);
  }
}

/* What the threads of a process that hangs are at. */
static void show_threads(pid_t process) {
  char path[40];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *folder = opendir(path);
  struct dirent *entry;
  for (int shown = 0; folder && (entry = readdir(folder)) && shown < 40;) {
    char name[32], call[120], stat[200];
    if (entry->d_name[0] == '.')
      continue;
    read_line(process, entry->d_name, "comm", name, sizeof name);
    read_line(process, entry->d_name, "syscall", call, sizeof call);
    read_line(process, entry->d_name, "stat", stat, sizeof stat);
    const char *state = strrchr(stat, ')');
    fprintf(stderr, "  %s %s %.2s, in %s\n", entry->d_name, name, state ? state + 1 : " ?", call);
    shown++;
  }
  if (folder)
    closedir(folder);
}

/* Runs the case and waits for its end. True: it has passed. */
static bool run_case(const struct test_case *test_case) {
  pid_t child = start_case(test_case);
  double end = check_seconds() + CASE_SECONDS + 10;
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && check_seconds() < end)
    usleep(1000);
  bool passed = ended == child && status == 0;
  if (!passed) {
    fflush(stdout);
    fprintf(stderr, "servers: %s %s, with: servers %s %d -m %s -S %llu\n", test_case->name,
            ended == 0 ? "hangs" : "has failed", test_case->name, servers, mode_names[mode],
            (unsigned long long)seed);
    if (ended == 0)
      show_threads(child);
    else
      fprintf(stderr, "servers: %s %d\n", WIFSIGNALED(status) ? "signal" : "status",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  kill(-child, SIGKILL); /* and its children */
  if (ended == 0)
    waitpid(child, &status, 0);
  return passed;
}

/* Calls run(one) for each element of a list with commas. */
static const char *next_element(const char *at, size_t *length) {
  at += *length;
  at += *at == ',';
  *length = strcspn(at, ",");
  return *length ? at : NULL;
}

static void run_or_count(const struct test_case *test_case, int *run, int *failed, int *left_out) {
  int allowed[CPU_SETSIZE];
  if (test_case->placing == EACH_OF_TWO && allowed_processors(allowed) < 2) {
    printf("%-40s not run: it needs 2 processors\n", test_case->name);
    ++*left_out;
    return;
  }
  ++*run;
  *failed += !run_case(test_case);
}

static int run_cases(const char *names, const char *numbers) {
  int run = 0, failed = 0, left_out = 0;
  printf("servers: mode %s, seed %llu\n", mode_names[mode], (unsigned long long)seed);
  size_t number_length = 0;
  for (const char *at = numbers; (at = next_element(at, &number_length));) {
    servers = atoi(at);
    if (servers < 1 || servers > MAX_SERVERS)
      return 2;
    for (int i = 0; i < LISTS && strcmp(names, "all") == 0; i++)
      for (const struct test_case *each = lists[i]; each->name; each++)
        run_or_count(each, &run, &failed, &left_out);
    size_t name_length = 0;
    for (const char *name = names;
         strcmp(names, "all") && (name = next_element(name, &name_length));) {
      const struct test_case *test_case = find_case(name, name_length);
      if (!test_case) {
        fprintf(stderr, "servers: there is no case '%.*s'\n", (int)name_length, name);
        return 2;
      }
      run_or_count(test_case, &run, &failed, &left_out);
    }
  }
  printf("%s: %d of %d runs%s\n", failed || !run ? "failed" : "passed", failed ? failed : run, run,
         left_out ? ", others were left out" : "");
  return failed || !run;
}

static int usage(void) {
  fprintf(stderr, "usage: servers CASE,...|all SERVERS,... [-m floating|shared|realtime] "
                  "[-S SEED]\ncases:\n");
  for (int i = 0; i < LISTS; i++)
    for (const struct test_case *each = lists[i]; each->name; each++)
      fprintf(stderr, "  %s\n", each->name);
  return 2;
}

static bool find_mode(const char *name) {
  for (mode = FLOATING; mode <= REALTIME; mode++)
    if (strcmp(name, mode_names[mode]) == 0)
      return true;
  return false;
}

int main(int argc, char **argv) {
  int option;
  bool inside = false;
  seed = (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
  while ((option = getopt(argc, argv, "m:S:i")) != -1) {
    if (option == 'S')
      seed = strtoull(optarg, NULL, 10);
    else if (option == 'i')
      inside = true;
    else if (option != 'm' || !find_mode(optarg))
      return usage();
  }
  if (optind + 2 != argc)
    return usage();
  if (!inside)
    return run_cases(argv[optind], argv[optind + 1]);
  const struct test_case *test_case = find_case(argv[optind], strlen(argv[optind]));
  servers = atoi(argv[optind + 1]);
  check_case = test_case->name;
  return run_here(test_case);
}
