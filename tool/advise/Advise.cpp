// SPDX-License-Identifier: MIT
#include "advise/Advise.h"

#include "advise/Algorithms.h"
#include "advise/WaitsFor.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {
namespace {

constexpr size_t MostReasons = 3; // that a comment lists; `relock check` lists all
constexpr size_t MostNames = 4;   // that a message lists; `relock report` lists all

class Adviser {
public:
  Adviser(const Decision &Decided, const Plan &Before, const Costs *Measured, const Hints &Besides,
          const Thresholds &Limits, Predictor *Foretold, Rule Decides, StringRef Root,
          function_ref<bool(StringRef)> IsConverted)
      : Decided(Decided), Before(Before), Measured(Measured), Besides(Besides), Limits(Limits),
        Foretold(Foretold), Decides(Decides), Root(Root), IsConverted(IsConverted) {}

  Advice run() {
    static_cast<Commented &>(Result.Next) = Before;
    Result.Next.Path = Before.Path;
    Result.Next.Servers = Before.Servers;
    Result.Next.Profiles = Before.Profiles;
    Result.Next.Thresholds = Before.Thresholds;
    Result.Next.Machine = Before.Machine;
    Result.Next.Threads = Before.Threads;
    addCuts();
    if (Measured)
      chooseByCosts();
    std::set<std::string> Known;
    for (const PlanEntry &Old : Before.Classes) {
      Known.insert(Old.Class);
      if (const CheckedClass *Class = find(Old.Class))
        Result.Next.Classes.push_back(renewed(Old, *Class));
      else if (IsConverted(Old.Class))
        Result.Next.Classes.push_back(converted(Old));
      else
        drop(Old);
    }
    for (const CheckedClass &Class : Decided.Classes)
      if (!Known.count(Class.Class.Name))
        insert(renewed({}, Class));
    for (const PlanEntry &Entry : Result.Next.Classes) {
      ++(Entry.Converts ? Result.Converted : Result.Kept);
      Result.Yours += Entry.Advised.empty();
    }
    if (Foretold)
      predictPlan();
    addHead();
    if (Measured)
      addFindings();
    return std::move(Result);
  }

private:
  const Decision &Decided;
  const Plan &Before;
  const Costs *Measured;
  const Hints &Besides;
  const Thresholds &Limits;
  Predictor *Foretold;
  Rule Decides;
  std::map<std::string, ClassChoice> Choices; // empty without profiles
  StringRef Root;
  function_ref<bool(StringRef)> IsConverted;
  Advice Result;

  const CheckedClass *find(StringRef Name) const {
    auto Found = find_if(Decided.Classes,
                         [&](const CheckedClass &Class) { return Class.Class.Name == Name; });
    return Found == Decided.Classes.end() ? nullptr : &*Found;
  }

  std::string shortPath(StringRef File) const {
    if (File.consume_front(Root))
      File.consume_front("/");
    return File.str();
  }

  std::string place(const Position &At) const {
    return shortPath(At.File) + ":" + std::to_string(At.Line);
  }

  void change(const PlanEntry &Old, std::string Text, StringRef Code) {
    Result.Changes.push_back({Old.At, std::move(Text), Code.str()});
  }

  // --- Entries ----------------------------------------------------------------------------------

  // An entry is Relock's while it says what `advised` says, and no more.
  static bool isYours(const PlanEntry &Entry) {
    auto [Algorithm, Server] = StringRef(Entry.Advised).split(':');
    return Entry.Advised.empty() || Entry.Server != serverNumber(Server) ||
           Entry.Converts == (Entry.Advised == "keep") ||
           (!Entry.Algorithm.empty() && Entry.Algorithm != Algorithm);
  }

  // An entry that Relock keeps is not yours by an algorithm in it: that waits for the day when the
  // class converts.
  static bool isYourVerdict(const PlanEntry &Entry) {
    return isYours(Entry) && (Entry.Converts || Entry.Advised != "keep");
  }

  void chooseByCosts() {
    std::map<std::string, PersonsChoice> Yours;
    for (const PlanEntry &Old : Before.Classes)
      if (const CheckedClass *Class = find(Old.Class);
          Class && Class->converts() && isYourVerdict(Old))
        Yours[Old.Class] = {Old.Converts, usesServer(Old.Algorithm) ? Old.Server.value_or(1) : 0};
    const ProgramPrediction *Predicted = Foretold ? &Foretold->result() : nullptr;
    Choices = Chooser(Decided, *Measured, Limits, Predicted, Decides, Yours).run();
  }

