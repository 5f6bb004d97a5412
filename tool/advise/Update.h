// SPDX-License-Identifier: MIT
//
// Revises a plan by what librelock counted in runs of the converted program: which of Relock's
// entries should have another algorithm or another server. A person's entries stay.
#pragma once

#include "advise/Advise.h"
#include "advise/Costs.h"
#include "advise/Plan.h"
#include "advise/Thresholds.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace relock {

struct PlanUpdate {
  Plan Next;
  std::vector<std::string> Revised; // `store.lock: adaptive, now rcl (why)`
  std::string Setting;              // of RELOCK_LOCKS, that does the same in the program as it is
  std::vector<ProfileFinding> Findings;
  size_t Measured = 0; // entries that the statistics have
};

// Each file has locks of librelock: hasRuntime().
bool hasRuntime(const Profile &Run);
PlanUpdate updatePlan(const Plan &Before, llvm::ArrayRef<ProfileFile> Files,
                      const Thresholds &Limits);

} // namespace relock
