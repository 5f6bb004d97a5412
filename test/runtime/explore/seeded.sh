#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds an explorer of a runtime with a seeded bug: one source file, changed by sed.
#
#   sh seeded.sh BUILD FILE SCRIPT PROGRAM [PART]      (FILE relative to runtime/)
#
# PART is a source of the explorer that has FILE once more, as part_pool.c has server/pool.c.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1 file=$2 script=$3 program=$4 part=${5-}
runtime=$here/../../../runtime

sed -e "$script" "$runtime/$file" > "$program.c"
if cmp -s "$runtime/$file" "$program.c"; then
  echo "seeded.sh: the script changes nothing in $file: $script" >&2
  exit 2
fi
flags="-O1 -g -fno-inline -fno-omit-frame-pointer -DRELOCK_BUILDING_RUNTIME -DRELOCK_EXPLORE
  -I$runtime/include -I$runtime/$(dirname "$file")"
# shellcheck disable=SC2086
cc $flags -D__tsan_init=explore_no_sanitizer -include "$here/libc.h" -fsanitize=thread -c "$program.c" \
  -o "$program.o"
# shellcheck disable=SC2086
cc $flags -c "$here/main.c" -o "$program-main.o"
objects="$program-main.o $program.o"
if [ "$part" ]; then
  # shellcheck disable=SC2086
  cc $flags -include "$here/libc.h" -fsanitize=thread "-DPART_OF=\"$program.c\"" -c "$here/$part" \
    -o "$program-part.o"
  objects="$objects $program-part.o"
fi
# The changed object comes first, so that the library's is not looked for.
# shellcheck disable=SC2086
cc $objects -Wl,--start-group "$build/test/runtime/explore/libexplored.a" \
  "$build/test/runtime/explore/libexplorer.a" -Wl,--end-group -lpthread -o "$program"
