// SPDX-License-Identifier: MIT
//
// How the companion of a lock wrapper is written. It runs the section where the wrapper would have
// returned; if the wrapper, or the unlock wrapper, does something under the lock, a function of its
// own does that, and runs the section in between. In a configuration in which the wrappers have
// another text it calls them.
#pragma once

#include "section/Section.h"

#include <string>
#include <vector>

namespace relock {

struct CompanionText {
  std::string Name;
  std::string Execute; // `relock_execute`
  std::string Lock;    // the operand
  std::string Unit;    // of indentation
  std::string Brace;   // between the head and the body of a function

  // Parameters: their texts, of those that the companion takes.
  std::string head(const Companion &Through, std::vector<std::string> Parameters) const;
  std::string definition(const Companion &Through,
                         const std::vector<std::string> &Parameters) const;
};

} // namespace relock
