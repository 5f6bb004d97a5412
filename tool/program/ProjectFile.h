// SPDX-License-Identifier: MIT
//
// relock.yaml: what the user declares about functions and macros, in tool/doc/formats.md. It is an input of
// linking and deciding; the facts of translation units do not depend on it.
#pragma once

#include "index/Records.h"
#include "libraries/LibraryFunctions.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace relock {

// A function of a library that is given functions, which others of it call: what those arguments
// say, 1 for the first; none: any.
struct CallbackSetter {
  std::string Name;
  std::set<unsigned> Arguments = {};
};

struct DeclaredFunction {
  FunctionEffect Effect = FunctionEffect::Unknown;
  std::optional<bool> KeepsPointers; // that it is given; not declared: as without the file
  std::optional<std::vector<PointerFlow>> Pointers; // where exactly they go
  // What the program has given to them, a call may call.
  std::vector<CallbackSetter> CallsGivenTo;
  bool MixesPointers = true; // a `void *` of one call may meet, inside, that of another one
  std::string Because;
  Position At;
  std::string Library; // the file that comes with Relock, if the entry is of one: `glib`
};

// A function that operates a lock of another type than POSIX's mutexes.
struct DeclaredOperator {
  OtherLock Does;
  // Others than the program's own threads and functions take such a lock: another process, or a
  // library whose holders do whatever it does.
  bool Shared = false;
  Position At;
};

// A macro in whose body sections stand. Each argument of it may be evaluated once, before the lock
// is taken, instead of wherever the section has it, or not at all.
struct DeclaredMacro {
  std::string Because;
  Position At;
};

// True for the code of a reason that is a matter of taste: the result compiles and is safe, and
// tells a reader something else than before, or ends a cancelled thread later. The user may accept
// it, once for the program.
inline bool isAcceptable(llvm::StringRef Code) {
  return Code == "cancellation" || Code == "function-name" || Code == "lock-message";
}

class ProjectFile {
public:
  static llvm::Expected<ProjectFile> read(llvm::StringRef File); // fails with YamlError

  // Adds what comes with Relock of a library. What is here already goes before.
  void addLibrary(llvm::StringRef Name);
  // The same for each library of which one of these files outside of the folder Root is a header,
  // unless the file names libraries.
  void findLibraries(const std::set<llvm::StringRef> &Files, llvm::StringRef Root);

  // The entry that names the function in full.
  const DeclaredFunction *named(llvm::StringRef Name) const;
  // The entry with the longest prefix of the name.
  const DeclaredFunction *prefixOf(llvm::StringRef Name) const;
  // Either of them.
  const DeclaredFunction *entryOf(llvm::StringRef Name) const {
    const DeclaredFunction *Full = named(Name);
    return Full ? Full : prefixOf(Name);
  }
  // What the function of that name does to a lock that is not converted, known or declared.
  std::optional<OtherLock> otherLock(llvm::StringRef Name) const;

  std::string Path;    // empty: there is no file
  bool Closed = false; // nothing but the indexed sources calls functions of the program by name
  std::map<std::string, DeclaredFunction, std::less<>> Functions;
  std::map<std::string, DeclaredFunction, std::less<>> Prefixes; // without the `*`
  // Their names are in Functions, too.
  std::map<std::string, DeclaredOperator, std::less<>> Operators;
  std::map<std::string, DeclaredMacro, std::less<>> Macros;
  bool NamesLibraries = false;              // the file has `libraries`
  std::set<std::string> Libraries;          // that it names, or whose headers the program reads
  std::set<std::string> Headers;            // of a library's file: their ends, `openssl/e_os2.h`
  std::map<std::string, Position> Accepted; // codes of reasons, see isAcceptable()
  // Folders whose text may change besides the source root's; absolute.
  std::vector<std::string> Roots;
};

// The libraries of which a file comes with Relock, sorted, and what it says.
const std::map<std::string, ProjectFile> &libraryFiles();

// The file that holds for a compile database in the folder Build whose C files are Sources: beside
// the database, or else in the root of the sources. Empty: there is none.
std::string findProjectFile(llvm::StringRef Build, const std::vector<std::string> &Sources);

} // namespace relock
