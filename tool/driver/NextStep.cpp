// SPDX-License-Identifier: MIT
#include "driver/NextStep.h"

#include "driver/BuildOption.h"
#include "index/CompileDatabase.h"
#include "profile/Profile.h"
#include "support/Color.h"
#include "support/Messages.h"
#include "support/Shell.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;

namespace relock {

namespace {

using FileTime = sys::TimePoint<>;

constexpr StringRef PlanName = "plan.yaml", TableName = "relock_locks.h";

struct Found {
  std::string Database;              // empty: none
  std::vector<std::string> Profiles; // the oldest first
  FileTime NewestProfile;
  bool Plan = false;
  std::string Table; // of a rewritten program; empty: none
  FileTime TableTime;
};

FileTime timeOf(const Twine &File) {
  sys::fs::file_status Status;
  return sys::fs::status(File, Status) ? FileTime() : Status.getLastModificationTime();
}

// A rewrite puts the table beside the files that it changes.
std::string findTable() {
  if (sys::fs::is_regular_file(TableName))
    return TableName.str();
  std::vector<std::string> Tables;
  std::error_code Error;
  for (sys::fs::directory_iterator At(".", Error), End; !Error && At != End; At.increment(Error))
    if (std::string File = (sys::path::filename(At->path()) + "/" + TableName).str();
        sys::fs::is_regular_file(File))
      Tables.push_back(File);
  return Tables.empty() ? "" : *std::min_element(Tables.begin(), Tables.end());
}

Found lookAround() {
  Found Here;
  if (std::optional<std::string> Build = findBuild())
    Here.Database = shownPath(*Build + "/" + DatabaseName.str());
  std::vector<std::pair<FileTime, std::string>> Profiles;
  std::error_code Error;
  for (sys::fs::directory_iterator At(".", Error), End; !Error && At != End; At.increment(Error))
    if (StringRef Name = sys::path::filename(At->path());
        Name.ends_with(".profile") && sys::fs::is_regular_file(Name))
      Profiles.push_back({timeOf(Name), Name.str()});
  sort(Profiles);
  for (const auto &[Written, Name] : Profiles) {
    Here.Profiles.push_back(Name);
    Here.NewestProfile = Written;
  }
  Here.Plan = sys::fs::is_regular_file(PlanName);
  Here.Table = findTable();
  Here.TableTime = timeOf(Here.Table);
  return Here;
}

std::string describe(const Found &Here) {
  SmallVector<std::string> Parts;
  if (!Here.Database.empty())
    Parts.push_back("the compile database " + Here.Database);
  if (Here.Profiles.size() == 1)
    Parts.push_back("the profile " + Here.Profiles.front());
  else if (!Here.Profiles.empty())
    Parts.push_back(std::to_string(Here.Profiles.size()) + " profiles, the last one " +
                    Here.Profiles.back());
  if (Here.Plan)
    Parts.push_back("the plan " + PlanName.str());
  if (!Here.Table.empty())
    Parts.push_back("a rewritten program with " + Here.Table);
  return Parts.empty() ? "no compile database and no profile" : join(Parts, "; ");
}

std::string commandOf(ArrayRef<std::string> Profiles) {
  if (!Profiles.empty()) {
    Expected<Profile> Last = readProfile(Profiles.back());
    if (Last && !Last->Command.empty())
      return shellCommand(Last->Command);
    if (!Last)
      consumeError(Last.takeError());
  }
  return "./PROGRAM";
}

std::string nameOfNextProfile() {
  std::string Name = "after.profile";
  for (unsigned I = 2; sys::fs::exists(Name); ++I)
    Name = "after-" + std::to_string(I) + ".profile";
  return Name;
}

std::string afterRewrite(const Found &Here) {
  if (Here.Profiles.empty() || Here.NewestProfile <= Here.TableTime)
    return "relock profile -o " + nameOfNextProfile() + " " + commandOf(Here.Profiles);
  std::string Last = shellWord(Here.Profiles.back());
  for (const std::string &Before : reverse(Here.Profiles))
    if (timeOf(Before) <= Here.TableTime)
      return "relock report --diff " + shellWord(Before) + " " + Last;
  return "relock report " + Last;
}

std::string nextCommand(const Found &Here) {
  if (!Here.Table.empty())
    return afterRewrite(Here);
  if (Here.Plan && !Here.Database.empty())
    return "relock rewrite --plan " + PlanName.str();
  if (Here.Profiles.empty())
    return Here.Database.empty() ? "relock profile ./PROGRAM" : "relock check";
  std::string Last = shellWord(Here.Profiles.back());
  return Here.Database.empty() ? "relock report " + Last
                               : "relock advise " + Last + " -o " + PlanName.str();
}

} // namespace

void reportNextStep() {
  Found Here = lookAround();
  errs() << painted("here:", Style::Heading, errs()) << " " << printable(describe(Here)) << "\n"
         << painted("next:", Style::Heading, errs()) << " " << printable(nextCommand(Here)) << "\n";
}

} // namespace relock
