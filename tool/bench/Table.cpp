// SPDX-License-Identifier: MIT
#include "bench/Table.h"

#include "support/Messages.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace llvm;

namespace relock {

namespace {

struct Unit {
  double Size;
  const char *Name;
};
constexpr Unit Counts[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}};
constexpr Unit Ones[] = {{1, ""}};
constexpr Unit Times[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};

// The unit in which the value has one to three digits before the point.
const Unit &unitFor(double Value, ArrayRef<Unit> Units) {
  const Unit *Chosen = &Units.front();
  for (const Unit &U : Units)
    if (Value >= 0.9995 * U.Size)
      Chosen = &U;
  return *Chosen;
}

std::string threeDigits(double Value) {
  const char *Form = Value < 9.995 ? "%.2f" : Value < 99.95 ? "%.1f" : "%.0f";
  std::string Text;
  raw_string_ostream(Text) << format(Form, Value);
  return Text;
}

std::string shortened(double Value, ArrayRef<Unit> Units) {
  const Unit &U = unitFor(Value, Units);
  return threeDigits(Value / U.Size) + U.Name;
}

std::string shortSpread(const Spread &S, ArrayRef<Unit> Units) {
  const Unit &U = unitFor(S.Median, Units);
  return shortened(S.Median, Units) + " [" + threeDigits(S.Least / U.Size) + "-" +
         threeDigits(S.Most / U.Size) + "]";
}

std::string throughputOf(const BenchCell &C) {
  return shortSpread(spread(C, [](const BenchSample &S) { return S.throughput(); }), Counts);
}

// A simulated run has one repetition, which the next one repeats.
std::string simulatedThroughputOf(const BenchCell &C) {
  return shortened(C.Samples.front().throughput(), Counts);
}

// Of the worst wait only the worst repetition counts.
std::string latencyOf(const BenchCell &C) {
  auto Median = [&](double (*Value)(const BenchSample &)) { return spread(C, Value).Median; };
  double Mean = Median([](const BenchSample &S) { return S.MeanNs; });
  double P99 = Median([](const BenchSample &S) { return S.P99Ns; });
  double Worst = spread(C, [](const BenchSample &S) { return S.WorstNs; }).Most;
  double Jain = Median([](const BenchSample &S) { return S.Jain; });
  return formatv("{0,6} {1,6} {2,6} {3}", shortened(Mean, Times), shortened(P99, Times),
                 shortened(Worst, Times), threeDigits(Jain));
}

// "1.02 [0.97-1.06] ~"; in the notes below the table stands what the marks mean.
BenchText ratioText(const relock_bench_ratio &R) {
  if (!R.pairs)
    return "- ?";
  StringRef Mark = R.told == RELOCK_BENCH_ALIKE     ? " ~"
                   : R.told == RELOCK_BENCH_TOO_FEW ? " ?"
                                                    : "  ";
  BenchText Cell = threeDigits(R.median) + " [" + threeDigits(R.low) + "-" + threeDigits(R.high) +
                   "]" + Mark.str();
  if (R.told == RELOCK_BENCH_FASTER)
    Cell.Look = Style::Good;
  else if (R.told == RELOCK_BENCH_SLOWER)
    Cell.Look = Style::Bad;
  return Cell;
}

void printMarks(raw_ostream &OS) {
  OS << "median of the ratios of repetitions [95 % interval]; ~: not told apart; ?: fewer than "
     << int(RELOCK_BENCH_LEAST_PAIRS) << " comparable pairs\n";
}

std::string serviceOf(const BenchCell &C) {
  Spread Jain = spread(C, [](const BenchSample &S) { return S.ServiceJain; });
  return shortSpread(spread(C, [](const BenchSample &S) { return S.rate(); }), Counts) +
         formatv("  {0:F3} [{1:F3}-{2:F3}]", Jain.Median, Jain.Least, Jain.Most).str();
}

using Cells = std::vector<std::vector<BenchText>>;

} // namespace