  void predictPlan() {
    std::map<std::string, std::string> Algorithms;
    for (const PlanEntry &Entry : Result.Next.Classes)
      if (Entry.Converts)
        Algorithms[Entry.Class] = withServer(Entry.Algorithm, Entry.Server.value_or(1));
    if (Error Failed = Foretold->predictWhole(Algorithms))
      report("what all of the plan gains together is not predicted: " + toString(std::move(Failed)),
             "prediction-failed", true);
    else if (const std::optional<Gain> &Whole = Foretold->result().Whole)
      Result.Next.Predicted = formatv("{0:f2}-{1:f2}", Whole->Least, Whole->Most).str();
  }

  ClassChoice choiceFor(const CheckedClass &Class) const {
    auto Chosen = Choices.find(Class.Class.Name);
    if (Chosen != Choices.end())
      return Chosen->second;
    ClassChoice Default;
    Default.Algorithm = DefaultAlgorithm.str();
    return Default;
  }

  PlanEntry renewed(const PlanEntry &Old, const CheckedClass &Class) {
    bool Yours = !Old.Class.empty() && isYours(Old);
    bool YourVerdict = !Old.Class.empty() && isYourVerdict(Old);
    PlanEntry Next = Old;
    Next.Class = Class.Class.Name;
    if (!Yours) {
      Next.Algorithm.clear();
      Next.Server.reset();
    }
    if (Class.converts()) {
      ClassChoice Choice = choiceFor(Class);
      Next.Converts = YourVerdict ? Old.Converts : !Choice.Algorithm.empty();
      if (Next.Converts && !Yours) {
        Next.Algorithm = Choice.Algorithm;
        if (Choice.Server > 1)
          Next.Server = Choice.Server;
      } else if (Next.Converts && Next.Algorithm.empty()) {
        Next.Algorithm = DefaultAlgorithm.str();
      }
      if (Next.Converts)
        Next.Advised = Yours ? "" : withServer(Choice.Algorithm, Choice.Server);
      else
        Next.Advised = YourVerdict ? "" : "keep";
    } else {
      Next.Converts = false;
      Next.Advised = YourVerdict && !Old.Converts ? "" : "keep";
      const Reason &Why = Class.Class.Kept.front();
      if (!Old.Class.empty() && Old.Converts)
        change(Old,
               "'" + Old.Class + "' was to be converted, and is kept now: it " + Why.Message +
                   " (" + place(Why.At) + ")",
               "plan-kept");
    }
    Next.Remarks = remarks(Class);
    return Next;
  }

  PlanEntry converted(const PlanEntry &Old) const {
    PlanEntry Next = Old;
    Next.Remarks = {"converted by an earlier rewrite; relock_locks.h has its algorithm"};
    if (!Measured)
      return Next;
    if (auto Known = Measured->Unknown.find(Old.Class); Known != Measured->Unknown.end())
      Next.Remarks.push_back((Known->second.Timed ? "before that " : "since then ") +
                             figures(Known->second));
    return Next;
  }

  // Behind the entry whose name is the next smaller one: the entries need not be sorted.
  void insert(PlanEntry Entry) {
    auto &Classes = Result.Next.Classes;
    auto Behind = Classes.begin();
    std::string Largest;
    for (auto I = Classes.begin(); I != Classes.end(); ++I)
      if (I->Class < Entry.Class && I->Class >= Largest) {
        Largest = I->Class;
        Behind = std::next(I);
      }
    Classes.insert(Behind, std::move(Entry));
  }

  // What a person wrote is not lost: it stays as comments.
  void drop(const PlanEntry &Old) {
    bool Yours = isYours(Old) || !Old.Notes.empty() || !Old.Below.empty();
    change(
        Old,
        "the program has no lock class '" + Old.Class + "' any more" +
            (Yours ? "; its entry is a comment at the end of the plan now" : "; its entry is gone"),
        "plan-vanished");
    if (!Yours)
      return;
    std::vector<std::string> &End = Result.Next.Below;
    End.push_back("# The program has no more:");
    for (const std::string &Line : entryLines(Old)) {
      auto Note = Old.Notes.find(StringRef(Line).drop_front(2).split(':').first.str());
      if (Note != Old.Notes.end())
        append_range(End, Note->second.Above);
      bool Behind = Note != Old.Notes.end() && !Note->second.Behind.empty();
      End.push_back("#   " + Line + (Behind ? "  " + Note->second.Behind : ""));
    }
    append_range(End, Old.Below);
  }

