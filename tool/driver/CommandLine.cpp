// SPDX-License-Identifier: MIT
#include "driver/CommandLine.h"

#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {

std::vector<const char *> helpAsOption(std::vector<const char *> Words) {
  if (Words.size() < 2 || StringRef(Words[1]) != "help")
    return Words;
  Words.erase(Words.begin() + 1);
  if (Words.size() > 1 && StringRef(Words[1]) == "help")
    Words.resize(1);
  Words.resize(std::min<size_t>(Words.size(), 2));
  Words.push_back("--help");
  return Words;
}

const Subcommand *namedSubcommand(ArrayRef<const char *> Words, ArrayRef<Subcommand> Subcommands) {
  if (Words.size() < 2)
    return nullptr;
  const auto *Found =
      find_if(Subcommands, [&](const Subcommand &S) { return S.Command.getName() == Words[1]; });
  return Found == Subcommands.end() ? nullptr : Found;
}

bool isOwn(const cl::Option &Option) {
  return !Option.Categories.empty() && Option.Categories[0]->getName() == "Relock";
}

namespace {

// Of what can be taken for a typing error, the nearest; empty: nothing can. The beginning of a name
// is near to it.
StringRef nearestName(StringRef Wanted, ArrayRef<StringRef> Names) {
  StringRef Nearest;
  size_t Least = (Wanted.size() + 2) / 3 + 1;
  for (StringRef Name : Names) {
    bool Begins = Wanted.size() > 1 && Name.starts_with(Wanted);
    size_t Distance = Begins ? 1 : Wanted.edit_distance(Name);
    if (Distance >= Least)
      continue;
    Nearest = Name;
    Least = Distance;
  }
  return Nearest;
}

std::string meant(StringRef Nearest) {
  return Nearest.empty() ? "" : ("; did you mean '" + Nearest + "'?").str();
}

void reportSubcommand(StringRef Word, ArrayRef<Subcommand> Subcommands) {
  std::vector<StringRef> Names = {"help"};
  for (const Subcommand &S : Subcommands)
    Names.push_back(S.Command.getName());
  std::string Nearest = meant(nearestName(Word, Names));
  message("there is no subcommand '" + Word.str() + "'" +
              (Nearest.empty() ? "; `relock help` lists them" : Nearest),
          "usage");
}

void reportOption(StringRef Word, const cl::SubCommand &Command) {
  std::vector<StringRef> Names = {"help", "version"};
  for (const auto &[Name, Option] : Command.OptionsMap)
    if (isOwn(*Option) && Option->getOptionHiddenFlag() == cl::NotHidden)
      Names.push_back(Name);
  sort(Names); // of two that are equally near always the same
  StringRef Name = Word.split('=').first, Of = Command.getName();
  StringRef Nearest = nearestName(Name.ltrim('-'), Names);
  std::string Text = ((Of.empty() ? "there is" : Of + " has") + " no option '" + Name + "'").str();
  if (Nearest.empty())
    Text += ("; `relock help" + Twine(Of.empty() ? "" : " ") + Of + "` lists them").str();
  else
    Text += meant((Nearest.size() == 1 ? "-" : "--") + Nearest.str());
  message(Text, "usage");
}

// An option, and whether its value stands in the same word.
struct NamedOption {
  const cl::Option *Option = nullptr;
  bool HasValue = false;
};

const cl::Option *lookUp(StringRef Name, const cl::SubCommand &Command) {
  if (const cl::Option *Own = Command.OptionsMap.lookup(Name))
    return Own;
  return cl::SubCommand::getTopLevel().OptionsMap.lookup(Name);
}

NamedOption findOption(StringRef Word, const cl::SubCommand &Command) {
  bool Long = Word.starts_with("--");
  Word = Word.drop_front(Long ? 2 : 1);
  if (const cl::Option *Whole = lookUp(Word.split('=').first, Command))
    return {Whole, Word.contains('=')};
  const cl::Option *Letter = Long ? nullptr : lookUp(Word.take_front(), Command);
  if (Letter && Letter->getFormattingFlag() == cl::Prefix)
    return {Letter, true};
  return {};
}

// How many words behind the one of the option belong to it.
size_t wordsOfValue(const NamedOption &Named) {
  size_t Values = std::max<size_t>(Named.Option->getValueExpectedFlag() == cl::ValueRequired,
                                   Named.Option->getNumAdditionalVals());
  return Named.HasValue && Values ? Values - 1 : Values;
}

void reportValues(StringRef Word, size_t Values, const cl::SubCommand &Command) {
  std::string Needed = Values == 1 ? "a value" : std::to_string(Values) + " values";
  message(Command.getName().str() + ": '" + Word.str() + "' needs " + Needed + "; `relock help " +
              Command.getName().str() + "` says which",
          "usage");
}

Words readOptions(ArrayRef<const char *> Given, const cl::SubCommand &Command) {
  for (size_t I = 0; I < Given.size(); ++I) {
    StringRef Word = Given[I];
    bool Positional = !Word.starts_with("-") || Word == "-";
    if (Word == "--" || (Positional && Command.ConsumeAfterOpt))
      return Words::Right;
    if (Positional)
      continue;
    if (Word == "-h" || Word == "-help" || Word == "--help")
      return Words::Help;
    NamedOption Named = findOption(Word, Command);
    if (!Named.Option) {
      reportOption(Word, Command);
      return Words::Wrong;
    }
    size_t Values = wordsOfValue(Named);
    if (I + Values >= Given.size()) {
      reportValues(Word, Values, Command);
      return Words::Wrong;
    }
    I += Values;
  }
  return Words::Right;
}

} // namespace

Words readWords(ArrayRef<const char *> Given, ArrayRef<Subcommand> Subcommands) {
  if (Given.size() < 2)
    return Words::Right;
  if (StringRef(Given[1]).starts_with("-"))
    return readOptions(Given.drop_front(), cl::SubCommand::getTopLevel());
  if (const Subcommand *Named = namedSubcommand(Given, Subcommands))
    return readOptions(Given.drop_front(2), Named->Command);
  reportSubcommand(Given[1], Subcommands);
  return Words::Wrong;
}

} // namespace relock
