// SPDX-License-Identifier: MIT
#include "profile/Table.h"

#include "profile/Text.h"
#include "profile/ThreadNames.h"
#include "support/Color.h"
#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"

#include <array>
#include <cstring>
#include <map>

using namespace llvm;

namespace relock {

namespace {

constexpr unsigned NameWidth = 19;

class Table {
public:
  Table(const Profile &P, const TableOptions &Options, raw_ostream &OS)
      : P(P), Options(Options), OS(OS), Threads(P) {}

  void print() {
    printHeader();
    printClasses();
    printSites("Where they are acquired", P.Classes, &Table::printSite);
    printInversions();
    if (Options.Threads && !P.ByThread.empty())
      printThreads();
    if (Options.Threads && !P.Edges.empty())
      printEdges();
    if (!P.Waits.empty())
      printWaits();
    printSites("Where they wait for no lock", P.Waits, &Table::printWaitSite);
    if (!P.Servers.empty())
      printServers();
    if (Options.Explain)
      printExplanation();
    else
      OS << "\nrelock report --explain says what each column means.\n";
  }

private:
  void heading(StringRef Text) { OS << '\n' << painted(Text, Style::Heading, OS) << "\n\n"; }

  void paragraph(StringRef Text, unsigned Indent = 2, unsigned First = 0) {
    printParagraph(Text, OS, Indent, First);
  }

  std::string ending() const {
    if (P.End.How == "exit")
      return "exit status " + std::to_string(P.End.Status);
    if (P.End.How == "signal")
      return std::string("ended by signal ") + std::to_string(P.End.Status) + " (" +
             strsignal(P.End.Status) + ")";
    if (P.Runs > 1)
      return "which ended differently";
    return P.End.How == "running" ? "was still running" : "ended in an unknown way";
  }

  void printHeader() {
    std::string Command;
    for (const std::string &Word : P.Command)
      Command += " " + Word;
    paragraph("program:" + Command);
    std::string Process = P.Runs > 1
                              ? std::to_string(P.Runs) + " runs together"
                              : "process " + std::to_string(P.Pid) + (P.Forked ? " (forked)" : "");
    paragraph(Process + ": " + duration(P.Duration) + ", " + count(P.Threads) +
              (P.Threads == 1 ? " thread (" : " threads (") + count(P.ThreadsAtOnce) +
              " at once), " + ending());
    paragraph("machine: " + P.Machine + ", " + counted(P.Processors, "processor"));
    if (P.Source.empty())
      printMeasured();
    else
      paragraph("source: the statistics of " + P.Source + " (RELOCK_STATS): " +
                (hasUntimed() ? "total and mean waits; holds, percentiles and shares of time were "
                                "not measured"
                              : "its own locks; shares of the threads' time were not measured") +
                (P.HoldsTimed < P.Holds ? "; " + partTimed() : ""));
    if (P.ForeignReleases)
      paragraph("note: " + count(P.ForeignReleases) +
                " releases by a thread that had not acquired the lock");
  }

  bool hasUntimed() const {
    return any_of(P.Classes, [](const ProfiledClass &C) { return !C.isTimed(); });
  }

  void printRuntime() {
    size_t Classes =
        count_if(P.Classes, [](const ProfiledClass &C) { return C.Runtime && C.acquisitions(); });
    if (!Classes)
      return;
    std::string Text = "librelock: " + std::to_string(Classes) +
                       (Classes == 1 ? " lock class is" : " lock classes are") + " the runtime's";
    if (hasUntimed())
      paragraph(Text + ", which measures total and mean waits of some; their holds, percentiles "
                       "and part in the time above are not known");
    else
      paragraph(Text + "; in their sections, acquisition included: " +
                percent(P.RuntimeSectionTime, P.ThreadTime) + " of the threads' time (" +
                duration(P.RuntimeSectionTime) + "), " +
                (P.RuntimeWithin
                     ? "which is part of the time above"
                     : "which is not in the time above unless one is inside the other"));
  }

