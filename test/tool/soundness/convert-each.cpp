// SPDX-License-Identifier: MIT
//
// Converts each lock class of a program alone (with those that share its text), and each section
// alone, without changing a file: the cases of one_at_a_time.py, which compiles them. A program is
// read once for all of its cases.
//
//   convert-each BUILD FOLDER [--accept-uncovered] [--every=N] [--ignoring=CODES] [--without=CODES]
//
// With --ignoring as if there were no reasons with these codes, which have commas between them.
// With --without, for each of its codes in turn, only those sections that hold, and those classes
// that stay, for no other reason. Prints a line of JSON for each case: "what" is converted;
// "section", whether that is one; "without", the code; "files", those that change, whose new texts
// are FOLDER/0, FOLDER/1 and so on; and "fault", where relock itself finds one. It waits for a line
// of input before it goes on with the next case.
#include "driver/ProjectOption.h"
#include "driver/ReadProgram.h"
#include "driver/SectionPlace.h"
#include "rewrite/Convert.h"
#include "support/Messages.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>

using namespace llvm;
using namespace relock;

namespace {

struct Case {
  std::string What;
  Choice Chosen;
  std::optional<SectionKey> Section; // none: every section holds
};

// Classes that share source text convert together.
Choice groupOf(const Decision &Decided, const LockClass &Class) {
  Choice Chosen;
  for (const CheckedClass &Other : Decided.Classes)
    if (Other.Class.Group == Class.Group)
      Chosen[Other.Class.Id] = "adaptive";
  return Chosen;
}

std::vector<Case> casesOf(const Decision &Decided, const Decision *Before) {
  std::vector<Case> Cases;
  std::set<std::string> Groups;
  for (size_t I = 0; I < Decided.Classes.size(); ++I) {
    const CheckedClass &Checked = Decided.Classes[I];
    if (!Checked.converts())
      continue;
    Choice Chosen = groupOf(Decided, Checked.Class);
    bool Stayed = !Before || !Before->Classes[I].converts();
    if (Stayed && Groups.insert(Checked.Class.Group).second)
      Cases.push_back({Checked.Class.Name, Chosen, std::nullopt});
    for (size_t J = 0; J < Checked.Sections.size(); ++J) {
      const CheckedSection &S = Checked.Sections[J];
      bool Held = !Before || Before->Classes[I].Sections[J].Outcome != Verdict::Delegate;
      if (S.Outcome == Verdict::Delegate && Held)
        Cases.push_back({Checked.Class.Name + " at " + shownPlace(S.Facts.At), Chosen,
                         keyOf(begunBy(Checked, S).Facts)});
    }
  }
  return Cases;
}

std::string faultOf(const Expected<Conversion> &Converted, bool Delegates) {
  if (!Converted->Bug.empty())
    return Converted->Bug;
  if (!Converted->Left.empty())
    return "not-rewritten: " + Converted->Left.front().Message;
  if (Converted->Chosen.empty() || (Delegates && !Converted->Result.Delegated))
    return "not converted";
  return "";
}

json::Object tried(const IndexResult &Index, Decider &Facts, Reparser &Parsed, Restrictions But,
                   const Case &C, const std::string &Folder) {
  json::Object Line{{"what", C.What}, {"section", C.Section.has_value()}};
  But.Only.emplace();
  if (C.Section)
    But.Only->insert(*C.Section);
  Expected<Conversion> Converted = convert(Index, Facts, But, C.Chosen, {}, Parsed);
  if (!Converted) {
    Line["fault"] = toString(Converted.takeError());
    return Line;
  }
  Line["fault"] = faultOf(Converted, C.Section.has_value());
  json::Array Files;
  for (const auto &[File, Text] : Converted->Result.After) {
    std::error_code Error;
    raw_fd_ostream OS(Folder + "/" + std::to_string(Files.size()), Error);
    OS << Text;
    Files.push_back(File);
  }
  Line["files"] = std::move(Files);
  return Line;
}

struct Options {
  bool AcceptUncovered = false;
  size_t Every = 1;
  SmallVector<StringRef> Ignoring, Without;
};

int run(const std::string &Build, const std::string &Folder, const Options &Wanted) {
  std::optional<IndexResult> Index = readProgram({Build}, 0);
  cl::opt<std::string> Project("no-project");
  std::optional<ProjectFile> Declared;
  if (!Index || !Index->Unparsed.empty() || !(Declared = loadProject(Project, {Build}, *Index)))
    return 2;
  Decider Facts(*Index, *Declared, 0, Wanted.AcceptUncovered);
  Reparser Parsed(*Index, 0);
  Restrictions But;
  for (StringRef Code : Wanted.Ignoring)
    But.Ignored.insert(Code.str());
  const Decision Before = Facts.decide(But);
  auto Try = [&](const Restrictions &Less, ArrayRef<Case> Cases, StringRef Without) {
    for (size_t I = 0; I < Cases.size(); I += Wanted.Every) {
      json::Object Line = tried(*Index, Facts, Parsed, Less, Cases[I], Folder);
      Line["without"] = Without;
      outs() << json::Value(std::move(Line)) << "\n";
      outs().flush();
      std::string Next;
      if (!std::getline(std::cin, Next))
        return false;
    }
    return true;
  };
  if (Wanted.Without.empty())
    return Try(But, casesOf(Before, nullptr), "") ? 0 : 2;
  for (StringRef Code : Wanted.Without) {
    Restrictions Less = But;
    Less.Ignored.insert(Code.str());
    if (!Try(Less, casesOf(Facts.decide(Less), &Before), Code))
      return 2;
  }
  return 0;
}

} // namespace

int main(int Count, char **Words) {
  if (Count < 3) {
    errs() << "usage: convert-each BUILD FOLDER [--accept-uncovered] [--every=N] "
              "[--ignoring=CODES] [--without=CODES]\n";
    return 2;
  }
  Options Wanted;
  for (StringRef Word : ArrayRef(Words + 3, Count - 3)) {
    Wanted.AcceptUncovered |= Word == "--accept-uncovered";
    if (Word.consume_front("--every="))
      Word.getAsInteger(10, Wanted.Every);
    if (Word.consume_front("--ignoring="))
      Word.split(Wanted.Ignoring, ',');
    if (Word.consume_front("--without="))
      Word.split(Wanted.Without, ',');
  }
  return run(Words[1], Words[2], Wanted);
}
