// SPDX-License-Identifier: MIT
//
// Completions for bash, zsh and fish: subcommands, options, named values, files; lock classes,
// algorithms and machines, for which they ask relock.
#include "driver/CompletedValues.h"
#include "driver/Help.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {
namespace {

const char *const MadeBy = "made by relock from its --help\n";

// In quotation marks of the shells.
std::string quoted(StringRef Text, StringRef Escaped = "") {
  std::string Result = "'";
  for (char C : Text) {
    if (Escaped.contains(C))
      Result += '\\';
    Result += C == '\'' ? std::string("'\\''") : std::string(1, C);
  }
  return Result + "'";
}

std::string namesOf(const ShownOption &O) {
  std::string Result;
  for (const NamedValue &V : O.Named)
    Result += (Result.empty() ? "" : " ") + V.Name;
  return Result;
}

// What stands behind the options of a subcommand.
enum class Arguments { None, Files, Codes, Program };

Arguments argumentsKind(const cl::SubCommand &Command) {
  if (Command.ConsumeAfterOpt)
    return Arguments::Program;
  std::string Shown = argumentsOf(Command);
  if (Shown.empty())
    return Arguments::None;
  return StringRef(Shown).contains("CODE") ? Arguments::Codes : Arguments::Files;
}

const char *const Codes = "relock explain 2>/dev/null | sed -n 's/^    //p'";

std::string subcommandNames(const CommandHelp &All) {
  std::string Result;
  for (const Subcommand &S : All.Subcommands)
    Result += (S.Command.getName() + " ").str();
  return Result + "help";
}

// A kind of values and what there is to say of it, as _relock reads it.
std::string bashValue(const ShownOption &O) {
  std::string Optional = O.OptionalValue ? "optional " : "required ";
  if (!O.Named.empty())
    return Optional + (O.takesFile() ? "file " : "- ") + namesOf(O);
  return Optional + (O.takesFile() ? "file" : "-");
}

void printBashCase(const CommandHelp &All, StringRef Pattern, const cl::SubCommand &Command,
                   StringRef Behind, raw_ostream &OS) {
  OS << "    " << Pattern << ")\n      options='";
  ListSeparator Blank(" ");
  for (const ShownOption &O : shownOptions(Command))
    OS << Blank << O.dashed() << (O.Values && !O.OptionalValue && O.Name.size() > 1 ? "=" : "");
  OS << "'\n      arguments=" << quoted(Behind) << "\n      case $option in\n";
  for (const ShownOption &O : shownOptions(Command))
    if (O.Values)
      OS << "        " << O.dashed() << ") value=" << quoted(bashValue(O))
         << " asked=" << completedKind(O) << " ;;\n";
  OS << "      esac\n      ;;\n";
}

// The options that have two values.
std::string pairs(const CommandHelp &All) {
  std::string Result;
  for (const Subcommand &S : All.Subcommands)
    for (const ShownOption &O : shownOptions(S.Command))
      if (O.Values == 2)
        Result += O.dashed() + " ";
  return Result;
}

void printBash(const CommandHelp &All, raw_ostream &OS) {
  OS << "# bash completion for relock; " << MadeBy << R"sh(
_relock_words() {
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$1" -- "$2")
}

_relock_files() {
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$1")
  compopt -o filenames 2>/dev/null
}

# What relock knows of a kind, behind what is typed of it ($2); readline replaces the last word ($3).
_relock_ask() {
  local known kept=${2%"$3"}
  while IFS= read -r known; do
    [[ $known != "$2"* ]] || COMPREPLY+=("${known#"$kept"}")
  done < <(relock help --values "$1" "$2" "${COMP_WORDS[@]}" 2>/dev/null)
  [[ ${COMPREPLY[0]-} != *= && $1 != *-list ]] || compopt -o nospace 2>/dev/null
}

_relock() {
  local word=${COMP_WORDS[COMP_CWORD]}
  local option= joined= options= arguments= value= names= asked=
  # The words between blanks: for readline, `=` and `:` are words of their own.
  local typed=${COMP_LINE:0:COMP_POINT}
  local begun=${typed##*[[:space:]]}
  typed=${typed%"$begun"}
  local -a earlier
  read -r -a earlier <<< "$typed"
  local before=${earlier[-1]-} second=
  ((${#earlier[@]} < 2)) || second=${earlier[-2]}
  COMPREPLY=()
  [[ $word != [=:] ]] || word=
  if [[ $begun == -*=* ]]; then
    option=${begun%%=*} joined=1 begun=${begun#*=}
  elif [[ $before == -* && $before != *=* ]]; then
    option=$before
  elif [[ " )sh"
     << pairs(All) << R"sh(" == *" $second "* ]]; then
    option=$second
  fi
  if ((COMP_CWORD == 1)); then
    _relock_words ')sh"
     << subcommandNames(All) << R"sh(' "$word"
    [[ $word != -* ]] && return
  fi
  case ${COMP_WORDS[1]} in
)sh";
  for (const Subcommand &S : All.Subcommands) {
    static const char *const Behind[] = {"", "file", "codes", "program"};
    printBashCase(All, S.Command.getName(), S.Command, Behind[unsigned(argumentsKind(S.Command))],
                  OS);
  }
  printBashCase(All, "-*", cl::SubCommand::getTopLevel(), "", OS);
  OS << "    help)\n      arguments='" << subcommandNames(All) << R"sh('
      ;;
  esac
  if [[ $value == required* || ($value == optional* && $joined) ]]; then
    read -r _ value names <<< "$value"
    _relock_words "$names" "$word"
    [[ -z $asked ]] || _relock_ask "$asked" "$begun" "$word"
    [[ $value != file ]] || _relock_files "$word"
  elif [[ $word == -* ]]; then
    _relock_words "$options" "$word"
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
  else
    case $arguments in
      file) _relock_files "$word" ;;
      program)
        _relock_files "$word"
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$word")
        ;;
      codes) _relock_words "$()sh"
     << Codes << R"sh()" "$word" ;;
      *) _relock_words "$arguments" "$word" ;;
    esac
  fi
}
complete -F _relock relock
)sh";
}