  // --- Cuts -------------------------------------------------------------------------------------

  // The place of a cut follows the program's text.
  void addCuts() {
    for (PlanCut C : Before.Cuts) {
      C.File = shortPath(C.Flow.File);
      C.Line = C.Flow.Line;
      Result.Next.Cuts.push_back(std::move(C));
    }
    for (const AccidentalMerge &M : Decided.Merges) {
      std::vector<std::string> &Lines = Result.Next.CutRemarks;
      if (Lines.empty())
        Lines.push_back("What looks accidental (`relock explain accidental-merge`); to cut it, add "
                        "its lines to 'cuts':");
      Lines.push_back(describe(M));
      Lines.push_back("  - from: " + scalarText(M.From));
      Lines.push_back("    to: " + scalarText(M.To));
      Lines.push_back("    at: " + scalarText(place(M.At)));
    }
  }

  // --- Relock's comments ------------------------------------------------------------------------

  std::vector<std::string> remarks(const CheckedClass &Class) const {
    size_t Delegate = count_if(
        Class.Sections, [](const CheckedSection &S) { return S.Outcome == Verdict::Delegate; });
    std::vector<std::string> Lines;
    if (auto Chosen = Choices.find(Class.Class.Name); Chosen != Choices.end())
      Lines = Chosen->second.Remarks;
    if (auto Known = Besides.find(Class.Class.Name); Known != Besides.end())
      append_range(Lines, Known->second);
    std::string First = place(Class.Class.At) + "; " + counted(Class.Sections.size(), "section");
    if (Class.converts() && !Class.Sections.empty())
      First += (": " + Twine(Delegate) + " delegate, " + Twine(Class.Sections.size() - Delegate) +
                " hold")
                   .str();
    Lines.push_back(std::move(First));
    if (std::string Others = group(Class); !Others.empty())
      Lines.push_back("converted together with " + Others);
    if (Class.converts())
      addHolds(Class, Lines);
    else
      addKeeps(Class, Lines);
    return Lines;
  }

  // The first class of a group lists the others.
  std::string group(const CheckedClass &Class) const {
    std::vector<std::string> Names;
    for (const CheckedClass &Other : Decided.Classes)
      if (&Other != &Class && Other.Class.Group == Class.Class.Group)
        Names.push_back(Other.Class.Name);
    if (!Names.empty() && Names.front() < Class.Class.Name)
      return Names.front() + ", as listed there";
    return join(Names, ", ");
  }

  void addKeeps(const CheckedClass &Class, std::vector<std::string> &Lines) const {
    std::set<std::string> Codes;
    for (const Reason &R : Class.Class.Kept)
      if (Codes.insert(R.Code).second && Codes.size() <= MostReasons)
        Lines.push_back("keep [" + R.Code + "] " + place(R.At) + ": " + R.Message);
    addRest(Codes.size(), Lines);
  }

  // The codes that hold most sections, each with its first place.
  void addHolds(const CheckedClass &Class, std::vector<std::string> &Lines) const {
    struct Hold {
      size_t Sections = 0;
      const Reason *First = nullptr;
    };
    std::map<std::string, Hold> ByCode;
    for (const CheckedSection &S : Class.Sections) {
      std::set<std::string> Here;
      for (const Reason &R : S.Reasons) {
        Hold &Known = ByCode[R.Code];
        Known.Sections += Here.insert(R.Code).second;
        Known.First = Known.First ? Known.First : &R;
      }
    }
    std::vector<std::pair<std::string, Hold>> Sorted(ByCode.begin(), ByCode.end());
    stable_sort(Sorted,
                [](const auto &A, const auto &B) { return A.second.Sections > B.second.Sections; });
    for (const auto &[Code, Known] : ArrayRef(Sorted).take_front(MostReasons))
      Lines.push_back("hold [" + Code + "] " + counted(Known.Sections, "section") + ", " +
                      place(Known.First->At) + ": " + Known.First->Message);
    addRest(Sorted.size(), Lines);
  }

  static void addRest(size_t Codes, std::vector<std::string> &Lines) {
    if (Codes > MostReasons)
      Lines.push_back("and for " + counted(Codes - MostReasons, "other reason") +
                      ", which `relock check` lists");
  }

