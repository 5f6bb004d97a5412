// SPDX-License-Identifier: MIT
#include "profile/Headline.h"

#include "profile/Text.h"
#include "support/Color.h"
#include "support/Messages.h"
#include "support/Shell.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace relock {

namespace {

// Of what the threads were busy; below that waiting for locks is not worth a headline.
constexpr double Little = 0.01;

const ProfiledClass *mostWaited(ArrayRef<ProfiledClass> Classes,
                                function_ref<bool(const ProfiledClass &)> Counts) {
  const ProfiledClass *Most = nullptr;
  for (const ProfiledClass &Class : Classes)
    if (Class.waitTotal() && Counts(Class) && (!Most || Class.waitTotal() > Most->waitTotal()))
      Most = &Class;
  return Most;
}

uint64_t waitOf(ArrayRef<ProfiledClass> Classes) {
  uint64_t Sum = 0;
  for (const ProfiledClass &Class : Classes)
    Sum += Class.waitTotal();
  return Sum;
}

bool isMutex(const ProfiledClass &Class) {
  return Class.Primitive == "mutex" || Class.Primitive.empty() || Class.Runtime;
}

StringRef textOf(const json::Object &O, StringRef Member) {
  return O.getString(Member).value_or("");
}

const json::Object *entryOf(const json::Object &Root, StringRef List, StringRef Key) {
  if (const json::Array *Entries = Root.getArray(List))
    for (const json::Value &Entry : *Entries)
      if (const json::Object *O = Entry.getAsObject(); O && textOf(*O, "key") == Key)
        return O;
  return nullptr;
}

const json::Object *firstReason(const json::Object &Of) {
  const json::Array *Reasons = Of.getArray("reasons");
  return Reasons && !Reasons->empty() ? Reasons->front().getAsObject() : nullptr;
}

// Of the class itself, or of the first section that keeps it.
SourceVerdict keptBecause(const json::Object &Entry) {
  const json::Object *Reason = firstReason(Entry);
  const json::Array *Held = Entry.getArray("held");
  if (!Reason && Held && !Held->empty() && Held->front().getAsObject())
    Reason = firstReason(*Held->front().getAsObject());
  SourceVerdict Result{SourceVerdict::Kept, "", ""};
  if (Reason) {
    Result.Code = textOf(*Reason, "code");
    Result.Text = textOf(*Reason, "message");
  }
  return Result;
}

SourceVerdict verdictOf(const ProfiledClass &Class, const HeadlineSources *Sources) {
  if (Class.Runtime)
    return {SourceVerdict::Converted, "", ""};
  const json::Object *Root =
      Sources && Sources->Verdicts ? Sources->Verdicts->getAsObject() : nullptr;
  if (!Root)
    return {};
  if (const json::Object *Entry = entryOf(*Root, "classes", Class.Key))
    return textOf(*Entry, "verdict") == "convert" ? SourceVerdict{SourceVerdict::Converts, "", ""}
                                                  : keptBecause(*Entry);
  if (const json::Object *Entry = entryOf(*Root, "others", Class.Key)) {
    if (Entry->getBoolean("converted").value_or(false))
      return {SourceVerdict::Converted, "", ""};
    return {SourceVerdict::NotInSources, "", textOf(*Entry, "why").str()};
  }
  return {SourceVerdict::NotInSources, "", ""};
}

std::string saidOf(const SourceVerdict &V, const ProfiledClass &Class) {
  switch (V.Verdict) {
  case SourceVerdict::NotAsked:
    return "the sources say whether it converts";
  case SourceVerdict::Converts:
    return "convertible";
  case SourceVerdict::Kept:
    return "kept as it is" + (V.Text.empty() ? "" : ": " + V.Text) +
           (V.Code.empty() ? "" : " [" + V.Code + "]");
  case SourceVerdict::Converted:
    return "already converted" +
           (Class.Runtime ? ", to " + Class.Runtime->Algorithm : std::string());
  case SourceVerdict::NotInSources:
    return "in none of these sources" + (V.Text.empty() ? "" : ": " + V.Text);
  }
  return "";
}

class Writer {
public:
  Writer(const Profile &P, const HeadlineSources *Sources)
      : P(P), Sources(Sources), Locks(waitOf(P.Classes)), Others(waitOf(P.Waits)) {}