// A specification for _arguments.
std::string zshOption(const ShownOption &O) {
  std::string Spec = O.Repeats ? "*" : "";
  Spec += O.dashed();
  if (O.Values)
    Spec += O.OptionalValue ? "=-" : O.Name.size() == 1 ? "+" : "=";
  std::string Text = "[";
  for (char C : O.Text)
    Text += StringRef("[]\\").contains(C) ? std::string("\\") + C : std::string(1, C);
  Spec += Text + "]";
  for (unsigned I = 0; I < O.Values; ++I) {
    Spec += O.OptionalValue ? "::" : ":";
    for (char C : O.Value)
      Spec += C == ':' ? "\\:" : std::string(1, C);
    Spec += ":";
    std::string Asked = completedKind(O).str();
    if (!Asked.empty())
      Spec += "{_relock_ask " + Asked + (O.Named.empty() ? "" : "; compadd " + namesOf(O)) +
              (O.takesFile() ? "; _files}" : "}");
    else if (O.takesFile())
      Spec += O.Named.empty() ? "_files" : "{compadd " + namesOf(O) + "; _files}";
    else if (!O.Named.empty())
      Spec += "(" + namesOf(O) + ")";
  }
  return quoted(Spec);
}

void printZshOptions(const cl::SubCommand &Command, StringRef Indent, raw_ostream &OS) {
  for (const ShownOption &O : shownOptions(Command))
    OS << " \\\n" << Indent << zshOption(O);
}

void printZsh(const CommandHelp &All, raw_ostream &OS) {
  OS << "#compdef relock\n# zsh completion for relock; " << MadeBy << R"sh(
_relock_codes() {
  compadd -- $()sh"
     << Codes << R"sh()
}

# What relock knows of a kind; behind `CLASS=` more is typed, and of a list a comma may follow.
_relock_ask() {
  local -a known=(${(f)"$(relock help --values $1 "$PREFIX" $words 2>/dev/null)"})
  if [[ $1 == *-list ]]; then
    compset -P '*,'
    compadd -qS , -- ${known##*,}
    return
  fi
  compadd -S '' -- ${(M)known:#*=}
  compadd -- ${known:#*=}
}

_relock() {
  local -a subcommands=(
)sh";
  for (const Subcommand &S : All.Subcommands)
    OS << "    " << quoted((S.Command.getName() + ":" + S.Command.getDescription()).str()) << "\n";
  OS << R"sh(    'help:say what there is, and how it is used'
  )
  if ((CURRENT == 2)); then
    if [[ $words[2] == -* ]]; then
      _arguments)sh";
  printZshOptions(cl::SubCommand::getTopLevel(), "        ", OS);
  OS << R"sh(
    else
      _describe -t commands subcommand subcommands
    fi
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
    help) _describe -t commands subcommand subcommands ;;
)sh";
  for (const Subcommand &S : All.Subcommands) {
    static const char *const Behind[] = {"", " \\\n        '*:file:_files'",
                                         " \\\n        '*:code:_relock_codes'",
                                         " \\\n        '*::program:_normal'"};
    OS << "    " << S.Command.getName() << ")\n      _arguments";
    printZshOptions(S.Command, "        ", OS);
    OS << Behind[unsigned(argumentsKind(S.Command))] << "\n      ;;\n";
  }
  OS << "  esac\n}\n_relock \"$@\"\n";
}