  void printMeasured() {
    paragraph("in critical sections, acquisition included: " +
              percent(P.SectionTime, P.ThreadTime) + " of the threads' time (" +
              duration(P.SectionTime) + " of " + duration(P.ThreadTime) + ")" + ofWork());
    printRuntime();
    paragraph("profiler: " + number(P.PairOverhead, "ns") + " per uncontended acquisition (" +
              number(P.HoldOverhead, "ns") + " taken out of each hold)" + timedText() + "; with " +
              duration(P.Sampling) + " of finding calls and new locks" +
              (P.Event ? " and of events" : "") + " about " + percent(P.Overhead, P.ThreadTime) +
              " of the threads' time" +
              (P.ProcessorTime
                   ? ", " + percent(P.Overhead, P.ProcessorTime) + " of the processor time"
                   : "") +
              (P.RecordsSize ? "; its records took " + size(P.RecordsSize) : ""));
    paragraph(droppedText(P.Drops));
    if (P.Event)
      paragraph(eventText(*P.Event));
  }

  std::string timedText() const {
    if (P.HoldsTimed >= P.Holds)
      return "";
    return ", " + number(P.UntimedOverhead, "ns") + " of one that is not timed: " + partTimed();
  }

  std::string partTimed() const {
    return percent(P.HoldsTimed, P.Holds) + " of the holds were" +
           (P.Source.empty() ? "" : " timed") + ", and stand for the others";
  }

  std::string ofWork() const {
    if (!P.hadProcessorsToSpare())
      return "";
    TimeRange Worked = P.workedTime();
    std::string Least = duration(Worked.Least), Most = duration(Worked.Most);
    return ", " + shareOfWork(P) + " of the " + Least + (Least == Most ? "" : " to " + Most) +
           " that they worked" + (Least == Most ? "" : ", by how much of long holds was sleep");
  }

  static std::string size(uint64_t Bytes) {
    return Bytes < (1 << 20) ? std::to_string((Bytes + 1023) >> 10) + " KiB"
                             : number(double(Bytes) / (1 << 20), " MiB");
  }

  static std::string classes(unsigned Count) {
    return counted(Count, "more lock class", "more lock classes");
  }

  void printClasses() {
    if (P.acquisitions() == 0) {
      OS << "\nNo lock was acquired.\n";
      return;
    }
    heading("Lock classes, the longest total wait first:");
    OS << left_justify("LOCK CLASS", NameWidth) << right_justify("ACQUIRED", 9)
       << right_justify("CONT", 7) << ' ';
    printTimes("", {"TOTAL", "MEAN", "P50", "P99", "MAX"});
    unsigned Shown = 0, Unused = 0, Cut = 0;
    for (const ProfiledClass &Class : P.Classes) {
      if (!Class.acquisitions() && !trylockFailures(Class))
        ++Unused;
      else if (Options.Limit && Shown == Options.Limit)
        ++Cut;
      else
        printClass(Class), ++Shown;
    }
    if (Cut)
      OS << "\n" << classes(Cut) << "; --limit=0 shows them all.\n";
    if (Unused)
      OS << "\n" << classes(Unused) << (Unused == 1 ? " was" : " were") << " never locked.\n";
    printUnnamed();
  }

  // What debug information would tell.
  void printUnnamed() {
    std::map<std::string, unsigned> Unnamed; // by module
    for (const ProfiledClass &Class : P.Classes)
      if (Class.acquisitions() && StringRef(Class.Name).contains("+0x"))
        ++Unnamed[Class.Module];
    std::string Text;
    for (const auto &[Module, Count] : Unnamed)
      Text += (Text.empty() ? "" : ", ") + std::to_string(Count) + " of " + Module;
    if (!Text.empty()) {
      OS << '\n';
      paragraph("Known by their addresses only, for lack of debug information (compile with -g, or "
                "install the distribution's): " +
                    Text + ".",
                0);
    }
  }

  void printTimes(StringRef Label, const std::array<std::string, 5> &Columns) {
    OS << right_justify(Label, 4);
    for (const std::string &Column : Columns)
      OS << right_justify(Column, 8);
    OS << '\n';
  }

