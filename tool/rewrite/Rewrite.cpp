// SPDX-License-Identifier: MIT
#include "rewrite/Rewrite.h"

#include "rewrite/LockTable.h"
#include "rewrite/Outline.h"
#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace relock {
namespace {

struct DelegatedSection {
  const Extraction *Extract;
  bool AnyThread;
};

// What happens to one file.
struct FilePlan {
  std::vector<TextEdit> Tokens;
  std::vector<DelegatedSection> Sections; // in the order of the text
};

class Rewriter {
public:
  Rewriter(const IndexResult &Index, const Decision &Decided, const Choice &Chosen)
      : Index(Index), Decided(Decided), Chosen(Chosen) {}

  Expected<RewriteResult> run() {
    plan();
    if (Plans.empty())
      return std::move(Result);
    for (auto &[File, Plan] : Plans)
      if (Error Failed = load(File))
        return Failed;
    placeTable();
    for (auto &[File, Plan] : Plans)
      if (Error Failed = rewriteFile(File, Plan))
        return Failed;
    writeTable();
    return std::move(Result);
  }

private:
  const IndexResult &Index;
  const Decision &Decided;
  const Choice &Chosen;
  std::map<std::string, FilePlan> Plans;
  std::vector<TableEntry> Entries;
  std::string Table; // absolute path of relock_locks.h
  std::set<std::string> Names; // of extracted functions
  RewriteResult Result;

  void plan() {
    for (const CheckedClass &Checked : Decided.Classes) {
      auto Algorithm = Chosen.find(Checked.Class.Name);
      if (Algorithm == Chosen.end())
        continue;
      Entries.push_back({Checked.Class.Identifier, Checked.Class.Name, Algorithm->second});
      for (const Edit &E : Checked.Class.Edits)
        Plans[E.At.File].Tokens.push_back(tokenEdit(E, Checked.Class.Identifier));
      for (const CheckedSection &S : Checked.Sections) {
        if (S.Outcome != Verdict::Delegate) {
          ++Result.Held;
          continue;
        }
        ++Result.Delegated;
        Plans[S.Facts.Extract->File].Sections.push_back({&*S.Facts.Extract, S.AnyThread});
      }
    }
    for (auto &[File, Plan] : Plans) {
      sort(Plan.Tokens);
      sort(Plan.Sections, [](const DelegatedSection &A, const DelegatedSection &B) {
        return A.Extract->Whole.Begin < B.Extract->Whole.Begin;
      });
    }
  }

  static TextEdit tokenEdit(const Edit &E, StringRef Identifier) {
    std::string Text = E.Text;
    size_t At = Text.find("$CLASS");
    if (At != std::string::npos)
      Text.replace(At, StringRef("$CLASS").size(), Identifier.str());
    return {{E.At.Offset, E.At.Offset + E.Length}, Text};
  }

  Error load(const std::string &File) {
    auto Buffer = MemoryBuffer::getFile(File);
    if (!Buffer)
      return createStringError(shownPath(File) + ": cannot be read: " +
                               Buffer.getError().message());
    std::string Text = (*Buffer)->getBuffer().str();
    std::string Hash = utohexstr(xxh3_64bits(Text));
    for (const UnitFacts &Unit : Index.Units)
      for (const Dependency &D : Unit.Dependencies)
        if (D.File == File && D.Hash != Hash)
          return createStringError(shownPath(File) +
                                   ": changed while it was being analysed; run the command again");
    Result.Before[File] = std::move(Text);
    return Error::success();
  }

  // Beside the table that is there already, or in the folder that holds all changed files.
  void placeTable() {
    for (const UnitFacts &Unit : Index.Units)
      if (!Unit.LockTable.empty())
        Table = Unit.LockTable;
    if (!Table.empty())
      return;
    SmallString<256> Folder(sys::path::parent_path(Plans.begin()->first));
    for (const auto &[File, Plan] : Plans)
      while (!StringRef(File).starts_with((Folder + "/").str()) && !Folder.empty())
        sys::path::remove_filename(Folder);
    sys::path::append(Folder, "relock_locks.h");
    Table = std::string(Folder);
  }

