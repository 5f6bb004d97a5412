// SPDX-License-Identifier: MIT
//
// Load for a memcached server on the loopback interface: threads with several connections each send
// pipelined batches of get and set over the text protocol, check every value that comes back, and
// print throughput and the latency of a batch. Values carry their key, a seed and bytes that follow
// from both, so a torn or misplaced value is seen.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  MaxBatch = 64,
  MaxValue = 8192,
  Buckets = 4000,   // of the latency histogram
  BucketMicros = 10 // width of one
};

static struct {
  int port, threads, connections, seconds, sets_per_100, batch, keys, reconnect_every;
} options = {.port = 11211, .threads = 2, .connections = 8, .seconds = 3, .sets_per_100 = 20,
             .batch = 16, .keys = 20000, .reconnect_every = 500};

static const struct {
  const char *name;
  int *value;
  const char *help;
} option_table[] = {
    {"port", &options.port, "of the server, on 127.0.0.1"},
    {"threads", &options.threads, "client threads"},
    {"connections", &options.connections, "per thread"},
    {"seconds", &options.seconds, "how long"},
    {"sets", &options.sets_per_100, "sets among 100 operations; the others are gets"},
    {"batch", &options.batch, "operations sent before the first reply is read, at most 64"},
    {"keys", &options.keys, "different keys"},
    {"reconnect", &options.reconnect_every, "batches after which a connection is replaced"},
};

struct connection {
  int fd;
  int batches;
  char input[65536];
  size_t begin, end;
};

struct counts {
  uint64_t gets, hits, sets, refused, wrong;
  uint64_t latency[Buckets]; // of batches, last bucket: everything above
};

struct thread {
  pthread_t id;
  uint64_t random;
  struct counts counts;
  struct connection *connections;
};

static atomic_bool stop;

_Noreturn static void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("load: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// The size follows from the key: small ones mostly, some that need a larger slab class.
static size_t value_size(int key) {
  unsigned mixed = (unsigned)key * 2654435761u >> 16;
  return mixed % 50 == 0 ? 1024 + mixed % 4096 : 40 + mixed % 400;
}

static void fill_value(char *value, size_t size, int key, unsigned seed) {
  int header = snprintf(value, MaxValue, "%08x%08x", (unsigned)key, seed);
  uint64_t state = ((uint64_t)seed << 32 | (unsigned)key) | 1;
  for (size_t i = (size_t)header; i < size; i++)
    value[i] = (char)('a' + next_random(&state) % 26);
}

static bool value_is_right(const char *value, size_t size, int key) {
  char expected[MaxValue], seed[9] = {0};
  if (size != value_size(key))
    return false;
  memcpy(seed, value + 8, 8);
  fill_value(expected, size, key, (unsigned)strtoul(seed, NULL, 16));
  return memcmp(value, expected, size) == 0;
}

static void connect_to_server(struct connection *connection) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port)};
  struct timeval patience = {.tv_sec = 20};
  int on = 1;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection->fd < 0 ||
      connect(connection->fd, (struct sockaddr *)&address, sizeof address) != 0)
    die("cannot connect to port %d: %s", options.port, strerror(errno));
  setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(connection->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  connection->begin = connection->end = 0;
  connection->batches = 0;
}

static void send_all(struct connection *connection, const char *data, size_t size) {
  while (size > 0) {
    ssize_t sent = send(connection->fd, data, size, MSG_NOSIGNAL);
    if (sent <= 0)
      die("the server closed a connection: %s", strerror(errno));
    data += sent;
    size -= (size_t)sent;
  }
}

static void receive_more(struct connection *connection) {
  if (connection->begin > 0) {
    memmove(connection->input, connection->input + connection->begin,
            connection->end - connection->begin);
    connection->end -= connection->begin;
    connection->begin = 0;
  }
  ssize_t got;
  do /* a call with a time limit is interrupted where the process is stopped and goes on */
    got = recv(connection->fd, connection->input + connection->end,
               sizeof connection->input - connection->end, 0);
  while (got < 0 && errno == EINTR);
  if (got <= 0)
    die("no reply from the server: %s", got == 0 ? "connection closed" : strerror(errno));
  connection->end += (size_t)got;
}

// The next line, without its end; valid until the next receive.
static char *receive_line(struct connection *connection) {
  for (;;) {
    char *line = connection->input + connection->begin;
    char *end = memchr(line, '\n', connection->end - connection->begin);
    if (end) {
      connection->begin += (size_t)(end - line) + 1;
      end[end > line && end[-1] == '\r' ? -1 : 0] = '\0';
      return line;
    }
    receive_more(connection);
  }
}

static char *receive_bytes(struct connection *connection, size_t size) {
  while (connection->end - connection->begin < size)
    receive_more(connection);
  connection->begin += size;
  return connection->input + connection->begin - size;
}

static void receive_get(struct connection *connection, int key, struct counts *counts) {
  char expected[32];
  unsigned size = 0;
  counts->gets++;
  char *line = receive_line(connection);
  if (strcmp(line, "END") == 0)
    return;
  int length = snprintf(expected, sizeof expected, "VALUE key%d 0 ", key);
  if (strncmp(line, expected, (size_t)length) != 0 || sscanf(line + length, "%u", &size) != 1)
    die("unexpected reply to `get key%d': %s", key, line);
  if (size > MaxValue)
    die("value of key%d has %u bytes", key, size);
  if (value_is_right(receive_bytes(connection, size + 2), size, key))
    counts->hits++;
  else
    counts->wrong++;
  line = receive_line(connection);
  if (strcmp(line, "END") != 0)
    die("unexpected end of `get key%d': %s", key, line);
}