  void printTimes(StringRef Label, const Times &T) {
    printTimes(Label, {duration(T.Total), duration(T.Mean), duration(T.P50), duration(T.P99),
                       duration(T.Max)});
  }

  static uint64_t trylockFailures(const ProfiledClass &Class) {
    return Class.Counts.TrylockFailures + (Class.Readers ? Class.Readers->TrylockFailures : 0);
  }

  static uint64_t timeouts(const ProfiledClass &Class) {
    return Class.Counts.Timeouts + (Class.Readers ? Class.Readers->Timeouts : 0);
  }

  void printName(StringRef Name) {
    OS << left_justify(nameForColumn(Name, NameWidth, OS), NameWidth);
  }

  void printCounts(uint64_t Acquisitions, uint64_t Contended) {
    OS << right_justify(count(Acquisitions), 9)
       << right_justify(percent(Contended, Acquisitions), 7) << ' ';
  }

  void printWaitAndHold(const Times &Wait, const Times &Hold) {
    printTimes("wait", Wait);
    OS.indent(NameWidth + 17); // below the label of the line above
    StringRef About = about(Hold.Error);
    printTimes("hold", {(About + duration(Hold.Total)).str(), (About + duration(Hold.Mean)).str(),
                        duration(Hold.P50), duration(Hold.P99), duration(Hold.Max)});
  }

  // Other threads' holds before, by how far away they were.
  static std::string handedOver(const CameFromCounts &From) {
    static const char *const Names[Distances] = {
        nullptr,           "on the same core",   "below the same cache", "on the same node",
        "on another node", "at unknown distance"};
    uint64_t All = 0, HandedOver = 0;
    for (uint64_t Count : From)
      All += Count;
    std::string Text;
    for (size_t I = 1; I < Distances; ++I) {
      HandedOver += From[I];
      if (From[I])
        Text += (Text.empty() ? "" : ", ") + count(From[I]) + " " + Names[I];
    }
    return HandedOver ? "from another thread " + percent(HandedOver, All) + ": " + Text : "";
  }

  void printClass(const ProfiledClass &Class) {
    printName(Class.Name);
    printCounts(Class.Counts.Acquisitions, Class.Counts.Contended);
    if (!Class.isTimed())
      printTimes("wait", {duration(Class.Wait.Total), duration(Class.Wait.Mean), "-", "-", "-"});
    else
      printWaitAndHold(Class.Wait, Class.Hold);
    if (Class.Readers) {
      printName("  readers");
      printCounts(Class.Readers->Acquisitions, Class.Readers->Contended);
      printWaitAndHold(Class.Readers->Wait, Class.Readers->Hold);
    }
    Notes N;
    if (Class.Primitive != "mutex")
      N.Line = Class.Readers ? "rwlock, its writers first" : Class.Primitive;
    if (Class.Runtime) {
      N.Line = Class.Runtime->Algorithm;
      N.add(Class.Runtime->Server.value_or(0), "server");
      N.add(Class.Runtime->Executed, "executed");
      N.add(Class.Runtime->Delegated, "delegated");
      N.add(Class.Runtime->Batches, "batches");
      N.add(Class.Runtime->Parked, "parked");
      N.add(Class.Runtime->Switches, "switches");
    }
    N.add(Class.Objects > 1 ? Class.Objects : 0, plural(Class.Primitive).c_str());
    addBusiest(N, Class);
    N.add(std::max(Class.Waiters.Max, Class.Readers ? Class.Readers->Waiters.Max : 0),
          "waiters at most");
    N.add(trylockFailures(Class), "trylocks failed");
    N.add(timeouts(Class), "timed out");
    N.add(Class.Counts.CondWaits, "condition waits");
    N.add(Class.Counts.Reentries, "recursive");
    N.add(Class.HeldAtEnd, "held at the end");
    if (!N.Line.empty())
      paragraph(N.Line, 4, 2);
    if (std::string Line = Class.CameFrom ? handedOver(*Class.CameFrom) : ""; !Line.empty())
      paragraph(Line, 4, 2);
    printError(Class.Hold, Class.Readers ? "writers' holds" : "holds");
    if (Class.Readers)
      printError(Class.Readers->Hold, "readers' holds");
    printEvents(Class);
    printSource(Class);
  }

