// SPDX-License-Identifier: MIT
//
// How many cache lines the sections of a lock class share: where no counter has measured what
// moves between processors together with the lock, the text is asked for it. An estimate.
#pragma once

#include "program/Decide.h"

#include <map>

namespace relock {

// For each section whose extent is known: the lines that it touches, itself or by the functions
// that it calls, and that some section of its class writes. The mean of them all; none where no
// section is known.
void estimateSharedLines(const Program &Linked, Decision &Decided);

} // namespace relock