  Headline write() {
    if (!Locks && Others)
      other(P.acquisitions() ? "; no thread waited for a lock" : "; no lock was acquired");
    else if (!Locks && P.acquisitions())
      uncontended();
    else if (!Locks)
      none();
    else if (isLittle() && Others > Locks)
      other("; for locks " + ofBusy());
    else if (isLittle())
      little();
    else
      lock();
    return std::move(H);
  }

private:
  // Not known of librelock's own statistics.
  uint64_t busy() const { return P.ThreadTime ? std::max(P.busyTime().Least, Locks) : 0; }
  bool isLittle() const { return busy() && double(Locks) < Little * double(busy()); }
  std::string ofBusy() const { return percent(Locks, busy()) + " of the threads' busy time"; }

  void about(StringRef Kind, const ProfiledClass &Class, uint64_t All) {
    H.Kind = Kind;
    H.Key = Class.Key;
    H.Name = Class.Name;
    H.Primitive = Class.Primitive;
    H.Wait = Class.waitTotal();
    H.AllWaits = All;
  }

  void none() {
    H.Kind = "none";
    H.Text = "nothing to see: no lock was acquired, and no thread waited";
  }

  void uncontended() {
    H.Kind = "uncontended";
    H.Text = "no waiting: none of " + count(P.acquisitions()) + " acquisitions found a lock taken";
  }

  void little() {
    const ProfiledClass &Class = *mostWaited(P.Classes, [](auto &) { return true; });
    about("little", Class, Locks);
    H.Text = "little waiting: threads waited for locks for " + ofBusy() + " (" + duration(Locks) +
             "), most for " + Class.Name + " (" + percent(H.Wait, Locks) + ")";
  }

  static StringRef meaning(StringRef Primitive) {
    if (Primitive == "condition")
      return ", which is mostly idle time, or waiting for a turn";
    if (Primitive == "futex")
      return ", which the program asks the system for itself";
    return "";
  }

  void other(const std::string &OfLocks) {
    uint64_t Most = 0;
    StringRef Primitive;
    for (StringRef Kind : {"condition", "semaphore", "barrier", "futex"}) {
      uint64_t Sum = 0;
      for (const ProfiledClass &Class : P.Waits)
        Sum += Class.Primitive == Kind ? Class.waitTotal() : 0;
      if (Sum > Most)
        Most = Sum, Primitive = Kind;
    }
    if (Primitive.empty())
      Most = Others;
    const ProfiledClass *Class =
        mostWaited(P.Waits, [&](auto &C) { return Primitive.empty() || C.Primitive == Primitive; });
    about("wait", *Class, Locks + Others);
    H.Text = plural(Primitive) + ", not locks: " + percent(Most, Locks + Others) +
             " of all waiting (" + duration(Most) + ")";
    if (Primitive != "futex")
      H.Text += ", most for " + Class->Name + " (" + percent(H.Wait, Most) + ")";
    H.Text += meaning(Primitive).str() + OfLocks;
  }

  static std::string plural(StringRef Primitive) {
    return Primitive.empty() ? "others" : (Primitive + (Primitive == "futex" ? "es" : "s")).str();
  }

  void lock() {
    const ProfiledClass &Class = *mostWaited(P.Classes, [](auto &) { return true; });
    about("lock", Class, Locks);
    H.Text = Class.Name + ": " + percent(H.Wait, Locks) + " of all waiting for locks (" +
             duration(H.Wait) + ")";
    if (busy())
      H.Text += "; all of it took " + ofBusy();
    if (isMutex(Class))
      return verdict(Class);
    H.Text += "; it is " + std::string(Class.Primitive == "rwlock" ? "an " : "a ") +
              Class.Primitive + ", and relock converts mutexes";
    if (const ProfiledClass *Mutex = mostWaited(P.Classes, isMutex)) {
      H.Text += "; of these " + Mutex->Name + " has most: " + percent(Mutex->waitTotal(), Locks);
      verdict(*Mutex);
    }
  }

