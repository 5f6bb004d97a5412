// SPDX-License-Identifier: MIT
#include "program/MacroUsers.h"

#include <set>

namespace relock {

std::vector<Flow> macroUsers(const std::vector<UnitFacts> &Units) {
  std::set<std::string> Changing, OfOneClass;
  for (const UnitFacts &Unit : Units)
    for (const Flow &F : Unit.Flows)
      if (F.How == Flow::Text || F.How == Flow::NamingText) {
        Changing.insert(F.To);
        if (F.How == Flow::NamingText)
          OfOneClass.insert(F.To);
      }
  std::set<std::string> WrittenOut; // uses
  for (const UnitFacts &Unit : Units)
    for (const Edit &E : Unit.Edits)
      if (E.Where == Edit::WrittenOut)
        WrittenOut.insert(E.Use);
  std::vector<Flow> Users;
  for (const UnitFacts &Unit : Units)
    for (const Edit &E : Unit.Edits)
      if (E.Where == Edit::WithClass && !E.Use.empty() && OfOneClass.count(E.Macro))
        Users.push_back({E.Node, E.Macro, WrittenOut.count(E.Use) ? Flow::Text : Flow::NamingText,
                         false, E.At});
      else if (E.Where == Edit::InBody && Changing.count(E.Macro))
        Users.push_back({E.Node, E.Macro, Flow::Text, false, E.At});
  return Users;
}

} // namespace relock
