// SPDX-License-Identifier: MIT
#include "profile/Compare.h"

#include "profile/Text.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <cmath>

using namespace llvm;

namespace relock {

namespace {

double perSecond(uint64_t Value, const Profile &P) {
  return P.Duration ? double(Value) / (double(P.Duration) / 1e9) : 0;
}

// What is said of one class, or of all, in one run. Rates are per second of run.
struct Figures {
  uint64_t Acquired = 0, Contended = 0;
  Times Wait, Hold;
  bool Holds = true; // measured
  double HoldVariance = 0,
         HoldUnknown = 0;          // of the total; and the part whose variance is not known
  double Sections = 0, Events = 0; // sections whose events were counted, or that these stand for
  CameFromCounts CameFrom;
  double Waiters = 0; // found by all that waited
  uint64_t WaitersMax = 0;

  Figures() = default;
  explicit Figures(const ProfiledClass *Class) {
    if (Class)
      add(*Class);
  }

  // Of an rwlock its readers and writers together.
  void add(const ProfiledClass &Class) {
    Holds &= Class.isTimed();
    Acquired += Class.acquisitions();
    Contended += Class.Counts.Contended + (Class.Readers ? Class.Readers->Contended : 0);
    add(Class.Wait, Class.Hold, Class.Waiters);
    add(Class.Events);
    for (size_t I = 0; Class.CameFrom && I < Distances; ++I)
      CameFrom[I] += (*Class.CameFrom)[I];
    if (Class.Readers) {
      add(Class.Readers->Wait, Class.Readers->Hold, Class.Readers->Waiters);
      add(Class.Readers->Events);
    }
  }
  void add(const Times &Waited, const Times &Held, const WaiterCounts &Found) {
    for (auto [Sum, T] : {std::pair(&Wait, &Waited), {&Hold, &Held}}) {
      Sum->Count += T->Count;
      Sum->Total += T->Total;
    }
    if (Held.Error)
      HoldVariance += std::pow(*Held.Error * double(Held.Total), 2);
    else
      HoldUnknown += double(Held.Total);
    Waiters += Found.Mean * double(Waited.Count);
    WaitersMax = std::max(WaitersMax, Found.Max);
  }
  void add(const std::optional<SectionEvents> &Counted) {
    if (!Counted)
      return;
    Sections += double(Counted->Sections);
    Events += Counted->PerSection * double(Counted->Sections);
  }
  std::optional<double> fromAnotherThread() const { return CameFrom.otherThread(); }
  std::optional<double> fromAnotherCache() const { return CameFrom.otherCache(); }
  std::optional<double> waitersMean() const {
    return Wait.Count ? std::optional(Waiters / double(Wait.Count)) : std::nullopt;
  }
  std::optional<double> perSection() const {
    return Sections > 0 ? std::optional<double>(Events / Sections) : std::nullopt;
  }
  double contention() const { return Acquired ? double(Contended) / double(Acquired) : 0; }

