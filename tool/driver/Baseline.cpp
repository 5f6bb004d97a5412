// SPDX-License-Identifier: MIT
#include "driver/Baseline.h"

#include "support/Messages.h"
#include "support/Path.h"
#include "support/Yaml.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {

// A class that nothing declares is called by its place, `main.c:12`: then its file alone counts.
static std::string withoutLines(StringRef Classes) {
  SmallVector<StringRef> Names;
  Classes.split(Names, " -> ");
  for (StringRef &Name : Names)
    for (auto [Before, Last] = Name.rsplit(':');
         !Last.empty() && all_of(Last, [](char C) { return isDigit(C); });
         std::tie(Before, Last) = Name.rsplit(':'))
      Name = Before;
  return join(Names, " -> ");
}

FindingKey keyOf(const Finding &F, StringRef Root) {
  FindingKey Key{F.at().File, F.Function, withoutLines(F.Class), F.Why.Code};
  if (F.Kind == FindingKind::LockOrder) {
    // The place that stands for an edge may be another one tomorrow. What comes to be sure is new.
    Key.File.clear();
    if (!F.Sure)
      Key.Class = "possible: " + Key.Class;
  } else if (isBelow(Key.File, Root)) {
    Key.File.erase(0, Root.size() + 1);
  }
  return Key;
}

Baseline Baseline::of(ArrayRef<const Finding *> Findings, StringRef Root) {
  Baseline Result;
  for (const Finding *F : Findings) {
    auto [Known, New] = Result.Entries.try_emplace(keyOf(*F, Root));
    Known->second.Count += !New;
  }
  return Result;
}

void Baseline::takeReasons(const Baseline &Of) {
  for (auto &[Key, Each] : Entries)
    if (auto Known = Of.Entries.find(Key); Known != Of.Entries.end())
      Each.Because = Known->second.Because;
}

size_t Baseline::findings() const {
  size_t Sum = 0;
  for (const auto &[Key, Each] : Entries)
    Sum += Each.Count;
  return Sum;
}

// --- Writing -------------------------------------------------------------------------------------

static std::string yamlText(StringRef Text) {
  auto Plain = [](char C) { return isAlnum(C) || StringRef("_./-").contains(C); };
  bool Word = !Text.empty() && (isAlpha(Text.front()) || Text.front() == '_');
  if (Word && all_of(Text, Plain) &&
      !is_contained({"null", "true", "false", "yes", "no", "on"}, Text))
    return Text.str();
  std::string Quoted = "\"";
  for (unsigned char C : Text)
    if (C < ' ')
      Quoted += "\\x" + std::string(1, hexdigit(C >> 4)) + hexdigit(C & 15);
    else
      Quoted += (C == '"' || C == '\\' ? "\\" : "") + std::string(1, char(C));
  return Quoted + "\"";
}

void Baseline::write(raw_ostream &OS) const {
  OS << "# Findings of `relock check` that are known and do not fail it (--baseline FILE). To "
        "bring\n"
        "# the file up to date: relock check --write-baseline FILE, which keeps what stands in it\n"
        "# under `because`.\n"
        "version: 1\n"
        "findings:"
     << (Entries.empty() ? " []\n" : "\n");
  for (const auto &[Key, Each] : Entries) {
    OS << "  - {code: " << yamlText(Key.Code);
    for (const auto &[Name, Value] : {std::pair<StringRef, StringRef>{"file", Key.File},
                                      {"function", Key.Function},
                                      {"class", Key.Class},
                                      {"because", Each.Because}}) {
      if (Name == "because" && Each.Count > 1)
        OS << ", count: " << Each.Count;
      if (!Value.empty())
        OS << ", " << Name << ": " << yamlText(Value);
    }
    OS << "}\n";
  }
}

// --- Reading -------------------------------------------------------------------------------------

class BaselineReader : YamlReader {
public:
  BaselineReader(StringRef File, MemoryBufferRef Text) : YamlReader(File, Text, "a baseline") {}

  Expected<Baseline> run() {
    if (Error Failed = readDocument([&](yaml::Node *Root) { return readRoot(Root); }))
      return Failed;
    return std::move(Result);
  }

private:
  Baseline Result;

