// SPDX-License-Identifier: MIT
//
// Names for addresses in ELF modules, from whatever the modules still tell: DWARF, the symbol
// table, the dynamic symbols, or nothing but the offset.
#pragma once

#include "profile/Declared.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace relock {

// A return address.
struct CodePlace {
  std::string Function; // empty: unknown
  std::string File;     // empty: no line table
  unsigned Line = 0;

  friend bool operator==(const CodePlace &, const CodePlace &) = default;
};

// Whether a function is the C++ library's wrapping of a pthread call.
bool isLibraryFunction(llvm::StringRef Function);

// A variable and what of it lies at an address.
struct DataPlace {
  std::string Symbol; // empty: no symbol covers the address
  Declared Is;        // the variable, or the field of it
  std::string Path;   // the object: `name[3].field`
  bool Field = false;
  bool Exact = false; // the offset within the symbol is accounted for
};

class Symbolizer {
public:
  Symbolizer();
  ~Symbolizer();

  // Addresses are those of the file, without the load bias.
  // The function that was called from, and those that it is inlined into; without the wrappings of
  // the C++ library around the call, and never empty.
  std::vector<CodePlace> code(llvm::StringRef Module, uint64_t ReturnAddress);
  // The calls that became jumps, between the call that returns to the address and a function with
  // such a name, or the one that has the address `Callee`: innermost first, the return addresses
  // that they would have. Empty where that is not known for sure.
  std::vector<uint64_t> tailCalls(llvm::StringRef Module, uint64_t ReturnAddress,
                                  llvm::function_ref<bool(llvm::StringRef)> IsCallee);
  std::vector<uint64_t> tailCalls(llvm::StringRef Module, uint64_t ReturnAddress, uint64_t Callee);
  // `Size`: of the object there, which tells arrays of them where types are unknown.
  DataPlace data(llvm::StringRef Module, uint64_t Address, relock_primitive Primitive,
                 uint64_t Size);
  // The object that the call is about, if the source is there and has not been edited.
  Declared declared(relock_primitive Primitive, llvm::StringRef Module, uint64_t ReturnAddress,
                    const CodePlace &Call, bool Initialises);

private:
  std::vector<uint64_t> onlyWay(llvm::StringRef Module,
                                const std::vector<std::vector<uint64_t>> &Ways);

  struct Modules;
  std::unique_ptr<Modules> Impl;
};

} // namespace relock
