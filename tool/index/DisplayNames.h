// SPDX-License-Identifier: MIT
//
// The names that a user would use for declarations: `queue.lock`, `function.variable`.
#pragma once

#include "clang/AST/Decl.h"

#include <string>

namespace relock {

std::string displayName(const clang::NamedDecl *D);

} // namespace relock
