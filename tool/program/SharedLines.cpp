// SPDX-License-Identifier: MIT
#include "program/SharedLines.h"

using namespace llvm;

namespace relock {

namespace {

class Estimator {
public:
  explicit Estimator(const Program &Linked) : Linked(Linked) {}

  std::optional<SharedLines> estimate(const CheckedClass &Class) {
    std::vector<std::set<std::string>> Touched;
    std::set<std::string> Written;
    for (const CheckedSection &S : Class.Sections)
      if (S.Facts.Touched)
        Touched.push_back(linesOf(S.Facts, Written));
    if (Touched.empty())
      return std::nullopt;
    size_t Shared = 0;
    for (const std::set<std::string> &Lines : Touched)
      Shared += count_if(Lines, [&](const std::string &Line) { return Written.count(Line); });
    return SharedLines{double(Shared) / double(Touched.size()), Touched.size(),
                       Class.Sections.size()};
  }

private:
  const Program &Linked;

  static void add(ArrayRef<TouchedLine> From, std::set<std::string> &Lines,
                  std::set<std::string> &Written) {
    for (const TouchedLine &Line : From) {
      Lines.insert(Line.Line);
      if (Line.Written)
        Written.insert(Line.Line);
    }
  }

  // All branches count, of the section and of what it calls.
  std::set<std::string> linesOf(const Section &S, std::set<std::string> &Written) const {
    std::set<std::string> Lines, Seen;
    add(*S.Touched, Lines, Written);
    std::vector<const std::string *> Open;
    auto Follow = [&](ArrayRef<Call> Calls) {
      for (const Call &C : Calls)
        if (Seen.insert(C.Function).second)
          Open.push_back(&C.Function);
    };
    Follow(S.Calls);
    while (!Open.empty()) {
      auto F = Linked.Functions.find(*Open.back());
      Open.pop_back();
      if (F == Linked.Functions.end() || !isFollowed(F->second))
        continue;
      add(F->second.Touched, Lines, Written);
      Follow(F->second.Calls);
    }
    return Lines;
  }
};

} // namespace

void estimateSharedLines(const Program &Linked, Decision &Decided) {
  Estimator All(Linked);
  for (CheckedClass &Class : Decided.Classes)
    Class.Shared = All.estimate(Class);
}

} // namespace relock
