# SPDX-License-Identifier: MIT
"""The test format: lit's shell tests, with what each folder says in its lit.local.cfg:

config.needs    features without which no test of the folder can run
config.timeout  seconds that one test may take
"""
import lit.formats
import lit.Test

REASONS = {
    "tool": "this build leaves out the relock command (RELOCK_TOOL=OFF)",
    "plain": "this build is instrumented by a sanitizer",
    "clang": "clang-19 was not found",
    "spatch": "spatch was not found (Debian's coccinelle)",
    "chromium": "chromium was not found (Debian's chromium), to open the report in a browser",
    "pprof": "Go's pprof was not found (Debian's golang-go)",
    "genmc": "genmc (see test/runtime/genmc/README.md), clang-19 or opt-19 was not found",
    "gdb": "gdb was not found (Debian's gdb), has no Python, or may not trace programs here",
    "gdb-multiarch": "gdb-multiarch was not found (Debian's gdb-multiarch)",
    "emulated": "another processor is emulated; the test says what cannot work there",
    "time-limits": "no test has a time limit, and one that hangs hangs the run: the Python module "
    "psutil is missing (Debian's python3-psutil)",
    "realtime": "needs SCHED_FIFO (root, CAP_SYS_NICE or RLIMIT_RTPRIO), 2 processors, and no "
    "ThreadSanitizer",
    "long": "long tests run with `sh test/run --long`",
    "asan": "needs a build with AddressSanitizer",
    "ubsan": "needs a build with UndefinedBehaviorSanitizer",
    "tsan": "needs a build with ThreadSanitizer",
}


def unsupported(missing):
    reasons = "; ".join(REASONS.get(feature, "needs " + feature) for feature in missing)
    return lit.Test.Result(lit.Test.UNSUPPORTED, "unsupported: " + reasons)


class RelockTest(lit.formats.ShTest):
    def execute(self, test, lit_config):
        missing = [f for f in test.config.needs if f not in test.config.available_features]
        if missing:
            return unsupported(missing)
        if lit_config.maxIndividualTestTimeIsSupported[0]:
            lit_config.maxIndividualTestTime = test.config.timeout
        result = super().execute(test, lit_config)
        if result.code is lit.Test.UNSUPPORTED and test.getMissingRequiredFeatures():
            return unsupported(test.getMissingRequiredFeatures())
        return result
