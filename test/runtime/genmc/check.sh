#!/bin/sh
# SPDX-License-Identifier: MIT
# Has GenMC check a lock algorithm, or the runtime with one source file changed by sed:
#
#   sh check.sh [-f] [-s FILE SCRIPT] [-o OPTION]... WORK ALGORITHM OPERATIONS...
#
# WORK: a folder for files. OPERATIONS of each of 2 or 3 threads: h (hold), e (execute), t (try), or
# hh, ee, he, th; r: release the mutex, which it has when the threads begin (they do not try it
# first then, as their try has failed); bh, be: hold or execute when somebody has queued up.
# FILE is relative to runtime/. -f: words are HELD_FAST (word.h). -o: for GenMC.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
runtime=$here/../../../runtime

fast='' file='' script='' options=''
while getopts fs:o: option; do
  case $option in
    f) fast=-DFAST ;;
    s)
      file=$OPTARG
      eval "script=\${$OPTIND}"
      OPTIND=$((OPTIND + 1))
      ;;
    o) options="$options $OPTARG" ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
work=$1 algorithm=$2
shift 2

# A file that is found in `changed` comes before that of the runtime, whose names it includes by the
# runtime's folders.
changed=$work/changed
rm -rf "$changed"
mkdir -p "$changed"
if [ -n "$file" ]; then
  mkdir -p "$changed/$(dirname "$file")"
  sed -e "$script" "$runtime/$file" > "$changed/$file"
  if cmp -s "$runtime/$file" "$changed/$file"; then
    echo "check.sh: the script changes nothing in $file: $script" >&2
    exit 2
  fi
fi

does='' threads=0 operations=0
for each; do
  [ "$each" != r ] || does="$does -DHELD"
  does="$does -DDOES_$threads=$each"
  threads=$((threads + 1)) operations=$((operations + $(printf %s "${each#b}" | wc -c)))
done
# GenMC knows no accesses of several sizes to one object, which small structures are that travel in
# registers: so they are split up before. It gets no more of the optimizer, whose instructions it
# does not know.
headers=$(dirname "$(readlink -f "$(command -v genmc)")")/include
# shellcheck disable=SC2086
clang-19 -O1 -Xclang -disable-llvm-passes -fno-discard-value-names -g -S -emit-llvm \
  -o "$work/check.ll" -DRELOCK_BUILDING_RUNTIME -DRELOCK_EXPLORE $fast \
  -DALGORITHM="$algorithm" -DSOURCE="\"locks/$algorithm.c\"" -DTHREADS=$threads \
  -DOPERATIONS=$operations $does -D__CONFIG_GENMC_INODE_DATA_SIZE=64 -I"$changed" -I"$runtime" \
  -I"$runtime/include" -I"$runtime/base" -I"$runtime/locks" -I"$headers" "$here/check.c"
opt-19 -S -passes=sroa "$work/check.ll" -o "$work/split.ll"

# The loops of the runtime end, as whoever waits in one sleeps. GenMC must not look for spin loops
# itself: it takes a loop around one that waits for a part of that. Nor may it remember
# instructions: it gives the same address twice then.
# shellcheck disable=SC2086
exec genmc --disable-estimation --disable-spin-assume --disable-instruction-caching \
  --check-liveness $options --input-from-bitcode-file "$work/split.ll"
