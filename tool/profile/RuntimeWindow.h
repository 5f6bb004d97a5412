// SPDX-License-Identifier: MIT
//
// What librelock counted between two readings of its statistics.
#pragma once

#include "profile/Profile.h"

namespace relock {

// As Window.h does it with the records; but buckets have names here that differ a little from reading
// to reading, so that histograms are approximate. A server's threads are those of the second reading.
Profile runtimeBetween(Profile Before, Profile After);

} // namespace relock
