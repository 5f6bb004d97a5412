// SPDX-License-Identifier: MIT
#include "driver/Help.h"

#include "driver/CommandLine.h"
#include "driver/CompletedValues.h"
#include "driver/Options.h"
#include "support/Color.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

std::string ShownOption::withValue() const {
  if (!Values)
    return dashed();
  std::string Shown = "<" + Value.str() + ">";
  if (OptionalValue)
    return dashed() + "[=" + Shown + "]";
  return dashed() + (Name.size() == 1 ? " " : "=") + Shown;
}

bool ShownOption::takesFile() const {
  SmallVector<StringRef> Kinds;
  Value.split(Kinds, '|');
  return any_of(Kinds, [](StringRef Kind) {
    return Kind.starts_with("FILE")
               ? !Kind.contains(':')
               : is_contained({"BUILD", "DIR", "FOLDER", "PATH", "PLAN"}, Kind);
  });
}

// A word in small letters is one that is typed as it is.
static std::vector<NamedValue> valuesOf(const cl::Option &Option) {
  std::vector<NamedValue> Result;
  if (const cl::generic_parser_base *Parser = namedValues().lookup(&Option)) {
    for (unsigned I = 0; I < Parser->getNumOptions(); ++I)
      Result.push_back({Parser->getOption(I).str(), Parser->getDescription(I)});
    return Result;
  }
  for (StringRef Kind : split(Option.ValueStr, '|'))
    if (!Kind.empty() && all_of(Kind, isLower))
      Result.push_back({Kind.str(), ""});
  return Result;
}

static ShownOption shown(const cl::Option &Option) {
  ShownOption Result;
  Result.Name = Option.ArgStr.str();
  Result.Value = Option.ValueStr;
  Result.Text = Option.HelpStr;
  Result.OptionalValue = Option.getValueExpectedFlag() == cl::ValueOptional;
  Result.Repeats = Option.getNumOccurrencesFlag() == cl::ZeroOrMore ||
                   Option.getNumOccurrencesFlag() == cl::OneOrMore;
  Result.Values =
      Option.ValueStr.empty() ? 0 : std::max<unsigned>(1, Option.getNumAdditionalVals());
  Result.Named = valuesOf(Option);
  return Result;
}

std::vector<ShownOption> shownOptions(const cl::SubCommand &Command) {
  std::vector<ShownOption> Result;
  for (const auto &[Name, Option] : Command.OptionsMap)
    if (isOwn(*Option) && Option->getOptionHiddenFlag() == cl::NotHidden)
      Result.push_back(shown(*Option));
  auto Add = [&](StringRef Dashed, StringRef Text) {
    ShownOption &New = Result.emplace_back();
    New.Name = Dashed.ltrim('-').str();
    New.Text = Text;
  };
  Add("--help", "say what there is, and how it is used");
  if (Command.getName().empty())
    Add("--version", "say which relock this is");
  sort(Result, [](const ShownOption &A, const ShownOption &B) { return A.Name < B.Name; });
  return Result;
}

std::string argumentsOf(const cl::SubCommand &Command) {
  std::string Result;
  auto Add = [&](const cl::Option &Option) {
    Result += (Result.empty() ? "" : " ") + Option.HelpStr.str();
  };
  for (const cl::Option *Option : Command.PositionalOpts)
    Add(*Option);
  if (Command.ConsumeAfterOpt)
    Add(*Command.ConsumeAfterOpt);
  return Result;
}

// Lines of words, none longer than Width if it can be helped; the first one goes on where the
// cursor stands, at Column, and the others begin at Indent.
static void printWrapped(StringRef Text, size_t Column, size_t Indent, unsigned Width,
                         raw_ostream &OS) {
  bool First = true;
  for (StringRef Word : split(Text, ' ')) {
    if (!First && Column + 1 + Word.size() > Width) {
      OS << '\n';
      OS.indent(Indent);
      Column = Indent;
    } else if (!First) {
      OS << ' ';
      ++Column;
    }
    OS << Word;
    Column += Word.size();
    First = false;
  }
  OS << '\n';
}

namespace {

struct Row {
  std::string Name;
  StringRef Text;
};

} // namespace

// Two columns; a name that is too long for the first one has a line of its own.
static void printRows(ArrayRef<Row> Rows, unsigned Width, raw_ostream &OS) {
  constexpr size_t Indent = 2, Longest = 24;
  size_t NameWidth = 0;
  for (const Row &R : Rows)
    if (R.Name.size() <= Longest)
      NameWidth = std::max(NameWidth, R.Name.size());
  size_t Column = Indent + NameWidth + StringRef(" - ").size();
  for (const Row &R : Rows) {
    OS.indent(Indent) << R.Name;
    if (R.Text.empty()) {
      OS << '\n';
      continue;
    }
    if (R.Name.size() > NameWidth) {
      OS << '\n';
      OS.indent(Indent + NameWidth);
    } else {
      OS.indent(NameWidth - R.Name.size());
    }
    OS << " - ";
    printWrapped(R.Text, Column, Column, Width, OS);
  }
}

static void printHeading(StringRef Text, raw_ostream &OS) {
  OS << painted(Text, Style::Heading, OS) << "\n\n";
}

// Examples and exit statuses. Their lines fit into 80 columns; a narrow terminal breaks them.
static void printMoreHelp(StringRef Text, unsigned Width, raw_ostream &OS) {
  for (StringRef Line : split(Text.rtrim('\n'), '\n')) {
    if (!Line.empty() && Line.front() != ' ') {
      OS << painted(Line, Style::Heading, OS) << '\n';
    } else if (Line.size() <= Width) {
      OS << Line << '\n';
    } else {
      size_t Indent = Line.find_first_not_of(' ');
      OS.indent(Indent);
      printWrapped(Line.drop_front(Indent), Indent, Indent + 4, Width, OS);
    }
  }
}