  bool readRoot(yaml::Node *Root) {
    bool HasVersion = false;
    bool Good =
        members(Root, "a baseline", [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
          if (Key == "version")
            return HasVersion =
                       readVersion(Value, "; write it anew with --write-baseline, into a new file");
          if (Key == "findings")
            return elements(Value, Key, [&](yaml::Node *Entry) { return readEntry(Entry); });
          return unknownKey(At, Key, "version and findings");
        });
    return Good && (HasVersion || failAt(1, 1, "says no 'version: 1'"));
  }

  bool readEntry(yaml::Node *Entry) {
    FindingKey Key;
    Baseline::Entry Read;
    Read.At = place(Entry);
    const Position Begin = Read.At;
    bool Good =
        members(Entry, "an entry of 'findings'",
                [&](StringRef Name, const yaml::Node *At, yaml::Node *Value) {
                  if (Name == "code")
                    return readText(Value, Name, Key.Code);
                  if (Name == "file")
                    return readText(Value, Name, Key.File);
                  if (Name == "function")
                    return readText(Value, Name, Key.Function);
                  if (Name == "class")
                    return readText(Value, Name, Key.Class);
                  if (Name == "because")
                    return readText(Value, Name, Read.Because);
                  if (Name == "count")
                    return readCount(Value, Read.Count);
                  return unknownKey(At, Name, "code, file, function, class, count and because");
                });
    if (!Good)
      return false;
    if (Key.Code.empty() || Key.Class.empty())
      return failAt(Begin.Line, Begin.Column,
                    "this entry has no '" + Twine(Key.Code.empty() ? "code" : "class") + "'");
    Read.Left = Read.Count;
    auto [Known, New] = Result.Entries.try_emplace(Key, Read);
    return New || failAt(Begin.Line, Begin.Column,
                         "this finding stands in line " + Twine(Known->second.At.Line) +
                             " already; make one entry of the two, with 'count'");
  }

  bool readCount(const yaml::Node *Value, size_t &Count) {
    std::optional<std::string> Text = scalar(Value);
    return (Text && !StringRef(*Text).getAsInteger(10, Count) && Count > 0) ||
           fail(Value, "'count' must be a number, 1 or more");
  }
};

Expected<Baseline> Baseline::read(StringRef File) {
  SmallString<256> Path(File);
  sys::fs::make_absolute(Path);
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  auto Text = openYaml(Path, "the baseline");
  if (!Text)
    return Text.takeError();
  return BaselineReader(Path, **Text).run();
}

// --- Comparing -----------------------------------------------------------------------------------

const Baseline::Entry *Baseline::cover(const FindingKey &Key) {
  auto Known = Entries.find(Key);
  if (Known == Entries.end() || !Known->second.Left)
    return nullptr;
  --Known->second.Left;
  return &Known->second;
}

size_t Baseline::known(const FindingKey &Key) const {
  auto Known = Entries.find(Key);
  return Known == Entries.end() ? 0 : Known->second.Count;
}

static std::string shownKey(const FindingKey &Key) {
  return "'" + Key.Class + "'" + (Key.Function.empty() ? "" : " in '" + Key.Function + "'") +
         ", code '" + Key.Code + "'";
}

size_t Baseline::reportStale(const FindingFilter &Judged) const {
  std::vector<std::pair<const Entry *, const FindingKey *>> Stale;
  for (const auto &[Key, Each] : Entries)
    if (Each.Left && (Judged.covers(Key.Code) || !isFindingCode(Key.Code)))
      Stale.push_back({&Each, &Key});
  sort(Stale, [](const auto &A, const auto &B) { return A.first->At < B.first->At; });
  for (const auto &[Each, Key] : Stale) {
    const size_t Matched = Each->Count - Each->Left;
    message(Each->At,
            (Matched ? "counts " + std::to_string(Each->Count) + " findings of which there are " +
                           std::to_string(Matched)
                     : "the program has this finding no more") +
                " (" + shownKey(*Key) +
                "): " + (Matched ? "lower the count" : "take the entry out") +
                ", or bring the file up to date with --write-baseline",
            "baseline-stale");
  }
  return Stale.size();
}

} // namespace relock
