// SPDX-License-Identifier: MIT
#include "bench/Table.h"

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

// "12.2M [11.9-12.5]": the bounds in the unit of the median.
std::string shortSpread(const Spread &S, ArrayRef<Unit> Units) {
  const Unit &U = unitFor(S.Median, Units);
  return shortened(S.Median, Units) + " [" + threeDigits(S.Least / U.Size) + "-" +
         threeDigits(S.Most / U.Size) + "]";
}

std::string throughputOf(const BenchCell &C) {
  return shortSpread(spread(C, [](const BenchSample &S) { return S.throughput(); }), Counts);
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

using Cells = std::vector<std::vector<std::string>>;

} // namespace

void printBenchColumns(const Cells &Lines, raw_ostream &OS) {
  std::vector<size_t> Widths;
  for (const std::vector<std::string> &Line : Lines) {
    Widths.resize(std::max(Widths.size(), Line.size()));
    for (size_t I = 0; I < Line.size(); ++I)
      Widths[I] = std::max(Widths[I], Line[I].size());
  }
  for (const std::vector<std::string> &Line : Lines) {
    std::string Text;
    raw_string_ostream Row(Text);
    Row << left_justify(Line[0], unsigned(Widths[0]));
    for (size_t I = 1; I < Line.size(); ++I)
      Row << "  " << right_justify(Line[I], unsigned(Widths[I]));
    OS << StringRef(Text).rtrim() << "\n";
  }
}

void printBenchRows(const BenchResults &Results, const BenchPoint &Point, StringRef Title,
                    function_ref<std::string(const BenchCell &)> Text, raw_ostream &OS) {
  std::vector<int64_t> Threads = Results.threads(Point);
  Cells Lines = {{Title.str()}};
  for (int64_t T : Threads)
    Lines[0].push_back("T=" + std::to_string(T));
  for (size_t Row = 0; Row < Results.Rows.size(); ++Row) {
    std::vector<std::string> Line = {Results.Rows[Row].name()};
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

void printBenchMachine(const BenchResults &Results, raw_ostream &OS) {
  const json::Object &M = Results.Machine;
  OS << "machine: " << M.getString("model").value_or("unknown") << ", "
     << M.getInteger("processors").value_or(0) << " processors ("
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

void printBenchPoint(const BenchResults &Results, const BenchPoint &Point, raw_ostream &OS) {
  printBenchPointName(Point, OS);
  printBenchRows(Results, Point, "sections/s, median [least-most]", throughputOf, OS);
  printBenchRows(Results, Point, "latency: mean, p99, worst; fairness", latencyOf, OS);
}

void printBenchUncontended(const BenchResults &Results, raw_ostream &OS) {
  Cells Lines = {{"ns per empty section, one thread", "process with threads", "without threads"}};
  for (const BenchUncontended &U : Results.Uncontended)
    Lines.push_back({Results.Rows[U.Row].name(), shortSpread(spread(U.Ns), Times),
                     shortSpread(spread(U.NsWithoutThreads), Times)});
  OS << "\n";
  printBenchColumns(Lines, OS);
}

} // namespace relock
