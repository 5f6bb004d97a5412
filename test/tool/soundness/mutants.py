# SPDX-License-Identifier: MIT
"""Takes the rules that conversions rest on out of relock, one at a time, and demands that a test
fails without each.

Usage: mutants.py BUILD WORK LIT [NAME...]

BUILD is a build folder made by ninja. Every rule stands below with the text that states it in the
source, and with the test that must notice that it is gone. Exit status 1 if one does not, or if the
text is not there (any more) exactly once.
"""
import os
import shlex
import subprocess
import sys

# name: (file, text, what stands there without the rule, test)
RULES = {
    "a pointer alias in another file": (
        "tool/program/Program.cpp",
        "if (F.How != Flow::Text)",
        "if (F.How != Flow::Text && &Unit == &Units.front())",
        "soundness/alias-in-another-file.test",
    ),
    "a wrapper through a function pointer": (
        "tool/program/Program.cpp",
        "else if (F->second.AddressTaken)",
        "else if (false)",
        "soundness/wrapper-through-a-pointer.test",
    ),
    "an uncovered branch of #if": (
        "tool/program/Program.cpp",
        "collectUncovered(Units, AcceptUncovered);",
        "collectUncovered(Units, true);",
        "index/uncovered-sites.c",
    ),
    "a thread-local variable three calls deep": (
        "tool/program/Effects.cpp",
        "climb(Identity, /*ThroughWrappers=*/false, Declared)",
        "Identity",
        "soundness/thread-local-three-calls-deep.test",
    ),
    "a binary semaphore": (
        "tool/program/Decide.cpp",
        "    keepSemaphores();\n",
        "",
        "program/mutex-as-semaphore-keeps.c",
    ),
    "a process-shared attribute set in a helper": (
        "tool/program/Program.cpp",
        "AttributeReasons[find(S.Attribute)]",
        "AttributeReasons[S.Attribute]",
        "soundness/process-shared-in-a-helper.test",
    ),
    "a local that is alive across a wait by its address": (
        "tool/section/Waits.cpp",
        "return Shared ? contains(Scope, Call) : Liveness.liveAfter(Call, V);",
        "return contains(Scope, Call) && Liveness.liveAfter(Call, V);",
        "section/local-alive-across-a-wait-by-its-address.c",
    ),
    "a goto from outside to the last unlock": (
        "tool/section/Find.cpp",
        "ToLast |= Up == Target;",
        "ToLast &= Up == Target;",
        "section/outside-goto-to-the-last-unlock-holds.c",
    ),
    "a cancellation point two calls deep": (
        "tool/program/Effects.cpp",
        "climb(Cancels, /*ThroughWrappers=*/true, Declared)",
        "Cancels",
        "program/effects-two-calls-deep.c",
    ),
    "a library function's use of identity two calls deep": (
        "tool/program/Effects.cpp",
        "    Own.Identity |= E.Identity;\n",
        "",
        "program/effects-two-calls-deep.c",
    ),
    "a pointer that the library keeps": (
        "tool/section/Pointers.cpp",
        "else if (To.Kind == PointerFlow::Place::Kept)\n        escape(From);",
        "else if (To.Kind == PointerFlow::Place::Kept)\n        ;",
        "section/pointers-that-the-library-keeps.c",
    ),
    "a pointer that the library returns": (
        "tool/section/Pointers.cpp",
        "        Result |= From;\n",
        "        ;\n",
        "section/pointers-that-the-library-derives.c",
    ),
    "a pointer that the library stores": (
        "tool/section/Pointers.cpp",
        "store(contents(Given[To.Index], To.Loads - 1), From);",
        ";",
        "section/pointers-that-the-library-derives.c",
    ),
    "a pointer that a function of the file returns": (
        "tool/section/Pointers.cpp",
        "return Holds[number(Body)];",
        "return only(Elsewhere);",
        "section/pointers-through-copies.c",
    ),
    "a pointer copied byte by byte": (
        "tool/section/Pointers.cpp",
        "if (T->isCharType())\n      return true;",
        "",
        "section/pointers-through-copies.c",
    ),
    "a test in place that does more than to abort": (
        "tool/section/Operations.cpp",
        "(Aborts || isPlain(Op.Node))",
        "true",
        "section/dropped-tests-are-listed.c",
    ),
    "a wrapper's test that does more than to abort": (
        "tool/section/Operations.cpp",
        "(!W->Tests || W->Aborts || isPlain(Op.Node))",
        "true",
        "section/dropped-tests-are-listed.c",
    ),
    "an ignored error of a mutex that checks for them": (
        "tool/section/Find.cpp",
        "    checkIgnoredError(Lock, Found);\n",
        "",
        "section/ignored-error-holds.c",
    ),
    "a callee that ignores such an error": (
        "tool/section/Find.cpp",
        "!Matched.contains(Op.Call) || ignoresError(Op)",
        "!Matched.contains(Op.Call)",
        "section/ignored-error-holds.c",
    ),
}


def commands(build):
    """The command that compiles each source, and the one that links relock."""
    ninja = ["ninja", "-C", build, "-t", "commands", "bin/relock"]
    text = subprocess.check_output(ninja, text=True)
    compiles, link = {}, None
    for line in text.splitlines():
        if line.startswith("ninja:"):
            continue
        words = shlex.split(line)
        if "-c" in words:
            source = os.path.realpath(os.path.join(build, words[words.index("-c") + 1]))
            compiles[source] = words
        elif " bin/relock" in line and " -o " in line:
            link = line
    return compiles, link


def without(rule, build, work):
    """Builds relock without the rule; returns the program."""
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
    name, text, instead, _ = rule
    source = os.path.join(root, name)
    with open(source) as file:
        old = file.read()
    if old.count(text) != 1:
        raise SystemExit(f"{name} has `{text.strip()}` {old.count(text)} times, not once")
    compiles, link = commands(build)
    changed = os.path.join(work, os.path.basename(source))
    with open(changed, "w") as file:
        file.write(old.replace(text, instead))
    words = list(compiles[os.path.realpath(source)])
    old_object = words[words.index("-o") + 1]
    new_object = changed + ".o"
    words[words.index("-c") + 1], words[words.index("-o") + 1] = changed, new_object
    subprocess.check_call(words, cwd=build)
    program = os.path.join(work, "relock")
    link = link.replace(" " + old_object + " ", " " + new_object + " ").replace(
        " -o bin/relock ", f" -o {program} ")
    subprocess.check_call(link, shell=True, cwd=build)
    return program


def main():
    build, work, lit = (os.path.abspath(argument) for argument in sys.argv[1:4])
    os.makedirs(work, exist_ok=True)
    missed = []
    for name, rule in RULES.items():
        if sys.argv[4:] and name not in sys.argv[4:]:
            continue
        test = [sys.executable, lit, "-q", os.path.join(build, "test", "tool", rule[3])]
        if subprocess.run(test, stdout=subprocess.DEVNULL).returncode != 0:
            raise SystemExit(f"{rule[3]} fails with the rule, too")
        program = without(rule, build, work)
        test += ["--param", "relock=" + program]
        run = subprocess.run(test, capture_output=True, text=True)
        noticed = run.returncode == 1 and "Failed: 1 " in run.stdout
        print(f"{'noticed' if noticed else 'MISSED'}: {name} ({rule[3]})", flush=True)
        if not noticed:
            missed.append(name)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
