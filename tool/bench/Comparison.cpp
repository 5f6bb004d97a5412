// SPDX-License-Identifier: MIT
#include "bench/Comparison.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

std::vector<double> Comparison::values(Side S, Figure F) const {
  std::vector<double> Values;
  for (const ComparedTurn &T : Turns)
    Values.push_back(T.Runs[S][F]);
  return Values;
}

// Between two values in proportion, as R's quantile() and NumPy do by default.
static double quantile(ArrayRef<double> Sorted, double Fraction) {
  double Place = Fraction * double(Sorted.size() - 1);
  size_t Below = size_t(Place), Above = std::min(Below + 1, Sorted.size() - 1);
  return Sorted[Below] + (Place - double(Below)) * (Sorted[Above] - Sorted[Below]);
}

Quartiles Comparison::quartiles(Side S, Figure F) const {
  std::vector<double> Values = values(S, F);
  if (Values.empty())
    return {};
  llvm::sort(Values);
  return {quantile(Values, 0.25), quantile(Values, 0.5), quantile(Values, 0.75)};
}

PairedRatio Comparison::quotient(Figure F) const {
  return pairedRatio(values(After, F), values(Before, F));
}

PairedRatio Comparison::speed() const {
  PairedRatio R = quotient(deciding());
  return HigherIsBetter ? R : R.inverse();
}

ComparisonVerdict Comparison::verdict() const {
  PairedRatio Speed = speed();
  if (!Speed.hasInterval())
    return ComparisonVerdict::TooFewPairs;
  if (Speed.Low > 1)
    return ComparisonVerdict::Faster;
  if (Speed.High < 1 - Threshold)
    return ComparisonVerdict::Slower;
  return Speed.High < 1 ? ComparisonVerdict::SlowerWithinThreshold
                        : ComparisonVerdict::NotToldApart;
}

std::optional<Noise> Comparison::noise() const {
  constexpr double Much = 0.1;
  std::optional<Noise> Most;
  for (Side S : {Before, After}) {
    Quartiles Q = quartiles(S, deciding());
    double Distance = Q.Median > 0 ? (Q.Third - Q.First) / Q.Median : 0;
    if (Distance > Much && (!Most || Distance > Most->Distance))
      Most = Noise{S, Distance};
  }
  return Most;
}

static std::string processorModel() {
  auto Text = MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (Text)
    for (StringRef Line : split((*Text)->getBuffer(), '\n')) {
      auto [Key, Value] = Line.split(':');
      if (is_contained({"model name", "Model", "CPU part"}, Key.trim()))
        return Value.trim().str();
    }
  return "unknown";
}

json::Object describeMachine() {
  utsname Name = {};
  uname(&Name);
  cpu_set_t Set;
  return json::Object{
      {"model", json::fixUTF8(processorModel())},
      {"kernel", std::string(Name.sysname) + " " + Name.release},
      {"processors", int64_t(sysconf(_SC_NPROCESSORS_ONLN))},
      {"allowed", int64_t(sched_getaffinity(0, sizeof Set, &Set) == 0 ? CPU_COUNT(&Set) : 0)}};
}

namespace {

// The name of each figure, with its unit.
constexpr StringRef FigureNames[FigureCount] = {
    "printed",
    "wall_seconds",
    "processor_seconds",
    "voluntary_switches",
    "involuntary_switches",
    "resident_bytes",
};
constexpr StringRef SideNames[] = {"before", "after"};
constexpr StringRef Verdicts[] = {"too few pairs", "not told apart", "slower within threshold",
                                  "slower", "faster"};
constexpr StringRef Ends[] = {"precision", "time", "runs", "interrupted", "failed"};

std::string numberText(double Value) {
  std::string Text;
  raw_string_ostream(Text) << format("%.9g", Value);
  return Text;
}

void forFigures(const Comparison &C, function_ref<void(Figure)> Do) {
  for (size_t F = C.deciding() == Printed ? Printed : WallTime; F < FigureCount; ++F)
    Do(Figure(F));
}

class Writer {
public:
  Writer(const Comparison &C, raw_ostream &OS) : C(C), J(OS, 1) {}
  void write();

private:
  // As the measuring has it: nine digits, where JSON's own output has seventeen.
  void number(StringRef Name, double Value) {
    J.attributeBegin(Name);
    J.rawValue(numberText(Value));
    J.attributeEnd();
  }
  void text(StringRef Name, StringRef Text) { J.attribute(Name, json::fixUTF8(Text)); }
  void ratio(StringRef Name, const PairedRatio &R);
  void figure(Figure F);
  void turn(const ComparedTurn &T);
  const Comparison &C;
  json::OStream J;
};

} // namespace

