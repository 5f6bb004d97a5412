// SPDX-License-Identifier: MIT
//
// What DWARF says of declarations: where they are, of which type, and what lies at an offset of it.
#pragma once

#include "../../runtime/profiler/layout.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"

#include <cstdint>
#include <optional>
#include <string>

namespace relock {

// What an entry is an instance of: a definition of its declaration, a copy (inlined, or made by
// link-time optimization) of its original. Either can leave the rest of what it says to that.
llvm::DWARFDie originalOf(llvm::DWARFDie Entry);

// Of a variable, parameter or member, or of what a type is made of.
llvm::DWARFDie typeOf(llvm::DWARFDie Entry);

std::string fileOf(llvm::DWARFDie Declaration); // absolute; empty: not known
unsigned lineOf(llvm::DWARFDie Declaration);

// The type behind type names and qualifiers, but no further than the name of a primitive, such as
// pthread_mutex_t. `Typedef` becomes the last name on the way.
llvm::DWARFDie behindNames(llvm::DWARFDie Type, std::string &Typedef);

std::optional<uint64_t> sizeOf(llvm::DWARFDie Type);

bool isRecord(llvm::DWARFDie Type); // struct, union or class

// The way from a variable to what lies at an offset of it; where members share the place, as those
// of a union do, to an object of the primitive if there is one.
class FieldPath {
public:
  FieldPath(llvm::StringRef Name, llvm::DWARFDie Type, uint64_t Offset, relock_primitive Primitive);

  std::string Class;     // `tag.field`, or the variable
  std::string Path;      // `name[3].field`
  llvm::DWARFDie Member; // that names the class; none: the variable does
  bool complete() const { return Reached != Nothing; }

private:
  enum End { Nothing, SomethingElse, Object };

  End walk(llvm::DWARFDie Type, uint64_t Offset, unsigned Depth = 0);
  End walkElement(llvm::DWARFDie Array, uint64_t Offset, unsigned Depth);
  End walkMember(llvm::DWARFDie Record, uint64_t Offset, llvm::StringRef Typedef, unsigned Depth);
  void append(llvm::StringRef Tag, llvm::DWARFDie Into);

  relock_primitive Primitive;
  End Reached;
};

} // namespace relock
