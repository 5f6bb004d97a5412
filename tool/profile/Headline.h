// SPDX-License-Identifier: MIT
//
// What a report says first: which lock, how much, and what to do next.
#pragma once

#include "profile/Profile.h"

#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace relock {

// What the sources say of a lock class.
struct SourceVerdict {
  enum Is { NotAsked, Converts, Kept, Converted, NotInSources };
  Is Verdict = NotAsked;
  std::string Code, Text; // kept: the first reason; not in the sources: why
};

// With what `relock report` was called.
struct HeadlineSources {
  std::vector<std::string> Files;              // the profiles
  std::vector<std::string> Builds;             // of -p, or else one that was found
  std::string Project;                         // of --project, or empty
  const llvm::json::Value *Verdicts = nullptr; // of checkProfile; null: without -p
};

struct Headline {
  // `lock`: threads waited for it. `little`: they did, but that is next to nothing. `wait`: they
  // waited for something else. `uncontended`: nobody waited. `none`: there was nothing to wait for.
  std::string Kind;
  std::string Key, Name, Primitive; // of the class in question; empty: there is none
  uint64_t Wait = 0, AllWaits = 0;  // ns, for that class and for all that it is compared with
  std::string Text;                 // in one line
  SourceVerdict Verdict;
  std::vector<std::string> Next; // words of a command; empty: nothing comes next

  std::string command() const; // Next for a shell
};

// Without sources it leaves out what follows from them.
Headline headlineOf(const Profile &P, const HeadlineSources *Sources = nullptr);

// In lines that a shell takes together.
void printHeadline(const Headline &H, llvm::raw_ostream &OS);

void writeHeadline(llvm::json::OStream &J, const Headline &H);

} // namespace relock