  // Of the total and the mean hold, as a part of them.
  std::optional<double> holdError() const {
    if (HoldUnknown > RoughError * double(Hold.Total))
      return std::nullopt;
    return Hold.Total ? std::sqrt(HoldVariance) / double(Hold.Total) : 0;
  }
};

double mean(const Times &T) { return T.Count ? double(T.Total) / double(T.Count) : 0; }

bool wasUsed(const ProfiledClass *Class) {
  return Class && (Class->acquisitions() || Class->Counts.TrylockFailures);
}

bool hasUntimed(const Profile &P) {
  return any_of(P.Classes, [](const ProfiledClass &C) { return !C.isTimed(); });
}

// The classes of one name, where there is just one.
StringMap<const ProfiledClass *> byName(const Profile &P) {
  StringMap<const ProfiledClass *> Result;
  for (const ProfiledClass &Class : P.Classes)
    if (auto [Where, New] = Result.try_emplace(Class.Name, &Class); !New)
      Where->second = nullptr;
  return Result;
}

std::vector<ComparedClass> pairUp(const Profile &Before, const Profile &After) {
  StringMap<const ProfiledClass *> Named = byName(Before), NamedAfter = byName(After), Keyed;
  for (const ProfiledClass &Class : After.Classes)
    Keyed[Class.Key] = &Class;
  std::vector<ComparedClass> Result;
  SmallPtrSet<const ProfiledClass *, 16> Taken;
  for (const ProfiledClass &Class : Before.Classes) {
    const ProfiledClass *Same = Named.lookup(Class.Name) ? NamedAfter.lookup(Class.Name) : nullptr;
    if (!Same)
      Same = Keyed.lookup(Class.Key);
    if (Same && !Taken.insert(Same).second)
      Same = nullptr;
    Result.push_back({&Class, Same});
  }
  for (const ProfiledClass &Class : After.Classes)
    if (!Taken.contains(&Class))
      Result.push_back({nullptr, &Class});
  return Result;
}

// Of how much the order speaks: the change in waiting, in holding where both runs know it, in use.
std::array<double, 3> changeOf(const ComparedClass &C, const Profile &Before,
                               const Profile &After) {
  Figures B(C.Before), A(C.After);
  auto Change = [&](uint64_t Old, uint64_t New) {
    return std::fabs(perSecond(New, After) - perSecond(Old, Before));
  };
  return {Change(B.Wait.Total, A.Wait.Total),
          B.Holds && A.Holds ? Change(B.Hold.Total, A.Hold.Total) : 0,
          Change(B.Acquired, A.Acquired)};
}

Figures totals(const Profile &P) {
  Figures Sum;
  for (const ProfiledClass &Class : P.Classes)
    Sum.add(Class);
  return Sum;
}

constexpr unsigned NameWidth = 19;
constexpr unsigned Widths[] = {9, 8, 10, 10, 9, 9};
using Row = std::array<std::string, std::size(Widths)>;

Row figures(const Figures &F, const Profile &P) {
  Row R = {count(uint64_t(perSecond(F.Acquired, P) + 0.5)),
           percent(F.Contended, F.Acquired),
           duration(uint64_t(perSecond(F.Wait.Total, P) + 0.5)),
           duration(uint64_t(mean(F.Wait) + 0.5)),
           "-",
           "-"};
  if (F.Holds) {
    StringRef About = about(F.holdError());
    R[4] = (About + duration(uint64_t(perSecond(F.Hold.Total, P) + 0.5))).str();
    R[5] = (About + duration(uint64_t(mean(F.Hold) + 0.5))).str();
  }
  return R;
}

std::string change(double Before, double After) {
  if (Before == After)
    return "=";
  if (Before == 0)
    return "-";
  double Percent = 100 * (After / Before - 1);
  if (Percent >= 1000)
    return "x" + count(uint64_t(After / Before + 0.5));
  char Text[32];
  snprintf(Text, sizeof Text,
           std::fabs(Percent) < 10 || (Percent < -99 && Percent > -100) ? "%+.1f%%" : "%+.0f%%",
           Percent);
  return Text;
}

// Of shares: percentage points.
std::string points(double Before, double After) {
  double Points = 100 * (After - Before);
  char Text[32];
  snprintf(Text, sizeof Text, std::fabs(Points) < 99.95 ? "%+.1fpt" : "%+.0fpt", Points);
  return std::fabs(Points) < 0.05 ? "=" : Text;
}

std::string decimal(double Value) { return number(Value, ""); }

std::string runText(StringRef Label, const Profile &P) {
  std::string Text = Label.str() + ":";
  for (const std::string &Word : P.Command)
    Text += " " + Word;
  Text += "; " + (P.Runs > 1 ? std::to_string(P.Runs) + " runs together, " : std::string()) +
          duration(P.Duration) + ", " + count(P.Threads) +
          (P.Threads == 1 ? " thread; " : " threads; ");
  if (P.Source.empty())
    Text +=
        percent(P.SectionTime, P.ThreadTime) + " of the threads' time in critical sections" +
        (P.hadProcessorsToSpare() ? " (" + shareOfWork(P) + " of what they worked)" : "") +
        (P.RuntimeSectionTime ? (P.RuntimeWithin ? ", of them " : ", ") +
                                    percent(P.RuntimeSectionTime, P.ThreadTime) + " in librelock's"
                              : "") +
        "; profiler: about " + percent(P.Overhead, P.ThreadTime) + " of it; " +
        droppedText(P.Drops);
  else
    Text += "the statistics of " + P.Source + " (RELOCK_STATS)";
  if (P.Event)
    Text += "; " + eventText(*P.Event);
  return Text;
}

bool isApart(const Profile &P) { return P.RuntimeSectionTime && !P.RuntimeWithin; }

bool countedDifferentEvents(const Profile &Before, const Profile &After) {
  return Before.Event && After.Event && Before.Event->Name != After.Event->Name;
}

std::vector<std::string> cautions(const Profile &Before, const Profile &After) {
  std::vector<std::string> Texts;
  if (hasUntimed(Before) != hasUntimed(After))
    Texts.push_back(
        "note: librelock measured no holds: there is '-', and its locks have no part in the "
        "time in critical sections. Its waits of delegated sections last until the section "
        "has been run, so they contain it.");
  else if (hasUntimed(Before))
    Texts.push_back("note: librelock measured no holds: there is '-'.");
  else if (isApart(Before) || isApart(After))
    Texts.push_back(
        "note: librelock's critical sections are counted apart, those inside others, and "
        "others inside them, in both shares.");
  if (countedDifferentEvents(Before, After))
    Texts.push_back("note: the runs counted different events, which are not compared");
  if (Before.Machine != After.Machine || Before.Processors != After.Processors)
    Texts.push_back("note: the machines differ: before " + Before.Machine + ", " +
                    counted(Before.Processors, "processor") + "; after " + After.Machine + ", " +
                    counted(After.Processors, "processor"));
  return Texts;
}

using Values = std::array<std::optional<double>, ComparedFigures>;

Values valuesOf(const Figures &F, const Profile &P) {
  Values V = {perSecond(F.Acquired, P), F.contention(), perSecond(F.Wait.Total, P), mean(F.Wait)};
  if (F.Holds) {
    V[4] = perSecond(F.Hold.Total, P);
    V[5] = mean(F.Hold);
  }
  return V;
}

// The texts of the changes, of both runs.
Row changesOf(const Figures &B, const Profile &Before, const Figures &A, const Profile &After) {
  auto Rate = [&](uint64_t Old, uint64_t New) {
    return change(perSecond(Old, Before), perSecond(New, After));
  };
  Row R = {Rate(B.Acquired, A.Acquired),
           points(B.contention(), A.contention()),
           Rate(B.Wait.Total, A.Wait.Total),
           change(mean(B.Wait), mean(A.Wait)),
           "-",
           "-"};
  if (B.Holds && A.Holds) {
    std::optional<double> Old = B.holdError(), New = A.holdError();
    StringRef About = about(Old && New ? std::optional(std::hypot(*Old, *New)) : std::nullopt);
    R[4] = (About + Rate(B.Hold.Total, A.Hold.Total)).str();
    R[5] = (About + change(mean(B.Hold), mean(A.Hold))).str();
  }
  return R;
}

// Null: only the other run has it.
ComparedRow rowOf(StringRef Name, const Figures *B, const Profile &Before, const Figures *A,
                  const Profile &After) {
  Row Old = B ? figures(*B, Before) : Row(), New = A ? figures(*A, After) : Row();
  Values OldValues = B ? valuesOf(*B, Before) : Values(),
         NewValues = A ? valuesOf(*A, After) : Values();
  Row Changes = B && A ? changesOf(*B, Before, *A, After) : Row();
  ComparedRow Result{Name.str(), {}};
  for (size_t I = 0; I < ComparedFigures; ++I) {
    ComparedFigure &F = Result.Figures[I];
    F = {Old[I], New[I], B && A ? Changes[I] : B ? "gone" : "new", OldValues[I], NewValues[I], {}};
    if (F.OldValue && F.NewValue)
      F.ChangeValue = *F.NewValue - *F.OldValue;
  }
  return Result;
}

class Comparison {
public:
  Comparison(const Profile &Before, const Profile &After, const TableOptions &Options,
             raw_ostream &OS)
      : Before(Before), After(After), Options(Options), OS(OS) {}