  void addHead() {
    size_t Sites = Decided.Uncovered.size(), Delegate = 0, Hold = 0;
    for (const CheckedClass &Class : Decided.Classes)
      for (const CheckedSection &S : Class.Sections) {
        ++Sites;
        Delegate += S.Outcome == Verdict::Delegate;
        Hold += S.Outcome == Verdict::Hold;
      }
    size_t Converting = count_if(Decided.Classes, [](auto &Class) { return Class.converts(); });
    std::vector<std::string> &Head = Result.Next.Remarks;
    Head = {
        "What `relock rewrite --plan` converts to what. Edit it; `relock advise -o` on this file",
        "brings it up to date and keeps your edits. Comments with `#.` are written anew each "
        "time."};
    if (Measured)
      addMeasured(Head);
    else
      Head.push_back("No profile was read: nothing here says what a lock costs, or whether another "
                     "would help.");
    Head.push_back((counted(Decided.Classes.size(), "lock class", "lock classes") + ", of which " +
                    Twine(Converting) + " can convert; " + counted(Sites, "lock site") + ": " +
                    Twine(Delegate) + " delegate, " + Twine(Hold) + " hold, " +
                    Twine(Sites - Delegate - Hold - Decided.Uncovered.size()) + " keep, " +
                    Twine(Decided.Uncovered.size()) + " uncovered.")
                       .str());
  }

  // --- What the profiles say --------------------------------------------------------------------

  void addMeasured(std::vector<std::string> &Head) const {
    for (const ProfileFile &File : Measured->Files) {
      std::string Text = "Profile " + File.File + ": " + timeText(File.Run.Duration) + " of " +
                         sys::path::filename(File.Run.Executable).str() + ", " +
                         counted(File.Run.Threads, "thread") + ", " +
                         counted(std::max(File.Run.Processors, 0), "processor");
      if (File.timed())
        Text += "; sections and the waiting for them: " + sectionShare(File.Run) +
                " of the threads' time" + asleep(File.Run);
      else
        Text += "; of librelock's own locks, without the threads' time";
      if (File.Run.Drops.any())
        Text += "; incomplete, see `relock report`";
      Head.push_back(Text + ".");
      if (File.timed())
        append_range(Head, waitsFor(File.Run));
      addRwlocks(File.Run, Head);
    }
    std::string Of = Limits.File.empty()
                         ? "shipped; `relock advise --find-thresholds` finds those of "
                           "a machine"
                         : "of " + Limits.File;
    Head.push_back("Thresholds (" + Of + "): lower " + percentText(Limits.Lower) + ", upper " +
                   percentText(Limits.Upper) + " of the threads' time in sections; waits " +
                   percentText(Limits.Waits) + ".");
    if (any_of(Measured->Files, [](const ProfileFile &File) {
          return File.timed() && !File.Run.hadProcessorsToSpare();
        }))
      Head.push_back("The time that threads sleep elsewhere (in poll, read, sleep) counts where no "
                     "other is named, and lowers every share.");
    if (Foretold)
      addPrediction(Head);
    else
      Head.push_back(
          "What a conversion gains is not predicted: measure before and after it, or give "
          "--machine.");
    if (isNothingToDo())
      Head.push_back(whyNothing("Nothing") + ".");
    if (std::string Text = hotClasses(); !Text.empty())
      Head.push_back("Hot, with their shares: " + Text + ".");
    for (const auto &[Name, Cost] : Measured->Unknown)
      if (!Cost.Converted && isHot(Cost, Limits))
        Head.push_back("Hot, and no lock class of this build: " + Name + " (" +
                       percentText(Cost.Share) + " of the threads' time; " + figures(Cost) +
                       "): " + Cost.WhyUnknown + ".");
  }

  // Of those that threads wait for.
  void addRwlocks(const Profile &Run, std::vector<std::string> &Head) const {
    for (const ProfiledClass &Class : Run.Classes)
      if (double(Class.waitTotal()) >= Limits.Waits * double(Run.busyTime().Least))
        if (std::string Text = rwlockHint(Class); !Text.empty())
          Head.push_back("The rwlock " + Class.Name + ": " + Text + ".");
  }