  void printError(const Times &Hold, StringRef Whose) {
    if (!about(Hold.Error).empty())
      paragraph("~ standard error " + (Hold.Error ? share(*Hold.Error) : "not known") + ": " +
                    count(Hold.Timed) + " of " + count(Hold.Count) + " " + Whose.str() +
                    " were timed",
                4, 2);
  }

  void printEvents(const std::optional<SectionEvents> &Events, StringRef Section) {
    if (Events && P.Event)
      paragraph(perSection(Events->PerSection) + " " + P.Event->Name + " per " + Section.str() +
                    " (" + count(Events->Samples) + " sections counted)",
                4, 2);
  }

  void printSource(const ProfiledClass &Class) {
    if (!Class.SourceClass.empty() && Class.SourceClass != Class.Name)
      paragraph("in the sources: " + Class.SourceClass, 4, 2);
    if (!Class.NoSourceClass.empty() && Class.Primitive == "mutex")
      paragraph("no lock class of these sources: " + Class.NoSourceClass, 4, 2);
  }

  void printEvents(const ProfiledClass &Class) {
    printEvents(Class.Events, Class.Readers ? "writer's section" : "section");
    if (Class.Readers)
      printEvents(Class.Readers->Events, "reader's section");
    if (Class.EstimatedSharedLines)
      paragraph("about " + perSection(*Class.EstimatedSharedLines) +
                    " shared cache lines per section, estimated from the source",
                4, 2);
  }

  // Only one thread at a time runs what a lock protects: the share of the run that one lock is held
  // bounds what more threads can bring.
  void addBusiest(Notes &N, const ProfiledClass &Class) const {
    uint64_t Hold = Class.Objects == 1 ? Class.Hold.Total : 0;
    for (const LockObject &Lock : Class.Locks)
      Hold = std::max(Hold, Lock.Hold);
    if (P.Runs == 1 && Hold > P.Duration / 20)
      N.add((Class.Objects > 1 ? "one held " : "held ") + percent(Hold, P.Duration) +
            " of the run");
  }

  static std::string times(uint64_t Count) {
    return count(Count) + (Count == 1 ? " time" : " times");
  }

  void printSite(const ProfiledClass &Class, const CallSite &Site) {
    std::string Line =
        "wait " + duration(Site.Wait) + " (" + percent(Site.Wait, Class.waitTotal()) + "), ";
    if (Site.Acquisitions)
      Line += "hold " + duration(Site.Hold) + " (" + percent(Site.Hold, Class.holdTotal()) +
              "), acquired " + count(Site.Acquisitions) + " (" +
              percent(Site.Acquisitions, Class.acquisitions()) + ")";
    else
      Line += "acquired too seldom to estimate hold and share";
    if (Class.Readers)
      Line += Site.Reading ? ", to read" : ", to write";
    paragraph(Line, 4, 2);
  }

  // Of what is no lock: waits that ended.
  void printWaitSite(const ProfiledClass &Class, const CallSite &Site) {
    paragraph("waited " + duration(Site.Wait) + " (" + percent(Site.Wait, Class.Wait.Total) +
                  "), " + times(Site.Contended),
              4, 2);
  }

  // A call has one line, whatever its callers beyond those shown.
  static std::vector<CallSite> sitesAsShown(const ProfiledClass &Class) {
    constexpr size_t Frames = 4;
    std::vector<CallSite> Shown;
    for (const CallSite &Site : Class.Sites) {
      std::vector<std::string> Stack(Site.Stack);
      if (Stack.size() > Frames) {
        Stack.resize(Frames);
        Stack.push_back("...");
      }
      auto Same = find_if(
          Shown, [&](const CallSite &S) { return S.Reading == Site.Reading && S.Stack == Stack; });
      if (Same == Shown.end())
        Same = Shown.insert(Same, {Stack, Site.Reading});
      Same->Acquisitions += Site.Acquisitions;
      Same->Contended += Site.Contended;
      Same->Wait += Site.Wait;
      Same->Hold += Site.Hold;
    }
    stable_sort(Shown, [](const CallSite &A, const CallSite &B) {
      return std::make_pair(A.Wait, A.Hold) > std::make_pair(B.Wait, B.Hold);
    });
    return Shown;
  }

