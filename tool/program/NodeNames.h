// SPDX-License-Identifier: MIT
//
// What a person calls the ends of a flow of pointers: `lock`, `box.mutex`, `function.variable`,
// `function(2)` for an argument that has no name, `function()` for a result.
#pragma once

#include "index/Records.h"

#include "llvm/ADT/StringRef.h"

#include <map>

namespace relock {

class NodeNames {
public:
  explicit NodeNames(const std::vector<UnitFacts> &Units);

  // Empty for what has no name, such as memory that is allocated.
  std::string name(llvm::StringRef Node) const;
  bool isDefined(llvm::StringRef FunctionNode) const;

private:
  std::map<std::string, const Declaration *, std::less<>> Declared;
  std::map<std::string, const Function *, std::less<>> Functions; // a definition where there is one
};

// True for the node of a function or variable that only one file knows by name.
bool isOfOneFile(llvm::StringRef Node);

// The name of a variable without a declaration of its own, a `void *` in a function: of its node.
std::string localName(llvm::StringRef Node);

} // namespace relock
