// SPDX-License-Identifier: MIT
#include "program/ClassNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {
namespace {

// `d2/list.c` of `src/d2/list.c`, with one folder.
StringRef pathEnd(StringRef File, size_t Folders) {
  size_t Slash = File.size();
  for (size_t I = 0; I <= Folders && Slash != 0 && Slash != StringRef::npos; ++I)
    Slash = File.take_front(Slash).rfind('/');
  return Slash == StringRef::npos || Slash == 0 ? File : File.drop_front(Slash + 1);
}

// A name of the table, `d1/list.c:lock:7`, taken apart.
struct TableName {
  StringRef Base; // `lock`
  size_t Folders = 0;
  bool HasFile = false;

  explicit TableName(StringRef Name) {
    for (auto [Rest, Number] = Name.rsplit(':'); !Number.empty() && all_of(Number, isDigit);
         std::tie(Rest, Number) = Name.rsplit(':'))
      Name = Rest;
    auto [File, Rest] = Name.rsplit(':');
    HasFile = !Rest.empty();
    Base = HasFile ? Rest : Name;
    Folders = HasFile ? File.count('/') : 0;
  }
};

class Namer {
public:
  Namer(std::vector<LockClass> &Classes, const std::vector<ConvertedClass> &Converted,
        StringRef Root)
      : Classes(Classes), Root(Root) {
    for (const ConvertedClass &C : Converted)
      if (C.Used) {
        Taken.insert(C.Name);
        TakenIdentifiers.insert(C.Identifier);
      }
  }

  void run() {
    nameFiles();
    append([](const LockClass &C) { return std::to_string(C.At.Line); });
    append([](const LockClass &C) { return std::to_string(C.At.Column); });
    for (unsigned N = 1; append([&](const LockClass &) { return "#" + std::to_string(N); },
                                /*ButFirst=*/true);
         ++N)
      ;
    for (LockClass *Class : sorted())
      Class->Identifier = identifierFor(Class->Name);
  }

private:
  std::vector<LockClass> &Classes;
  const StringRef Root;
  std::set<std::string> Taken, TakenIdentifiers;

  std::vector<LockClass *> sorted() const {
    std::vector<LockClass *> Result;
    for (LockClass &Class : Classes)
      Result.push_back(&Class);
    sort(Result, [](const LockClass *A, const LockClass *B) {
      return std::tie(A->Name, A->At) < std::tie(B->Name, B->At);
    });
    return Result;
  }

  std::map<std::string, std::vector<LockClass *>> byName() const {
    std::map<std::string, std::vector<LockClass *>> Result;
    for (LockClass *Class : sorted())
      Result[Class->Name].push_back(Class);
    return Result;
  }

  // How many folders the files of converted classes have that share this name; nothing: none do.
  std::optional<size_t> foldersInTable(StringRef Base) const {
    std::optional<size_t> Folders;
    for (const std::string &Name : Taken)
      if (TableName Known(Name); Known.Base == Base)
        Folders = std::max(Folders.value_or(0), Known.Folders);
    return Folders;
  }

  void nameFiles() {
    for (auto &[Name, Same] : byName()) {
      std::optional<size_t> InTable = foldersInTable(Name);
      if (Same.size() == 1 && !InTable)
        continue;
      size_t Folders = InTable.value_or(0);
      while (!filesDiffer(Same, Folders))
        ++Folders;
      for (LockClass *Class : Same)
        Class->Name = (fileName(*Class, Folders) + ":" + Class->Name).str();
    }
  }

  // Where the program lies is no part of its names.
  StringRef fileName(const LockClass &C, size_t Folders) const {
    StringRef File = C.At.File;
    if (StringRef Inner = File; Inner.consume_front(Root) && Inner.consume_front("/"))
      File = Inner;
    return pathEnd(File, Folders);
  }

  bool filesDiffer(ArrayRef<LockClass *> Same, size_t Folders) const {
    std::map<StringRef, StringRef> FileOf; // by its end
    return all_of(Same, [&](const LockClass *C) {
      StringRef File = C->At.File;
      return FileOf.try_emplace(fileName(*C, Folders), File).first->second == File;
    });
  }

  // Lengthens the names that are not unique yet. False: there were none.
  bool append(function_ref<std::string(const LockClass &)> Part, bool ButFirst = false) {
    bool Any = false;
    for (auto &[Name, Same] : byName()) {
      if (Same.size() == 1 && !Taken.count(Name))
        continue;
      Any = true;
      for (LockClass *Class : ArrayRef(Same).drop_front(ButFirst && !Taken.count(Name)))
        Class->Name += ":" + Part(*Class);
    }
    return Any;
  }

  std::string identifierFor(StringRef Name) {
    std::string Base;
    for (char C : Name)
      Base += isAlnum(C) || C == '_' ? C : '_';
    if (isDigit(Base[0]))
      Base = "_" + Base;
    std::string Identifier = Base;
    for (unsigned N = 2; !TakenIdentifiers.insert(Identifier).second; ++N)
      Identifier = Base + "_" + std::to_string(N);
    return Identifier;
  }
};

} // namespace

void nameApart(std::vector<LockClass> &Classes, const std::vector<ConvertedClass> &Converted,
               StringRef Root) {
  Namer(Classes, Converted, Root).run();
}

} // namespace relock
