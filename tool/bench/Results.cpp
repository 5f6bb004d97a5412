// SPDX-License-Identifier: MIT
#include "bench/Results.h"

#include "support/Json.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace relock {

size_t BenchResults::row(StringRef Lock, StringRef Mode) {
  for (size_t I = 0; I < Rows.size(); ++I)
    if (Rows[I].Lock == Lock && Rows[I].Mode == Mode)
      return I;
  Rows.push_back({Lock.str(), Mode.str()});
  return Rows.size() - 1;
}

// The latest cells are asked for most.
BenchCell &BenchResults::cell(const BenchCell &Place) {
  for (auto C = Cells.rbegin(); C != Cells.rend(); ++C)
    if (C->Row == Place.Row && C->Lines == Place.Lines && C->Delay == Place.Delay &&
        C->Threads == Place.Threads)
      return *C;
  Cells.push_back(Place);
  return Cells.back();
}

BenchUncontended &BenchResults::uncontended(size_t Row) {
  for (BenchUncontended &U : Uncontended)
    if (U.Row == Row)
      return U;
  Uncontended.push_back({Row, {}, {}, {}});
  return Uncontended.back();
}

namespace {

// Reads the members of a line; the first that is missing or wrong is remembered.
class ResultReader {
public:
  explicit ResultReader(const json::Object &Line) : Line(Line) {}
  StringRef text(StringRef Key) {
    std::optional<StringRef> Value = Line.getString(Key);
    note(Key, Value.has_value());
    return Value.value_or("");
  }
  int64_t integer(StringRef Key) {
    std::optional<int64_t> Value = Line.getInteger(Key);
    note(Key, Value && *Value >= 0);
    return Value.value_or(0);
  }
  double number(StringRef Key) {
    std::optional<double> Value = Line.getNumber(Key);
    note(Key, Value && std::isfinite(*Value) && *Value >= 0);
    return Value.value_or(0);
  }
  BenchAround around(StringRef Key) {
    BenchAround Values = {};
    const json::Array *Both = Line.getArray(Key);
    bool Right = Both && Both->size() == Values.size();
    for (size_t I = 0; Right && I < Values.size(); ++I) {
      std::optional<double> Value = (*Both)[I].getAsNumber();
      Right = Value && std::isfinite(*Value) && *Value >= 0;
      Values[I] = Value.value_or(0);
    }
    note(Key, Right);
    return Values;
  }
  Error error() const {
    if (Wrong.empty())
      return Error::success();
    return createStringError("a result lacks '" + Wrong + "', or has it in the wrong form");
  }

private:
  void note(StringRef Key, bool Right) {
    if (!Right && Wrong.empty())
      Wrong = Key.str();
  }
  const json::Object &Line;
  std::string Wrong;
};

} // namespace

static std::vector<BenchPlace> readPlaces(const json::Array &Places) {
  std::vector<BenchPlace> Read;
  for (const json::Value &Each : Places)
    if (const json::Object *Place = Each.getAsObject())
      Read.push_back({uint64_t(Place->getInteger("address").value_or(0)),
                      Place->getNumber("misses").value_or(0),
                      Place->getNumber("cycles").value_or(0)});
  return Read;
}

Error BenchResults::add(const json::Object &Line) {
  ResultReader R(Line);
  StringRef Type = R.text("type");
  if (Type == "machine") {
    if (R.text("format") != "relock-bench" || R.integer("version") != 2)
      return createStringError("it is not relock-bench, or another version of it");
    Expected = R.integer("cells");
    for (const auto &[Key, Value] : Line)
      if (Key != "type" && Key != "format" && Key != "version")
        Machine.try_emplace(Key, Value);
  } else if (Type == "cell") {
    BenchCell Place = {row(R.text("lock"), R.text("mode")),
                       R.integer("lines"),
                       R.integer("delay"),
                       R.integer("threads"),
                       {}};
    BenchSample Sample = {R.integer("repetition"), R.number("operations"),
                          R.number("seconds"),     R.number("mean_ns"),
                          R.number("p99_ns"),      R.number("worst_ns"),
                          R.number("jain"),        R.number("switches_per_second"),
                          R.around("transfer_ns"), R.around("cycles_per_ns"),
                          R.number("ticks_per_ns")};
    if (hasLengths()) {
      Sample.ServiceJain = R.number("service_jain");
      Sample.Work = R.number("work");
    }
    Sample.Misses = Line.getNumber("misses").value_or(0);
    if (Error E = R.error())
      return E;
    if (Sample.Seconds == 0)
      return createStringError("a result took no time");
    BenchCell &Cell = cell(Place);
    Cell.Samples.push_back(Sample);
    if (const json::Array *Places = Line.getArray("places"))
      Cell.Places = readPlaces(*Places);
    ++Received;
  } else if (Type == "uncontended") {
    BenchUncontended &U = uncontended(row(R.text("lock"), R.text("mode")));
    U.Ns.push_back(R.number("ns"));
    U.NsWithoutThreads.push_back(R.number("ns_without_threads"));
    U.CyclesPerNs.push_back(R.number("cycles_per_ns"));
    ++Received;
  } else if (Type == "end") {
    Complete = Received == Expected;
  } else {
    return createStringError("a line of unknown type '" + Type + "'");
  }
  return R.error();
}

