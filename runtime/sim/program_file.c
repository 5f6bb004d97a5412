/* SPDX-License-Identifier: MIT
 *
 * The files of programs, a record per line; README.md has an example.
 */
#include "program.h"

#include "../locks/algorithm.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
  const char *file;
  int line;
  char *at; /* what is left of the line */
  struct sim_program *program;
  bool failed;
};

static __attribute__((format(printf, 2, 3))) void refuse(struct reader *reader, const char *format,
                                                         ...) {
  if (reader->failed)
    return;
  reader->failed = true;
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: ", reader->file, reader->line);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
}

/* The next word of the line, or null. */
static const char *word(struct reader *reader) {
  while (isspace((unsigned char)*reader->at))
    reader->at++;
  if (!*reader->at || *reader->at == '#')
    return NULL;
  char *begin = reader->at;
  while (*reader->at && !isspace((unsigned char)*reader->at))
    reader->at++;
  if (*reader->at)
    *reader->at++ = '\0';
  return begin;
}

static double number_in(struct reader *reader, const char *text, double least, double most) {
  char *after;
  const double value = text ? strtod(text, &after) : 0;
  if (text && after != text && !*after && value >= least && value <= most)
    return value;
  refuse(reader, "'%s' is not a number from %g to %g", text ? text : "", least, most);
  return least;
}

/* `NAME NUMBER`: the next two words. */
static double named(struct reader *reader, const char *name, double least, double most) {
  const char *found = word(reader);
  if (!found || strcmp(found, name) != 0) {
    refuse(reader, "'%s' is missing before '%s'", name, found ? found : "the end of the line");
    return least;
  }
  return number_in(reader, word(reader), least, most);
}

static void copy_name(struct reader *reader, char *to, size_t size) {
  const char *name = word(reader);
  if (!name)
    refuse(reader, "a name is missing");
  else if (strlen(name) >= size)
    refuse(reader, "'%s' is longer than %zu characters", name, size - 1);
  else
    strcpy(to, name);
}

static struct sim_class *class_named(struct sim_program *program, const char *name) {
  for (unsigned i = 0; name && i < program->class_count; i++)
    if (strcmp(program->classes[i].name, name) == 0)
      return &program->classes[i];
  return NULL;
}

static struct sim_class *known_class(struct reader *reader) {
  const char *name = word(reader);
  struct sim_class *found = class_named(reader->program, name);
  if (!found) {
    refuse(reader, "there is no lock class '%s' in the lines before", name ? name : "");
    found = &reader->program->classes[0];
  }
  return found;
}

static struct sim_group *known_group(struct reader *reader) {
  const char *name = word(reader);
  struct sim_program *program = reader->program;
  for (unsigned i = 0; name && i < program->group_count; i++)
    if (strcmp(program->groups[i].name, name) == 0)
      return &program->groups[i];
  refuse(reader, "there are no threads '%s' in the lines before", name ? name : "");
  return &program->groups[0];
}

static void add_part(struct reader *reader, struct sim_choice *choice, double value,
                     double weight) {
  if (choice->count == SIM_MAX_PARTS) {
    refuse(reader, "more than %d parts", SIM_MAX_PARTS);
    return;
  }
  const double before = choice->count ? choice->parts[choice->count - 1].until : 0;
  choice->parts[choice->count].value = value;
  choice->parts[choice->count++].until = before + weight;
}

static const double MOST_NS = 1e10;

/* class NAME objects N lines N delegated PART */
static void read_class(struct reader *reader) {
  struct sim_program *program = reader->program;
  if (program->class_count == SIM_MAX_CLASSES) {
    refuse(reader, "more than %d lock classes", SIM_MAX_CLASSES);
    return;
  }
  struct sim_class *made = &program->classes[program->class_count];
  copy_name(reader, made->name, sizeof made->name);
  if (class_named(program, made->name))
    refuse(reader, "the lock class '%s' is there already", made->name);
  program->class_count++;
  made->objects = (unsigned)named(reader, "objects", 1, SIM_MAX_OBJECTS);
  made->lines = (unsigned)named(reader, "lines", 0, 64);
  made->delegated = named(reader, "delegated", 0, 1);
}

/* section CLASS NS:WEIGHT NS:WEIGHT ... */
static void read_section(struct reader *reader) {
  struct sim_class *of = known_class(reader);
  for (const char *text; (text = word(reader));) {
    char *colon = strchr(text, ':');
    if (!colon) {
      refuse(reader, "'%s' is not NS:WEIGHT", text);
      return;
    }
    *colon = '\0';
    const double ns = number_in(reader, text, 0, MOST_NS);
    add_part(reader, &of->section, ns, number_in(reader, colon + 1, 0, 1e18));
  }
}

