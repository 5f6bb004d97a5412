// SPDX-License-Identifier: MIT
//
// Man pages, in the macros of man(7).
#include "driver/Help.h"

#include "driver/Options.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {

// Text as it is, whatever characters it has; `words` are bold.
static std::string roff(StringRef Text) {
  std::string Result;
  bool Bold = false, Quotes = Text.count('`') % 2 == 0;
  for (char C : Text) {
    if (C == '`' && Quotes)
      Result += (Bold = !Bold) ? "\\fB" : "\\fR";
    else if (C == '-')
      Result += "\\-";
    else if (C == '\\')
      Result += "\\e";
    else if (C == '\'')
      Result += "\\(aq";
    else if (C == '^')
      Result += "\\(ha";
    else if (C == '~')
      Result += "\\(ti";
    else if (C == '`')
      Result += "\\(ga";
    else
      Result += C;
  }
  // At the beginning of a line these are requests.
  return StringRef(Result).starts_with(".") ? "\\&" + Result : Result;
}

static std::string optionInRoff(const ShownOption &O) {
  std::string Result = "\\fB" + roff(O.dashed()) + "\\fR";
  if (!O.Values)
    return Result;
  std::string Value = "\\fI" + roff(O.Value) + "\\fR";
  if (O.OptionalValue)
    return Result + "[=" + Value + "]";
  return Result + (O.Name.size() == 1 ? " " : "=") + Value;
}

static void printOptions(const cl::SubCommand &Command, raw_ostream &OS) {
  OS << ".SH OPTIONS\n";
  for (const ShownOption &O : shownOptions(Command)) {
    OS << ".TP\n" << optionInRoff(O) << "\n" << roff(O.Text) << "\n";
    for (const NamedValue &V : O.Named)
      if (!V.Text.empty())
        OS << ".RS\n.TP\n\\fB" << roff(V.Name) << "\\fR\n" << roff(V.Text) << "\n.RE\n";
  }
}

// Titles, examples and lines with a number each.
static void printMoreHelp(StringRef Text, raw_ostream &OS) {
  bool Open = false;
  for (StringRef Line : split(Text.trim('\n'), '\n')) {
    if (Line.empty())
      continue;
    if (Line.front() != ' ') {
      OS << (Open ? ".EE\n" : "") << ".SH " << Line.rtrim(':') << "\n.EX\n";
      Open = true;
    } else {
      OS << roff(Line.drop_front(2)) << "\n";
    }
  }
  OS << (Open ? ".EE\n" : "");
}

static void printSubcommands(ArrayRef<Subcommand> Subcommands, raw_ostream &OS) {
  std::vector<std::pair<StringRef, StringRef>> Rows;
  for (const Subcommand &S : Subcommands)
    Rows.push_back({S.Command.getName(), S.Command.getDescription()});
  sort(Rows);
  OS << ".SH SUBCOMMANDS\n";
  for (auto [Name, Text] : Rows)
    OS << ".TP\n.BR relock\\-" << roff(Name) << " (1)\n" << roff(Text) << "\n";
}

void printManPage(const CommandHelp &All, const Subcommand *Of, raw_ostream &OS) {
  std::string Name = Of ? ("relock-" + Of->Command.getName()).str() : "relock";
  StringRef Does = Of ? Of->Command.getDescription() : All.Overview;
  OS << ".\\\" Made by relock from its --help.\n"
     << ".TH " << StringRef(Name).upper() << " 1 \"" RELOCK_DATE "\" \"relock " << All.Version
     << "\" \"User Commands\"\n"
     << ".SH NAME\n"
     << roff(Name) << " \\- " << roff(Does) << "\n.SH SYNOPSIS\n";
  if (Of) {
    std::string Arguments = argumentsOf(Of->Command);
    OS << "\\fBrelock " << roff(Of->Command.getName()) << "\\fR [\\fIoptions\\fR]"
       << (Arguments.empty() ? "" : " ") << roff(Arguments) << "\n";
  } else {
    OS << "\\fBrelock\\fR \\fISUBCOMMAND\\fR [\\fIoptions\\fR]\n";
    printSubcommands(All.Subcommands, OS);
  }
  printOptions(Of ? Of->Command : cl::SubCommand::getTopLevel(), OS);
  printMoreHelp(Of ? StringRef(Of->MoreHelp) : All.MoreHelp, OS);
  OS << ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n"
     << roff("if it is set and not empty, `--color=auto` is `--color=never`") << "\n"
     << (Of ? ".SH SEE ALSO\n.BR relock (1)\n" : "");
}

} // namespace relock