  // Those that wait longest, and the one that holds longest: it is what the others wait for.
  std::vector<CallSite> sitesToShow(const ProfiledClass &Class) const {
    std::vector<CallSite> Sites = sitesAsShown(Class);
    if (Sites.size() <= Options.Sites)
      return Sites;
    auto Rest = Sites.begin() + Options.Sites;
    auto Holder = std::max_element(Sites.begin(), Sites.end(),
                                   [](const auto &A, const auto &B) { return A.Hold < B.Hold; });
    if (Holder >= Rest)
      std::iter_swap(Rest++, Holder);
    Sites.erase(Rest, Sites.end());
    return Sites;
  }

  void printSites(StringRef Title, ArrayRef<ProfiledClass> Classes,
                  void (Table::*Print)(const ProfiledClass &, const CallSite &)) {
    unsigned Shown = 0;
    for (const ProfiledClass &Class : Classes) {
      if (Class.Sites.empty() || Shown == Options.Sites)
        continue;
      if (!Shown++)
        OS << "\n"
           << painted((Title + ", estimated from samples:").str(), Style::Heading, OS) << "\n";
      OS << '\n';
      paragraph(Class.Name, 0);
      for (const CallSite &Site : sitesToShow(Class)) {
        (this->*Print)(Class, Site);
        paragraph(join(Site.Stack, " < "), 6, 4);
      }
    }
  }

  void printInversions() {
    std::vector<Inversion> Found = findInversions(P);
    if (Found.empty())
      return;
    OS << '\n';
    paragraph("Taken in both orders: two threads that do so at once wait for each other for ever, "
              "unless a third lock is held around both:",
              0);
    OS << '\n';
    for (const Inversion &I : Found)
      paragraph(I.A->Name + " inside " + I.B->Name + " " + times(I.AInsideB) + ", " + I.B->Name +
                    " inside " + I.A->Name + " " + times(I.BInsideA),
                2);
  }

  const ProfiledClass *classOf(StringRef Key) const {
    auto Found = find_if(P.Classes, [&](const ProfiledClass &C) { return C.Key == Key; });
    return Found == P.Classes.end() ? nullptr : &*Found;
  }

  // What tells it apart is at the end.
  std::string threadName(uint64_t Id, size_t Width) const {
    std::string Name = Threads.of(Id);
    if (Name.size() <= Width)
      return Name;
    StringRef End = StringRef(Name).rtrim("0123456789");
    if (!End.ends_with(" ") && !End.ends_with("#"))
      return Name;
    End = StringRef(Name).drop_front(End.size() - 1);
    return (beginning(Name, Width - End.size()) + End).str();
  }

  void printThreadLine(const std::array<std::string, 7> &Columns) {
    OS << left_justify(beginning(Columns[0], NameWidth), NameWidth);
    for (size_t I = 1; I < 6; ++I)
      OS << right_justify(Columns[I], 9);
    OS << "  " << beginning(Columns[6], ReportWidth - NameWidth - 5 * 9 - 2) << '\n';
  }

  void printThreads() {
    heading("Threads, the longest total wait first:");
    printThreadLine({"THREAD", "THREADS", "LIVED", "IN SECT.", "WAIT", "SECTIONS", "MOSTLY"});
    size_t Shown = std::min<size_t>(Options.Threads, P.ByThread.size());
    for (const ProfiledThread &T : ArrayRef(P.ByThread).take_front(Shown)) {
      const ProfiledClass *Mostly = T.Classes.empty() ? nullptr : classOf(T.Classes[0].Key);
      printThreadLine({threadName(T.Id, NameWidth - 1), count(T.Threads), duration(T.Lived),
                       percent(T.Section, T.Lived), duration(T.Wait), count(T.Sections),
                       Mostly ? Mostly->Name : "-"});
    }
    if (uint64_t More = P.ByThread.size() - Shown + P.ThreadsOmitted)
      OS << "\n" << count(More) << " more not shown.\n";
  }

