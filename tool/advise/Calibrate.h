// SPDX-License-Identifier: MIT
//
// Thresholds of a machine, from what its locks do at several delays between sections.
#pragma once

#include "advise/Thresholds.h"

#include <map>
#include <string>
#include <vector>

namespace relock {

// The microbenchmark at one delay.
struct CalibrationPoint {
  int64_t Delay = 0; // cycles
  double Share = 0;  // of the pthread mutex's threads, in sections and waiting for them
  std::map<std::string, double> Throughput; // sections per second, by lock
};

// The locks that are compared; the first is what programs have, the last has a server.
extern const std::vector<std::string> CalibrationLocks;

struct Calibration {
  Thresholds Found;
  std::vector<std::string> Remarks; // the measurements, and which threshold stays as shipped
};

Calibration calibrate(std::vector<CalibrationPoint> Points);

} // namespace relock
