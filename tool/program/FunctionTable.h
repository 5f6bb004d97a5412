// SPDX-License-Identifier: MIT
#pragma once

#include "index/Records.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>

namespace relock {

// The functions of a program by node, and in the order of their nodes. Linking looks up each call
// several times, so that is done by hash. References to functions stay valid.
class FunctionTable {
  using Ordered = std::map<std::string, Function>;

public:
  FunctionTable() = default;
  FunctionTable(const FunctionTable &) = delete; // Index leads into Functions
  FunctionTable &operator=(const FunctionTable &) = delete;

  Ordered::iterator begin() { return Functions.begin(); }
  Ordered::iterator end() { return Functions.end(); }
  Ordered::const_iterator begin() const { return Functions.begin(); }
  Ordered::const_iterator end() const { return Functions.end(); }

  Ordered::iterator find(llvm::StringRef Node) {
    auto Found = Index.find(Node);
    return Found == Index.end() ? Functions.end() : Found->second;
  }
  Ordered::const_iterator find(llvm::StringRef Node) const {
    return const_cast<FunctionTable *>(this)->find(Node);
  }
  bool count(llvm::StringRef Node) const { return Index.contains(Node); }
  const Function &at(llvm::StringRef Node) const { return Index.at(Node)->second; }
  Function &operator[](const std::string &Node) {
    if (auto Found = find(Node); Found != Functions.end())
      return Found->second;
    auto New = Functions.try_emplace(Node).first;
    Index[New->first] = New;
    return New->second;
  }

private:
  Ordered Functions;
  llvm::DenseMap<llvm::StringRef, Ordered::iterator> Index; // the keys are those of Functions
};

} // namespace relock
