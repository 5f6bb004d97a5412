// SPDX-License-Identifier: MIT
//
// What a call of a function returns whose body and arguments are known, where it does nothing else
// on that way:
//
//   int status_of(int error) { switch (error) { case 0: return OK; default: … } }
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>

namespace relock {

// Nothing if it does anything else, or that is not known. F has a body.
std::optional<int64_t> callResult(const clang::FunctionDecl *F, llvm::ArrayRef<int64_t> Arguments,
                                  const clang::ASTContext &Context);

} // namespace relock
