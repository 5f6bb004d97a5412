// SPDX-License-Identifier: MIT
//
// Makes a plan of a decision, of what profiles say, and of the plan that was there before: what a
// person has edited stays.
#pragma once

#include "advise/Choose.h"
#include "advise/Hints.h"
#include "advise/Plan.h"
#include "program/Decide.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace relock {

// Something that the reader of the plan did not write and would want to know.
struct PlanChange {
  Position At; // in the plan as it was
  std::string Text, Code;
};

// What the profiles say beyond the plan.
struct ProfileFinding {
  std::string Text, Code;
  bool LookAtThis = true;
};

struct Advice {
  Plan Next;
  std::vector<PlanChange> Changes;
  std::vector<ProfileFinding> Findings;
  size_t Converted = 0, Kept = 0, Yours = 0; // entries of the plan
};

// Measured: null without profiles; then every class that can convert does, to the default.
// Besides: what could be done next to the lock, by class.
// Foretold: null without a machine; it has predicted each class, and is asked here what all that
// the plan converts gain together. Decides: what chooses where there is a prediction. Root: what
// the places in comments are relative to. IsConverted: true for the name of a class that an earlier
// rewrite has converted.
Advice advise(const Decision &Decided, const Plan &Before, const Costs *Measured,
              const Hints &Besides, const Thresholds &Limits, Predictor *Foretold, Rule Decides,
              llvm::StringRef Root, llvm::function_ref<bool(llvm::StringRef)> IsConverted);

} // namespace relock
