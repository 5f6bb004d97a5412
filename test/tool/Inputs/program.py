# SPDX-License-Identifier: MIT
"""Makes a program that relock can be run on, and shows what relock makes of it.

Usage, in a RUN line:
  %program SOURCE FOLDER [FLAG...]   copies SOURCE, a .c file or a folder, to FOLDER, a git top
                                     with a compile database in FOLDER/build
  %verdicts SOURCE [FLAG...]         does so and runs `relock check` there
  %rewritten SOURCE [OPTION...]      does so, runs `relock rewrite --in-place` there (with --all
                                     where no --lock is among the options), and prints the text of
                                     each file that has changed behind a line `==> NAME`

The last two print relock's messages, its output and `relock: exit status N` too. FLAGs are for the
compiler (for %rewritten behind `--`). As in check_rewrite.py, comment lines such as `// CHECK: ...`
are blank in the copy.
"""
import json
import os
import re
import shutil
import subprocess
import sys

DIRECTIVE = re.compile(r"^[ \t]*(//|/\*)[ \t]*[A-Z][A-Z0-9_-]*:.*$", re.MULTILINE)


def files_below(folder):
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "build")]
        yield from (os.path.join(at, name) for name in names)


def read(name):
    with open(name, newline="") as file:
        return file.read()


def make_program(source, folder, flags):
    source, folder = os.path.abspath(source), os.path.abspath(folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "build"))
    top = source if os.path.isdir(source) else os.path.dirname(source)
    for name in list(files_below(source)) if os.path.isdir(source) else [source]:
        target = os.path.join(folder, os.path.relpath(name, top))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", newline="") as copy:
            copy.write(DIRECTIVE.sub("", read(name)))
    sources = sorted(os.path.relpath(name, folder) for name in files_below(folder)
                     if name.endswith((".c", ".cpp")))
    entries = [{"directory": folder, "file": os.path.join(folder, name),
                "arguments": ["cc", *flags, "-c", name]} for name in sources]
    with open(os.path.join(folder, "build", "compile_commands.json"), "w") as file:
        json.dump(entries, file, indent=1)
    git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "--force", "."], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "before"], check=True)
    return folder


def run(relock, folder, *arguments):
    result = subprocess.run([relock, *arguments], cwd=folder, text=True, timeout=100,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(result.stdout.replace(folder + "/", "") + "relock: exit status %d" % result.returncode)


def show_rewritten(relock, folder, options):
    before = {name: read(name) for name in files_below(folder)}
    locks = [] if any(option.startswith("--lock") for option in options) else ["--all"]
    run(relock, folder, "rewrite", "-p", "build", "--in-place", *locks, *options)
    for name in sorted(files_below(folder)):
        if read(name) != before.get(name):
            print("==> " + os.path.relpath(name, folder))
            print(read(name))


def main():
    mode, arguments = sys.argv[1], sys.argv[2:]
    if mode == "program":
        make_program(arguments[0], arguments[1], arguments[2:])
        return
    relock, folder, source, *rest = arguments
    if mode == "verdicts":
        run(relock, make_program(source, folder, rest), "check", "-p", "build")
        return
    at = rest.index("--") if "--" in rest else len(rest)
    show_rewritten(relock, make_program(source, folder, rest[at + 1:]), rest[:at])


main()
