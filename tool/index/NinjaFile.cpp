// SPDX-License-Identifier: MIT
#include "index/NinjaFile.h"

#include "support/Shell.h"

using namespace llvm;

namespace relock {

// A value of a variable.
static std::string value(StringRef Text) {
  std::string Result;
  for (char C : Text)
    Result += C == '$' ? "$$" : std::string(1, C);
  return Result;
}

// A path in a build statement.
static std::string path(StringRef Text) {
  std::string Result;
  for (char C : Text)
    Result += C == '$' || C == ' ' || C == ':' ? std::string("$") + C : std::string(1, C);
  return Result;
}

static std::string sectionSteps(ArrayRef<UnitPlace> Units, StringRef Tool,
                                const SectionSteps &Steps) {
  std::string Command = shellWord(Tool) + " index";
  for (const std::string &Build : Steps.Builds)
    Command += " -p " + shellWord(Build);
  if (Steps.Project)
    Command += " --project=" + shellWord(*Steps.Project);
  std::string Text = "rule sections\n  command = " + value(Command) +
                     " -j 1 --sections $part && touch $out\n"
                     "  description = relock index --sections $part\n"
                     "build all-facts: phony";
  for (const UnitPlace &Unit : Units)
    Text += " $\n  " + path(Unit.Facts);
  Text += "\n";
  for (unsigned K = 1; K <= Steps.Parts; ++K) {
    std::string Part = std::to_string(K), Of = std::to_string(Steps.Parts);
    Text += "build " + path(cacheFolder(Steps.Builds.front()) + "/sections-" + Part + "-of-" + Of) +
            ": sections | all-facts\n  part = " + Part + "/" + Of + "\n";
  }
  return Text;
}

std::string ninjaFile(ArrayRef<UnitPlace> Units, StringRef Tool, const SectionSteps &Then) {
  std::string Text =
      "# Made by `relock index --ninja`. Run it by `ninja -k 0 -f THIS_FILE`: relock check and\n"
      "# rewrite then find the facts that they need.\n"
      "ninja_required_version = 1.3\n"
      "rule unit\n"
      "  command = " +
      value(shellWord(Tool)) +
      " index --unit $facts --directory $directory --source $source -- $command_line\n"
      "  depfile = $out.d\n"
      "  deps = gcc\n"
      "  description = relock index $source\n";
  for (const UnitPlace &Unit : Units) {
    std::string Command;
    for (const std::string &Word : Unit.Command.CommandLine)
      Command += (Command.empty() ? "" : " ") + shellWord(Word);
    Text += "build " + path(Unit.Facts) + ": unit " + path(mainFile(Unit.Command)) + " | " +
            path(Tool) + "\n  facts = " + value(shellWord(Unit.Facts)) +
            "\n  directory = " + value(shellWord(Unit.Command.Directory)) +
            "\n  source = " + value(shellWord(Unit.Command.Filename)) +
            "\n  command_line = " + value(Command) + "\n";
  }
  if (Then.Parts)
    Text += sectionSteps(Units, Tool, Then);
  return Text;
}

std::string dependencyRule(StringRef FactsFile, const UnitFacts &Facts) {
  auto Escaped = [](StringRef Path) {
    std::string Result;
    for (char C : Path) {
      if (C == ' ' || C == '#')
        Result += '\\';
      Result += C == '$' ? "$$" : std::string(1, C);
    }
    return Result;
  };
  std::string Text = Escaped(FactsFile) + ":";
  for (const Dependency &D : Facts.Dependencies)
    Text += " \\\n  " + Escaped(D.File);
  return Text + "\n";
}

} // namespace relock
