# SPDX-License-Identifier: MIT
# so-far.sh RELOCK PROGRAM ASK [OPTIONS]: profiles PROGRAM, which makes PROGRAM.ready and runs until
# it is gone; keeps the profile written before that as PROGRAM.so-far and the last as PROGRAM.profile.
relock=$1 program=$2 ask=$3
shift 3
rm -f "$program".profile "$program".so-far "$program".ready
"$relock" profile "$@" -o "$program".profile -- "$program" "$program".ready &
while ! test -e "$program".ready; do sleep 0.05; done
test "$ask" = ask && kill -ALRM $!
until grep -qs '"acquisitions": 997' "$program".profile; do sleep 0.05; done
cp "$program".profile "$program".so-far
rm "$program".ready
wait $!
