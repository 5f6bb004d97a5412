// SPDX-License-Identifier: MIT
//
// What the modes of `relock check` share.
#pragma once

#include "driver/Gate.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace relock {

llvm::StringRef verdictName(Verdict V);
// The attribute `path`; none where Way is empty.
void writeWay(llvm::json::OStream &J, const std::vector<Step> &Way);
void writeReasons(llvm::json::OStream &J, const std::vector<Reason> &Reasons);

// --path: the section at `FILE:LINE`, and for each reason the way to its cause. Returns the exit
// status.
int showPath(const Decision &Decided, llvm::StringRef Place, bool Json);
// --why: how two locks became one class. Returns the exit status.
int showWhy(const IndexResult &Index, const ProjectFile &Declared, llvm::StringRef A,
            llvm::StringRef B, bool Json);
// --lock-order: what is taken under what, and the circles. Returns the exit status.
int showLockOrder(const Decision &Decided, bool Dot, bool Json);
// Of a circle in the order of locks: is each of its edges sure, and what is said of it.
bool isSure(const std::vector<OrderEdge> &Circle);
Reason cycleReason(const std::vector<OrderEdge> &Circle);
// --sarif: the findings, for viewers of SARIF. False: the file cannot be written, as a message
// says.
bool writeSarif(const IndexResult &Index, llvm::ArrayRef<JudgedFinding> Findings,
                llvm::StringRef File);

} // namespace relock
