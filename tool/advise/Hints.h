// SPDX-License-Identifier: MIT
//
// What could be done next to the lock, or in its place, where profile and text say so: a class that
// is two, sections that need no lock or only read, one lock of many that has all the waiting.
#pragma once

#include "advise/Costs.h"
#include "advise/Thresholds.h"
#include "program/Decide.h"

#include <map>
#include <string>
#include <vector>

namespace relock {

// Sentences by the class's name, of those that threads wait for.
using Hints = std::map<std::string, std::vector<std::string>>;
Hints findHints(const Program &Linked, const Decision &Decided, const Costs &Measured,
                const ProfileClasses &Classes, const Thresholds &Limits);

// Of an rwlock.
std::string rwlockHint(const ProfiledClass &Class);

} // namespace relock
