// SPDX-License-Identifier: MIT
//
// What the costs of a lock class speak for: another lock, a server, or none. The rules and where
// they come from: tool/advise/README.md.
#pragma once

#include "advise/Costs.h"
#include "advise/Predict.h"
#include "advise/Thresholds.h"
#include "program/Decide.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace relock {

struct ClassChoice {
  bool Hot = false;      // above a threshold, or rescued by the second metric
  std::string Algorithm; // of a hot class that can convert; empty: leave it as it is
  unsigned Server = 1;
  std::vector<std::string> Remarks; // the reason, then the figures
};

// What a person has said of a class, which the choice for others follows.
struct PersonsChoice {
  bool Converts = true;
  unsigned Server = 0; // 0: on none
};

class Chooser {
public:
  // Predicted: null without a machine; then the thresholds decide.
  Chooser(const Decision &Decided, const Costs &Measured, const Thresholds &Limits,
          const ProgramPrediction *Predicted, Rule Decides,
          const std::map<std::string, PersonsChoice> &Yours)
      : Decided(Decided), Measured(Measured), Limits(Limits), Predicted(Predicted),
        Decides(Decides), Yours(Yours) {}

  // By the class's name; every class of the decision has one.
  std::map<std::string, ClassChoice> run();

private:
  const Decision &Decided;
  const Costs &Measured;
  const Thresholds &Limits;
  const ProgramPrediction *Predicted;
  Rule Decides;
  const std::map<std::string, PersonsChoice> &Yours;
  std::map<std::string, ClassChoice> Choices;

  ClassChoice choose(const CheckedClass &Class) const;
  void chooseLock(const CheckedClass &Class, const ClassCost &Cost, ClassChoice &Choice) const;
  ClassPrediction predictionOf(const CheckedClass &Class) const;
  std::string prediction(const CheckedClass &Class) const;
  void choosePredicted(const CheckedClass &Class, const ClassCost &Cost, ClassChoice &Choice) const;
  void chooseEither(const CheckedClass &Class, const ClassCost &Cost, ClassChoice &Choice) const;
  std::string preemption(const ClassCost &Cost) const;
  std::string whyNoServer(const CheckedClass &Class, const ClassCost &Cost) const;
  void keepGroupsTogether();
  void assignServers();
  std::vector<std::vector<std::string>> nests() const;
  double load(const std::vector<std::string> &Classes) const;
};

// Whether the costs alone make the class one to do something about.
bool isHot(const ClassCost &Cost, const Thresholds &Limits);

// `waits: 12 % of the threads' time; 48 % of 1.2 M acquisitions had to wait, 2.1 us on average; …`;
// empty where there is nothing to say.
std::string figures(const ClassCost &Cost);

} // namespace relock