  void print() {
    paragraph(comparisonHeadline(Before, After));
    OS << '\n';
    for (const std::string &Text : comparedRuns(Before, After))
      paragraph(Text);
    printClasses();
    if (Options.Explain)
      printExplanation();
    else
      OS << "\nrelock report --diff --explain says what each column means.\n";
  }

private:
  void paragraph(StringRef Text) { printParagraph(Text, OS); }

  void printClasses() {
    std::vector<ComparedClass> Classes = compareProfiles(Before, After);
    if (Classes.empty()) {
      OS << "\nNeither run acquired a lock.\n";
      return;
    }
    OS << "\nLock classes, the largest change in waiting first:\n\n";
    printRow("LOCK CLASS", "", {"ACQ/S", "CONT", "WAIT/S", "PER WAIT", "HOLD/S", "PER HOLD"});
    size_t Shown = 0;
    for (const ComparedClass &C : Classes) {
      if (Options.Limit && Shown == Options.Limit)
        break;
      printClass(C);
      ++Shown;
    }
    if (size_t More = Classes.size() - Shown)
      OS << '\n'
         << counted(More, "more lock class", "more lock classes")
         << "; --limit=0 shows them all.\n\n";
    printTotals();
  }

  void printClass(const ComparedClass &C) {
    StringRef Name = nameForColumn(C.After ? C.After->Name : C.Before->Name, NameWidth - 1, OS);
    if (!C.Before)
      printNew(Name, "new", Figures(C.After), After);
    else if (!C.After)
      printNew(Name, "gone", Figures(C.Before), Before);
    else
      printBoth(Name, Figures(C.Before), Figures(C.After));
  }

