// SPDX-License-Identifier: MIT
#include "bench/ComparisonTable.h"

#include "bench/Table.h"
#include "support/Messages.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace llvm;

namespace relock {

namespace {

// "1.37", "0.987", "0.0286": near 1 the third digit behind the point is worth having.
std::string ratioText(double Value) {
  const char *Form = Value < 0.0995              ? "%.3g"
                     : std::abs(Value - 1) < 0.1 ? "%.3f"
                     : Value < 9.995             ? "%.2f"
                                                 : "%.1f";
  std::string Text;
  raw_string_ostream(Text) << format(Form, Value);
  return Text;
}

std::string intervalText(const PairedRatio &R) {
  return ratioText(R.Low) + " to " + ratioText(R.High);
}

std::string percentText(double Fraction) {
  std::string Text;
  raw_string_ostream(Text) << format("%.3g %%", 100 * Fraction);
  return Text;
}

std::string valueText(const Comparison &C, Side S, Figure F) {
  Quartiles Q = C.quartiles(S, F);
  Spread Values = {Q.Median, Q.First, Q.Third};
  if (F == MaxResident && Q.First <= 0)
    return "under " + shortCount(C.LeastResident);
  return F == WallTime || F == ProcessorTime ? shortTimes(Values) : shortCounts(Values);
}

std::string quotientText(const PairedRatio &R) {
  if (!R.Pairs)
    return "-";
  return ratioText(R.Median) +
         (R.hasInterval() ? " [" + ratioText(R.Low) + "-" + ratioText(R.High) + "]" : "");
}

std::string figureText(const Comparison &C, Figure F) {
  static constexpr StringRef Texts[FigureCount] = {
      "",
      "wall time",
      "processor time",
      "voluntary context switches",
      "involuntary context switches",
      "max resident bytes",
  };
  return F == Printed ? printable(C.Pattern) : Texts[F].str();
}

std::string turnsText(const Comparison &C) {
  size_t N = C.Turns.size();
  return counted(N, "run") + " each";
}

// Of what is known for sure.
std::optional<Style> styleOf(ComparisonVerdict Verdict) {
  switch (Verdict) {
  case ComparisonVerdict::Faster:
    return Style::Good;
  case ComparisonVerdict::Slower:
    return Style::Bad;
  case ComparisonVerdict::SlowerWithinThreshold:
  case ComparisonVerdict::NotToldApart:
  case ComparisonVerdict::TooFewPairs:
    break;
  }
  return std::nullopt;
}

std::vector<std::vector<BenchText>> tableOf(const Comparison &C) {
  static constexpr const char *QuotientTitle = "after/before [95 %]";
  std::vector<std::vector<BenchText>> Lines = {
      {turnsText(C) + ", median [quartiles]", "before", "after", QuotientTitle}};
  for (size_t F = C.deciding() == Printed ? Printed : WallTime; F < FigureCount; ++F)
    Lines.push_back({figureText(C, Figure(F)), valueText(C, Before, Figure(F)),
                     valueText(C, After, Figure(F)),
                     BenchText(quotientText(C.quotient(Figure(F))),
                               F == C.deciding() ? styleOf(C.verdict()) : std::nullopt)});
  return Lines;
}

} // namespace

std::string comparisonSentence(const Comparison &C) {
  PairedRatio Speed = C.speed();
  std::string Times =
      ratioText(Speed.Median) + " times as fast (" + intervalText(Speed) + "), " + turnsText(C);
  switch (C.verdict()) {
  case ComparisonVerdict::Faster:
    return "after is " + Times;
  case ComparisonVerdict::Slower:
    return "after is slower: " + Times;
  case ComparisonVerdict::SlowerWithinThreshold:
    return "after is " + Times + ": not slower by more than " + percentText(C.Threshold);
  case ComparisonVerdict::NotToldApart:
    return "no difference shown: after is " + intervalText(Speed) + " times as fast, " +
           turnsText(C);
  case ComparisonVerdict::TooFewPairs:
    break;
  }
  return "nothing shown: " + turnsText(C) + ", and an interval needs " +
         std::to_string(pairsAtNextLook(0));
}

namespace {

// What was predicted is how many times as fast after is.
std::string predictionText(const Prediction &P, const PairedRatio &Speed) {
  bool Exact = P.Low == P.High;
  std::string Text = (P.Machine.empty() ? "predicted" : "predicted for " + P.Machine) + ": " +
                     ratioText(P.Low) + (Exact ? "" : " to " + ratioText(P.High)) + ", ";
  if (P.Low > Speed.High)
    return Text + "above what was measured";
  if (P.High < Speed.Low)
    return Text + "below what was measured";
  return Text + (Exact ? "within the interval" : "which overlaps the interval");
}

std::string endText(const Comparison &C) {
  switch (C.Ended) {
  case EndOfComparison::Precision:
    return "the interval is narrower than " + percentText(C.Precision);
  case EndOfComparison::Time:
    return "the time is up";
  case EndOfComparison::Runs:
    return "the runs are done";
  case EndOfComparison::Interrupted:
    return "interrupted";
  case EndOfComparison::Failed:
    break;
  }
  return "a run failed";
}

} // namespace

void printComparedMachine(const Comparison &C, raw_ostream &OS) {
  const json::Object &M = C.Machine;
  OS << "machine: " << M.getString("model").value_or("unknown") << ", "
     << counted(M.getInteger("processors").value_or(0), "processor") << " ("
     << M.getInteger("allowed").value_or(0) << " allowed), "
     << M.getString("kernel").value_or("unknown") << "\n";
}

void printComparison(const Comparison &C, raw_ostream &OS) {
  OS << "\n";
  printBenchColumns(tableOf(C), OS);
  std::optional<Style> Look = styleOf(C.verdict());
  std::string Sentence = comparisonSentence(C);
  OS << "\n" << (Look ? painted(Sentence, *Look, OS) : Sentence) << "\n";
  if (C.Predicted && C.verdict() != ComparisonVerdict::TooFewPairs)
    OS << predictionText(*C.Predicted, C.speed()) << "\n";
  OS << "ended: " << endText(C) << "\n";
}

// Backticks as many as the text does not have, so that it stays as it is.
static std::string markdownCode(StringRef Text) {
  std::string Marks = "`";
  while (Text.contains(Marks))
    Marks += "`";
  return Marks + " " + printable(Text) + " " + Marks;
}

static std::string markdownCell(StringRef Text) {
  std::string Result;
  for (char C : Text)
    Result += (StringRef("|\\`*_<>[]").contains(C) ? "\\" : "") + std::string(1, C);
  return Result;
}

void writeMarkdown(const Comparison &C, raw_ostream &OS) {
  OS << "- before: " << markdownCode(C.Commands[Before])
     << "\n- after: " << markdownCode(C.Commands[After]) << "\n\n";
  bool Titles = true;
  for (const std::vector<BenchText> &Line : tableOf(C)) {
    for (const BenchText &Cell : Line)
      OS << "| " << markdownCell(Cell.Text) << " ";
    OS << (Titles ? "|\n|:--|--:|--:|--:|\n" : "|\n");
    Titles = false;
  }
  OS << "\n" << comparisonSentence(C) << "\n\n";
  printComparedMachine(C, OS);
}

} // namespace relock
