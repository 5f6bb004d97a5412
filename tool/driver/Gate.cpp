// SPDX-License-Identifier: MIT
#include "driver/Gate.h"

#include "driver/ChangedLines.h"
#include "driver/Check.h"
#include "driver/Subcommand.h"
#include "driver/SuppressComments.h"
#include "support/Messages.h"
#include "support/Output.h"
#include "support/Yaml.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace relock {

bool GateOptions::any() const {
  return FailOn || Only || BaselineFile || WriteBaseline || Since || Github;
}

// --- Options -------------------------------------------------------------------------------------

static bool wrongTogether(const GateOptions &Options) {
  if (!Options.WriteBaseline ||
      !(Options.BaselineFile || Options.Since || Options.FailOn || Options.Github))
    return false;
  message("--write-baseline writes all findings, or those of --only; --baseline, --diff, --fail-on "
          "and --github do not go with it",
          "usage");
  return true;
}

// False: a message was printed.
static bool readBaseline(StringRef File, Baseline &Read) {
  Expected<Baseline> Known = Baseline::read(File);
  if (Known) {
    Read = std::move(*Known);
    return true;
  }
  reportYaml(Known.takeError(), "baseline-file");
  return false;
}

// What is not said of the two filters follows from what is: what fails is reported, and what is
// asked for fails.
static bool readFilters(const GateOptions &Options, FindingFilter &FailOn, FindingFilter &Only) {
  FailOn = Only = FindingFilter::byDefault();
  std::optional<FindingFilter> Read;
  // A baseline is for whatever it will be compared with.
  std::optional<std::string> Asked = Options.Only;
  if (Options.WriteBaseline && !Asked)
    Asked = "any";
  if (Asked) {
    if (!(Read = FindingFilter::parse(*Asked, "--only")))
      return false;
    FailOn = Only = *Read;
  }
  if (Options.FailOn) {
    if (!(Read = FindingFilter::parse(*Options.FailOn, "--fail-on")))
      return false;
    FailOn = *Read;
    if (!Options.Only && FailOn.hasAny())
      Only = FailOn;
  }
  return true;
}

std::optional<Gate> Gate::open(const GateOptions &Options) {
  Gate Result;
  Result.Options = Options;
  if (wrongTogether(Options) || !readFilters(Options, Result.FailOn, Result.Only))
    return std::nullopt;
  std::optional<std::string> File = Options.BaselineFile;
  // What is there and no baseline is not replaced.
  if (Options.WriteBaseline && sys::fs::is_regular_file(*Options.WriteBaseline))
    File = Options.WriteBaseline;
  if (File && !readBaseline(*File, Result.Known))
    return std::nullopt;
  return Result;
}

// --- Judging -------------------------------------------------------------------------------------

static void applyComments(JudgedFinding &Each, SuppressComments &Comments) {
  const SuppressComment *Comment = Comments.suppressing(Each.Found);
  if (!Comment)
    return;
  Each.State = FindingState::Suppressed;
  Each.Because = Comment->Because;
}

std::vector<JudgedFinding> judgeByComments(const IndexResult &Index, const Decision &Decided) {
  std::vector<JudgedFinding> Result;
  SuppressComments Comments(Index);
  for (Finding &F : findingsOf(Decided))
    applyComments(Result.emplace_back(JudgedFinding{std::move(F)}), Comments);
  return Result;
}

// Of several that the baseline does not tell apart, those on lines that did not change are the old
// ones.
void Gate::coverByBaseline() {
  std::vector<JudgedFinding *> Order;
  for (JudgedFinding &Each : All)
    if (Each.State != FindingState::Suppressed)
      Order.push_back(&Each);
  std::stable_partition(Order.begin(), Order.end(), [](const JudgedFinding *Each) {
    return Each->State == FindingState::Unchanged;
  });
  for (JudgedFinding *Each : Order) {
    const FindingKey Key = keyOf(Each->Found, Root);
    const Baseline::Entry *Entry = Known.cover(Key);
    if (!Entry) {
      Each->Known = Known.known(Key);
      continue;
    }
    Each->State = FindingState::Known;
    Each->Because = Entry->Because;
  }
}