  void printNew(StringRef Name, StringRef Label, const Figures &F, const Profile &P) {
    printRow(Name, Label, figures(F, P));
    printLines(&P == &Before ? &F : nullptr, &P == &After ? &F : nullptr);
  }

  // What has no column. Null: only the other run has the class.
  void printLines(const Figures *B, const Figures *A) {
    printIfAny("from another thread", B, A, &Figures::fromAnotherThread, share, points);
    printIfAny("from another cache", B, A, &Figures::fromAnotherCache, share, points);
    printIfAny("waiters in the mean", B, A, &Figures::waitersMean, decimal, change);
    const std::optional<CountedEvent> &Counted = B && Before.Event ? Before.Event : After.Event;
    if (Counted && !(B && A && countedDifferentEvents(Before, After)))
      printLine(Counted->Name + " per section", B, A, &Figures::perSection, perSection, change);
  }

  using ValueOf = std::optional<double> (Figures::*)() const; // none: not measured
  using Say = std::string (*)(double);
  using Difference = std::string (*)(double, double);

  void printLine(const std::string &Label, const Figures *B, const Figures *A, ValueOf Value,
                 Say Text, Difference Change) {
    std::optional<double> Old = B ? (B->*Value)() : std::nullopt;
    std::optional<double> New = A ? (A->*Value)() : std::nullopt;
    if (!Old && !New)
      return;
    auto Said = [&](std::optional<double> Any) { return Any ? Text(*Any) : "-"; };
    std::string Line = Label + ": ";
    if (!B || !A)
      Line += Said(B ? Old : New);
    else
      Line += "before " + Said(Old) + ", after " + Said(New) +
              (Old && New ? ", " + Change(*Old, *New) : "");
    printParagraph(Line, OS, 4, 2);
  }