void printBenchColumns(const Cells &Lines, raw_ostream &OS) {
  std::vector<size_t> Widths;
  for (const std::vector<BenchText> &Line : Lines) {
    Widths.resize(std::max(Widths.size(), Line.size()));
    for (size_t I = 0; I < Line.size(); ++I)
      Widths[I] = std::max(Widths[I], Line[I].Text.size());
  }
  for (const std::vector<BenchText> &Line : Lines) {
    std::string Text;
    raw_string_ostream Row(Text);
    Row << left_justify(Line[0].Text, unsigned(Widths[0]));
    for (const auto &[Cell, Width] : drop_begin(zip(Line, Widths))) {
      StringRef Shown = StringRef(Cell.Text).rtrim(); // colors take no columns
      Row.indent(unsigned(2 + Width - Cell.Text.size()));
      Row << (Cell.Look ? painted(Shown, *Cell.Look, OS) : Shown.str());
      Row.indent(unsigned(Cell.Text.size() - Shown.size()));
    }
    OS << StringRef(Text).rtrim() << "\n";
  }
}

void printBenchRows(const BenchResults &Results, const BenchPoint &Point, StringRef Title,
                    function_ref<BenchText(const BenchCell &)> Text, raw_ostream &OS) {
  std::vector<int64_t> Threads = Results.threads(Point);
  Cells Lines = {{Title.str()}};
  for (int64_t T : Threads)
    Lines[0].push_back("T=" + std::to_string(T));
  for (size_t Row = 0; Row < Results.Rows.size(); ++Row) {
    std::vector<BenchText> Line = {Results.Rows[Row].name()};
    bool Any = false;
    for (int64_t T : Threads) {
      const BenchCell *C = Results.find(Row, Point, T);
      Line.push_back(C ? Text(*C) : "-");
      Any |= C != nullptr;
    }
    if (Any)
      Lines.push_back(std::move(Line));
  }
  OS << "\n";
  printBenchColumns(Lines, OS);
}

std::string shortCount(double Value) { return shortened(Value, Counts); }

std::string shortCounts(const Spread &Values) { return shortSpread(Values, Counts); }

std::string shortTimes(const Spread &Seconds) {
  constexpr double Ns = 1e9;
  return shortSpread({Seconds.Median * Ns, Seconds.Least * Ns, Seconds.Most * Ns}, Times);
}

void printBenchMachine(const BenchResults &Results, raw_ostream &OS) {
  const json::Object &M = Results.Machine;
  if (Results.isSimulated()) {
    OS << "simulated machine: " << M.getString("name").value_or("unknown") << ", "
       << M.getString("model").value_or("unknown") << "; "
       << counted(M.getInteger("processors").value_or(0), "processor") << ", threads pinned\n";
    return;
  }
  OS << "machine: " << M.getString("model").value_or("unknown") << ", "
     << counted(M.getInteger("processors").value_or(0), "processor") << " ("
     << M.getInteger("allowed").value_or(0) << " allowed), "
     << format("%.2f", M.getNumber("cycles_per_second").value_or(0) / 1e9) << " GHz, "
     << M.getString("kernel").value_or("unknown") << ", " << M.getString("libc").value_or("unknown")
     << "; threads " << (M.getBoolean("pinned").value_or(false) ? "pinned" : "not pinned") << "\n";
}

void printBenchPointName(const BenchPoint &Point, raw_ostream &OS) {
  OS << "\n"
     << Point.Lines << " cache line" << (Point.Lines == 1 ? "" : "s") << " per section, "
     << Point.Delay << " cycles between sections\n";
}

// What the host gave meanwhile, over all repetitions of the point.
static void printHost(const BenchResults &Results, const BenchPoint &Point, raw_ostream &OS) {
  std::vector<double> Transfers, Clocks;
  for (const BenchCell &C : Results.Cells)
    if (BenchPoint{C.Lines, C.Delay} == Point) {
      append_range(Transfers, both(C, &BenchSample::TransferNs));
      append_range(Clocks, both(C, &BenchSample::CyclesPerNs));
    }
  OS << "\nmeanwhile: a line's transfer between two processors "
     << shortSpread(spread(std::move(Transfers)), Times) << ", cycles per ns "
     << shortSpread(spread(std::move(Clocks)), Ones) << "\n";
}

