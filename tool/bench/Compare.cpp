// SPDX-License-Identifier: MIT
//
// A cell changed when all repetitions of one run lie above all of the other, and the medians differ
// by more than repetitions of one run can fail to show: where the machine places a process once and
// for all is worth some percent.
#include "bench/Compare.h"

#include "bench/Table.h"
#include "support/Json.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>

using namespace llvm;

namespace relock {

static std::optional<Spread> readSpread(const json::Object *Cell, StringRef Name) {
  const json::Object *S = Cell ? Cell->getObject(Name) : nullptr;
  if (!S)
    return std::nullopt;
  auto Median = S->getNumber("median"), Least = S->getNumber("least"), Most = S->getNumber("most");
  if (!Median || !Least || !Most || !(*Median > 0))
    return std::nullopt;
  return Spread{*Median, *Least, *Most};
}

static std::string rowName(const json::Object &Cell) {
  return (Cell.getString("lock").value_or("") + " " + Cell.getString("mode").value_or("")).str();
}

Error BenchSummary::add(const json::Object &File) {
  if (File.getString("format") != "relock-bench-summary")
    return createStringError("is no result of `relock bench --json`");
  if (File.getInteger("version") != 1)
    return createStringError("is of another version than this relock writes");
  const json::Array *Cells = File.getArray("cells"), *One = File.getArray("uncontended");
  const json::Object *Machine = File.getObject("machine");
  if (!Cells || !One || !Machine)
    return createStringError("lacks a part");
  Model = Machine->getString("model").value_or("").str();
  for (const json::Value &V : *Cells) {
    const json::Object *Cell = V.getAsObject();
    std::optional<Spread> S = readSpread(Cell, "throughput");
    if (!S)
      return createStringError("has a cell without throughput");
    Place At = {rowName(*Cell), Cell->getInteger("lines").value_or(0),
                Cell->getInteger("delay").value_or(0), Cell->getInteger("threads").value_or(0)};
    Throughputs[At] = *S;
    if (std::optional<Spread> Transfer = readSpread(Cell, "transfer_ns"))
      Transfers[At] = Transfer->Median;
  }
  for (const json::Value &V : *One) {
    std::optional<Spread> S = readSpread(V.getAsObject(), "ns");
    if (!S)
      return createStringError("has a row without time");
    Uncontended[rowName(*V.getAsObject())] = *S;
  }
  return Error::success();
}

Expected<BenchSummary> BenchSummary::read(StringRef File) {
  auto Buffer = MemoryBuffer::getFile(File);
  if (!Buffer)
    return createStringError("cannot be read: " + Buffer.getError().message());
  Expected<json::Value> Parsed = parseJson((*Buffer)->getBuffer());
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return createStringError("is no JSON, or cut off");
  }
  BenchSummary Summary;
  const json::Object *Object = Parsed->getAsObject();
  if (Error E = Summary.add(Object ? *Object : json::Object()))
    return E;
  return Summary;
}

const Spread *BenchSummary::throughput(const BenchRow &Row, const BenchCell &Cell) const {
  auto At = Throughputs.find(place(Row, Cell));
  return At == Throughputs.end() ? nullptr : &At->second;
}

double BenchSummary::transfer(const BenchRow &Row, const BenchCell &Cell) const {
  auto At = Transfers.find(place(Row, Cell));
  return At == Transfers.end() ? 0 : At->second;
}

const Spread *BenchSummary::uncontended(const BenchRow &Row) const {
  auto At = Uncontended.find(Row.name());
  return At == Uncontended.end() ? nullptr : &At->second;
}

// "0.81 slower"; higher is better.
static BenchText change(const Spread &Now, const Spread &Then, BenchChanges &Changes) {
  std::string Text;
  raw_string_ostream(Text) << format("%.2f", Now.Median / Then.Median);
  ++Changes.Compared;
  constexpr double Least = 0.05;
  if (Now.Most < Then.Least && Now.Median < Then.Median * (1 - Least)) {
    ++Changes.Slower;
    return {Text + " slower", Style::Bad};
  }
  if (Now.Least > Then.Most && Now.Median > Then.Median * (1 + Least)) {
    ++Changes.Faster;
    return {Text + " faster", Style::Good};
  }
  return Text + "       ";
}

// Sections per second, so that higher is better here too.
static Spread rate(const Spread &Time) { return {1 / Time.Median, 1 / Time.Most, 1 / Time.Least}; }

// Whether two processors were as far apart then as now, or it is not known.
static bool sameDistance(const BenchCell &Now, double Then) {
  BenchAround Transfers = {spread(both(Now, &BenchSample::TransferNs)).Median, 0},
              Earlier = {Then, 0};
  return relock_bench_comparable(Transfers.data(), Earlier.data());
}

BenchChanges compareBench(const BenchResults &Results, const BenchSummary &Earlier,
                          raw_ostream &OS) {
  BenchChanges Changes;
  auto Text = [&](const BenchCell &C) -> BenchText {
    const BenchRow &Row = Results.Rows[C.Row];
    const Spread *Then = Earlier.throughput(Row, C);
    if (Then && !sameDistance(C, Earlier.transfer(Row, C))) {
      ++Changes.Moved;
      return "moved";
    }
    return Then ? change(spread(C, [](const BenchSample &S) { return S.throughput(); }), *Then,
                         Changes)
                : BenchText("-");
  };
  for (const BenchPoint &Point : Results.points()) {
    printBenchPointName(Point, OS);
    printBenchRows(Results, Point, "sections/s, ratio to before", Text, OS);
  }
  std::vector<std::vector<BenchText>> Lines = {{"one thread, ratio to before", ""}};
  for (const BenchUncontended &U : Results.Uncontended)
    if (const Spread *Then = Earlier.uncontended(Results.Rows[U.Row]))
      Lines.push_back(
          {Results.Rows[U.Row].name(), change(rate(spread(U.Ns)), rate(*Then), Changes)});
  if (Lines.size() > 1) {
    OS << "\n";
    printBenchColumns(Lines, OS);
  }
  return Changes;
}

} // namespace relock
