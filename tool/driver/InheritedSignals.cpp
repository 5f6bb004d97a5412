// SPDX-License-Identifier: MIT
#include "driver/InheritedSignals.h"

#include <csignal>

namespace relock {

static bool Ignored[NSIG];

__attribute__((constructor)) static void rememberIgnoredSignals() {
  for (int Signal = 1; Signal < NSIG; ++Signal) {
    struct sigaction Action;
    if (sigaction(Signal, nullptr, &Action) == 0)
      Ignored[Signal] = Action.sa_handler == SIG_IGN;
  }
}

bool callerIgnores(int Signal) { return Ignored[Signal]; }

void ignoreInheritedSignals() {
  for (int Signal = 1; Signal < NSIG; ++Signal)
    if (Ignored[Signal])
      signal(Signal, SIG_IGN);
}

} // namespace relock
