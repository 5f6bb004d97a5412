// SPDX-License-Identifier: MIT
//
// A profile as one HTML file that loads nothing: tool/profile/html with the data filled in.
#pragma once

#include "profile/Headline.h"
#include "profile/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace relock {

// JSON that can stand in a <script> element of a page, whatever its strings hold.
std::string scriptJson(const llvm::json::Value &V);

// `Document` is the profile's file. The verdicts of `relock check` are null, or an object with
// `classes`, and with `others`, which are none of the sources: `converted`, or `why`. All have the
// `key` of their class in the profile.
void writeHtml(const llvm::json::Value &Document, const Profile &P, const HeadlineSources &Sources,
               llvm::raw_ostream &OS);
// Two profiles side by side.
void writeComparisonHtml(const Profile &Before, const Profile &After, llvm::raw_ostream &OS);

} // namespace relock