  void verdict(const ProfiledClass &Class) {
    H.Verdict = verdictOf(Class, Sources);
    H.Text += "; " + saidOf(H.Verdict, Class);
    if (!Sources)
      return;
    if (H.Verdict.Verdict == SourceVerdict::NotAsked)
      H.Next = sourcesCommand("report");
    else if (H.Verdict.Verdict == SourceVerdict::Kept && !H.Verdict.Code.empty())
      H.Next = explainCommand(H.Verdict.Code);
    else if (H.Verdict.Verdict == SourceVerdict::Converts) {
      H.Next = sourcesCommand("advise");
      H.Next.insert(H.Next.end(), {"-o", "plan.yaml"});
    }
  }

  static std::vector<std::string> explainCommand(const std::string &Code) {
    return {"relock", "explain", Code};
  }

  std::vector<std::string> sourcesCommand(StringRef Subcommand) const {
    std::vector<std::string> Words = {"relock", Subcommand.str()};
    append_range(Words, Sources->Files);
    for (const std::string &Build : Sources->Builds)
      Words.insert(Words.end(), {"-p", Build});
    if (Sources->Builds.empty())
      Words.insert(Words.end(), {"-p", "BUILD"});
    if (!Sources->Project.empty())
      Words.push_back("--project=" + Sources->Project);
    return Words;
  }

  const Profile &P;
  const HeadlineSources *Sources;
  const uint64_t Locks, Others; // what all threads waited for
  Headline H;
};

StringRef nameOf(SourceVerdict::Is Verdict) {
  switch (Verdict) {
  case SourceVerdict::NotAsked:
    return "";
  case SourceVerdict::Converts:
    return "convert";
  case SourceVerdict::Kept:
    return "keep";
  case SourceVerdict::Converted:
    return "converted";
  case SourceVerdict::NotInSources:
    return "not-in-sources";
  }
  return "";
}

} // namespace

std::string Headline::command() const { return shellCommand(Next); }

Headline headlineOf(const Profile &P, const HeadlineSources *Sources) {
  return Writer(P, Sources).write();
}

// A word that is longer than a line goes on at the beginning of the next one, where the shell joins
// both; in quotation marks it would not.
static void printLongWord(StringRef Said, unsigned Column, raw_ostream &OS) {
  while (Column + Said.size() + 2 > ReportWidth) {
    StringRef Part = beginning(Said, ReportWidth - 1 - Column);
    OS << Part << "\\\n";
    Said = Said.drop_front(Part.size());
    Column = 0;
  }
  OS << Said;
}

void printHeadline(const Headline &H, raw_ostream &OS) {
  printParagraph(printable(H.Text), OS);
  constexpr unsigned Indent = 4;
  unsigned Column = 7; // behind `  next:`
  OS << (H.Next.empty() ? "" : "  " + painted("next:", Style::Heading, OS));
  for (const std::string &Word : H.Next) {
    std::string Said = printable(shellWord(Word));
    if (Column > Indent && Column + 1 + Said.size() + 2 > ReportWidth) {
      (OS << " \\\n").indent(Indent);
      Column = Indent;
    } else {
      OS << ' ';
      Column += 1;
    }
    if (Said == Word)
      printLongWord(Said, Column, OS);
    else
      OS << Said;
    Column += Said.size();
  }
  OS << (H.Next.empty() ? "\n" : "\n\n");
}

void writeHeadline(json::OStream &J, const Headline &H) {
  J.attributeObject("headline", [&] {
    J.attribute("kind", H.Kind);
    if (!H.Key.empty()) {
      J.attribute("name", H.Name);
      J.attribute("key", H.Key);
      J.attribute("wait_ns", H.Wait);
      J.attribute("share_of_waiting", H.AllWaits ? double(H.Wait) / double(H.AllWaits) : 0.0);
    }
    J.attribute("text", H.Text);
    if (H.Verdict.Verdict != SourceVerdict::NotAsked)
      J.attribute("verdict", nameOf(H.Verdict.Verdict));
    if (!H.Next.empty())
      J.attribute("next", H.command());
  });
}

} // namespace relock
