// What base/quota.c reads below a folder: the quota in processors, 0 for none.
#include "base/quota.h"

#include <stdio.h>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    printf("%s%u", i > 1 ? " " : "", relock_quota(argv[i]));
  printf("\n");
  return 0;
}