  static constexpr unsigned EdgeName = 17;

  void printEdgeLine(const std::array<std::string, 6> &Columns) {
    constexpr unsigned NameWidths[] = {EdgeName, EdgeName, 20};
    for (size_t I = 0; I < 3; ++I)
      OS << left_justify(beginning(Columns[I], NameWidths[I]), NameWidths[I] + 1);
    OS << right_justify(Columns[3], 7) << right_justify(Columns[4], 8)
       << right_justify(Columns[5], 8) << '\n';
  }

  void printEdges() {
    heading("Who waited for whom, the longest first:");
    printEdgeLine({"WAITER", "HOLDER", "LOCK CLASS", "WAITS", "WAIT", "MEAN"});
    size_t Shown = std::min<size_t>(Options.Threads, P.Edges.size());
    for (const WaitEdge &E : ArrayRef(P.Edges).take_front(Shown)) {
      const ProfiledClass *Class = classOf(E.Key);
      printEdgeLine({threadName(E.Waiter, EdgeName),
                     E.Holder ? threadName(E.Holder, EdgeName) : "-", Class ? Class->Name : "-",
                     count(E.Count), duration(E.Wait), duration(E.Count ? E.Wait / E.Count : 0)});
    }
    if (uint64_t More = P.Edges.size() - Shown + P.EdgesOmitted)
      OS << "\n" << count(More) << " more not shown.\n";
  }

  static std::string plural(StringRef Primitive) {
    return (Primitive + (Primitive.ends_with("x") ? "es" : "s")).str();
  }

  // All waits of one primitive.
  void printWaitTotal(StringRef Primitive) {
    uint64_t Waits = 0, Blocked = 0;
    Times T;
    for (const ProfiledClass &Class : P.Waits) {
      if (Class.Primitive != Primitive)
        continue;
      Waits += Class.Counts.Acquisitions;
      Blocked += Class.Counts.Contended;
      T.Count += Class.Wait.Count;
      T.Total += Class.Wait.Total;
      T.Max = std::max(T.Max, Class.Wait.Max);
    }
    if (!Waits && !T.Count)
      return;
    printName(Primitive == "futex" ? "futexes (raw)" : plural(Primitive));
    printWaitCounts(Primitive, Waits, Blocked);
    printTimes(waitLabel(Primitive), {duration(T.Total), duration(T.Count ? T.Total / T.Count : 0),
                                      "-", "-", duration(T.Max)});
  }

  static StringRef waitLabel(StringRef Primitive) {
    return Primitive == "condition" ? "idle" : "wait";
  }

  // Of the waits for a semaphore some have to block, of the others all do.
  void printWaitCounts(StringRef Primitive, uint64_t Waits, uint64_t Blocked) {
    OS << right_justify(count(Waits), 9)
       << right_justify(Primitive == "semaphore" ? percent(Blocked, Waits) : "", 7) << ' ';
  }

  void printWait(const ProfiledClass &Class) {
    printName("  " + Class.Name);
    printWaitCounts(Class.Primitive, Class.Counts.Acquisitions, Class.Counts.Contended);
    printTimes(waitLabel(Class.Primitive), Class.Wait);
    Notes N;
    N.add(Class.Objects > 1 ? Class.Objects : 0, plural(Class.Primitive).c_str());
    N.add(Class.Counts.TrylockFailures, "trywaits failed");
    N.add(Class.Counts.Timeouts, "timed out");
    if (Class.Wakes) {
      N.add(Class.Wakes->Signals, Class.Primitive == "semaphore" ? "posts" : "signals");
      N.add(Class.Wakes->Broadcasts, "broadcasts");
    }
    if (!N.Line.empty())
      OS << "    " << N.Line << '\n';
  }

