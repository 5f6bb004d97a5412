// SPDX-License-Identifier: MIT
//
// Published figures beside obtained ones, for people and as JSON.
#include "bench/Published.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace relock {

namespace {

std::string number(double Value, int Decimals) {
  if (Decimals)
    return formatv("{0}", format("%.*f", Decimals, Value)).str();
  return formatv("{0:N}", int64_t(std::llround(Value))).str();
}

std::string published(const ReproducedRow &Row, int Decimals) {
  if (Row.Published)
    return number(*Row.Published, Decimals);
  return (Row.Above ? "> " : "< ") + number(Row.Above ? *Row.Above : *Row.Below, Decimals);
}

std::string verdict(const ReproducedRow &Row) {
  if (!Row.Obtained)
    return Row.Why;
  if (std::optional<double> Error = Row.error())
    return formatv("{0} %", format("%+.0f", 100 * *Error)).str();
  return *Row.holds() ? "holds" : "does not hold";
}

} // namespace

void printReproduced(const Reproduced &R, raw_ostream &OS) {
  const PublishedExperiment &E = *R.Experiment;
  const bool HasMisses = any_of(R.Rows, [](const auto &Row) { return Row.Misses.has_value(); });
  size_t Width = 0;
  for (const ReproducedRow &Row : R.Rows)
    Width = std::max(Width, Row.Name.size());
  OS << "\n" << E.Name << ": " << E.Title << "\n  (" << E.From << ")\n";
  if (!E.Remark.empty())
    OS << "  " << R.Machine << "; " << E.Remark << "\n";
  OS << "  " << E.Unit << "\n";
  OS << left_justify("", Width) << right_justify("published", 12) << right_justify("obtained", 12)
     << right_justify("error", 9) << right_justify(HasMisses ? "misses" : "", HasMisses ? 9 : 0)
     << "\n";
  for (const ReproducedRow &Row : R.Rows) {
    const int Decimals = Row.IsCount ? 0 : E.Decimals;
    OS << left_justify(Row.Name, Width) << right_justify(published(Row, Decimals), 12);
    OS << right_justify(Row.Obtained ? number(*Row.Obtained, Decimals) : "-", 12) << "  ";
    OS << right_justify(verdict(Row), 7);
    if (Row.Misses)
      OS << right_justify(number(*Row.Misses, 1), 9);
    OS << "\n";
  }
}

void printMissing(const PublishedSource &Source, raw_ostream &OS) {
  OS << "\nNot reproduced:\n";
  for (const PublishedMissing &M : Source.Missing)
    OS << "- " << M.What << " (" << M.From << "): " << M.Why << "\n";
}

static json::Object asJson(const ReproducedRow &Row) {
  json::Object To{{"name", Row.Name}};
  auto Add = [&](StringRef Key, const std::optional<double> &Value) {
    if (Value)
      To[Key] = *Value;
  };
  Add("published", Row.Published);
  Add("above", Row.Above);
  Add("below", Row.Below);
  Add("obtained", Row.Obtained);
  Add("error", Row.error());
  Add("misses", Row.Misses);
  if (std::optional<bool> Holds = Row.holds())
    To["holds"] = *Holds;
  if (Row.IsCount)
    To["count"] = true;
  if (!Row.Why.empty())
    To["why"] = Row.Why;
  return To;
}

void writeReproduced(const PublishedSource &Source, const std::vector<Reproduced> &All,
                     raw_ostream &OS) {
  json::Array Experiments, Missing;
  for (const Reproduced &R : All) {
    json::Array Rows;
    for (const ReproducedRow &Row : R.Rows)
      Rows.push_back(asJson(Row));
    const PublishedExperiment &E = *R.Experiment;
    Experiments.push_back(json::Object{{"name", E.Name},
                                       {"title", E.Title},
                                       {"from", E.From},
                                       {"machine", R.Machine},
                                       {"remark", E.Remark},
                                       {"unit", E.Unit},
                                       {"decimals", E.Decimals},
                                       {"rows", std::move(Rows)}});
  }
  for (const PublishedMissing &M : Source.Missing)
    Missing.push_back(json::Object{{"what", M.What}, {"from", M.From}, {"why", M.Why}});
  json::Object File{{"format", "relock-reproduced"},
                    {"version", 1},
                    {"name", Source.Name},
                    {"source", Source.Source},
                    {"experiments", std::move(Experiments)},
                    {"missing", std::move(Missing)}};
  OS << formatv("{0:2}", json::Value(std::move(File))) << "\n";
}

} // namespace relock
