// SPDX-License-Identifier: MIT
//
// Text that a rewrite does not change, and that may have to change with it.
#pragma once

#include "index/Index.h"
#include "program/Decide.h"

#include <set>
#include <string>
#include <vector>

namespace relock {

// Says, on standard error, which C files below the root of the sources are in no compile database,
// and include a header that changes and mention mutexes or conditions, or define a lock wrapper of
// the program's for another system, beside whose companion sections are now. Changed: absolute
// paths. Converts: the classes that count.
void reportUnindexed(const IndexResult &Index, const std::set<std::string> &Changed,
                     const Decision &Decided,
                     llvm::function_ref<bool(const CheckedClass &)> Converts);
// Says which of the files that change are generated from others, as their `#line` directives have
// it: the next build may write them anew.
void reportGenerated(const std::set<std::string> &Changed);
// Says which macros that lock have another definition in their file, for another configuration:
// delegated sections do without the macro. Converts: the classes that count. Before: the texts of
// files that have changed since they were indexed, by their paths.
void reportOtherDefinitions(const Decision &Decided,
                            llvm::function_ref<bool(const CheckedClass &)> Converts,
                            const FileTexts &Before);

} // namespace relock
