// SPDX-License-Identifier: MIT
//
// Converts each lock class of a program alone (with those that share its text), and each section
// alone, without changing a file: the cases of one_at_a_time.py, which compiles them. A program is
// read once for all of its cases.
//
//   convert-each BUILD FOLDER [--accept-uncovered] [--every=N] [--without=CODE]
//
// With --without only those sections that hold, and those classes that stay, for no other reason
// than CODE, as if there were no such reason. Prints a line of JSON for each case: "what" is
// converted; "section", whether that is one; "files", those that change, whose new texts are
// FOLDER/0, FOLDER/1 and so on; and "fault", where relock itself finds one. It waits for a line of
// input before it goes on with the next case.
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

int run(const std::string &Build, const std::string &Folder, bool AcceptUncovered, size_t Every,
        const std::string &Without) {
  std::optional<IndexResult> Index = readProgram({Build}, 0);
  cl::opt<std::string> Project("no-project");
  std::optional<ProjectFile> Declared;
  if (!Index || !Index->Unparsed.empty() || !(Declared = loadProject(Project, {Build}, *Index)))
    return 2;
  Decider Facts(*Index, *Declared, 0, AcceptUncovered);
  Restrictions But;
  Decision Before = Facts.decide(But);
  if (!Without.empty())
    But.Ignored.insert(Without);
  std::vector<Case> Cases = casesOf(Facts.decide(But), Without.empty() ? nullptr : &Before);
  Reparser Parsed(*Index, 0);
  for (size_t I = 0; I < Cases.size(); I += Every) {
    outs() << json::Value(tried(*Index, Facts, Parsed, But, Cases[I], Folder)) << "\n";
    outs().flush();
    std::string Next;
    if (!std::getline(std::cin, Next))
      return 2;
  }
  return 0;
}

} // namespace

int main(int Count, char **Words) {
  if (Count < 3) {
    errs()
        << "usage: convert-each BUILD FOLDER [--accept-uncovered] [--every=N] [--without=CODE]\n";
    return 2;
  }
  bool AcceptUncovered = false;
  size_t Every = 1;
  StringRef Without;
  for (StringRef Word : ArrayRef(Words + 3, Count - 3)) {
    AcceptUncovered |= Word == "--accept-uncovered";
    if (Word.consume_front("--every="))
      Word.getAsInteger(10, Every);
    if (Word.consume_front("--without="))
      Without = Word;
  }
  return run(Words[1], Words[2], AcceptUncovered, Every, Without.str());
}