void Writer::ratio(StringRef Name, const PairedRatio &R) {
  if (!R.Pairs)
    return J.attribute(Name, nullptr);
  J.attributeObject(Name, [&] {
    number("median", R.Median);
    number("low", R.Low);
    number("high", R.High);
    J.attribute("pairs", int64_t(R.Pairs));
  });
}

void Writer::figure(Figure F) {
  J.attributeObject(FigureNames[F], [&] {
    for (Side S : {Before, After}) {
      Quartiles Q = C.quartiles(S, F);
      J.attributeObject(SideNames[S], [&] {
        number("median", Q.Median);
        number("first_quartile", Q.First);
        number("third_quartile", Q.Third);
      });
    }
    ratio("after_by_before", C.quotient(F));
  });
}

void Writer::turn(const ComparedTurn &T) {
  J.object([&] {
    text("first", SideNames[T.First]);
    for (Side S : {Before, After})
      J.attributeObject(SideNames[S], [&] {
        forFigures(C, [&](Figure F) { number(FigureNames[F], T.Runs[S][F]); });
      });
  });
}

void Writer::write() {
  J.object([&] {
    text("format", "relock-compare");
    J.attribute("version", 1);
    J.attribute("machine", json::Object(C.Machine));
    for (Side S : {Before, After})
      text(SideNames[S], C.Commands[S]);
    text("setup", C.Setup);
    text("cleanup", C.Cleanup);
    J.attribute("warmups", int64_t(C.WarmUps));
    text("decided_by", FigureNames[C.deciding()]);
    text("pattern", C.Pattern);
    J.attribute("higher_is_better", C.HigherIsBetter);
    number("precision", C.Precision);
    number("threshold", C.Threshold);
    text("ended", Ends[size_t(C.Ended)]);
    number("seconds", C.Seconds);
    number("least_resident_bytes", C.LeastResident);
    J.attribute("runs", int64_t(C.Turns.size()));
    ratio("speed", C.speed());
    text("verdict", Verdicts[size_t(C.verdict())]);
    if (C.Predicted)
      J.attributeObject("predicted", [&] {
        number("low", C.Predicted->Low);
        number("high", C.Predicted->High);
      });
    J.attributeObject("figures", [&] { forFigures(C, [&](Figure F) { figure(F); }); });
    J.attributeArray("turns", [&] {
      for (const ComparedTurn &T : C.Turns)
        turn(T);
    });
  });
}

void writeComparison(const Comparison &C, raw_ostream &OS) {
  Writer(C, OS).write();
  OS << "\n";
}

void writeComparedRuns(const Comparison &C, raw_ostream &OS) {
  OS << "turn,command";
  forFigures(C, [&](Figure F) { OS << "," << FigureNames[F]; });
  OS << "\n";
  for (auto [I, Turn] : enumerate(C.Turns))
    for (Side S : {Turn.First, Turn.First == Before ? After : Before}) {
      OS << I + 1 << "," << SideNames[S];
      forFigures(C, [&, &Runs = Turn.Runs](Figure F) { OS << "," << numberText(Runs[S][F]); });
      OS << "\n";
    }
}

std::optional<Prediction> parsePrediction(StringRef Text) {
  auto [Low, High] = Text.split('-');
  Prediction P;
  if (Low.getAsDouble(P.Low) || (High.empty() ? Low : High).getAsDouble(P.High))
    return std::nullopt;
  bool Good = P.Low > 0 && P.Low <= P.High && std::isfinite(P.High);
  return Good ? std::optional(P) : std::nullopt;
}

} // namespace relock
