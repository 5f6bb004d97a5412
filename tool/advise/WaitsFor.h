// SPDX-License-Identifier: MIT
//
// What a program's threads wait for, of all that the profile has: whether a lock is what holds it
// up at all.
#pragma once

#include "profile/Profile.h"

#include <string>
#include <vector>

namespace relock {

// Sentences; none where the threads' time is not known.
std::vector<std::string> waitsFor(const Profile &Run);

} // namespace relock
