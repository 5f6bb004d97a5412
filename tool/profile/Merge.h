// SPDX-License-Identifier: MIT
//
// Several runs of one program, on one machine or on several, as one profile.
#pragma once

#include "profile/Profile.h"

namespace relock {

// Why two profiles cannot be added, to follow the name of the second one; empty: they can.
std::string whyNotMerged(const Profile &A, const Profile &B);

// Adds counts, times and histograms class by class (by key) and takes the largest of maxima. All
// can be merged with the first one, which gives names and places.
Profile mergeProfiles(std::vector<Profile> Runs);

} // namespace relock
