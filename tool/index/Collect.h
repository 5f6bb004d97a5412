// SPDX-License-Identifier: MIT
//
// Fills the records of one translation unit from its AST: see Records.h.
#pragma once

#include "index/Records.h"
#include "support/Unit.h"

namespace relock {

// Parses the unit and collects its facts. Errors of the parse end up in Diagnostics; the facts are
// then empty.
UnitFacts collectUnit(const clang::tooling::CompileCommand &Command,
                      std::vector<UnitDiagnostic> &Diagnostics);

} // namespace relock
