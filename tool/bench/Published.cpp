// SPDX-License-Identifier: MIT
#include "bench/Published.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace relock {

// published.json, as the build has it.
static const char *const Text[] = {
#include "Published.inc"
};

static std::string text(const json::Object &From, StringRef Key) {
  return From.getString(Key).value_or("").str();
}

static PublishedCell readCell(const json::Object &From) {
  return {text(From, "lock"), text(From, "mode"), From.getInteger("threads").value_or(0),
          From.getInteger("lines").value_or(0)};
}

static PublishedRow readRow(const json::Object &From, double Clock) {
  PublishedRow Row;
  Row.Name = text(From, "name");
  Row.Published = From.getNumber("published");
  if (Row.Published)
    *Row.Published -= Clock;
  Row.Above = From.getNumber("above");
  Row.Below = From.getNumber("below");
  Row.Of = readCell(*From.getObject("of"));
  if (const json::Object *To = From.getObject("to"))
    Row.To = readCell(*To);
  Row.Crossing = text(From, "crossing");
  if (const json::Object *Here = From.getObject("here")) {
    Row.HereOf = text(*Here, "of");
    Row.HereTo = text(*Here, "to");
  }
  return Row;
}

static PublishedExperiment readExperiment(const json::Object &From) {
  PublishedExperiment E;
  E.Name = text(From, "name");
  E.Title = text(From, "title");
  E.From = text(From, "from");
  E.Machine = text(From, "machine");
  E.Remark = text(From, "remark");
  E.Unit = text(From, "unit");
  E.Uses = text(From, "uses");
  E.Measure = text(From, "measure");
  E.Tune = text(From, "tune");
  E.Clock = From.getNumber("clock").value_or(0);
  E.Decimals = int(From.getInteger("decimals").value_or(0));
  if (const json::Object *Run = From.getObject("run"))
    for (const auto &[Key, Value] : *Run)
      E.Run[Key.str()] = Value.getAsString().value_or("").str();
  for (const json::Value &Row : *From.getArray("rows"))
    E.Rows.push_back(readRow(*Row.getAsObject(), E.Clock));
  return E;
}

const PublishedExperiment *PublishedSource::find(StringRef Name) const {
  auto Found = find_if(Experiments, [&](const auto &E) { return E.Name == Name; });
  return Found == Experiments.end() ? nullptr : &*Found;
}

// A ratio of two figures that stand in another table is not written down twice.
static void deriveRatios(PublishedSource &Source) {
  for (PublishedExperiment &E : Source.Experiments) {
    const PublishedExperiment *Base = Source.find(E.Uses);
    auto Figure = [&](StringRef Lock) -> std::optional<double> {
      for (const PublishedRow &Row : Base->Rows)
        if (Row.Of.Lock == Lock)
          return Row.Published;
      return std::nullopt;
    };
    for (PublishedRow &Row : E.Rows)
      if (Base && Row.To && Figure(Row.Of.Lock) && Figure(Row.To->Lock))
        Row.Published = *Figure(Row.Of.Lock) / *Figure(Row.To->Lock);
  }
}

PublishedSource publishedSource(StringRef Name) {
  const json::Value All = cantFail(json::parse(Text[0]));
  const json::Object &From = *All.getAsObject()->getObject(Name);
  PublishedSource Source;
  Source.Name = Name.str();
  Source.Source = text(From, "source");
  for (const json::Value &Each : *From.getArray("experiments"))
    Source.Experiments.push_back(readExperiment(*Each.getAsObject()));
  for (const json::Value &Each : *From.getArray("missing")) {
    const json::Object &Missing = *Each.getAsObject();
    Source.Missing.push_back({text(Missing, "what"), text(Missing, "from"), text(Missing, "why")});
  }
  deriveRatios(Source);
  return Source;
}

namespace {

double median(const BenchCell &Cell, function_ref<double(const BenchSample &)> Value) {
  std::vector<double> Values;
  for (const BenchSample &S : Cell.Samples)
    Values.push_back(Value(S));
  return spread(Values).Median;
}

// The figures of one run.
class Run {
public:
  Run(const BenchResults &Results, StringRef Measure) : Results(Results), Measure(Measure) {}

