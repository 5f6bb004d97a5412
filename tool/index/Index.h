// SPDX-License-Identifier: MIT
//
// The facts of whole compile databases, cached beside them.
#pragma once

#include "index/Records.h"
#include "support/Unit.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace relock {

// Two nodes whose flows the user cuts: they are not among the facts. At: where the user says so.
struct CutFlow {
  std::string From, To;
  Position At;
  std::optional<Position> Operation; // on what the flow hands on, as far as is known
};

struct IndexResult {
  std::vector<clang::tooling::CompileCommand> Commands; // in the order of their files
  std::vector<UnitFacts> Units;                         // Units[i] belongs to Commands[i]
  std::vector<std::string> FactsFiles;                  // FactsFiles[i] keeps Units[i]
  std::vector<std::string> Unparsed;                    // main files of which nothing is known
  size_t Broken = 0;                                    // units with errors
  std::vector<ForeignFile> NotC;                        // files in other languages, in their order
  std::vector<clang::tooling::CompileCommand> CommandsNotC; // CommandsNotC[i] is of NotC[i]
  std::string Root;                                         // the folder of the program's own text
  unsigned Refreshed = 0;                                   // units that were not in the cache
  bool CacheWritable = true;
  std::vector<CutFlow> Cuts; // see applyCuts
};

// A translation unit of a compile database, and the file that keeps its facts beside the database.
struct UnitPlace {
  clang::tooling::CompileCommand Command;
  std::string Facts;
};

// Where what is known of a compile database is kept, beside it.
std::string cacheFolder(llvm::StringRef Build);

// The C units of the compile databases in these folders, in the order of their files; the first
// database counts for a command that several have. NotC: those in other languages. Fails where a
// database is not usable.
llvm::Expected<std::vector<UnitPlace>> unitsOf(llvm::ArrayRef<std::string> Builds,
                                               std::vector<UnitPlace> &NotC);

// What else is found in a unit comes from: the relock command, the unit's command, and the texts
// that the facts come from.
std::string textOrigin(const clang::tooling::CompileCommand &Command, const UnitFacts &Facts);

// Reads one unit and keeps its facts in a file. They depend on nothing but the command, the text
// that it includes, and the relock command itself. Says on standard error what went wrong.
// Broken: it has errors, and the facts say what it may use. Unparsed: nothing is known of it.
enum class UnitOutcome { Kept, NotKept, Stale, Broken, Unparsed };
UnitOutcome indexUnit(const UnitPlace &Unit, UnitFacts &Facts);

// Indexes what is stale in the compile databases of these folders, with up to Jobs threads (0: one
// per core). Says on standard error which units do not parse, and why. Fails where there is no
// usable database.
llvm::Expected<IndexResult> indexBuild(llvm::ArrayRef<std::string> Builds, unsigned Jobs);

} // namespace relock
