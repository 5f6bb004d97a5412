// SPDX-License-Identifier: MIT
//
// `relock bench --reproduce`: the published experiments, run again.
#pragma once

#include <string>

namespace relock {

enum class PaperName { None, Lozi, Petrovic, RamosHoefler, Reble };

struct ReproduceOptions {
  PaperName Paper;
  std::string Experiments; // names with commas between; empty: all
  std::string Machine;     // empty: each experiment's own
  std::string Json;
};

int reproducePaper(const ReproduceOptions &Options);

} // namespace relock