Error BenchResults::addLine(StringRef Line) {
  llvm::Expected<json::Value> Parsed = parseJson(Line);
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return createStringError("a line that is no JSON: '" + Line.trim().take_front(60) + "'");
  }
  const json::Object *Object = Parsed->getAsObject();
  if (!Object)
    return createStringError("a line that is no JSON object");
  return add(*Object);
}

std::vector<BenchPoint> BenchResults::points() const {
  std::vector<BenchPoint> Points;
  for (const BenchCell &C : Cells)
    if (BenchPoint Point = {C.Lines, C.Delay}; !is_contained(Points, Point))
      Points.push_back(Point);
  return Points;
}

std::vector<int64_t> BenchResults::threads(const BenchPoint &Point) const {
  std::vector<int64_t> Threads;
  for (const BenchCell &C : Cells)
    if (BenchPoint{C.Lines, C.Delay} == Point && !is_contained(Threads, C.Threads))
      Threads.push_back(C.Threads);
  llvm::sort(Threads);
  return Threads;
}

const BenchCell *BenchResults::find(size_t Row, const BenchPoint &Point, int64_t Threads) const {
  for (const BenchCell &C : Cells)
    if (C.Row == Row && BenchPoint{C.Lines, C.Delay} == Point && C.Threads == Threads)
      return &C;
  return nullptr;
}

Spread spread(std::vector<double> Values) {
  if (Values.empty())
    return {};
  llvm::sort(Values);
  size_t Count = Values.size();
  return {(Values[(Count - 1) / 2] + Values[Count / 2]) / 2, Values.front(), Values.back()};
}

Spread spread(const BenchCell &Cell, double (*Value)(const BenchSample &)) {
  std::vector<double> Values;
  for (const BenchSample &S : Cell.Samples)
    Values.push_back(Value(S));
  return spread(std::move(Values));
}

std::vector<double> both(const BenchCell &Cell, BenchAround BenchSample::*Member) {
  std::vector<double> Values;
  for (const BenchSample &S : Cell.Samples)
    append_range(Values, S.*Member);
  return Values;
}

std::optional<size_t> BenchResults::baseline() const {
  std::optional<StringRef> Name = Machine.getString("baseline");
  for (size_t Row = 0; Name && Row < Rows.size(); ++Row)
    if (Rows[Row].name() == *Name)
      return Row;
  return std::nullopt;
}

const BenchUncontended *BenchResults::uncontendedBaseline() const {
  for (const BenchUncontended &U : Uncontended)
    if (U.Row == baseline())
      return &U;
  return nullptr;
}

relock_bench_ratio ratio(const BenchCell &Tried, const BenchCell &Against) {
  std::vector<double> Ratios;
  for (const BenchSample &T : Tried.Samples)
    for (const BenchSample &A : Against.Samples)
      if (T.Repetition == A.Repetition && A.Operations > 0 &&
          relock_bench_comparable(T.TransferNs.data(), A.TransferNs.data()))
        Ratios.push_back(T.rate() / A.rate());
  return relock_bench_ratio_of(Ratios.data(), int(Ratios.size()));
}

