// SPDX-License-Identifier: MIT
//
// Decide, render, parse the result; where that finds a fault, look for whose it is, decide again
// without it, and so on. Each round takes something out, so that there is an end.
#include "rewrite/Convert.h"

#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace relock {
namespace {

class Converter {
public:
  Converter(const IndexResult &Index, Decider &Facts, Restrictions But, Choice Chosen,
            const std::vector<TableServer> &Servers, Reparser &Parsed)
      : Index(Index), Facts(Facts), But(std::move(But)), Wanted(std::move(Chosen)),
        Servers(Servers), Parsed(Parsed) {}

  Expected<Conversion> run() {
    for (;;) {
      Expected<Conversion> Tried = attempt(But);
      if (!Tried)
        return Tried;
      std::vector<Fault> Faults = Tried->Result.Faults;
      if (Faults.empty()) {
        std::vector<NewDiagnostic> Added = Parsed.all(Tried->Result.After);
        if (Added.empty() || !Index.Cuts.empty()) {
          for (NewDiagnostic &D : Added)
            Tried->OfCuts.push_back(std::move(D.What));
          Tried->Left = std::move(Left);
          return Tried;
        }
        Faults = faultsOf(Added, *Tried);
      }
      if (leaveOut(Faults, Tried->Decided))
        continue;
      Tried->Bug =
          "the rewritten text is wrong, and no decision accounts for it: " + Faults.front().Text;
      return Tried;
    }
  }

private:
  const IndexResult &Index;
  Decider &Facts;
  Restrictions But;
  const Choice Wanted;
  const std::vector<TableServer> &Servers;
  Reparser &Parsed;
  std::vector<Reason> Left;

  Expected<Conversion> attempt(const Restrictions &Without) {
    Conversion Result;
    Result.Decided = Facts.decide(Without);
    for (const CheckedClass &Class : Result.Decided.Classes)
      if (auto Found = Wanted.find(Class.Class.Id); Class.changes() && Found != Wanted.end())
        Result.Chosen.insert(*Found);
    Expected<RewriteResult> Text = rewrite(Index, Result.Decided, Result.Chosen, Servers);
    if (!Text)
      return Text.takeError();
    Result.Result = std::move(*Text);
    return Result;
  }

  // A fault in the text that somebody owns is theirs. Of one that shows elsewhere it is found by
  // trial who has to be left out for it to vanish; such faults mostly have one cause, so that one
  // is looked at in each round. Of a unit's errors those behind the first one may only follow from
  // it.
  std::vector<Fault> faultsOf(const std::vector<NewDiagnostic> &Added, const Conversion &Tried) {
    std::vector<Fault> Faults;
    std::set<size_t> Failed; // units
    for (const NewDiagnostic &D : Added) {
      if (D.What.Error && !Failed.insert(D.Unit).second)
        continue;
      for (const Position &At : D.What.Written)
        if (Owners By = Tried.Result.ownersAt(At.File, At.Offset); !By.empty()) {
          Faults.push_back(missesTable(D)     ? behindLink(D, std::move(By))
                           : warnsOfFormat(D) ? ofFormat(std::move(By))
                                              : worse(D, std::move(By)));
          break;
        }
    }
    if (Faults.empty())
      Faults.push_back(worse(Added.front(), search(Added.front(), Tried)));
    return Faults;
  }

  static bool missesTable(const NewDiagnostic &D) {
    return StringRef(D.What.Text).ends_with("relock_locks.h' file not found");
  }

  // To hold the sections of the file would not help: each class there needs the table.
  static Fault behindLink(const NewDiagnostic &D, Owners By) {
    if (!By.Classes.empty())
      By.Sections.clear();
    return {"behind-a-link",
            "a unit reads " + shownPath(D.What.At.File) +
                ", a link from whose folder an #include does not find the table of lock classes",
            std::move(By)};
  }

  // -Wformat-nonliteral is silent in a function that is declared to be like printf().
  static bool warnsOfFormat(const NewDiagnostic &D) {
    return StringRef(D.What.Text).starts_with("format string is not a string literal");
  }

  static Fault ofFormat(Owners By) {
    return {"format-string",
            "it prints by a format that its function is given, of which the compiler would warn in "
            "a function that is not declared to be like printf()",
            std::move(By)};
  }