namespace {

// Where functions begin: with the next one, at the latest, one ends.
class FunctionLines {
public:
  explicit FunctionLines(const IndexResult &Index) {
    for (const auto &F : distinct(Index.Units, &UnitFacts::Functions))
      if (F->Defined)
        Begins[F->At.File].insert(F->At.Line);
  }
  unsigned endOf(const Position &At) const {
    auto File = Begins.find(At.File);
    if (File == Begins.end())
      return ~0u;
    auto Next = File->second.upper_bound(At.Line);
    return Next == File->second.end() ? ~0u : *Next;
  }

private:
  std::map<std::string, std::set<unsigned>> Begins;
};

} // namespace

// A place of the finding has changed; or its section, which begins at its lock, has lost lines: an
// unlock has no place any more where it could be seen.
static bool isChanged(const Finding &F, ChangedLines &Changed, const FunctionLines &Functions) {
  return any_of(F.places(), [&](const Position &At) { return Changed.has(At); }) ||
         (F.Kind == FindingKind::Hold && Changed.lostBetween(F.at(), Functions.endOf(F.at())));
}

bool Gate::judge(const IndexResult &Index, const Decision &Decided) {
  Root = Index.Root;
  Unseen = Decided.OrderUnseen.size();
  std::optional<ChangedLines> Changed;
  if (Options.Since) {
    Expected<ChangedLines> Found = ChangedLines::since(Root, *Options.Since);
    if (!Found) {
      message("--diff " + *Options.Since + ": " + toString(Found.takeError()), "changed-lines");
      return false;
    }
    Changed = std::move(*Found);
  }
  const FunctionLines Functions(Index);
  SuppressComments Comments(Index);
  for (Finding &F : findingsOf(Decided)) {
    JudgedFinding &Each = All.emplace_back(JudgedFinding{std::move(F)});
    if (Changed && !isChanged(Each.Found, *Changed, Functions))
      Each.State = FindingState::Unchanged;
    applyComments(Each, Comments);
  }
  if (Options.BaselineFile)
    coverByBaseline();
  const FindingFilter Judged = Only | FailOn;
  // Nothing but what is stale is asked for: of all that was looked for.
  const FindingFilter Codes = Judged.hasAny() ? Judged : FindingFilter::byDefault();
  Stale = Comments.reportUnused(Codes);
  if (Options.BaselineFile)
    Stale += Known.reportStale(Codes);
  erase_if(All, [&](const JudgedFinding &Each) { return !Judged.has(Each.Found); });
  for (JudgedFinding &Each : All)
    Each.Fails = Each.State == FindingState::Open && FailOn.has(Each.Found);
  return true;
}

// --- Showing -------------------------------------------------------------------------------------

static std::string shownMessage(const JudgedFinding &Each) {
  if (!Each.Known)
    return Each.Found.Message;
  return Each.Found.Message + " (more than the " + std::to_string(Each.Known) +
         " like it in the baseline; which of them are new is not known)";
}

void Gate::print(raw_ostream &OS) const {
  for (const JudgedFinding &Each : All) {
    if (Each.State != FindingState::Open)
      continue;
    const Finding &F = Each.Found;
    OS << shownPlace(F.at()) << ": " << shownMessage(Each) << " [" << F.Why.Code << "]\n";
    if (F.Kind != FindingKind::LockOrder)
      continue;
    auto Edge = F.Edges.begin();
    for (const Step &Next : F.Why.Way) {
      bool Begins = Edge != F.Edges.end() && Edge->At == Next.At && Edge->Text == Next.Text;
      Edge += Begins;
      OS << (Begins ? "  " : "    ") << shownPlace(Next.At) << ": " << Next.Text << "\n";
    }
  }
}

static StringRef stateName(FindingState State) {
  return State == FindingState::Open         ? "open"
         : State == FindingState::Suppressed ? "suppressed"
         : State == FindingState::Known      ? "baseline"
                                             : "unchanged";
}