relock_bench_ratio ratio(const BenchUncontended &Tried, const BenchUncontended &Against) {
  std::vector<double> Ratios;
  for (size_t I = 0; I < std::min(Tried.Ns.size(), Against.Ns.size()); ++I)
    if (Tried.Ns[I] > 0)
      Ratios.push_back(Against.Ns[I] / Tried.Ns[I]);
  return relock_bench_ratio_of(Ratios.data(), int(Ratios.size()));
}

static void writeRatio(json::OStream &J, const relock_bench_ratio &Ratio) {
  static constexpr StringRef Told[] = {"too few pairs", "not told apart", "slower", "faster"};
  std::string Text;
  raw_string_ostream(Text) << format(
      R"({"median": %.9g, "low": %.9g, "high": %.9g, "pairs": %d, "told": ")", Ratio.median,
      Ratio.low, Ratio.high, Ratio.pairs);
  J.attributeBegin("ratio");
  J.rawValue(Text + Told[Ratio.told].str() + "\"}");
  J.attributeEnd();
}

static void writeSpread(json::OStream &J, StringRef Name, const Spread &S) {
  std::string Text;
  raw_string_ostream(Text) << format(R"({"median": %.9g, "least": %.9g, "most": %.9g})", S.Median,
                                     S.Least, S.Most);
  J.attributeBegin(Name);
  J.rawValue(Text);
  J.attributeEnd();
}

static void writeCell(json::OStream &J, const BenchResults &Results, const BenchCell &C) {
  using S = const BenchSample &;
  J.object([&] {
    J.attribute("lock", Results.Rows[C.Row].Lock);
    J.attribute("mode", Results.Rows[C.Row].Mode);
    J.attribute("lines", C.Lines);
    J.attribute("delay", C.Delay);
    J.attribute("threads", C.Threads);
    J.attribute("repetitions", int64_t(C.Samples.size()));
    writeSpread(J, "throughput", spread(C, [](S V) { return V.throughput(); }));
    writeSpread(J, "mean_ns", spread(C, [](S V) { return V.MeanNs; }));
    writeSpread(J, "p99_ns", spread(C, [](S V) { return V.P99Ns; }));
    writeSpread(J, "worst_ns", spread(C, [](S V) { return V.WorstNs; }));
    writeSpread(J, "jain", spread(C, [](S V) { return V.Jain; }));
    writeSpread(J, "switches_per_second", spread(C, [](S V) { return V.Switches; }));
    writeSpread(J, "transfer_ns", spread(both(C, &BenchSample::TransferNs)));
    writeSpread(J, "cycles_per_ns", spread(both(C, &BenchSample::CyclesPerNs)));
    if (Results.hasLengths()) {
      writeSpread(J, "service_jain", spread(C, [](S V) { return V.ServiceJain; }));
      writeSpread(J, "work_per_second", spread(C, [](S V) { return V.rate(); }));
    }
    std::optional<size_t> Baseline = Results.baseline();
    if (Baseline && *Baseline != C.Row)
      if (const BenchCell *Against = Results.find(*Baseline, {C.Lines, C.Delay}, C.Threads))
        writeRatio(J, ratio(C, *Against));
  });
}

void writeBench(const BenchResults &Results, raw_ostream &OS) {
  json::OStream J(OS, 1);
  J.object([&] {
    J.attribute("format", "relock-bench-summary");
    J.attribute("version", 1);
    J.attribute("complete", Results.Complete);
    J.attribute("machine", json::Object(Results.Machine));
    J.attributeArray("cells", [&] {
      for (const BenchCell &C : Results.Cells)
        writeCell(J, Results, C);
    });
    J.attributeArray("uncontended", [&] {
      for (const BenchUncontended &U : Results.Uncontended)
        J.object([&] {
          J.attribute("lock", Results.Rows[U.Row].Lock);
          J.attribute("mode", Results.Rows[U.Row].Mode);
          J.attribute("repetitions", int64_t(U.Ns.size()));
          writeSpread(J, "ns", spread(U.Ns));
          writeSpread(J, "ns_without_threads", spread(U.NsWithoutThreads));
          writeSpread(J, "cycles_per_ns", spread(U.CyclesPerNs));
          const BenchUncontended *Against = Results.uncontendedBaseline();
          if (Against && Against != &U)
            writeRatio(J, ratio(U, *Against));
        });
    });
  });
  OS << "\n";
}

} // namespace relock