  // What cannot be converted, or only as sections that hold; most gain first.
  std::string blockedGains(const ProgramPrediction &P) const {
    std::vector<std::pair<double, std::string>> Blocked;
    for (const CheckedClass &Class : Decided.Classes) {
      auto Known = P.Classes.find(Class.Class.Name);
      if (Known == P.Classes.end())
        continue;
      const ClassPrediction &Of = Known->second;
      const std::string &Name = Class.Class.Name;
      if (!Class.converts() && !Of.Best.empty())
        Blocked.push_back({Of.ByAlgorithm.at(Of.Best).Likely,
                           "'" + Name + "' is kept (" + Class.Class.Kept.front().Code + "), " +
                               gainText(Of.ByAlgorithm.at(Of.Best))});
      else if (Class.converts() && Of.WithoutHolds)
        Blocked.push_back(
            {Of.WithoutHolds->Likely,
             "sections of '" + Name + "' hold, " + gainText(*Of.WithoutHolds) + " if none did"});
    }
    stable_sort(Blocked, [](const auto &A, const auto &B) { return A.first > B.first; });
    std::vector<std::string> Texts;
    for (auto &[Likely, Text] : Blocked)
      Texts.push_back(std::move(Text));
    return join(Texts, "; ");
  }

  void addPrediction(std::vector<std::string> &Head) const {
    const ProgramPrediction &P = Foretold->result();
    std::string Text = "Predicted for " + P.Machine + ", " + counted(P.Processors, "processor") +
                       ", with " + counted(P.Threads, "thread") + " that take locks";
    if (P.ScaledTo)
      Text += (Twine(" (") + Twine(P.ScaledTo) + " of '" + P.Scaled + "')").str();
    Text += ": they wait for locks " + percentText(P.WaitingThere) + " of their time";
    if (P.Threads <= P.Processors) // else they wait for processors as well, which is not counted
      Text += ", so that no lock makes the program more than " +
              gainText(1 / std::max(1 - P.WaitingThere, 0.01)) + " as fast";
    Head.push_back(Text + ".");
    if (P.Whole)
      Head.push_back("With this plan the program is " + gainText(*P.Whole) +
                     " as fast: likely, and the range in which it is nine times of ten.");
    Head.push_back("The same simulation of the profiled run: threads wait " +
                   percentText(P.SimulatedWaiting) + " of their time; they waited " +
                   percentText(P.ProfiledWaiting) + ", and slept elsewhere " +
                   percentText(P.ProfiledSleep) + ", which stays with any lock.");
    if (std::string Text = blockedGains(P); !Text.empty())
      Head.push_back("In the way of more: " + Text + ".");
  }

  static double shareOf(uint64_t Part, uint64_t Whole) {
    return Whole ? double(Part) / double(Whole) : 0;
  }

  static std::string range(std::string Least, const std::string &Most) {
    return Least == Most ? Most : Least + " to " + Most;
  }

  // Between two bounds where nobody knows how long sections slept; the shares of the classes are
  // the larger ones.
  static std::string sectionShare(const Profile &Run) {
    TimeRange Busy = Run.busyTime();
    return range(percentText(shareOf(Run.SectionTime, Busy.Most)),
                 percentText(shareOf(Run.SectionTime, Busy.Least)));
  }

  // What is not in the threads' time, of which the shares are.
  static std::string asleep(const Profile &Run) {
    if (TimeRange Busy = Run.busyTime(); Run.hadProcessorsToSpare())
      return ", which is here the " + range(timeText(Busy.Least), timeText(Busy.Most)) +
             " that they worked (on processors, waiting for locks, or asleep in sections), as the "
             "processors ran nothing most of the time; " +
             percentText(shareOf(Run.SectionTime, Run.ThreadTime)) + " of all that they lived";
    if (!Run.idleTime() || !Run.ThreadTime)
      return "";
    return " without the " + percentText(shareOf(Run.idleTime(), Run.ThreadTime)) +
           " that they waited for conditions, semaphores and barriers";
  }

  bool isNothingToDo() const {
    return Measured->Timed && !Result.Converted &&
           none_of(Choices, [](const auto &Choice) { return Choice.second.Hot; }) &&
           none_of(Measured->Unknown, [&](const auto &Class) {
             return !Class.second.Converted && isHot(Class.second, Limits);
           });
  }

