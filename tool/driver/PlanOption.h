// SPDX-License-Identifier: MIT
//
// Reading a plan on behalf of a subcommand, and choosing what it says.
#pragma once

#include "advise/Plan.h"
#include "bench/Comparison.h"
#include "index/Index.h"
#include "program/Decide.h"
#include "rewrite/Rewrite.h"

namespace relock {

// None: a message was printed.
std::optional<Plan> loadPlan(llvm::StringRef File);
// What it predicts, and for which machine. None: nothing, or no ratio.
std::optional<Prediction> predictionOf(const Plan &Planned);

// Takes the flows that the plan cuts out of the facts. False: a message says what is wrong.
bool applyCuts(IndexResult &Index, Plan &Planned);
// Says which cuts separate nothing, and which a lock operation speaks against.
void reportCuts(const IndexResult &Index, const Decision &Decided);
// `2 flows of pointers cut by plan.yaml`
std::string cutLine(const Plan &Planned);

// Says that there is none of this name, and which one is meant, or which are nearest.
std::string noSuchClass(const IndexResult &Index, const Decision &Decided, llvm::StringRef Name);
// True if an earlier rewrite has converted the class.
bool isConverted(const IndexResult &Index, llvm::StringRef Name);
// Says so, and if it is on another algorithm than the one chosen now, where to change that.
std::string alreadyConverted(const IndexResult &Index, llvm::StringRef Name,
                             llvm::StringRef Chosen);

// False: a message names a server of the plan that no class is given to.
bool serversHaveClasses(const Plan &Planned);

// What the plan converts, to which algorithm. False, and the exit status: a message says why not.
bool choosePlanned(const IndexResult &Index, const Decision &Decided, const Plan &Planned,
                   Choice &Chosen, int &Status);
// After whole groups were completed: nothing is converted that the plan keeps.
bool agreesWithPlan(const Decision &Decided, const Plan &Planned, const Choice &Chosen);
// Says how many classes could be converted, and are not in the plan.
void reportUnplanned(const Decision &Decided, const Plan &Planned, const Choice &Chosen);

} // namespace relock