  void writeTable() {
    std::string Existing;
    if (auto Buffer = MemoryBuffer::getFile(Table)) {
      Existing = (*Buffer)->getBuffer().str();
      Result.Before[Table] = Existing;
    }
    std::string Text = lockTable(Existing, Entries);
    if (Text != Existing)
      Result.After[Table] = Text;
  }

  Error rewriteFile(const std::string &File, const FilePlan &Plan) {
    StringRef Text = Result.Before[File];
    std::vector<TextEdit> Edits;
    for (const DelegatedSection &S : Plan.Sections) {
      Outline Rendered = renderOutline(*S.Extract, uniqueName(S.Extract->FunctionName, Text),
                                       S.AnyThread, Text, Plan.Tokens);
      unsigned At = S.Extract->FunctionBegin;
      Edits.push_back({{At, At}, Rendered.Function});
      Edits.push_back({S.Extract->Whole, Rendered.Call});
      for (const Capture &C : S.Extract->Captures)
        for (const Range &Removed : C.Removed)
          Edits.push_back({Removed, ""});
    }
    for (const TextEdit &Token : Plan.Tokens)
      if (none_of(Plan.Sections, [&](const DelegatedSection &S) {
            return Token.At.Begin >= S.Extract->Whole.Begin &&
                   Token.At.End <= S.Extract->Whole.End;
          }))
        Edits.push_back(Token);
    addInclude(File, Text, Edits);
    // Several functions before one: they keep the order of their sections.
    stable_sort(Edits, [](const TextEdit &A, const TextEdit &B) {
      return std::tie(A.At.Begin, A.At.End) < std::tie(B.At.Begin, B.At.End);
    });
    for (size_t I = 1; I < Edits.size(); ++I)
      if (Edits[I].At.Begin < Edits[I - 1].At.End)
        return createStringError(shownPath(File) + ": two edits collide at offset " +
                                 Twine(Edits[I].At.Begin) + "; please report this");
    Result.After[File] = applyEdits(Text, {0, unsigned(Text.size())}, Edits);
    return Error::success();
  }

  std::string uniqueName(const std::string &Function, StringRef Text) {
    std::string Base = Function + "_section", Name = Base;
    for (unsigned N = 2; Text.contains(Name) || !Names.insert(Name).second; ++N)
      Name = Base + std::to_string(N);
    return Name;
  }

  void addInclude(const std::string &File, StringRef Text, std::vector<TextEdit> &Edits) const {
    std::string Line = "#include \"" + relativePath(sys::path::parent_path(File), Table) + "\"\n";
    if (Text.contains(StringRef(Line).drop_back()))
      return;
    unsigned First = Text.size();
    for (const TextEdit &E : Edits)
      First = std::min(First, E.At.Begin);
    unsigned At = includeOffset(Text, First);
    Edits.insert(Edits.begin(), {{At, At}, Line});
  }

  static std::string relativePath(StringRef Folder, StringRef Target) {
    SmallVector<StringRef, 16> From, To;
    Folder.split(From, '/', -1, false);
    Target.split(To, '/', -1, false);
    size_t Common = 0;
    while (Common < From.size() && Common + 1 < To.size() && From[Common] == To[Common])
      ++Common;
    std::string Path;
    for (size_t I = Common; I < From.size(); ++I)
      Path += "../";
    for (size_t I = Common; I < To.size(); ++I)
      Path += (I > Common ? "/" : "") + To[I].str();
    return Path;
  }
};

} // namespace

Expected<RewriteResult> rewrite(const IndexResult &Index, const Decision &Decided,
                                const Choice &Chosen) {
  return Rewriter(Index, Decided, Chosen).run();
}

} // namespace relock
