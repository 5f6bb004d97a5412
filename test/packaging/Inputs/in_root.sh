#!/bin/sh
# SPDX-License-Identifier: MIT
# in_root.sh ROOT SCRIPT FILE.deb…: installs packages in ROOT (see clean_root.py), runs SCRIPT there,
# a shell script in /tmp/program, removes the packages, and says which files were not there before.
# To be run as root, or in a user namespace, with mounts of its own: unshare -rm.
set -eu
root=$1 script=$2
shift 2
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
in_root() { env -i PATH=/usr/bin:/usr/sbin:/bin:/sbin LC_ALL=C.UTF-8 HOME=/tmp chroot "$root" "$@"; }
# What the system writes itself: dpkg's records, and the linker's cache.
list() {
  (cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache \
    -o -path ./tmp -o -path ./proc -o -path ./dev -o -name ld.so.cache \) -prune -o -print | sort)
}
list > "$root.before"
dpkg --root="$root" --force-unsafe-io -i "$@" > "$root.log" 2>&1 || { cat "$root.log"; exit 1; }
echo "== installed"
in_root dpkg -V relock librelock0 librelock-dev relock-profiler
mkdir "$root/tmp/program"
cp "$script" "$root/tmp/program/script"
in_root sh -ec 'cd /tmp/program && . ./script'
dpkg --root="$root" --purge relock relock-profiler librelock-dev librelock0 >> "$root.log" 2>&1
list > "$root.after"
diff "$root.before" "$root.after"
echo "== nothing left"
