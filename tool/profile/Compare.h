// SPDX-License-Identifier: MIT
//
// Two profiles side by side: what a change did to each lock class.
#pragma once

#include "profile/Profile.h"
#include "profile/Table.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace relock {

// A class of either profile or of both, which are the same by name or else by key.
struct ComparedClass {
  const ProfiledClass *Before = nullptr, *After = nullptr;
};

// Those whose waiting (else holding, else use) per second of run changed most come first. Classes
// that neither run locked are left out.
std::vector<ComparedClass> compareProfiles(const Profile &Before, const Profile &After);

// What a comparison says before and after, of a class or of all, as text and as a number to sort
// by; none: that run does not have it.
inline constexpr size_t ComparedFigures = 6;
struct ComparedFigure {
  std::string Before, After, Change;
  std::optional<double> OldValue, NewValue, ChangeValue;
};
struct ComparedRow {
  std::string Name;
  std::array<ComparedFigure, ComparedFigures> Figures;
};
// The classes of compareProfiles, and their sum as the last one.
std::vector<ComparedRow> comparedRows(const Profile &Before, const Profile &After);
// What to say first; of the two runs; and what to mind.
std::string comparisonHeadline(const Profile &Before, const Profile &After);
std::vector<std::string> comparedRuns(const Profile &Before, const Profile &After);

void printComparison(const Profile &Before, const Profile &After, const TableOptions &Options,
                     llvm::raw_ostream &OS);
// The same for scripts, all classes; tool/profile/doc/several-runs.md has the format.
void writeComparison(const Profile &Before, const Profile &After, llvm::raw_ostream &OS);

} // namespace relock
