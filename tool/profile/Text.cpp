// SPDX-License-Identifier: MIT
#include "profile/Text.h"

#include "support/Messages.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace relock {

std::string number(double Value, StringRef Unit) {
  const char *Format = Value < 10 ? "%.2f" : Value < 100 ? "%.1f" : "%.0f";
  char Text[32];
  snprintf(Text, sizeof Text, Format, Value);
  return Text + Unit.str();
}

std::string duration(uint64_t Ns) {
  if (Ns < 1000)
    return std::to_string(Ns) + "ns";
  if (Ns < 1000000)
    return number(double(Ns) / 1e3, "us");
  if (Ns < 1000000000)
    return number(double(Ns) / 1e6, "ms");
  return number(double(Ns) / 1e9, "s");
}

std::string count(uint64_t Value) {
  if (Value < 100000)
    return std::to_string(Value);
  if (Value < 1000000)
    return number(double(Value) / 1e3, "k");
  if (Value < 1000000000)
    return number(double(Value) / 1e6, "M");
  return number(double(Value) / 1e9, "G");
}

std::string share(double Share) {
  double Percent = 100 * Share;
  char Text[32];
  snprintf(Text, sizeof Text, Percent > 0 && Percent < 10 ? "%.2f%%" : "%.1f%%", Percent);
  return Text;
}

std::string percent(uint64_t Part, uint64_t Whole) {
  return share(Whole ? double(Part) / double(Whole) : 0);
}

std::string shareOfWork(const Profile &P) {
  TimeRange Worked = P.workedTime();
  std::string Least = percent(P.SectionTime, Worked.Most);
  std::string Most = percent(P.SectionTime, Worked.Least);
  return Least == Most ? Most : Least + " to " + Most;
}

std::string droppedText(const Dropped &Drops) {
  Notes N;
  N.add(Drops.Mutexes, "lock operations");
  N.add(Drops.Times, "times (the percentiles lack them)");
  N.add(Drops.Threads, "threads");
  N.add(Drops.Nested, "operations in signal handlers or the profiler");
  N.add(Drops.Modules, "modules");
  N.add(Drops.Processes, "forked processes");
  N.add(Drops.Nestings, "nested acquisitions (only their order)");
  N.add(Drops.Samples, "samples of call sites");
  N.add(Drops.Runtimes, "counts of librelock, of processes");
  N.add(Drops.Edges, "waits (only for whom)");
  return N.Line.empty() ? "not recorded: nothing was dropped" : "not recorded: " + N.Line;
}

std::string eventText(const CountedEvent &Event) {
  std::string Text = "event: " + Event.Name;
  if (!Event.NotAvailable.empty())
    return Text + ": not available: " + Event.NotAvailable;
  Text +=
      Event.Reading == "register" ? ", read from the processor's counter" : ", read by the system";
  if (Event.ThreadsNotCounted)
    Text += "; not counted in " + count(Event.ThreadsNotCounted) + " threads";
  return Text;
}

std::string perSection(double Events) {
  char Text[32];
  snprintf(Text, sizeof Text, "%.2f", Events);
  return Text;
}

StringRef about(std::optional<double> Error) { return !Error || *Error > RoughError ? "~" : ""; }

void makePrintable(Profile &P) {
  forEachText(P, [](std::string &Text) { Text = printable(Text); });
}

StringRef beginning(StringRef Text, size_t Bytes) {
  if (Text.size() <= Bytes)
    return Text;
  while (Bytes > 0 && (Text[Bytes] & 0xc0) == 0x80)
    --Bytes;
  return Text.take_front(Bytes);
}

StringRef nameForColumn(StringRef Name, size_t Width, raw_ostream &OS) {
  if (Name.size() <= Width)
    return Name;
  while (Name.size() > ReportWidth) {
    StringRef Line = beginning(Name, ReportWidth);
    OS << Line << '\n';
    Name = Name.drop_front(Line.size());
  }
  OS << Name << '\n';
  return "";
}

void printParagraph(StringRef Text, raw_ostream &OS, unsigned Indent, unsigned First) {
  unsigned Column = First;
  bool AtStart = true;
  auto NewLine = [&] {
    (OS << '\n').indent(Indent);
    Column = Indent;
    AtStart = true;
  };
  SmallVector<StringRef> Words;
  Text.split(Words, ' ', -1, false);
  OS.indent(First);
  for (StringRef Word : Words) {
    if (!AtStart && Column + 1 + Word.size() > ReportWidth)
      NewLine();
    OS << (AtStart ? "" : " ");
    Column += !AtStart;
    for (; Column + Word.size() > ReportWidth; NewLine()) { // longer than a line
      StringRef Part = beginning(Word, ReportWidth - Column);
      OS << Part;
      Word = Word.drop_front(Part.size());
    }
    OS << Word;
    Column += Word.size();
    AtStart = false;
  }
  OS << '\n';
}

} // namespace relock
