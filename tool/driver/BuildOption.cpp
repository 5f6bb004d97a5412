// SPDX-License-Identifier: MIT
#include "driver/BuildOption.h"

#include "index/CompileDatabase.h"
#include "support/Messages.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {

static std::string databaseIn(StringRef Folder) {
  SmallString<256> File(Folder);
  sys::path::append(File, DatabaseName);
  return std::string(File);
}

std::optional<std::string> findBuild() {
  SmallString<256> Current;
  if (sys::fs::current_path(Current))
    return std::nullopt;
  for (StringRef Up = Current; !Up.empty(); Up = sys::path::parent_path(Up)) {
    SmallString<256> Below(Up);
    sys::path::append(Below, "build");
    for (StringRef Folder : {Up, StringRef(Below)})
      if (sys::fs::is_regular_file(databaseIn(Folder)))
        return Folder.str();
  }
  return std::nullopt;
}

bool completeBuilds(cl::list<std::string> &Builds) {
  for (std::string &Build : Builds)
    if (sys::path::filename(Build) == DatabaseName && sys::fs::is_regular_file(Build))
      Build = sys::path::has_parent_path(Build) ? sys::path::parent_path(Build).str() : ".";
  if (!Builds.empty())
    return true;
  if (std::optional<std::string> Found = findBuild()) {
    messageFor(databaseIn(*Found), "this compile database was found; -p names another",
               "database-found");
    Builds.push_back(*Found);
    return true;
  }
  message(
      "there is no compile database: no " + DatabaseName.str() +
          " is in the current folder, in one above it, or in the folder build of one of them; " +
          HowToMakeDatabase.str(),
      "no-database");
  return false;
}

} // namespace relock
