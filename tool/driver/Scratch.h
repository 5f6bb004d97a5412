// SPDX-License-Identifier: MIT
//
// A copy of a folder that stands in the folder's own place for the commands that are run in it, so
// that absolute paths in build files, compile databases and programs go on meaning what they meant.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace relock {

class Scratch {
public:
  // Copies From, the folder or a copy of it, to Copy, which must not exist. All are absolute.
  static llvm::Expected<Scratch> make(llvm::StringRef Folder, llvm::StringRef From,
                                      llvm::StringRef Copy);

  // Whether mounts can be made in a namespace without those outside seeing them: `/` has to be a
  // mount itself, which in a chroot it need not be.
  static bool rootIsMount();

  // Has the copy take the place of the folder, for this process and those that it starts. Called in
  // a child of one thread, whose current folder stays what it is, by name. Returns what failed, or
  // null; errno says why.
  const char *enter() const;

  // Runs a program in the copy, with those variables besides the environment, and what it prints in
  // Log. Returns its status as waitpid() says it; below 0: what failed is in Log.
  int run(const std::vector<std::string> &Words, const std::vector<std::string> &Variables,
          const std::string &Log) const;

  llvm::StringRef copy() const { return Copy; }

private:
  Scratch(std::string Folder, std::string Copy, std::string Current)
      : Folder(std::move(Folder)), Copy(std::move(Copy)), Current(std::move(Current)) {}
  std::string Folder, Copy;
  std::string Current; // folder
};

} // namespace relock
