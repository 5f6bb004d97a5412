// SPDX-License-Identifier: MIT
#include "program/SharedLines.h"

#include "program/DataUse.h"

using namespace llvm;

namespace relock {

static std::optional<SharedLines> estimate(const Program &Linked, const CheckedClass &Class) {
  std::vector<DataUse> Uses;
  std::set<std::string> Written;
  for (const CheckedSection &S : Class.Sections)
    if (S.Facts.Touched) {
      Uses.push_back(dataUse(Linked, S.Facts));
      Written.insert(Uses.back().Written.begin(), Uses.back().Written.end());
    }
  if (Uses.empty())
    return std::nullopt;
  size_t Shared = 0;
  for (const DataUse &Use : Uses)
    Shared += count_if(Use.Touched, [&](const std::string &Line) { return Written.count(Line); });
  return SharedLines{double(Shared) / double(Uses.size()), Uses.size(), Class.Sections.size()};
}

void estimateSharedLines(const Program &Linked, Decision &Decided) {
  for (CheckedClass &Class : Decided.Classes)
    Class.Shared = estimate(Linked, Class);
}

} // namespace relock
