// SPDX-License-Identifier: MIT
#include "advise/Algorithms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {

static const char *const Algorithms[] = {
#define RELOCK_ALGORITHM(Name) #Name,
#include "../../runtime/locks/algorithms.def"
};

bool isAlgorithm(StringRef Name) { return is_contained(Algorithms, Name); }

std::vector<std::string> algorithmNames() { return {std::begin(Algorithms), std::end(Algorithms)}; }

bool usesServer(StringRef Algorithm) { return Algorithm == "rcl" || Algorithm == "adaptive_rcl"; }

std::optional<unsigned> serverNumber(StringRef Text) {
  unsigned Number;
  if (Text.getAsInteger(10, Number) || Number < 1 || Number > MaxServers)
    return std::nullopt;
  return Number;
}

std::string withServer(StringRef Algorithm, unsigned Server) {
  return Server == 1 ? Algorithm.str() : (Algorithm + ":" + Twine(Server)).str();
}

std::optional<std::string> parseAlgorithm(StringRef Text) {
  auto [Algorithm, Number] = Text.split(':');
  if (Algorithm == Text)
    return isAlgorithm(Text) ? std::optional(Text.str()) : std::nullopt;
  std::optional<unsigned> Server = serverNumber(Number);
  if (!usesServer(Algorithm) || !Server)
    return std::nullopt;
  return withServer(Algorithm, *Server);
}

std::string algorithmList() { return join(std::begin(Algorithms), std::end(Algorithms), ", "); }

} // namespace relock
