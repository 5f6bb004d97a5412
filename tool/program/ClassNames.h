// SPDX-License-Identifier: MIT
//
// The names of lock classes: what users call them, and the C identifiers that the generated table
// has for them. Both are unique in a program, and stay what they are while its classes are
// converted one after the other.
#pragma once

#include "program/Program.h"

namespace relock {

// Class.Name is what its declaration is called, and Class.At where that is. Equal names are told
// apart by their files, with as many folders as it takes, but none above Root, then by line and
// column. Converted: the classes of an existing table.
void nameApart(std::vector<LockClass> &Classes, const std::vector<ConvertedClass> &Converted,
               llvm::StringRef Root);

} // namespace relock
