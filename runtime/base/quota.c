/* SPDX-License-Identifier: MIT
 *
 * /proc/self/cgroup has a line per hierarchy, "number:controllers:group":
 *
 *   0::/user.slice/app            version 2: GROUP/cpu.max holds "quota period" or "max period"
 *   4:cpu,cpuacct:/docker/0123    version 1: cpu.cfs_quota_us, below 0 for none, cpu.cfs_period_us
 *
 * Both stand in microseconds. A group has its own quota and shares those of the groups above it. In
 * a container the line may name a group of the host, which is not below the container's mount: then
 * the mount itself is the container's group, and the files of the others are just not there.
 */
#include "quota.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 2048, TEXT = 4096 };

/* Where the hierarchies of groups are mounted: version 2 alone or beside version 1, of which some
 * mount each controller, some pairs. */
static const char *const version_2[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", NULL};
static const char *const version_1[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", NULL};

/* The beginning of a file, terminated. False: it cannot be read. */
static bool read_file(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  ssize_t length = read(file, text, size - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  return length > 0;
}

/* Puts the parts together, up to a null one. False: they are too long. */
static bool join(char path[PATH], const char *const *parts) {
  size_t used = 0;
  for (; *parts; parts++) {
    const size_t length = strlen(*parts);
    if (length >= PATH - used)
      return false;
    memcpy(path + used, *parts, length + 1);
    used += length;
  }
  return true;
}

static bool read_in_group(const char *root, const char *mount, const char *group, const char *file,
                          char *text, size_t size) {
  char path[PATH];
  return join(path, (const char *const[]){root, mount, group, file, NULL}) &&
         read_file(path, text, size);
}

static unsigned processors(long quota, long period) {
  return quota > 0 && period > 0 ? (unsigned)((quota - 1) / period + 1) : 0;
}

static unsigned quota_2(const char *root, const char *mount, const char *group) {
  char text[64], *end;
  if (!read_in_group(root, mount, group, "/cpu.max", text, sizeof text))
    return 0;
  const long quota = strtol(text, &end, 10); /* of "max" 0 */
  return processors(quota, strtol(end, NULL, 10));
}

static unsigned quota_1(const char *root, const char *mount, const char *group) {
  char quota[64], period[64];
  if (!read_in_group(root, mount, group, "/cpu.cfs_quota_us", quota, sizeof quota) ||
      !read_in_group(root, mount, group, "/cpu.cfs_period_us", period, sizeof period))
    return 0;
  return processors(strtol(quota, NULL, 10), strtol(period, NULL, 10));
}

static unsigned tighter(unsigned a, unsigned b) { return !a || (b && b < a) ? b : a; }

typedef unsigned quota_of_group(const char *root, const char *mount, const char *group);

/* Cuts `group` off, from its end on. */
static unsigned walk_up(const char *root, const char *const *mounts, char *group,
                        quota_of_group *quota) {
  unsigned least = 0;
  for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
    *end = '\0';
    for (const char *const *mount = mounts; *mount; mount++)
      least = tighter(least, quota(root, *mount, group));
  }
  return least;
}

/* Whether the list has the controller "cpu". */
static bool has_cpu(char *controllers) {
  char *rest;
  for (char *at = controllers, *each; (each = strtok_r(at, ",", &rest)); at = NULL)
    if (strcmp(each, "cpu") == 0)
      return true;
  return false;
}

static unsigned quota_of_line(const char *root, char *line) {
  char *controllers = strchr(line, ':');
  char *group = controllers ? strchr(++controllers, ':') : NULL;
  if (!group)
    return 0;
  *group++ = '\0';
  if (strncmp(group, "/..", 3) == 0) /* above what this process may see */
    *group = '\0';
  if (!*controllers)
    return walk_up(root, version_2, group, quota_2);
  return has_cpu(controllers) ? walk_up(root, version_1, group, quota_1) : 0;
}

unsigned relock_quota(const char *root) {
  char groups[TEXT], *rest;
  unsigned least = 0;
  if (!read_in_group(root, "/proc/self", "", "/cgroup", groups, sizeof groups))
    return 0;
  for (char *at = groups, *line; (line = strtok_r(at, "\n", &rest)); at = NULL)
    least = tighter(least, quota_of_line(root, line));
  return least;
}