  static Fault worse(const NewDiagnostic &D, Owners By) {
    return {"not-rewritten",
            "its new text does not compile as before (" + D.What.Text + ", near " +
                shownPlace(D.What.At) + ")",
            std::move(By)};
  }

  // --- Whose fault is it? -----------------------------------------------------------------------

  // The sections that are delegated in the unit, then the classes.
  Owners search(const NewDiagnostic &D, const Conversion &Tried) {
    std::vector<SectionKey> Sections;
    std::vector<std::string> Classes;
    for (const CheckedClass &Class : Tried.Decided.Classes) {
      if (!Tried.Chosen.count(Class.Class.Id))
        continue;
      Classes.push_back(Class.Class.Id);
      for (const CheckedSection &S : Class.Sections)
        if (S.Outcome == Verdict::Delegate && S.Facts.Extract &&
            Parsed.reads(D.Unit, S.Facts.Extract->File))
          Sections.push_back(keyOf(S.Facts));
    }
    Owners By;
    if (!Sections.empty() && vanishes(D, without<SectionKey>(Sections)))
      By.Sections = {narrow<SectionKey>(D, Sections)};
    else if (!Classes.empty())
      By.Classes = {narrow<std::string>(D, Classes)};
    return By;
  }

  // The last one, of those that all together make the fault vanish, without which the others before
  // it do not.
  template <class T> T narrow(const NewDiagnostic &D, ArrayRef<T> All) {
    size_t Least = 0, Most = All.size() - 1; // All[0..Most] make it vanish
    while (Least < Most) {
      size_t Middle = (Least + Most) / 2;
      if (vanishes(D, without<T>(All.take_front(Middle + 1))))
        Most = Middle;
      else
        Least = Middle + 1;
    }
    return All[Most];
  }

  template <class T> Restrictions without(ArrayRef<T> Out) const {
    Restrictions Result = But;
    for (const T &Key : Out)
      if constexpr (std::is_same_v<T, SectionKey>)
        Result.Held[Key];
      else
        Result.Kept[Key];
    return Result;
  }

  bool vanishes(const NewDiagnostic &D, const Restrictions &Without) {
    Expected<Conversion> Tried = attempt(Without);
    if (!Tried) {
      consumeError(Tried.takeError());
      return false;
    }
    return none_of(Parsed.of(D.Unit, Tried->Result.After), [&](const UnitDiagnostic &Other) {
      return Other.Text == D.What.Text && Other.At.File == D.What.At.File;
    });
  }

  // --- What becomes of it -----------------------------------------------------------------------

  // False: there is nothing to leave out.
  bool leaveOut(const std::vector<Fault> &Faults, const Decision &Decided) {
    bool Any = false;
    for (const Fault &F : Faults) {
      for (const CheckedClass &Class : Decided.Classes)
        for (const CheckedSection &S : Class.Sections)
          if (F.By.Sections.count(keyOf(S.Facts)))
            Any |= hold(S, F);
      if (!F.By.Sections.empty())
        continue;
      for (const CheckedClass &Class : Decided.Classes)
        if (F.By.Classes.count(Class.Class.Id))
          Any |= keep(Class.Class, F);
    }
    return Any;
  }

  bool hold(const CheckedSection &S, const Fault &F) {
    Reason Why = {F.Code, "stays in its place, since " + F.Text, S.Facts.At};
    bool New = But.Held.try_emplace(keyOf(S.Facts), Why).second;
    if (New)
      Left.push_back(
          {Why.Code, "a section of '" + S.Facts.FunctionName + "' " + Why.Message, S.Facts.At});
    return New;
  }

  bool keep(const LockClass &Class, const Fault &F) {
    Reason Why = {F.Code, "cannot be rewritten, since " + F.Text, Class.At};
    bool New = But.Kept.try_emplace(Class.Id, Why).second;
    if (New)
      Left.push_back({Why.Code, "'" + Class.Name + "' " + Why.Message, Class.At});
    return New;
  }
};

} // namespace

Expected<Conversion> convert(const IndexResult &Index, Decider &Facts, Restrictions But,
                             Choice Chosen, const std::vector<TableServer> &Servers,
                             Reparser &Parsed) {
  return Converter(Index, Facts, std::move(But), std::move(Chosen), Servers, Parsed).run();
}

} // namespace relock