static void receive_set(struct connection *connection, int key, struct counts *counts) {
  char *line = receive_line(connection);
  counts->sets++;
  if (strncmp(line, "SERVER_ERROR out of memory", 26) == 0)
    counts->refused++;
  else if (strcmp(line, "STORED") != 0)
    die("unexpected reply to `set key%d': %s", key, line);
}

// One operation of a batch, and what is needed to check its reply.
struct operation {
  int key;
  bool set;
};

static size_t write_request(char *out, struct operation operation, unsigned seed) {
  if (!operation.set)
    return (size_t)sprintf(out, "get key%d\r\n", operation.key);
  size_t size = value_size(operation.key);
  int header = sprintf(out, "set key%d 0 0 %zu\r\n", operation.key, size);
  fill_value(out + header, size, operation.key, seed);
  memcpy(out + (size_t)header + size, "\r\n", 2);
  return (size_t)header + size + 2;
}

static void count_latency(struct counts *counts, double seconds) {
  double bucket = seconds * 1e6 / BucketMicros;
  counts->latency[bucket < Buckets - 1 ? (int)bucket : Buckets - 1]++;
}

static void run_batch(struct thread *thread, struct connection *connection) {
  static _Thread_local char out[MaxBatch * (MaxValue + 64)];
  struct operation operations[MaxBatch];
  size_t size = 0;
  for (int i = 0; i < options.batch; i++) {
    uint64_t random = next_random(&thread->random);
    operations[i].key = (int)(random >> 8) & 0x7fffffff;
    operations[i].key %= options.keys;
    operations[i].set = (int)(random % 100) < options.sets_per_100;
    size += write_request(out + size, operations[i], (unsigned)(random >> 32));
  }
  double start = now();
  send_all(connection, out, size);
  for (int i = 0; i < options.batch; i++)
    (operations[i].set ? receive_set : receive_get)(connection, operations[i].key,
                                                    &thread->counts);
  count_latency(&thread->counts, now() - start);
}

static void *run_thread(void *argument) {
  struct thread *thread = argument;
  for (int i = 0; i < options.connections; i++)
    connect_to_server(&thread->connections[i]);
  while (!atomic_load(&stop))
    for (int i = 0; i < options.connections; i++) {
      struct connection *connection = &thread->connections[i];
      run_batch(thread, connection);
      if (options.reconnect_every && ++connection->batches >= options.reconnect_every) {
        close(connection->fd);
        connect_to_server(connection);
      }
    }
  for (int i = 0; i < options.connections; i++)
    close(thread->connections[i].fd);
  return NULL;
}

static void read_options(int argc, char **argv) {
  size_t count = sizeof option_table / sizeof *option_table;
  for (int i = 1; i < argc; i++) {
    size_t known = 0, length = strcspn(argv[i], "=");
    while (known < count && (strlen(option_table[known].name) != length ||
                             strncmp(option_table[known].name, argv[i], length) != 0))
      known++;
    if (known == count || argv[i][length] != '=') {
      fputs("usage: load NAME=VALUE…\n", stderr);
      for (size_t o = 0; o < count; o++)
        fprintf(stderr, "  %-12s %s (%d)\n", option_table[o].name, option_table[o].help,
                *option_table[o].value);
      exit(2);
    }
    *option_table[known].value = atoi(argv[i] + length + 1);
  }
  if (options.batch < 1 || options.batch > MaxBatch || options.threads < 1 ||
      options.connections < 1 || options.keys < 1)
    die("batch must be 1 to %d; threads, connections and keys at least 1", MaxBatch);
}

static uint64_t percentile(const struct counts *counts, uint64_t batches, double share) {
  uint64_t seen = 0;
  int bucket = 0;
  while (bucket < Buckets - 1 && (seen += counts->latency[bucket]) < (double)batches * share)
    bucket++;
  return (uint64_t)(bucket + 1) * BucketMicros;
}

static void add(struct counts *sum, const struct counts *counts) {
  sum->gets += counts->gets;
  sum->hits += counts->hits;
  sum->sets += counts->sets;
  sum->refused += counts->refused;
  sum->wrong += counts->wrong;
  for (int i = 0; i < Buckets; i++)
    sum->latency[i] += counts->latency[i];
}

int main(int argc, char **argv) {
  static struct counts sum;
  read_options(argc, argv);
  struct thread *threads = calloc((size_t)options.threads, sizeof *threads);
  double start = now();
  for (int i = 0; i < options.threads; i++) {
    threads[i].random = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
    threads[i].connections = calloc((size_t)options.connections, sizeof(struct connection));
    if (pthread_create(&threads[i].id, NULL, run_thread, &threads[i]) != 0)
      die("cannot start thread %d", i);
  }
  sleep((unsigned)options.seconds);
  atomic_store(&stop, true);
  for (int i = 0; i < options.threads; i++) {
    pthread_join(threads[i].id, NULL);
    add(&sum, &threads[i].counts);
  }
  double seconds = now() - start;
  uint64_t batches = (sum.gets + sum.sets) / (uint64_t)options.batch;
  printf("{\"operations\": %llu, \"per_second\": %.0f, \"gets\": %llu, \"hits\": %llu, "
         "\"sets\": %llu, \"refused\": %llu, \"wrong\": %llu, \"batch_p50_us\": %llu, "
         "\"batch_p99_us\": %llu}\n",
         (unsigned long long)(sum.gets + sum.sets), (double)(sum.gets + sum.sets) / seconds,
         (unsigned long long)sum.gets, (unsigned long long)sum.hits,
         (unsigned long long)sum.sets, (unsigned long long)sum.refused,
         (unsigned long long)sum.wrong, (unsigned long long)percentile(&sum, batches, 0.5),
         (unsigned long long)percentile(&sum, batches, 0.99));
  return sum.wrong == 0 ? 0 : 1;
}
