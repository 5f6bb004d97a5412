// SPDX-License-Identifier: MIT
//
// Parses one translation unit as its compile command says.
#pragma once

#include "index/Records.h"

#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace clang {
class CompilerInstance;
}

namespace relock {

struct UnitDiagnostic {
  Position At; // as `#line` has it, without an offset
  std::vector<Position>
      Written; // where the text is that it speaks of, and the macro that brings it
  std::string Text;
  bool Error = false;

  friend bool operator<(const UnitDiagnostic &A, const UnitDiagnostic &B) {
    return std::tie(A.At.File, A.Error, A.Text) < std::tie(B.At.File, B.Error, B.Text);
  }
};

// What to do with the unit: Begin runs before the first token is read, End with the whole AST,
// EndWithErrors in its place where all of the text was read, but not all of it is understood.
struct UnitActions {
  std::function<void(clang::CompilerInstance &)> Begin;
  std::function<void(clang::CompilerInstance &)> End;
  std::function<void(clang::CompilerInstance &)> EndWithErrors;
};

// Which warnings a parse gives: those of the command, or more that matter, which the command may
// have silenced.
enum class Warnings { Asked, All };

// The texts of files, by absolute path.
using FileTexts = std::map<std::string, std::string>;

// Returns the diagnostics, in order of appearance; errors among them mean that the AST is not to
// be trusted. Safe to call from several threads.
std::vector<UnitDiagnostic> parseUnit(const clang::tooling::CompileCommand &Command,
                                      const UnitActions &Actions,
                                      const FileTexts *Replaced = nullptr,
                                      Warnings Wanted = Warnings::Asked);

// What a unit consists of, in whatever language it is; it is not parsed. All: nothing is missing.
struct UnitFiles {
  std::set<std::string> Files;                        // absolute
  std::map<std::string, std::set<std::string>> Names; // see FileNames
  bool All = false;
};
UnitFiles filesOf(const clang::tooling::CompileCommand &Command);

// Absolute path of the main file of a command.
std::string mainFile(const clang::tooling::CompileCommand &Command);

} // namespace relock