static void printRatios(const BenchResults &Results, const BenchPoint &Point, size_t Baseline,
                        raw_ostream &OS) {
  size_t LeftOut = 0;
  auto Text = [&](const BenchCell &C) -> BenchText {
    const BenchCell *Against = Results.find(Baseline, Point, C.Threads);
    if (C.Row == Baseline || !Against)
      return "-  ";
    relock_bench_ratio R = ratio(C, *Against);
    LeftOut += std::min(C.Samples.size(), Against->Samples.size()) - size_t(R.pairs);
    return ratioText(R);
  };
  printBenchRows(Results, Point, "ratio to " + Results.Rows[Baseline].name(), Text, OS);
  printMarks(OS);
  if (LeftOut)
    OS << LeftOut << " pairs left out: two processors were not as far apart for both repetitions\n";
}

// Which rows may be as fast as the one with the greatest median; no lock can pass the limit.
static void printFastest(const BenchResults &Results, const BenchPoint &Point, int64_t Threads,
                         raw_ostream &OS) {
  auto Throughput = [](const BenchCell *C) {
    return spread(*C, [](const BenchSample &S) { return S.rate(); }).Median;
  };
  std::vector<const BenchCell *> Locks;
  for (size_t Row = 0; Row < Results.Rows.size(); ++Row)
    if (const BenchCell *C = Results.find(Row, Point, Threads);
        C && Results.Rows[Row].Mode != "limit")
      Locks.push_back(C);
  if (Locks.size() < 2)
    return;
  const BenchCell *Fastest = *llvm::max_element(
      Locks, [&](const BenchCell *A, const BenchCell *B) { return Throughput(A) < Throughput(B); });
  if (Fastest->Samples.size() < RELOCK_BENCH_LEAST_PAIRS)
    return;
  std::string Others;
  for (const BenchCell *C : Locks) {
    if (C == Fastest)
      continue;
    relock_bench_told Told = ratio(*C, *Fastest).told;
    if (Told == RELOCK_BENCH_ALIKE || Told == RELOCK_BENCH_TOO_FEW)
      Others += (Others.empty() ? "" : ", ") + Results.Rows[C->Row].name();
  }
  OS << "T=" << Threads << ": " << Results.Rows[Fastest->Row].name() << " has the greatest median; "
     << (Others.empty() ? "all others are told apart from it" : "not told apart from it: " + Others)
     << "\n";
}

void printBenchPoint(const BenchResults &Results, const BenchPoint &Point, raw_ostream &OS) {
  printBenchPointName(Point, OS);
  if (Results.isSimulated())
    printBenchRows(Results, Point, "sections/s", simulatedThroughputOf, OS);
  else
    printBenchRows(Results, Point, "sections/s, median [least-most]", throughputOf, OS);
  printBenchRows(Results, Point, "latency: mean, p99, worst; fairness", latencyOf, OS);
  if (Results.hasLengths())
    printBenchRows(Results, Point, "cycles of sections/s; fair by time", serviceOf, OS);
  if (!Results.isSimulated())
    printHost(Results, Point, OS);
  if (std::optional<size_t> Baseline = Results.baseline())
    printRatios(Results, Point, *Baseline, OS);
  std::string Fastest;
  raw_string_ostream FastestOS(Fastest);
  for (int64_t Threads : Results.threads(Point))
    printFastest(Results, Point, Threads, FastestOS);
  if (!Fastest.empty())
    OS << "\n" << Fastest;
}

void printBenchUncontended(const BenchResults &Results, raw_ostream &OS) {
  const BenchUncontended *Baseline = Results.uncontendedBaseline();
  Cells Lines = {{"ns per empty section, one thread", "process with threads", "without threads",
                  "cycles per ns"}};
  if (Baseline)
    Lines[0].push_back("speed, ratio to " + Results.Rows[Baseline->Row].name());
  for (const BenchUncontended &U : Results.Uncontended) {
    Lines.push_back({Results.Rows[U.Row].name(), shortSpread(spread(U.Ns), Times),
                     shortSpread(spread(U.NsWithoutThreads), Times),
                     threeDigits(spread(U.CyclesPerNs).Median)});
    if (Baseline)
      Lines.back().push_back(&U == Baseline ? BenchText("-  ") : ratioText(ratio(U, *Baseline)));
  }
  OS << "\n";
  printBenchColumns(Lines, OS);
  if (Baseline)
    printMarks(OS);
}

} // namespace relock
