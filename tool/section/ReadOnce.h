// SPDX-License-Identifier: MIT
//
// Whether a unit reads a place of a header only once: it may get a definition then.
#pragma once

#include "support/Source.h"

namespace relock {

// True if the header guards itself against being read twice, or if a second reading of the place
// would repeat a definition that C takes only once.
bool isReadOnce(clang::SourceLocation At, const Source &S);

} // namespace relock
