// SPDX-License-Identifier: MIT
//
// The declaration behind a mutex that was not found through its address: from the expression in
// the source line that initialises or locks it, `&queue->lock`, and the types that DWARF gives to
// its parts.
#pragma once

#include "../../runtime/profiler/layout.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"

#include <string>
#include <vector>

namespace relock {

// As `relock check` names it.
struct Declared {
  std::string ClassName; // `tag.field`, `function.name` or the variable; empty: not found
  std::string File;      // where that is declared
  unsigned Line = 0;
};

// An operand of `&`: a variable and what is applied to it, each of `->name`, `.name` or `[`.
using Expression = std::vector<std::string>;
std::vector<Expression> addressedExpressions(llvm::StringRef Text);
// The same of an argument that is not the operand of `&`.
std::vector<Expression> argumentExpressions(llvm::StringRef Text);

// The type names that an object of the primitive is declared with, in pthreads and in C11.
bool isTypeOf(relock_primitive Primitive, llvm::StringRef Typedef);
bool isPrimitiveType(llvm::StringRef Typedef);

// `Address` is that of the call, `Caller` the function that it stands in, perhaps inlined into the
// one that has the address; `Statement` the source text from its line on; `Initialises`: the call
// is, or leads to, an initialisation, so that a pointer to the object can name it, too.
Declared findDeclared(llvm::DWARFContext &Context, relock_primitive Primitive, uint64_t Address,
                      llvm::StringRef Caller, llvm::StringRef Statement, bool Initialises);

} // namespace relock