  static bool waited(const ProfiledClass &Class) {
    return Class.Counts.Acquisitions || Class.Counts.TrylockFailures || Class.Wait.Count;
  }

  // Totals of each primitive, then the longest waits of all.
  void printWaits() {
    if (llvm::none_of(P.Waits, waited))
      return;
    heading("Other waiting, for no lock; in conditions mostly idle time, or for a turn:");
    OS << left_justify("WAITED FOR", NameWidth) << right_justify("WAITS", 9)
       << right_justify("BLOCK", 7) << ' ';
    printTimes("", {"TOTAL", "MEAN", "P50", "P99", "MAX"});
    unsigned Shown = 0, Cut = 0;
    for (StringRef Primitive : {"condition", "semaphore", "barrier", "futex"})
      printWaitTotal(Primitive);
    for (const ProfiledClass &Class : P.Waits) {
      if (!waited(Class) || Class.Primitive == "futex")
        continue;
      if (!Shown)
        OS << "of these\n";
      if (Options.Limit && Shown == Options.Limit)
        ++Cut;
      else
        printWait(Class), ++Shown;
    }
    if (Cut)
      OS << "\n" << Cut << " more; --limit=0 shows them all.\n";
  }

  static constexpr unsigned ServerWidths[] = {6, 9, 7, 7, 7, 6, 6, 7, 7, 8, 5, 5};

  void printServer(const std::array<std::string, std::size(ServerWidths)> &Columns) {
    for (size_t I = 0; I < Columns.size(); ++I)
      OS << right_justify(Columns[I], ServerWidths[I]);
    OS << '\n';
  }

  void printServers() {
    heading("Servers:");
    printServer({"SERVER", "SECTIONS", "USE", "FALSE", "SLOW", "WAKES", "ACTIV", "SLEEPS", "MISSES",
                 "THREADS", "CPU", "FIFO"});
    for (const ServerCounts &S : P.Servers)
      printServer({std::to_string(S.Number), count(S.Sections), share(S.UseRate),
                   share(S.FalseSerialization), share(S.SlowRate), count(S.ManagerWakes),
                   count(S.Activations), count(S.Sleeps),
                   S.CacheMisses ? count(*S.CacheMisses) : "-", count(S.Threads),
                   S.Cpu ? std::to_string(*S.Cpu) : "any", S.Fifo ? "yes" : "no"});
  }

