// SPDX-License-Identifier: MIT
//
// The calls that no stack shows: each was the last thing that its function did, and became a jump,
// as in `return pthread_mutex_init(&s->lock, 0);`. DWARF says where such jumps are.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"

#include <cstdint>
#include <map>
#include <vector>

namespace relock {

class TailCalls {
public:
  explicit TailCalls(llvm::DWARFContext &Context) : Context(Context) {}

  // Return addresses that calls would have, innermost first.
  using Calls = std::vector<uint64_t>;
  // All that may lie between the call that returns to the address and a function with such a name,
  // or the one that has the address Callee. Nothing if it was called by no jump, as far as known.
  std::vector<Calls> ways(uint64_t ReturnAddress,
                          llvm::function_ref<bool(llvm::StringRef)> IsCallee);
  std::vector<Calls> ways(uint64_t ReturnAddress, uint64_t Callee);

private:
  using IsLast = llvm::function_ref<bool(llvm::DWARFDie)>;
  llvm::DWARFDie functionAt(uint64_t Address);
  std::vector<Calls> waysTo(uint64_t ReturnAddress, IsLast Last);
  void follow(llvm::DWARFDie Function, IsLast Last, Calls &Passed, std::vector<Calls> &Found,
              unsigned &Effort);
  std::vector<llvm::DWARFDie> definitionsOf(llvm::DWARFDie Original);
  void findDefinitions();

  llvm::DWARFContext &Context;
  bool Searched = false;
  // With code: by what they are an instance of, and by the name that other units know.
  using Key = std::pair<const llvm::DWARFUnit *, uint64_t>;
  std::map<Key, std::vector<llvm::DWARFDie>> Definitions;
  llvm::StringMap<llvm::DWARFDie> Exported;
};

} // namespace relock
