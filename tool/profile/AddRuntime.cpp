// SPDX-License-Identifier: MIT
#include "profile/AddRuntime.h"

#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace relock {

namespace {

bool isCostlier(const ProfiledClass &A, const ProfiledClass &B) {
  return std::make_tuple(A.waitTotal(), A.holdTotal(), A.acquisitions()) >
         std::make_tuple(B.waitTotal(), B.holdTotal(), B.acquisitions());
}

std::string fileOf(int64_t Pid, StringRef Folder) {
  return (Folder + "/" + Twine(Pid) + ".librelock").str();
}

// The runtime makes the file empty when it starts, and writes it at the end.
std::optional<Profile> readCounts(int64_t Pid, StringRef Executable, StringRef Folder) {
  Expected<Profile> Counted = readProfile(fileOf(Pid, Folder));
  if (Counted && Counted->Executable == Executable)
    return std::move(*Counted);
  if (!Counted)
    consumeError(Counted.takeError());
  return std::nullopt;
}

} // namespace

uint64_t countRuntime(int64_t Pid, StringRef Executable, StringRef Folder) {
  std::optional<Profile> Counted = readCounts(Pid, Executable, Folder);
  return Counted ? Counted->acquisitions() : 0;
}

void addRuntime(Profile &P, StringRef Folder) {
  if (!sys::fs::exists(fileOf(P.Pid, Folder)))
    return;
  std::optional<Profile> Counted = readCounts(P.Pid, P.Executable, Folder);
  if (!Counted) {
    ++P.Drops.Runtimes;
    return;
  }
  for (ProfiledClass &Class : Counted->Classes)
    P.Classes.push_back(std::move(Class));
  std::stable_sort(P.Classes.begin(), P.Classes.end(), isCostlier);
  P.Servers = std::move(Counted->Servers);
}

} // namespace relock