  void printExplanation() {
    static const char *const Text[] = {
        "The first lines: what was waited for most, and which command comes next. Busy time: what "
        "the threads worked, where that is known (see below), else their time but for waiting for "
        "conditions, semaphores and barriers.",
        "LOCK CLASS: all mutexes, rwlocks or spinlocks of one declaration, as `relock check` names "
        "it; without symbols, all that were initialised (or first used) by the same backtrace.",
        "ACQUIRED: successful acquisitions by lock, trylock, timedlock and clocklock. Coming back "
        "from a condition wait is counted apart. Readers of an rwlock have lines of their own.",
        "CONT: share of the acquisitions that found the lock taken and had to wait.",
        "wait: time from finding the lock taken to getting it, or to giving up; of a section that "
        "another thread ran for its own (delegated), what the call took but the section. MEAN and "
        "percentiles are over the operations that waited.",
        "hold: time from acquisition to release. A condition wait ends a hold and begins another; "
        "recursive acquisitions lengthen the first one.",
        "from another thread: share of the holds before which another thread had the lock, and how "
        "many of these by the distance between the two processors: the same core, the same "
        "last-level cache, the same node, another node; these are estimates where not all holds "
        "were timed.",
        "TOTAL, MEAN and MAX are exact where all holds were timed, and otherwise estimates and the "
        "longest one that was timed; those of waits are always exact. With ~ the standard error of "
        "the estimate is above 5%, or too few holds were timed to tell: in two cases of three an "
        "estimate is off by no more than that. P50 and "
        "P99 (median, and what 99 % stay below) come from buckets 25 % wide and are right to "
        "12.5 %. --json has P90 as well.",
        "in critical sections: time in which a thread holds a lock or waits for one, each moment "
        "counted once, as a share of the time that all threads lived, asleep or not; and where the "
        "processors ran nothing for more than half of the time, so that threads that did not run "
        "slept, of the time that they worked: processor time, waiting for mutexes and rwlocks, and "
        "sleep in sections. How much that was is not measured: of two figures the smaller one is "
        "right if all holds of 4us and more were slept through, the larger one if none was.",
        "Where they are acquired: calls with their callers, of one acquisition per thread and "
        "millisecond or so and as many waits, fewer when they have cost the thread 2 ms; the "
        "samples divide the exact numbers of the class. "
        "Of librelock's locks all are counted, with the section that was passed on first. "
        "Those that waited longest, and the one that held longest. --sites=N shows more.",
        "held N% of the run: how long one lock was held, which no two threads do at once (of "
        "several, the one held longest); from 5% on.",
        "THREAD: as the program named it last, or the function that it began with; with a number "
        "where several have the same one.",
        "--threads=N, THREADS: how many ran one after the other in this row. IN SECT.: share of "
        "their lives in which they held or waited for a mutex. WAIT: all they waited for. "
        "SECTIONS: "
        "outermost ones. MOSTLY: the class that they waited for longest, or held.",
        "event, per section: counted in some sections of each thread, without the lock's own "
        "operations. Shared cache lines (with -p): an estimate, those that the text of a section "
        "names and that some section of the class writes.",
        "WAITER, HOLDER: who had the lock when the wait began, which is not always who had it "
        "until "
        "the wait ended; - is unknown, such as the readers of an rwlock.",
        "profiler: cost measured at the start of this run for a mutex that nobody else wants, "
        "times the operations recorded. A hold in which nothing happens would last as long as the "
        "time "
        "that is taken out; one that follows a wait has less of it, and nothing is taken out.",
    };
    static const char *const Servers[] = {
        "SERVER, CPU, FIFO: its number, the processor that it was given, and whether its threads "
        "have SCHED_FIFO. SECTIONS: that it ran for others.",
        "USE: sections per pass with a section and client, 100% when all clients always ask. A low "
        "one: most of what the server looks at asks for nothing.",
        "FALSE: share of the passes with a section in which there were sections of several "
        "mutexes: "
        "two servers could have run them at the same time.",
        "SLOW: share of the sections run while another thread of the server was in one that "
        "lasted. "
        "WAKES: times that its manager had to look; ACTIV: further threads that it sent.",
        "SLEEPS: for want of requests. MISSES: of the last-level cache, by its threads, where the "
        "machine counts them. THREADS: that served at the end.",
    };
    static const char *const Waits[] = {
        "WAITED FOR: what threads wait for other than locks. Nothing of it is waiting for a lock "
        "or time in critical sections. Totals first, then what they are made of.",
        "Conditions that are waited for with a lock of librelock have that lock's name. "
        "WAITS: for a condition (those included that never ended), at a barrier, and successful "
        "ones for a semaphore. BLOCK: share of a semaphore's that had to block.",
        "idle: time in condition waits, until the mutex is taken again: usually threads that have "
        "nothing to do, or wait for their turn; the calls below tell. futexes (raw): waits that "
        "the program asks the system for itself.",
    };
    OS << '\n';
    for (const char *Line : Text)
      paragraph(Line);
    for (const char *Line : ArrayRef(Waits).drop_back(P.Waits.empty() ? std::size(Waits) : 0))
      paragraph(Line);
    for (const char *Line : ArrayRef(Servers).drop_back(P.Servers.empty() ? std::size(Servers) : 0))
      paragraph(Line);
  }

  const Profile &P;
  const TableOptions &Options;
  raw_ostream &OS;
  const ThreadNames Threads;
};

} // namespace

void printTable(const Profile &P, const TableOptions &Options, raw_ostream &OS) {
  Table(P, Options, OS).print();
}

} // namespace relock