  void printIfAny(const std::string &Label, const Figures *B, const Figures *A, ValueOf Value,
                  Say Text, Difference Change) {
    auto Any = [&](const Figures *F) { return F && (F->*Value)().value_or(0) > 0; };
    if (Any(B) || Any(A))
      printLine(Label, B, A, Value, Text, Change);
  }

  void printTotals() { printBoth("all classes", totals(Before), totals(After)); }

  void printBoth(StringRef Name, const Figures &B, const Figures &A) {
    printRow(Name, "before", figures(B, Before));
    printRow("", "after", figures(A, After));
    printRow("", "change", changesOf(B, Before, A, After));
    printLines(&B, &A);
  }

  void printRow(StringRef Name, StringRef Label, const Row &Columns) {
    OS << left_justify(Name, NameWidth) << left_justify(Label, 6);
    for (auto [Column, Width] : zip_equal(Columns, Widths))
      OS << right_justify(Column, Width);
    OS << '\n';
  }

  void printExplanation() {
    static const char *const Text[] = {
        "LOCK CLASS: of one name in both runs, or of one key. new, gone: only one run has it, for "
        "example because the other names it otherwise.",
        "ACQ/S: acquisitions per second of run. CONT: share of them that had to wait; its change "
        "is in percentage points.",
        "WAIT/S, HOLD/S: what all threads together waited, and held, per second of run; several "
        "threads can wait more than a second in a second.",
        "PER WAIT, PER HOLD: the mean of one. An event per section: the mean of those in which it "
        "was counted.",
        "~: an estimate, since not all holds were timed, whose standard error is above 5% or not "
        "known; of a change, that of the quotient.",
        "from another thread: share of the holds before which another thread had the lock. from "
        "another cache: where it was below another last-level cache. waiters in the mean: threads "
        "that one which had to wait found waiting already.",
        "change: of the value before; x12: twelve times as much. '=': the same. '-': nothing to "
        "compare with.",
        "all classes: the sum, those included that are not shown.",
    };
    OS << '\n';
    for (const char *Line : Text)
      paragraph(Line);
  }

