// SPDX-License-Identifier: MIT
//
// How a macro that initialises mutexes of several classes is told the class:
//
//   #define lock_init(l) CHECKED(pthread_mutex_init(l, NULL))
//   lock_init(&queue->lock);
//
//   #define lock_init_class(l, lock_class) CHECKED(relock_mutex_init(l, NULL, lock_class))
//   #define lock_init(l) lock_init_class(l, NULL)
//   lock_init_class(&queue->lock, RELOCK_CLASS(queue_lock));
//
// Text that no unit compiles goes on to use the old name. Macros that use such a macro hand the
// class on in the same way; one without parameters names it.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/Basic/SourceLocation.h"

#include <optional>
#include <vector>

namespace relock {

struct ClassParameter {
  std::vector<Edit> Edits; // but for the name of the function itself
  // What names the class, in the body of a macro without parameters; invalid: no macro does.
  clang::SourceLocation NamedIn;
};

// Callee: the function's name in the call, in the body of a macro. Behind: where the call's last
// argument ends. None if a macro on the way is variadic, or names the next one more than once.
std::optional<ClassParameter> classParameter(clang::SourceLocation Callee,
                                             clang::SourceLocation Behind, const Source &S);

} // namespace relock