/* object CLASS PART PART ...: the shares of the first ones; the rest are alike. */
static void read_object(struct reader *reader) {
  struct sim_class *of = known_class(reader);
  double all = 0;
  for (const char *text; (text = word(reader));) {
    const double part = number_in(reader, text, 0, 1);
    all += part;
    if (of->object.count == of->objects)
      refuse(reader, "'%s' has no more than %u objects", of->name, of->objects);
    add_part(reader, &of->object, of->object.count, part);
  }
  if (all > 1.001)
    refuse(reader, "the parts are more than 1 together");
}

/* inside OUTER INNER TIMES */
static void read_inside(struct reader *reader) {
  struct sim_class *outer = known_class(reader), *inner = known_class(reader);
  const double times = number_in(reader, word(reader), 0, 1000);
  if (inner <= outer && !reader->failed)
    refuse(reader, "'%s' comes before '%s', within which it is taken", inner->name, outer->name);
  if (reader->failed)
    return;
  outer->inner[outer->inner_count].lock_class = (unsigned)(inner - reader->program->classes);
  outer->inner[outer->inner_count++].times = times;
}

/* threads NAME count N work NS sleep NS sleeps TIMES */
static void read_threads(struct reader *reader) {
  struct sim_program *program = reader->program;
  if (program->group_count == SIM_MAX_GROUPS) {
    refuse(reader, "more than %d kinds of threads", SIM_MAX_GROUPS);
    return;
  }
  struct sim_group *made = &program->groups[program->group_count++];
  copy_name(reader, made->name, sizeof made->name);
  made->threads = (unsigned)named(reader, "count", 1, 2048);
  made->work = named(reader, "work", 0, MOST_NS);
  made->sleep = named(reader, "sleep", 0, MOST_NS);
  made->sleeps = named(reader, "sleeps", 0, 1000);
}

/* takes THREADS CLASS PART */
static void read_takes(struct reader *reader) {
  struct sim_group *group = known_group(reader);
  const struct sim_class *taken = known_class(reader);
  add_part(reader, &group->visits, (double)(taken - reader->program->classes),
           number_in(reader, word(reader), 0, 1));
}

static void read_line(struct reader *reader) {
  static const struct {
    const char *name;
    void (*read)(struct reader *reader);
  } records[] = {{"class", read_class},   {"section", read_section}, {"object", read_object},
                 {"inside", read_inside}, {"threads", read_threads}, {"takes", read_takes}};
  const char *name = word(reader);
  if (!name)
    return;
  for (size_t i = 0; i < sizeof records / sizeof *records; i++)
    if (strcmp(records[i].name, name) == 0) {
      records[i].read(reader);
      if (!reader->failed && word(reader))
        refuse(reader, "something follows that does not belong to it");
      return;
    }
  refuse(reader, "'%s' is no record", name);
}

static void check(struct reader *reader) {
  const struct sim_program *program = reader->program;
  if (program->class_count == 0 || program->group_count == 0)
    refuse(reader, "no lock class, or no threads");
  for (unsigned i = 0; i < program->class_count; i++)
    if (program->classes[i].section.count == 0)
      refuse(reader, "how long do sections of '%s' take?", program->classes[i].name);
  for (unsigned i = 0; i < program->group_count; i++)
    if (program->groups[i].visits.count == 0)
      refuse(reader, "which locks do threads '%s' take?", program->groups[i].name);
}

bool sim_program_read(const char *file, struct sim_program *program) {
  struct reader reader = {.file = file, .program = program};
  *program = (struct sim_program){0};
  FILE *stream = fopen(file, "re");
  if (!stream) {
    fprintf(stderr, "%s: %s\n", file, strerror(errno));
    return false;
  }
  char *line = NULL;
  size_t room = 0;
  while (!reader.failed && getline(&line, &room, stream) > 0) {
    reader.line++;
    reader.at = line;
    read_line(&reader);
  }
  free(line);
  fclose(stream);
  check(&reader);
  return !reader.failed;
}

/* --- choices --------------------------------------------------------------------------------- */

/* The name without the server of `rcl:2`. */
static bool is_known(const char *algorithm) {
  char name[64];
  const size_t length = strcspn(algorithm, ":");
  if (length >= sizeof name)
    return false;
  memcpy(name, algorithm, length);
  name[length] = '\0';
  return relock_algorithm_named(name) != NULL;
}

const char *sim_program_choose(struct sim_program *program, const char *choice) {
  char *text = strdup(choice); /* stays: algorithms point into it */
  if (!text)
    return "no memory";
  for (char *save, *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
    char *equals = strrchr(item, '=');
    if (!equals)
      return "it is not CLASS=ALGORITHM,...";
    *equals = '\0';
    struct sim_class *of = class_named(program, item);
    if (!of)
      return "there is no such lock class";
    of->algorithm = strcmp(equals + 1, "pthread") == 0 ? NULL : equals + 1;
    if (of->algorithm && !is_known(of->algorithm))
      return "there is no such algorithm";
  }
  return NULL;
}
