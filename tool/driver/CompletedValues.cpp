// SPDX-License-Identifier: MIT
#include "driver/CompletedValues.h"

#include "advise/Algorithms.h"
#include "driver/BuildOption.h"
#include "driver/Findings.h"
#include "driver/MachineOption.h"
#include "index/CompileDatabase.h"
#include "index/Index.h"
#include "support/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {

StringRef completedKind(const ShownOption &O) {
  if (O.Value == "CLASS=ALGORITHM")
    return "conversions";
  if (O.Value == "ALGORITHM")
    return "algorithms";
  if (O.Value == "A B") // of --why
    return "classes";
  if (O.Value == "LIST") // of findings
    return "finding-list";
  if (O.Value == "A,B")
    return O.Name == "mode" ? "mode-list" : "algorithm-list";
  return O.Name == "machine" ? "machines" : "";
}

static std::string classesFile(StringRef Build) {
  SmallString<256> File(cacheFolder(Build));
  sys::path::append(File, "classes");
  return std::string(File);
}

// The folders of the line's -p, or the one that is found without.
static std::vector<std::string> buildsOf(ArrayRef<const char *> Line) {
  std::vector<std::string> Builds;
  for (size_t I = 0; I < Line.size(); ++I) {
    StringRef Word = Line[I];
    if (!Word.consume_front("-p"))
      continue;
    if (Word.empty() && I + 1 < Line.size())
      Word = Line[++I];
    if (Word == "=" && I + 1 < Line.size()) // bash makes three words of `-p=build`
      Word = Line[++I];
    Word.consume_front("=");
    Builds.push_back(sys::path::filename(Word) == DatabaseName ? sys::path::parent_path(Word).str()
                                                               : Word.str());
  }
  if (Builds.empty())
    if (std::optional<std::string> Found = findBuild())
      Builds.push_back(*Found);
  return Builds;
}

static std::vector<std::string> rememberedClasses(ArrayRef<const char *> Line) {
  std::vector<std::string> Names;
  for (const std::string &Build : buildsOf(Line))
    if (auto Text = MemoryBuffer::getFile(classesFile(Build)))
      for (StringRef Name : split((*Text)->getBuffer(), '\n'))
        if (!Name.empty() && !is_contained(Names, Name))
          Names.push_back(Name.str());
  return Names;
}

// What the commas of a list stand between. Line: bash and fish begin it with `relock`.
static std::vector<std::string> listedNames(StringRef Kind, ArrayRef<const char *> Line) {
  if (Kind == "finding-list")
    return FindingFilter::words();
  if (Kind == "algorithm-list") {
    std::vector<std::string> Names = algorithmNames();
    Names.push_back("pthread");
    return Names;
  }
  std::vector<std::string> Modes = {"hold", "execute", "any-thread"};
  if (is_contained(Line.take_front(2), StringRef("simulate")))
    Modes.insert(Modes.end(), {"counter", "stack", "queue", "queue-2", "bare", "broadcast"});
  return Modes;
}

// Behind the last comma, whatever the list does not have yet.
static std::vector<std::string> continuedList(std::vector<std::string> Names, StringRef Begun) {
  const StringRef Typed = Begun.take_front(Begun.rfind(',') + 1);
  erase_if(Names, [&](StringRef Name) { return is_contained(split(Typed, ','), Name); });
  for (std::string &Name : Names)
    Name = Typed.str() + Name;
  return Names;
}

void printCompletedValues(ArrayRef<const char *> Words, raw_ostream &OS) {
  StringRef Kind = Words.empty() ? "" : Words[0], Begun = Words.size() > 1 ? Words[1] : "";
  ArrayRef<const char *> Line = Words.drop_front(std::min<size_t>(2, Words.size()));
  std::vector<std::string> Values;
  if (Kind == "algorithms")
    Values = algorithmNames();
  else if (Kind == "machines")
    Values = machineNames();
  else if (Kind == "classes" || Kind == "conversions")
    Values = rememberedClasses(Line);
  else if (Kind.ends_with("-list"))
    Values = continuedList(listedNames(Kind, Line), Begun);
  if (Kind == "conversions") {
    // First the class, then what it becomes.
    StringRef Class = Begun.contains('=') ? Begun.rsplit('=').first : "";
    if (is_contained(Values, Class)) {
      Values = algorithmNames();
      for (std::string &Algorithm : Values)
        Algorithm = (Class + "=" + Algorithm).str();
    } else {
      for (std::string &Name : Values)
        Name += "=";
    }
  }
  for (const std::string &Value : Values)
    OS << Value << "\n";
}

void rememberClasses(ArrayRef<std::string> Builds, const Decision &Decided) {
  std::string Text;
  for (const CheckedClass &Class : Decided.Classes)
    Text += Class.Class.Name + "\n";
  const std::string File = classesFile(Builds.front());
  auto Before = MemoryBuffer::getFile(File);
  if (Before && (*Before)->getBuffer() == Text)
    return;
  // Who cannot write there goes without.
  consumeError(writeAtomically(File, [&](raw_ostream &OS) { OS << Text; }));
}

} // namespace relock
