// SPDX-License-Identifier: MIT
#include "advise/Calibrate.h"

#include "advise/Costs.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <optional>

using namespace llvm;

namespace relock {

const std::vector<std::string> CalibrationLocks = {"pthread", "adaptive", "ccsynch", "rcl"};

namespace {

constexpr double Better = 1.05; // what a machine's own unrest does not give

double throughput(const CalibrationPoint &Point, StringRef Lock) {
  auto Known = Point.Throughput.find(Lock.str());
  return Known == Point.Throughput.end() ? 0 : Known->second;
}

bool combiningWins(const CalibrationPoint &Point) {
  double Best = std::max(throughput(Point, "adaptive"), throughput(Point, "ccsynch"));
  return Best > Better * throughput(Point, "pthread");
}

bool serverWins(const CalibrationPoint &Point) {
  return all_of(ArrayRef(CalibrationLocks).drop_back(), [&](const std::string &Lock) {
    return throughput(Point, "rcl") > Better * throughput(Point, Lock);
  });
}

// The smallest share from which on it holds at every point; the points are sorted.
std::optional<double> from(const std::vector<CalibrationPoint> &Points,
                           bool (*Holds)(const CalibrationPoint &)) {
  std::optional<double> Share;
  for (const CalibrationPoint &Point : reverse(Points)) {
    if (!Holds(Point))
      break;
    Share = std::floor(100 * Point.Share) / 100; // a threshold is no more exact than that
  }
  return Share;
}

std::string row(const CalibrationPoint &Point) {
  std::string Text = "delay " + std::to_string(Point.Delay) +
                     " cycles: " + percentText(Point.Share) +
                     " of the time in sections; sections per second:";
  for (const std::string &Lock : CalibrationLocks)
    Text += " " + Lock + " " + countText(uint64_t(throughput(Point, Lock)));
  return Text;
}

} // namespace

Calibration calibrate(std::vector<CalibrationPoint> Points) {
  stable_sort(Points, [](const auto &A, const auto &B) { return A.Share < B.Share; });
  Calibration Result;
  for (const CalibrationPoint &Point : Points)
    Result.Remarks.push_back(row(Point));
  std::optional<double> Lower = from(Points, combiningWins), Upper = from(Points, serverWins);
  Thresholds &Found = Result.Found;
  if (Upper)
    Found.Upper = *Upper;
  else
    Result.Remarks.push_back(
        "upper: as shipped; rcl does not beat all others under most contention");
  if (Lower)
    Found.Lower = *Lower;
  else
    Result.Remarks.push_back(
        "lower: as shipped; neither adaptive nor ccsynch beats the pthread mutex "
        "under most contention");
  // A server that wins is a better lock, too; and a shipped value does not cross a measured one.
  if (Upper)
    Found.Lower = std::min(Found.Lower, Found.Upper);
  else
    Found.Upper = std::max(Found.Lower, Found.Upper);
  Found.Rescued = Found.Lower / 3;
  return Result;
}

} // namespace relock
