# SPDX-License-Identifier: MIT
# The test suite: which files are tests, what they may call, what this build can run.
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing but sources in the source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import relock_format

source = config.relock_source_root
build = config.relock_build_root
sanitizer = config.relock_sanitizer

config.name = "relock"
config.test_format = relock_format.RelockTest(execute_external=True)
config.suffixes = [".test", ".c", ".cpp", ".txt"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.join(source, "test")
config.test_exec_root = os.path.join(build, "test")
config.needs = []
# The slowest take a minute and a half, and a machine that does other work is up to three times slower.
# It is also more than the programs' own limits, up to 300 s, which tell what they were at.
config.timeout = 400
if lit_config.params.get("long"):
    config.timeout = 5400  # the explorer's deeper runs take up to an hour each

# Without the Python module psutil a test that hangs is not ended: suite/time-limits.test says so in
# the summary.
if lit_config.maxIndividualTestTimeIsSupported[0]:
    config.available_features.add("time-limits")
else:
    lit_config.warning("no time limits: the Python module psutil is missing (python3-psutil)")

# Features: what REQUIRES, UNSUPPORTED and config.needs can name.
config.available_features.add(
    {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64"}.get(
        config.relock_processor, "other-processor"
    )
)
if config.relock_has_tool or "relock" in lit_config.params:
    config.available_features.add("tool")
if config.relock_clang and not config.relock_emulator and os.path.exists(config.relock_clang):
    config.available_features.add("clang")
if shutil.which("spatch"):
    config.available_features.add("spatch")
# gdb with Python, which may run programs under itself (in a container ptrace(2) may be forbidden).
debugger = ["gdb", "-nx", "-q", "-batch", "-ex", "python print('works')", "-ex", "run", "/bin/true"]
if shutil.which("gdb") and not config.relock_emulator:
    said = subprocess.run(debugger, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "works" in said.stdout and "exited normally" in said.stdout:
        config.available_features.add("gdb")
if shutil.which("gdb-multiarch"):
    config.available_features.add("gdb-multiarch")
debian = ["cpack", "dpkg", "dpkg-deb", "dpkg-shlibdeps", "file", "gzip"]
if all(shutil.which(program) for program in debian):
    if os.path.exists(os.path.join(build, "CPackConfig.cmake")):
        config.available_features.add("debian-packages")
for program in ["lintian", "meson", "rpmbuild"]:
    if shutil.which(program):
        config.available_features.add(program)
git = ["git", "-C", source, "rev-parse", "HEAD"]
if shutil.which("git") and not subprocess.run(
    git, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
).returncode:
    config.available_features.add("working-copy")
if shutil.which("ninja"):
    config.available_features.add("ninja")
pprof = glob.glob("/usr/lib/go/pkg/tool/*/pprof")
if pprof:
    config.available_features.add("pprof")
    config.substitutions.append(("%pprof", pprof[0]))
if shutil.which("valgrind") and not config.relock_emulator:
    config.available_features.add("valgrind")
# perf by the system's clock, which needs no counters of the processor.
sampled = ["perf", "record", "-q", "-e", "cpu-clock", "-o", os.devnull, "true"]
if shutil.which("perf") and not config.relock_emulator:
    if not subprocess.run(sampled, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        config.available_features.add("perf")
if shutil.which("promtool"):
    config.available_features.add("promtool")
if all(shutil.which(program) for program in ["genmc", "clang-19", "opt-19"]):
    config.available_features.add("genmc")
for shell in ("zsh", "fish"):
    if shutil.which(shell):
        config.available_features.add(shell)
if shutil.which("chromium"):
    config.available_features.add("chromium")
# Another group that files of ours can be given to, so that a program gains its rights.
groups = [1] if os.getuid() == 0 else [g for g in os.getgroups() if g != os.getgid()]
if groups and not os.statvfs(build).f_flag & os.ST_NOSUID:
    config.available_features.add("other-group")
    config.substitutions.append(("%other_group", str(groups[0])))
if os.geteuid() == 0:
    config.available_features.add("root")
mounts = ["unshare", "-rm", "true"]
if shutil.which("unshare") and not subprocess.run(mounts, stderr=subprocess.DEVNULL).returncode:
    config.available_features.add("own-mounts")
# 32-bit programs, of which only the text is looked at: none is linked.
narrow = ["gcc", "-m32", "-idirafter", "/usr/include/x86_64-linux-gnu", "-fsyntax-only"]
narrow += ["-include", "errno.h", "-include", "pthread.h", "-x", "c", "/dev/null"]
if shutil.which("gcc") and not subprocess.run(narrow, stderr=subprocess.DEVNULL).returncode:
    config.available_features.add("m32")
others = ["pkg-config", "--exists", "ck", "liburcu-cds", "glib-2.0"]
if shutil.which("pkg-config") and not subprocess.run(others, stderr=subprocess.DEVNULL).returncode:
    config.available_features.add("other-containers")
if len(os.sched_getaffinity(0)) > 1:
    config.available_features.add("two-processors")
if config.relock_emulator:
    config.available_features.add("emulated")
if lit_config.params.get("long"):
    config.available_features.add("long")
if sanitizer:
    config.available_features.add(
        {"address": "asan", "undefined": "ubsan", "thread": "tsan"}[sanitizer]
    )
else:
    config.available_features.add("plain")

# The environment that every test starts from: nothing of the caller's Relock settings.
for name in list(config.environment):
    if name.startswith("RELOCK_"):
        del config.environment[name]
config.environment["PATH"] = os.path.join(build, "test", "bin") + os.pathsep + os.environ["PATH"]
config.environment["LC_ALL"] = "C.UTF-8"
if config.relock_emulator:
    config.environment["TEST_EMULATOR"] = config.relock_emulator
# A program that ends while others of its threads run waits for their races: not a second, of which a
# test of servers has dozens, but as long as it takes servers to run.
config.environment["TSAN_OPTIONS"] = (
    "halt_on_error=0:exitcode=66:second_deadlock_stack=1:atexit_sleep_ms=20:suppressions="
    + os.path.join(source, "test", "tsan.supp")
)
# A thread that is cancelled leaves the shadow of its frames behind it, and the sanitizer of GCC 12
# finds that under its own call when it takes its signal stack away. Tests preload libraries.
config.environment["ASAN_OPTIONS"] = "use_sigaltstack=0:verify_asan_link_order=0"
if sanitizer == "undefined":
    config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"

# A program that is linked with an instrumented librelock has to be instrumented too.
flags = " -fsanitize=" + sanitizer if sanitizer else ""
library = os.path.join(build, "lib")

# What stands before a program that was built for another processor.
emulator = config.relock_emulator + " " if config.relock_emulator else ""


def substitute(name, value):
    # Whole words only: %relock does not touch %relock_source.
    config.substitutions.append((re.escape(name) + r"\b(?![-_])", value))


# --param relock=FILE: another relock, such as one with a rule taken out (test/tool/soundness).
config.relock_command = lit_config.params.get("relock", os.path.join(build, "bin", "relock"))
# %check_rewrite SOURCE [options]; see check_rewrite.py. The work folder is the test's own.
substitute(
    "%check_rewrite",
    " ".join(
        [
            config.relock_python, os.path.join(source, "test", "check_rewrite.py"),
            "--with-relock", config.relock_command,
            "--with-include", os.path.join(source, "runtime", "include"),
            "--with-librelock", os.path.join(library, "librelock.a"),
            "--with-cc", "'" + config.relock_gcc + flags + "'",
            "--with-clang", "'" + config.relock_clang + flags + "'",
            "--with-work", "%t.check-rewrite",
        ]
    ),
)
substitute("%relock", config.relock_command)
substitute("%cc", config.relock_gcc + flags)
substitute("%clang", config.relock_clang + flags)
substitute("%include", os.path.join(source, "runtime", "include"))
substitute("%librelock", os.path.join(library, "librelock.a"))
substitute("%librelock_dir", library)
substitute("%profiler_lib", os.path.join(library, "librelock-profiler.so"))
substitute("%run", config.relock_emulator)
substitute("%runtime_tests", emulator + os.path.join(build, "test", "runtime"))
substitute("%build_root", build)
substitute("%source_root", source)
# Coccinelle ends with an exception where HOME is not set; --python: as pythonOf() in the tool.
spatch = shutil.which("spatch") or "spatch"
python_of_spatch = os.path.join(os.path.dirname(spatch), "python3")
if os.access(python_of_spatch, os.X_OK):
    spatch += " --python " + python_of_spatch
substitute("%spatch", "env HOME=" + config.test_exec_root + " " + spatch + " --very-quiet --no-includes --max-width 200 --smpl-spacing --sp-file")
substitute("%patches", os.path.join(source, "semantic-patches"))
substitute("%python", config.relock_python)
substitute("%lit", config.relock_python + " " + config.relock_lit)
