/* SPDX-License-Identifier: MIT
 *
 * The files of machines: a parameter per line, with its unit and where it comes from.
 *
 *   transfer 0 = 38 cycles   # Lozi 2014, Figure 2.7a: another core of the same die
 *
 * A parameter without a source is refused: nobody could tell it from a guess.
 */
#include "machine.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum unit { COUNT, CYCLES, TIME, NS, PERCENT, MHZ, BYTES, YES_NO };
static const char *const unit_names[] = {"", "cycles", "ns", "ns", "%", "MHz", "bytes", ""};

/* `indexed`: one for each distance, with the distance behind the name. */
static const struct parameter {
  const char *name;
  enum unit unit;
  size_t offset;
  uint64_t least, most;
  bool indexed;
  bool optional;
} parameters[] = {
#define AT(member) offsetof(struct sim_machine, member)
    {"nodes", COUNT, AT(nodes), 1, SIM_MAX_NODES, false, false},
    {"cores per node", COUNT, AT(cores_per_node), 1, SIM_MAX_CORES, false, false},
    {"threads per core", COUNT, AT(threads_per_core), 1, 8, false, false},
    {"clock", MHZ, AT(mhz), 100, 10000, false, false},
    {"transfer", CYCLES, AT(transfer), 1, 100000, true, false},
    {"memory", CYCLES, AT(memory), 1, 100000, true, false},
    {"hit", CYCLES, AT(hit), 1, 1000, false, false},
    {"invalidate", CYCLES, AT(invalidate), 0, 1000, false, false},
    {"write occupancy", PERCENT, AT(write_occupancy), 1, 100, false, false},
    {"read occupancy", PERCENT, AT(read_occupancy), 1, 100, false, false},
    {"home", CYCLES, AT(home), 0, 1000, false, false},
    {"owner keeps", YES_NO, AT(owner_keeps), 0, 1, false, false},
    {"total store order", YES_NO, AT(total_store_order), 0, 1, false, false},
    {"store buffer", COUNT, AT(store_buffer), 1, 128, false, false},
    {"atomic", CYCLES, AT(atomic), 0, 1000, false, false},
    {"instruction", CYCLES, AT(instruction), 0, 100, false, false},
    {"pause", CYCLES, AT(pause), 1, 10000, false, false},
    {"turn", CYCLES, AT(turn), 1, 100, false, false},
    {"throughput", PERCENT, AT(throughput), 100, 800, false, false},
    {"system call", TIME, AT(system_call), 0, 1000000, false, false},
    {"waking", TIME, AT(waking), 0, 1000000, false, false},
    {"clock read", TIME, AT(clock_read), 0, 1000000, false, false},
    {"context switch", TIME, AT(context_switch), 0, 1000000, false, false},
    {"wake-up", TIME, AT(wake_up), 0, 10000000, false, false},
    {"early waking", TIME, AT(early_waking), 0, 1000000, false, true},
    {"early wake-up", TIME, AT(early_wake_up), 0, 10000000, false, true},
    {"doze", TIME, AT(doze), 0, 1000000000, false, true},
    {"interrupt", TIME, AT(interrupt), 0, 1000000, false, false},
    {"slice", TIME, AT(slice), 1000, 1000000000, false, false},
    {"mesh columns", COUNT, AT(mesh_columns), 1, SIM_MAX_NODES, false, true},
    {"hashed homes", YES_NO, AT(hashed_homes), 0, 1, false, true},
    {"writes at home", YES_NO, AT(writes_at_home), 0, 1, false, true},
    {"queue words", COUNT, AT(queue_words), 8, 65536, false, true},
    {"queues", COUNT, AT(queues), 1, 64, false, true},
    {"message", CYCLES, AT(message), 0, 10000, false, true},
    {"sent word", CYCLES, AT(sent_word), 1, 1000, false, true},
    {"received word", CYCLES, AT(received_word), 1, 1000, false, true},
    {"message way", CYCLES, AT(message_way), 0, 100000, false, true},
    {"message hop", CYCLES, AT(message_hop), 0, 1000, false, true},
    {"coherent", YES_NO, AT(coherent), 0, 1, false, true},
    {"buffer lines", COUNT, AT(buffer_lines), 1, 1 << 20, false, true},
    {"buffer access", NS, AT(buffer_access), 1, 100000, false, true},
    {"buffer hop", NS, AT(buffer_hop), 0, 1000, false, true},
    {"buffer port", NS, AT(buffer_port), 0, 1000, false, true},
    {"memory read", NS, AT(memory_read), 0, 100000, false, true},
    {"memory write", NS, AT(memory_write), 0, 100000, false, true},
    {"put memory", NS, AT(put_memory), 0, 100000, false, true},
    {"get memory", NS, AT(get_memory), 0, 100000, false, true},
    {"put", NS, AT(put), 0, 100000, false, true},
    {"get", NS, AT(get), 0, 100000, false, true},
#undef AT
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

/* What a measured machine's file says besides, for people and for other tools: looked at, and not
 * used. `indexed`: with a number behind the name; `list`: of several values, `-` where one is
 * missing.
 */
static const struct remark {
  const char *name;
  enum unit unit;
  bool indexed, list;
} remarks[] = {
    {"clock least", MHZ, false, false},
    {"clock most", MHZ, false, false},
    {"cache line", BYTES, false, false},
    {"virtual machine", YES_NO, false, false},
    {"usable processors", COUNT, false, false},
    {"counters", YES_NO, false, false},
    {"SCHED_FIFO", YES_NO, false, false},
    {"yield", TIME, false, false},
    {"membarrier", TIME, false, false},
    {"thread pointer", TIME, false, false},
    {"read own modified", CYCLES, false, false},
    {"read own exclusive", CYCLES, false, false},
    {"read own shared", CYCLES, false, false},
    {"read other modified", CYCLES, false, false},
    {"read other exclusive", CYCLES, false, false},
    {"read other shared", CYCLES, false, false},
    {"store own modified", CYCLES, false, false},
    {"store own exclusive", CYCLES, false, false},
    {"store own shared", CYCLES, false, false},
    {"store other modified", CYCLES, false, false},
    {"store other exclusive", CYCLES, false, false},
    {"store other shared", CYCLES, false, false},
    {"atomic own modified", CYCLES, false, false},
    {"atomic own exclusive", CYCLES, false, false},
    {"atomic own shared", CYCLES, false, false},
    {"atomic other modified", CYCLES, false, false},
    {"atomic other exclusive", CYCLES, false, false},
    {"atomic other shared", CYCLES, false, false},
    {"adds", CYCLES, true, false},
    {"adds start", CYCLES, false, false},
    {"adds each", CYCLES, false, false},
    {"told", CYCLES, true, false},
    {"told start", CYCLES, false, false},
    {"told each", CYCLES, false, false},
    {"handover", CYCLES, false, false},
    {"independent lines", CYCLES, true, false},
    {"independent lines start", CYCLES, false, false},
    {"independent lines each", CYCLES, false, false},
    {"dependent lines", CYCLES, true, false},
    {"dependent lines start", CYCLES, false, false},
    {"dependent lines each", CYCLES, false, false},
    {"pairs", CYCLES, true, true},
    {"class", CYCLES, true, false},
    {"check barrier", TIME, false, false},
    {"check one-to-many", TIME, false, false},
    {"check many-to-one", TIME, false, false},
};
enum { REMARKS = sizeof remarks / sizeof *remarks };

struct reader {
  const char *file;
  int line;
  const char *text, *at; /* of the line */
  struct sim_machine *machine;
  unsigned given[PARAMETERS]; /* bits: for an indexed one, distances */
  bool has_name;
  unsigned hop_rows;
  bool failed;
};

static void refuse(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void refuse(struct reader *reader, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:", reader->file);
  if (reader->text)
    fprintf(stderr, "%d:%td:", reader->line, reader->at - reader->text + 1);
  fputc(' ', stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  reader->failed = true;
}

static void skip_blanks(struct reader *reader) { reader->at += strspn(reader->at, " \t"); }

static bool take(struct reader *reader, const char *text) {
  skip_blanks(reader);
  const size_t length = strlen(text);
  if (strncmp(reader->at, text, length) != 0)
    return false;
  reader->at += length;
  return true;
}

static bool take_number(struct reader *reader, uint64_t *number) {
  skip_blanks(reader);
  if (!isdigit((unsigned char)*reader->at))
    return false;
  char *end;
  errno = 0;
  *number = strtoull(reader->at, &end, 10);
  if (errno)
    *number = UINT64_MAX;
  reader->at = end;
  return true;
}

static bool read_yes_no(struct reader *reader, const char *name) {
  const bool yes = take(reader, "yes");
  if (!yes && !take(reader, "no"))
    refuse(reader, "'%s' is yes or no", name);
  return yes;
}

static void read_value(struct reader *reader, const struct parameter *parameter, uint64_t *value) {
  skip_blanks(reader);
  if (parameter->unit == YES_NO) {
    *(bool *)value = read_yes_no(reader, parameter->name);
    return;
  }
  const char *start = reader->at;
  uint64_t number;
  if (!take_number(reader, &number)) {
    refuse(reader, "'%s' is a whole number of %s", parameter->name,
           *unit_names[parameter->unit] ? unit_names[parameter->unit] : "things");
    return;
  }
  if (number < parameter->least || number > parameter->most) {
    reader->at = start;
    refuse(reader, "'%s' is from %llu to %llu %s", parameter->name,
           (unsigned long long)parameter->least, (unsigned long long)parameter->most,
           unit_names[parameter->unit]);
    return;
  }
  if (!take(reader, unit_names[parameter->unit])) {
    refuse(reader, "the unit of '%s' is '%s'", parameter->name, unit_names[parameter->unit]);
    return;
  }
  *value = number;
}

/* Behind everything else on a line: where it comes from. */
static void read_source(struct reader *reader) {
  skip_blanks(reader);
  if (*reader->at != '#') {
    refuse(reader, "a comment that says where this comes from is missing: '# source'");
    return;
  }
  reader->at++;
  skip_blanks(reader);
  if (!*reader->at)
    refuse(reader, "the comment does not say where this comes from");
}

/* "hops 3 = 1 2 0 1": from node 3 to each node. */
static void read_hops(struct reader *reader) {
  struct sim_machine *machine = reader->machine;
  uint64_t from, hops;
  if (!take_number(reader, &from) || from != reader->hop_rows || from >= SIM_MAX_NODES) {
    refuse(reader, "the rows of 'hops' begin with the nodes' numbers: 'hops %u = ...'",
           reader->hop_rows);
    return;
  }
  if (!take(reader, "=")) {
    refuse(reader, "'=' is missing");
    return;
  }
  reader->hop_rows++;
  for (unsigned to = 0; to < machine->nodes && to < SIM_MAX_NODES; to++) {
    if (!take_number(reader, &hops) || hops > SIM_MAX_HOPS || (hops == 0) != (to == from)) {
      refuse(reader, "from node %u to each of %llu nodes there are 0 to %d hops, 0 to itself",
             (unsigned)from, (unsigned long long)machine->nodes, SIM_MAX_HOPS);
      return;
    }
    machine->hops[from][to] = (uint8_t)hops;
  }
  read_source(reader);
}

static void list_parameters(void) {
  fputs("  the parameters are: name, title, hops", stderr);
  for (unsigned i = 0; i < PARAMETERS; i++)
    fprintf(stderr, ", %s", parameters[i].name);
  fputs("\n  remarks, which are not used: ", stderr);
  for (unsigned i = 0; i < REMARKS; i++)
    fprintf(stderr, "%s%s", i ? ", " : "", remarks[i].name);
  fputc('\n', stderr);
}

static void read_text(struct reader *reader, char *text, size_t size) {
  if (!take(reader, "=")) {
    refuse(reader, "'=' is missing");
    return;
  }
  skip_blanks(reader);
  const size_t length = strlen(reader->at);
  if (length == 0 || length >= size)
    refuse(reader, "a text of 1 to %zu characters", size - 1);
  else
    memcpy(text, reader->at, length + 1);
}

static void read_parameter(struct reader *reader, unsigned number) {
  const struct parameter *parameter = &parameters[number];
  uint64_t index = 0;
  if (parameter->indexed && (!take_number(reader, &index) || index > SIM_MAX_HOPS)) {
    refuse(reader, "behind '%s' comes how many hops, 0 to %d", parameter->name, SIM_MAX_HOPS);
    return;
  }
  if (reader->given[number] & 1u << index) {
    refuse(reader, "'%s' is given twice", parameter->name);
    return;
  }
  reader->given[number] |= 1u << index;
  if (!take(reader, "=")) {
    refuse(reader, "'=' is missing");
    return;
  }
  char *place = (char *)reader->machine + parameter->offset;
  read_value(reader, parameter, (uint64_t *)place + index);
  if (!reader->failed)
    read_source(reader);
}

static void read_remark_value(struct reader *reader, const struct remark *remark) {
  uint64_t unused;
  bool any = false;
  while ((remark->list || !any) &&
         (take_number(reader, &unused) || (remark->list && take(reader, "-"))))
    any = true;
  if (!any)
    refuse(reader, "'%s' is %s of %s", remark->name,
           remark->list ? "a list of whole numbers" : "a whole number",
           *unit_names[remark->unit] ? unit_names[remark->unit] : "things");
  else if (!take(reader, unit_names[remark->unit]))
    refuse(reader, "the unit of '%s' is '%s'", remark->name, unit_names[remark->unit]);
}

static void read_remark(struct reader *reader, const struct remark *remark) {
  uint64_t unused;
  if (remark->indexed && !take_number(reader, &unused)) {
    refuse(reader, "behind '%s' comes a number", remark->name);
    return;
  }
  if (!take(reader, "=")) {
    refuse(reader, "'=' is missing");
    return;
  }
  if (remark->unit == YES_NO) {
    skip_blanks(reader);
    read_yes_no(reader, remark->name);
  } else {
    read_remark_value(reader, remark);
  }
  if (!reader->failed)
    read_source(reader);
}

/* And is not the beginning of a longer one. */
static bool ends_name(struct reader *reader, bool indexed) {
  skip_blanks(reader);
  return *reader->at == '=' || (indexed && isdigit((unsigned char)*reader->at));
}

static void read_line(struct reader *reader) {
  skip_blanks(reader);
  if (*reader->at == '\0' || *reader->at == '#')
    return;
  const char *start = reader->at;
  if (take(reader, "name ")) {
    reader->has_name = true;
    read_text(reader, reader->machine->name, sizeof reader->machine->name);
    return;
  }
  if (take(reader, "title ")) {
    read_text(reader, reader->machine->title, sizeof reader->machine->title);
    return;
  }
  if (take(reader, "hops ")) {
    read_hops(reader);
    return;
  }
  for (unsigned i = 0; i < PARAMETERS; i++) {
    reader->at = start;
    if (take(reader, parameters[i].name) && ends_name(reader, parameters[i].indexed)) {
      read_parameter(reader, i);
      return;
    }
  }
  for (unsigned i = 0; i < REMARKS; i++) {
    reader->at = start;
    if (take(reader, remarks[i].name) && ends_name(reader, remarks[i].indexed)) {
      read_remark(reader, &remarks[i]);
      return;
    }
  }
  reader->at = start;
  refuse(reader, "there is no such parameter");
  list_parameters();
}

static unsigned mesh_hops(unsigned columns, unsigned from, unsigned to) {
  const int x = (int)(from % columns) - (int)(to % columns);
  const int y = (int)(from / columns) - (int)(to / columns);
  return (unsigned)(abs(x) + abs(y));
}

static void number_mesh(struct reader *reader) {
  struct sim_machine *machine = reader->machine;
  const unsigned columns = (unsigned)machine->mesh_columns;
  for (unsigned from = 0; from < machine->nodes; from++)
    for (unsigned to = 0; to < machine->nodes; to++) {
      const unsigned hops = mesh_hops(columns, from, to);
      if (hops > SIM_MAX_HOPS) {
        refuse(reader, "a mesh of %llu nodes in %u columns has ways of more than %d hops",
               (unsigned long long)machine->nodes, columns, SIM_MAX_HOPS);
        return;
      }
      machine->hops[from][to] = (uint8_t)hops;
    }
}

/* All nodes are one hop from each other unless the file says more. */
static void complete_hops(struct reader *reader) {
  struct sim_machine *machine = reader->machine;
  if (reader->hop_rows && machine->mesh_columns) {
    refuse(reader, "the distances are those of 'mesh columns' or of 'hops', not of both");
    return;
  }
  if (machine->mesh_columns)
    number_mesh(reader);
  if (reader->failed)
    return;
  if (reader->hop_rows && reader->hop_rows != machine->nodes) {
    refuse(reader, "%u rows of 'hops' for %llu nodes", reader->hop_rows,
           (unsigned long long)machine->nodes);
    return;
  }
  machine->max_hops = 0;
  for (unsigned from = 0; from < machine->nodes; from++)
    for (unsigned to = 0; to < machine->nodes; to++) {
      if (!reader->hop_rows && !machine->mesh_columns)
        machine->hops[from][to] = from != to;
      if (machine->hops[from][to] > machine->max_hops)
        machine->max_hops = machine->hops[from][to];
    }
}

/* Who has one of them has all. */
static void check_group(struct reader *reader, const char *const names[], unsigned count) {
  const char *given = NULL, *missing = NULL;
  for (unsigned i = 0; i < PARAMETERS; i++)
    for (unsigned name = 0; name < count; name++)
      if (strcmp(parameters[i].name, names[name]) == 0)
        *(reader->given[i] ? &given : &missing) = names[name];
  if (given && missing)
    refuse(reader, "'%s' is given, and '%s' is missing", given, missing);
}

static void check_groups(struct reader *reader) {
  static const char *const queues[] = {"queue words",   "queues",      "message",    "sent word",
                                       "received word", "message way", "message hop"};
  static const char *const buffers[] = {
      "buffer lines", "buffer access", "buffer hop", "buffer port", "memory read",
      "memory write", "put memory",    "get memory", "put",         "get"};
  check_group(reader, queues, sizeof queues / sizeof *queues);
  check_group(reader, buffers, sizeof buffers / sizeof *buffers);
}

static void check_completeness(struct reader *reader) {
  reader->text = NULL; /* no place in the file */
  if (!reader->has_name)
    refuse(reader, "'name' is missing");
  for (unsigned i = 0; i < PARAMETERS; i++)
    if (!reader->given[i] && !parameters[i].optional)
      refuse(reader, "'%s' is missing", parameters[i].name);
  check_groups(reader);
  if (reader->failed)
    return;
  complete_hops(reader);
  for (unsigned i = 0; i < PARAMETERS; i++)
    for (unsigned hops = 0; parameters[i].indexed && hops <= reader->machine->max_hops; hops++)
      if (!(reader->given[i] & 1u << hops))
        refuse(reader, "'%s %u' is missing", parameters[i].name, hops);
  if (!reader->failed && sim_cores(reader->machine) > SIM_MAX_CORES)
    refuse(reader, "%u cores are more than %d", sim_cores(reader->machine), SIM_MAX_CORES);
  if (!reader->failed && sim_processors(reader->machine) > SIM_MAX_PROCESSORS)
    refuse(reader, "%u processors are more than %d", sim_processors(reader->machine),
           SIM_MAX_PROCESSORS);
}

/* Times of the system are given in ns, and counted in cycles. */
static void convert_times(struct sim_machine *machine) {
  for (unsigned i = 0; i < PARAMETERS; i++)
    if (parameters[i].unit == TIME) {
      uint64_t *time = (uint64_t *)((char *)machine + parameters[i].offset);
      *time = sim_cycles(machine, *time);
    }
}

/* Without, a processor is at once as it is later. */
static void complete_early_times(struct sim_machine *machine) {
  if (!machine->early_waking)
    machine->early_waking = machine->waking;
  if (!machine->early_wake_up)
    machine->early_wake_up = machine->wake_up;
}

bool sim_machine_read(const char *file, struct sim_machine *machine) {
  struct reader reader = {.file = file, .machine = machine};
  memset(machine, 0, sizeof *machine);
  machine->coherent = true;
  FILE *stream = fopen(file, "r");
  if (!stream) {
    refuse(&reader, "%s", strerror(errno));
    return false;
  }
  char *line = NULL;
  size_t size = 0;
  for (ssize_t length; !reader.failed && (length = getline(&line, &size, stream)) >= 0;) {
    line[strcspn(line, "\r\n")] = '\0';
    reader.line++;
    reader.text = reader.at = line;
    read_line(&reader);
  }
  if (!reader.failed && ferror(stream))
    refuse(&reader, "cannot be read");
  fclose(stream);
  if (!reader.failed)
    check_completeness(&reader);
  free(line);
  if (!reader.failed) {
    convert_times(machine);
    complete_early_times(machine);
  }
  return !reader.failed;
}

void sim_machine_restrict(struct sim_machine *machine, unsigned processors) {
  if (processors >= sim_processors(machine))
    return;
  if (processors > sim_cores(machine)) {
    machine->threads_per_core = (processors + sim_cores(machine) - 1) / sim_cores(machine);
    return;
  }
  machine->threads_per_core = 1;
  machine->nodes = (processors + machine->cores_per_node - 1) / machine->cores_per_node;
  machine->cores_per_node = (processors + machine->nodes - 1) / machine->nodes;
  machine->max_hops = 0;
  for (unsigned from = 0; from < machine->nodes; from++)
    for (unsigned to = 0; to < machine->nodes; to++)
      if (machine->hops[from][to] > machine->max_hops)
        machine->max_hops = machine->hops[from][to];
}