static std::vector<Row> optionRows(const cl::SubCommand &Command) {
  std::vector<Row> Rows;
  for (const ShownOption &O : shownOptions(Command)) {
    Rows.push_back({O.withValue(), O.Text});
    for (const NamedValue &V : O.Named)
      if (!V.Text.empty())
        Rows.push_back({"  =" + V.Name, V.Text});
  }
  return Rows;
}

static std::vector<const Subcommand *> sorted(ArrayRef<Subcommand> Subcommands) {
  std::vector<const Subcommand *> Result;
  for (const Subcommand &S : Subcommands)
    Result.push_back(&S);
  sort(Result, [](const Subcommand *A, const Subcommand *B) {
    return A->Command.getName() < B->Command.getName();
  });
  return Result;
}

static std::string usageOf(const Subcommand *Of) {
  if (!Of)
    return "relock SUBCOMMAND [options]";
  std::string Arguments = argumentsOf(Of->Command);
  return ("relock " + Of->Command.getName() + " [options]").str() +
         (Arguments.empty() ? "" : " " + Arguments);
}

// LLVM's StandardOutColumns() knows no more than COLUMNS, which shells don't export.
unsigned helpWidth() {
  struct winsize Size = {};
  if (!outs().is_displayed() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &Size) || !Size.ws_col)
    return 80;
  return std::max<unsigned>(Size.ws_col, 40);
}

void printHelp(const CommandHelp &All, const Subcommand *Of, raw_ostream &OS, unsigned Width) {
  OS << painted("OVERVIEW:", Style::Heading, OS) << ' ';
  printWrapped(Of ? Of->Command.getDescription() : All.Overview, 10, 10, Width, OS);
  OS << '\n' << painted("USAGE:", Style::Heading, OS) << ' ';
  printWrapped(usageOf(Of), 7, 11, Width, OS);
  OS << '\n';
  if (!Of) {
    printHeading("SUBCOMMANDS:", OS);
    std::vector<Row> Rows;
    for (const Subcommand *S : sorted(All.Subcommands))
      Rows.push_back({S->Command.getName().str(), S->Command.getDescription()});
    printRows(Rows, Width, OS);
    OS << '\n';
  }
  printHeading("OPTIONS:", OS);
  printRows(optionRows(Of ? Of->Command : cl::SubCommand::getTopLevel()), Width, OS);
  printMoreHelp(Of ? StringRef(Of->MoreHelp) : All.MoreHelp, Width, OS);
}

static Error writePage(const Twine &File, function_ref<void(raw_ostream &)> Print) {
  std::string Path = File.str();
  if (std::error_code Failed = sys::fs::create_directories(sys::path::parent_path(Path)))
    return createStringError(Path + ": " + Failed.message());
  if (Error Failed = writeAtomically(Path, Print))
    return createStringError(Path + ": " + toString(std::move(Failed)));
  return Error::success();
}

static Error writePages(const CommandHelp &All, StringRef Folder) {
  auto WriteManPage = [&](const Subcommand *Of) {
    std::string Name = Of ? ("relock-" + Of->Command.getName()).str() : "relock";
    return writePage(Folder + "/man/man1/" + Name + ".1",
                     [&](raw_ostream &OS) { printManPage(All, Of, OS); });
  };
  if (Error Failed = WriteManPage(nullptr))
    return Failed;
  for (const Subcommand &S : All.Subcommands)
    if (Error Failed = WriteManPage(&S))
      return Failed;
  const std::pair<StringRef, StringRef> Completions[] = {
      {"bash", "bash-completion/completions/relock"},
      {"zsh", "zsh/site-functions/_relock"},
      {"fish", "fish/vendor_completions.d/relock.fish"}};
  for (const auto &Completion : Completions)
    if (Error Failed = writePage(Folder + "/" + Completion.second, [&](raw_ostream &OS) {
          printCompletion(All, Completion.first, OS);
        }))
      return Failed;
  return Error::success();
}

static int wrongHelp() {
  message("say what for: `relock help --man [CMD]`, `relock help --completion bash|zsh|fish` or "
          "`relock help --write-pages FOLDER`",
          "usage");
  return BadUsage;
}

std::optional<int> helpForPrograms(const CommandHelp &All, ArrayRef<const char *> Words) {
  if (Words.size() < 3 || StringRef(Words[1]) != "help" || !StringRef(Words[2]).starts_with("--"))
    return std::nullopt;
  StringRef What = Words[2], Argument = Words.size() > 3 ? Words[3] : "";
  if (What == "--man") {
    const Subcommand *Of = namedSubcommand({Words[0], Argument.data()}, All.Subcommands);
    if (!Of && !Argument.empty())
      return wrongHelp();
    printManPage(All, Of, outs());
  } else if (What == "--completion") {
    if (!printCompletion(All, Argument, outs()))
      return wrongHelp();
  } else if (What == "--values") {
    printCompletedValues(Words.drop_front(3), outs());
  } else if (What == "--write-pages" && !Argument.empty()) {
    if (Error Failed = writePages(All, Argument)) {
      message(toString(std::move(Failed)), "cannot-write");
      return BadUsage;
    }
  } else if (What == "--help") {
    return std::nullopt;
  } else {
    return wrongHelp();
  }
  return flushOutput() ? Done : BadUsage;
}

} // namespace relock
