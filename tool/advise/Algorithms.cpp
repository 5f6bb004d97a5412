// SPDX-License-Identifier: MIT
#include "advise/Algorithms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {

static const char *const Algorithms[] = {
#define RELOCK_ALGORITHM(Name) #Name,
#include "../../runtime/locks/algorithms.def"
};

bool isAlgorithm(StringRef Name) { return is_contained(Algorithms, Name); }

bool usesServer(StringRef Algorithm) { return Algorithm == "rcl" || Algorithm == "adaptive_rcl"; }

std::string algorithmList() { return join(std::begin(Algorithms), std::end(Algorithms), ", "); }

} // namespace relock
