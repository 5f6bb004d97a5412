#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh RELOCK FOLDER FILE: what `relock check` says of a program of one file; FOLDER is new.
rm -rf "$2" && mkdir "$2" || exit
printf '[{"directory": "%s", "file": "%s", "arguments": ["cc", "-c", "%s"]}]\n' "$2" "$3" "$3" \
  > "$2/compile_commands.json"
"$1" check -p "$2"
[ $? -le 1 ]
