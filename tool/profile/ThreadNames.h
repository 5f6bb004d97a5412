// SPDX-License-Identifier: MIT
//
// What reports call threads: each by a name that no other one has.
#pragma once

#include "profile/Profile.h"

#include <map>
#include <string>
#include <vector>

namespace relock {

struct NamedThread {
  uint64_t Id, Run; // run 0: there is only one
  std::string Name; // may be empty, or that of others
};

// `client_main 1` and `client_main 2` where two have the name client_main, in the order of their
// numbers; `thread #7` for one without a name, or that is not listed; `run 2: ` before those of one
// run of several.
class ThreadNames {
public:
  explicit ThreadNames(const Profile &P);
  explicit ThreadNames(std::vector<NamedThread> Threads);

  std::string of(uint64_t Id) const;

private:
  std::map<uint64_t, std::string> Names;
};

} // namespace relock