void Gate::printJson(raw_ostream &OS) const {
  json::OStream J(OS, 1);
  J.object([&] {
    J.attribute("version", 1);
    J.attribute("failing", count_if(All, [](const JudgedFinding &Each) { return Each.Fails; }));
    J.attribute("stale", Stale);
    J.attributeArray("findings", [&] {
      for (const JudgedFinding &Each : All)
        J.object([&] {
          const Finding &F = Each.Found;
          J.attribute("kind", kindName(F.Kind));
          J.attribute("code", F.Why.Code);
          J.attribute("message", F.Message);
          J.attribute("location", shownPlace(F.at()));
          J.attribute("class", F.Class);
          if (!F.Function.empty())
            J.attribute("function", F.Function);
          if (F.Kind == FindingKind::LockOrder)
            J.attribute("sure", F.Sure);
          J.attribute("state", stateName(Each.State));
          J.attribute("fails", Each.Fails);
          if (!Each.Because.empty())
            J.attribute("because", Each.Because);
          writeWay(J, F.Why.Way);
        });
    });
  });
  OS << "\n";
}

int Gate::writeBaseline(const IndexResult &Index) const {
  if (!Index.Unparsed.empty() || Index.Broken) {
    message("a baseline is written when every file is known; nothing was written", "unparsed");
    return BadUsage;
  }
  std::vector<const Finding *> Findings;
  for (const JudgedFinding &Each : All)
    if (Each.State == FindingState::Open)
      Findings.push_back(&Each.Found);
  Baseline Written = Baseline::of(Findings, Root);
  Written.takeReasons(Known);
  StringRef File = *Options.WriteBaseline;
  if (File == "-") {
    Written.write(outs());
    return Done;
  }
  if (Error Failed = writeAtomically(File, [&](raw_ostream &OS) { Written.write(OS); })) {
    messageFor(File, "cannot be written: " + toString(std::move(Failed)), "cannot-write");
    return BadUsage;
  }
  messageFor(File,
             "has " + std::to_string(Written.findings()) +
                 (Written.findings() == 1 ? " finding" : " findings") +
                 "; look through them, and run `relock check --baseline`",
             "baseline-written");
  return Done;
}

size_t Gate::countState(FindingState State) const {
  return count_if(All, [&](const JudgedFinding &Each) { return Each.State == State; });
}

static void addCount(SmallVectorImpl<std::string> &Counts, size_t N, StringRef What) {
  if (N)
    Counts.push_back((Twine(N) + " " + What).str());
}

int Gate::conclude() const {
  std::map<FindingKind, size_t> Failing;
  size_t Fails = 0;
  for (const JudgedFinding &Each : All)
    if (Each.Fails)
      ++Failing[Each.Found.Kind], ++Fails;
  const size_t StaleFails = FailOn.wantsStale() ? Stale : 0;
  SmallVector<std::string> Kinds, Others;
  for (const auto &[Kind, N] : Failing)
    addCount(Kinds, N, kindName(Kind));
  addCount(Kinds, StaleFails, "stale");
  addCount(Others, countState(FindingState::Open) - Fails, "reported only");
  addCount(Others, countState(FindingState::Suppressed), "suppressed by comments");
  addCount(Others, countState(FindingState::Known), "in the baseline");
  addCount(Others, countState(FindingState::Unchanged), "where nothing changed");
  if (wantsLockOrder())
    addCount(Others, Unseen,
             Unseen == 1 ? "place not followed (relock check --lock-order)"
                         : "places not followed (relock check --lock-order)");
  std::string Rest = Others.empty() ? "" : "; besides, " + join(Others, ", ");
  outs().flush();
  Fails += StaleFails;
  if (!Fails) {
    message("no finding fails the check" + Rest, "gate-passed");
    return Done;
  }
  message(std::to_string(Fails) + (Fails == 1 ? " finding fails" : " findings fail") +
              " the check: " + join(Kinds, ", ") + Rest +
              "; `relock explain CODE` says what helps, and `relock explain gate-failed` how to "
              "let one pass",
          "gate-failed");
  return LookAtThis;
}

} // namespace relock