  // The costliest first: `store.lock (21 %, adaptive), region.mutex (17 %, kept)`.
  std::string hotClasses() const {
    std::vector<std::pair<double, const PlanEntry *>> Hot;
    for (const PlanEntry &Entry : Result.Next.Classes)
      if (auto Chosen = Choices.find(Entry.Class); Chosen != Choices.end() && Chosen->second.Hot)
        Hot.push_back({Measured->Classes.at(Entry.Class).Share, &Entry});
    stable_sort(Hot, [](const auto &A, const auto &B) { return A.first > B.first; });
    std::string Text;
    for (auto [Share, Entry] : Hot)
      Text += (Text.empty() ? "" : ", ") + Entry->Class + " (" + percentText(Share) + ", " +
              (Entry->Converts ? Entry->Algorithm : "kept") + ")";
    return Text;
  }

  std::string whyNothing(StringRef Nothing) const {
    const std::pair<const std::string, ClassCost> *Costliest = nullptr;
    for (const auto &Class : Measured->Classes)
      if (!Costliest || Class.second.Share > Costliest->second.Share)
        Costliest = &Class;
    const std::string Profiled = counted(Measured->Processors, "processor");
    std::string Text = Nothing.str() + " to do on ";
    if (Foretold && Decides != Rule::Thresholds) // what speaks is the other machine
      Text += Foretold->result().Machine + ", " +
              counted(Foretold->result().Processors, "processor") + ": as profiled, on " +
              Profiled + ", ";
    else
      Text += Profiled + ": ";
    Text += "sections and the waiting for them take " + percentText(Measured->sectionShare()) +
            " of the threads' time";
    if (!Costliest)
      return Text + ", and none is of a lock class of this build";
    return Text + "; '" + Costliest->first + "', the costliest, is " +
           Choices.at(Costliest->first).Remarks.front();
  }

  void addFindings() {
    for (const ProfileFile &File : Measured->Files)
      if (!File.timed())
        report("the profile " + File.File +
                   " is librelock's: it has only locks that are converted, and not the time of "
                   "the threads, so that the cost of a lock is not known from it",
               "profile-counts", false);
    for (const CheckedClass &Class : Decided.Classes)
      if (auto Chosen = Choices.find(Class.Class.Name);
          Chosen != Choices.end() && Chosen->second.Hot && !Class.converts())
        addHotKept(Class);
    addUnknown();
    if (isNothingToDo())
      report(whyNothing("nothing"), "nothing-to-do", false);
  }

  void report(std::string Text, StringRef Code, bool LookAtThis) {
    Result.Findings.push_back({std::move(Text), Code.str(), LookAtThis});
  }

  void addHotKept(const CheckedClass &Class) {
    const Reason &Why = Class.Class.Kept.front();
    report("'" + Class.Class.Name + "' takes " +
               percentText(Measured->Classes.at(Class.Class.Name).Share) +
               " of the threads' time, and cannot be converted: it " + Why.Message + " (" +
               place(Why.At) + ")",
           "hot-kept", true);
  }

  void addUnknown() {
    std::vector<std::pair<double, std::string>> Cold;
    std::set<std::string> Why;
    for (const auto &[Name, Cost] : Measured->Unknown)
      if (Cost.Converted)
        continue;
      else if (isHot(Cost, Limits))
        report("'" + Name + "' takes " + percentText(Cost.Share) +
                   " of the threads' time, and is no lock class of this build: " + Cost.WhyUnknown,
               "hot-unknown", true);
      else
        Cold.push_back({Cost.Share, Name}), Why.insert(Cost.WhyUnknown);
    if (Cold.empty())
      return;
    sort(Cold, [](const auto &A, const auto &B) {
      return A.first != B.first ? A.first > B.first : A.second < B.second;
    });
    std::string Names;
    for (const auto &[Share, Name] : ArrayRef(Cold).take_front(MostNames))
      Names += (Names.empty() ? "'" : ", '") + Name + "' (" + percentText(Share) + ")";
    if (Cold.size() > MostNames)
      Names += " and " + counted(Cold.size() - MostNames, "other");
    report(counted(Cold.size(), "profiled lock") +
               (Cold.size() == 1 ? ", which is not hot, is no lock class"
                                 : ", none of them hot, are no lock classes") +
               " of this build: " + Names + (Why.size() == 1 ? "; " + *Why.begin() : ""),
           "profile-unmatched", false);
  }
};

} // namespace

Advice advise(const Decision &Decided, const Plan &Before, const Costs *Measured,
              const Hints &Besides, const Thresholds &Limits, Predictor *Foretold, Rule Decides,
              StringRef Root, function_ref<bool(StringRef)> IsConverted) {
  return Adviser(Decided, Before, Measured, Besides, Limits, Foretold, Decides, Root, IsConverted)
      .run();
}

} // namespace relock