  const BenchCell *find(const PublishedCell &Wanted, int64_t Delay = -1) const {
    const BenchCell *Found = nullptr;
    for (const BenchCell &Cell : Results.Cells) {
      const BenchRow &Row = Results.Rows[Cell.Row];
      if (Row.Lock != Wanted.Lock || (!Wanted.Mode.empty() && Row.Mode != Wanted.Mode) ||
          (Wanted.Threads && Cell.Threads != Wanted.Threads) ||
          (Wanted.Lines && Cell.Lines != Wanted.Lines) || (Delay >= 0 && Cell.Delay != Delay))
        continue;
      if (!Found || Row.Mode == "any-thread")
        Found = &Cell;
    }
    return Found;
  }
  double figure(const BenchCell &Cell) const {
    return median(Cell, [&](const BenchSample &S) {
      if (Measure == "rate")
        return S.throughput();
      if (Measure == "round")
        return S.Seconds * 1e9 * double(Cell.Threads) / S.Operations;
      return Measure == "microseconds" ? S.MeanNs / 1000 : S.MeanNs * S.CyclesPerNs[0];
    });
  }
  bool isFaster(const BenchCell &One, const BenchCell &Other) const {
    return Measure == "rate" ? figure(One) > figure(Other) : figure(One) < figure(Other);
  }

  std::vector<int64_t> values(bool OfDelay) const {
    std::vector<int64_t> Values;
    for (const BenchCell &Cell : Results.Cells)
      Values.push_back(OfDelay ? Cell.Delay : Cell.Threads);
    sort(Values);
    Values.erase(llvm::unique(Values), Values.end());
    return Values;
  }

  // The largest delay up to which it is the fastest of all.
  std::optional<double> lastDelay(const PublishedCell &Of) const {
    std::optional<double> Last;
    for (int64_t Delay : values(true)) {
      const BenchCell *Own = find(Of, Delay);
      for (const BenchCell &Cell : Results.Cells)
        if (!Own || (Cell.Delay == Delay && Cell.Row != Own->Row && !isFaster(*Own, Cell)))
          return Last;
      Last = double(Delay);
    }
    return Last;
  }

  // The least number of threads from which on it is faster.
  std::optional<double> firstThreads(PublishedCell Of, PublishedCell To) const {
    std::optional<double> First;
    for (int64_t Threads : values(false)) {
      Of.Threads = To.Threads = Threads;
      const BenchCell *One = find(Of), *Other = find(To);
      if (!One || !Other)
        continue;
      if (!isFaster(*One, *Other))
        First = std::nullopt;
      else if (!First)
        First = double(Threads);
    }
    return First;
  }

private:
  const BenchResults &Results;
  const std::string Measure;
};

std::string cellName(const PublishedCell &Cell) {
  return Cell.Lock + (Cell.Threads ? " with " + std::to_string(Cell.Threads) + " threads" : "");
}

void cross(const PublishedRow &Row, const Run &Figures, ReproducedRow &New) {
  const bool IsOfDelay = Row.Crossing == "delay";
  New.Obtained = IsOfDelay ? Figures.lastDelay(Row.Of) : Figures.firstThreads(Row.Of, *Row.To);
  if (!New.Obtained)
    New.Why = IsOfDelay ? "it never is, at these delays" : "it never is, with these numbers";
}

void measure(const PublishedRow &Row, const Run &Figures, ReproducedRow &New) {
  const BenchCell *Of = Figures.find(Row.Of), *To = Row.To ? Figures.find(*Row.To) : nullptr;
  if (!Of || (Row.To && !To)) {
    New.Why = "the run has no " + cellName(Of ? *Row.To : Row.Of);
    return;
  }
  New.Obtained = Figures.figure(*Of) / (To ? Figures.figure(*To) : 1);
  const double Misses = median(*Of, [](const BenchSample &S) { return S.Misses / S.Operations; });
  if (!To && Misses > 0)
    New.Misses = Misses;
}

} // namespace

Reproduced reproduce(const PublishedSource &Source, const PublishedExperiment &Experiment,
                     const BenchResults &Results, bool IsHere) {
  const PublishedExperiment *Base = Source.find(Experiment.Uses);
  const Run Figures(Results, (Base ? *Base : Experiment).Measure);
  Reproduced R = {&Experiment, Results.Machine.getString("name").value_or("").str(), {}};
  for (PublishedRow Row : Experiment.Rows) {
    if (IsHere && !Row.HereOf.empty()) {
      Row.Of = {Row.HereOf, ""};
      Row.To = PublishedCell{Row.HereTo, ""};
    }
    ReproducedRow &New = R.Rows.emplace_back();
    New.Name = Row.Name;
    New.IsCount = !Row.Crossing.empty();
    New.Published = Row.Published;
    New.Above = Row.Above;
    New.Below = Row.Below;
    if (Row.Crossing.empty())
      measure(Row, Figures, New);
    else
      cross(Row, Figures, New);
  }
  return R;
}

std::optional<double> ReproducedRow::error() const {
  if (!Published || !Obtained)
    return std::nullopt;
  return *Obtained / *Published - 1;
}

std::optional<bool> ReproducedRow::holds() const {
  if (!Obtained || (!Above && !Below))
    return std::nullopt;
  return Above ? *Obtained > *Above : *Obtained < *Below;
}

} // namespace relock