void printFishOptions(const cl::SubCommand &Command, StringRef When, raw_ostream &OS) {
  for (const ShownOption &O : shownOptions(Command)) {
    OS << "complete -c relock -n " << quoted(When) << (O.Name.size() == 1 ? " -s " : " -l ")
       << O.Name;
    if (O.Values && !O.OptionalValue)
      OS << (O.takesFile() ? " -r -F" : " -x");
    std::string Offered = namesOf(O);
    if (StringRef Asked = completedKind(O); !Asked.empty())
      Offered += (Offered.empty() ? "(__relock_ask " : " (__relock_ask ") + Asked.str() + ")";
    if (!Offered.empty())
      OS << " -a " << quoted(Offered);
    else if (O.OptionalValue && O.takesFile()) // only of -r, fish completes files itself
      OS << " -a '(__fish_complete_path)'";
    OS << " -d " << quoted(O.Text, "\\") << "\n";
    // fish knows of one value of an option.
    if (StringRef Asked = completedKind(O); O.Values == 2 && !Asked.empty())
      OS << "complete -c relock -n " << quoted((When + "; and __relock_behind " + O.dashed()).str())
         << " -a " << quoted(("(__relock_ask " + Asked + ")").str()) << "\n";
  }
}

void printFish(const CommandHelp &All, raw_ostream &OS) {
  OS << "# fish completion for relock; " << MadeBy << R"sh(
# Whether this is the second word of the line; none: whether there is none yet.
function __relock_is
    set -l words (commandline -opc)
    if set -q argv[1]
        test (count $words) -gt 1; and test $words[2] = $argv[1]
    else
        test (count $words) -eq 1
    end
end
# What relock knows of a kind.
function __relock_ask
    set -l begun (commandline -ct | string replace -r -- '^-[^=]*=' '')
    relock help --values $argv[1] "$begun" (commandline -opc) 2>/dev/null
end
# Whether the word before the last one is this option.
function __relock_behind
    set -l words (commandline -opc)
    test (count $words) -gt 2; and test $words[-2] = $argv[1]
end
complete -c relock -f
)sh";
  printFishOptions(cl::SubCommand::getTopLevel(), "__relock_is", OS);
  for (const char *When : {"__relock_is", "__relock_is help"}) {
    for (const Subcommand &S : All.Subcommands)
      OS << "complete -c relock -n " << quoted(When) << " -a " << S.Command.getName() << " -d "
         << quoted(S.Command.getDescription(), "\\") << "\n";
  }
  OS << "complete -c relock -n __relock_is -a help -d 'say what there is, and how it is used'\n";
  for (const Subcommand &S : All.Subcommands) {
    std::string When = ("__relock_is " + S.Command.getName()).str();
    printFishOptions(S.Command, When, OS);
    Arguments Kind = argumentsKind(S.Command);
    if (Kind == Arguments::Codes)
      OS << "complete -c relock -n " << quoted(When) << " -a "
         << quoted(std::string("(") + Codes + " | string split -n ' ')") << "\n";
    else if (Kind != Arguments::None)
      OS << "complete -c relock -n " << quoted(When) << " -F\n";
    if (Kind == Arguments::Program)
      OS << "complete -c relock -n " << quoted(When) << " -a '(__fish_complete_command)'\n";
  }
}

} // namespace

bool printCompletion(const CommandHelp &All, StringRef Shell, raw_ostream &OS) {
  if (Shell == "bash")
    printBash(All, OS);
  else if (Shell == "zsh")
    printZsh(All, OS);
  else if (Shell == "fish")
    printFish(All, OS);
  else
    return false;
  return true;
}

} // namespace relock
