// SPDX-License-Identifier: MIT
#include "profile/ThreadNames.h"

#include <algorithm>
#include <set>
#include <utility>

namespace relock {

namespace {

std::vector<NamedThread> threadsOf(const Profile &P) {
  std::vector<NamedThread> Threads;
  for (const ProfiledThread &Thread : P.ByThread)
    Threads.push_back({Thread.Id, Thread.Run, Thread.Name});
  return Threads;
}

} // namespace

ThreadNames::ThreadNames(const Profile &P) : ThreadNames(threadsOf(P)) {}

ThreadNames::ThreadNames(std::vector<NamedThread> Threads) {
  using Named = std::pair<uint64_t, std::string>; // in one run
  std::sort(Threads.begin(), Threads.end(),
            [](const NamedThread &A, const NamedThread &B) { return A.Id < B.Id; });
  std::map<Named, size_t> Uses;
  for (const NamedThread &Thread : Threads)
    ++Uses[{Thread.Run, Thread.Name}];
  std::map<Named, unsigned> Numbers;
  for (const NamedThread &Thread : Threads) {
    std::string Name = Thread.Name;
    if (Name.empty())
      Name = "thread #" + std::to_string(Thread.Id);
    else if (Uses[{Thread.Run, Thread.Name}] > 1)
      do // the program may have such a name, too
        Name = Thread.Name + " " + std::to_string(++Numbers[{Thread.Run, Thread.Name}]);
      while (Uses.count({Thread.Run, Name}));
    Names[Thread.Id] = (Thread.Run ? "run " + std::to_string(Thread.Run) + ": " : "") + Name;
  }
}

std::string ThreadNames::of(uint64_t Id) const {
  auto Found = Names.find(Id);
  return Found == Names.end() ? "thread #" + std::to_string(Id) : Found->second;
}

} // namespace relock