  const Profile &Before, &After;
  const TableOptions &Options;
  raw_ostream &OS;
};

void writeRun(json::OStream &J, StringRef Name, const Profile &P) {
  J.attributeObject(Name, [&] {
    J.attributeArray("command", [&] {
      for (const std::string &Word : P.Command)
        J.value(Word);
    });
    J.attribute("source", P.Source.empty() ? "relock profile" : P.Source);
    J.attribute("runs", P.Runs);
    J.attribute("duration_ns", P.Duration);
    J.attribute("threads", P.Threads);
    auto Share = [&](uint64_t Time) {
      return P.ThreadTime ? double(Time) / double(P.ThreadTime) : 0.0;
    };
    J.attribute("section_share", Share(P.SectionTime));
    J.attribute("librelock_section_share", Share(P.RuntimeSectionTime));
    J.attribute("librelock_within", P.RuntimeWithin);
    J.attribute("event", P.Event ? json::Value(P.Event->Name) : nullptr);
  });
}

// What the run does not measure, or does not have, is null.
void writeFigures(json::OStream &J, StringRef Name, const Figures &F, const Profile &P) {
  auto WithHolds = [&](double Value) { return F.Holds ? json::Value(Value) : nullptr; };
  J.attributeObject(Name, [&] {
    J.attribute("acquisitions_per_s", perSecond(F.Acquired, P));
    J.attribute("contended_share", F.contention());
    J.attribute("wait_ns_per_s", perSecond(F.Wait.Total, P));
    J.attribute("wait_mean_ns", mean(F.Wait));
    J.attribute("hold_ns_per_s", WithHolds(perSecond(F.Hold.Total, P)));
    J.attribute("hold_mean_ns", WithHolds(mean(F.Hold)));
    J.attribute("hold_relative_standard_error",
                F.Holds ? json::Value(F.holdError()) : json::Value(nullptr));
    J.attribute("from_another_thread_share", F.fromAnotherThread());
    J.attribute("from_another_cache_share", F.fromAnotherCache());
    J.attribute("waiters_mean", F.waitersMean());
    J.attribute("waiters_max", F.WaitersMax);
    J.attribute("events_per_section", F.perSection());
  });
}

void writeFigures(json::OStream &J, StringRef Name, const ProfiledClass *Class, const Profile &P) {
  if (Class)
    writeFigures(J, Name, Figures(Class), P);
  else
    J.attribute(Name, nullptr);
}

} // namespace

std::vector<ComparedClass> compareProfiles(const Profile &Before, const Profile &After) {
  std::vector<ComparedClass> Result = pairUp(Before, After);
  erase_if(Result, [](const ComparedClass &C) { return !wasUsed(C.Before) && !wasUsed(C.After); });
  stable_sort(Result, [&](const ComparedClass &A, const ComparedClass &B) {
    return changeOf(A, Before, After) > changeOf(B, Before, After);
  });
  return Result;
}

std::vector<ComparedRow> comparedRows(const Profile &Before, const Profile &After) {
  std::vector<ComparedRow> Rows;
  for (const ComparedClass &C : compareProfiles(Before, After)) {
    Figures B(C.Before), A(C.After);
    Rows.push_back(rowOf((C.After ? C.After : C.Before)->Name, C.Before ? &B : nullptr, Before,
                         C.After ? &A : nullptr, After));
  }
  Figures B = totals(Before), A = totals(After);
  Rows.push_back(rowOf("all classes", &B, Before, &A, After));
  return Rows;
}

std::string comparisonHeadline(const Profile &Before, const Profile &After) {
  constexpr size_t Wait = 2; // of the figures
  std::vector<ComparedRow> Rows = comparedRows(Before, After);
  const ComparedFigure &All = Rows.back().Figures[Wait], &First = Rows.front().Figures[Wait];
  if (Rows.size() == 1)
    return "nothing to compare: neither run acquired a lock";
  if (!*All.OldValue && !*All.NewValue)
    return "no waiting: in neither run did a thread wait for a lock";
  auto Said = [](const ComparedFigure &F) {
    if (F.Before.empty() || F.After.empty())
      return (F.Before.empty() ? F.After : F.Before) + " (" + F.Change + ")";
    std::string Change = F.Change == "=" ? "no change" : F.Change;
    return F.Before + " before, " + F.After + " after" + (Change == "-" ? "" : " (" + Change + ")");
  };
  std::string Text = "waiting for locks, per second of run: " + Said(All);
  if (First.ChangeValue.value_or(1) != 0)
    Text += "; most changed " + Rows.front().Name + ": " + Said(First);
  return Text;
}

std::vector<std::string> comparedRuns(const Profile &Before, const Profile &After) {
  std::vector<std::string> Texts = {runText("before", Before), runText("after", After)};
  append_range(Texts, cautions(Before, After));
  return Texts;
}

void printComparison(const Profile &Before, const Profile &After, const TableOptions &Options,
                     raw_ostream &OS) {
  Comparison(Before, After, Options, OS).print();
}

void writeComparison(const Profile &Before, const Profile &After, raw_ostream &OS) {
  json::OStream J(OS, 1);
  J.object([&] {
    J.attribute("format", "relock-comparison");
    J.attribute("version", 1);
    J.attributeObject("headline", [&] { J.attribute("text", comparisonHeadline(Before, After)); });
    writeRun(J, "before", Before);
    writeRun(J, "after", After);
    J.attributeObject("all", [&] {
      writeFigures(J, "before", totals(Before), Before);
      writeFigures(J, "after", totals(After), After);
    });
    J.attributeArray("classes", [&] {
      for (const ComparedClass &C : compareProfiles(Before, After))
        J.object([&] {
          J.attribute("name", C.After ? C.After->Name : C.Before->Name);
          J.attribute("key", C.After ? C.After->Key : C.Before->Key);
          writeFigures(J, "before", C.Before, Before);
          writeFigures(J, "after", C.After, After);
        });
    });
  });
  OS << '\n';
}

} // namespace relock
