// SPDX-License-Identifier: MIT
#include "index/OtherSystems.h"

#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringSwitch.h"

#include <string>
#include <vector>

using namespace clang;
using namespace llvm;

namespace relock {

// Macros that compilers predefine, whose names programs may not define themselves: whether they are
// on Linux. Names such as WIN32, which programs may define, decide nothing.
static std::optional<bool> definedOnLinux(StringRef Macro) {
  return StringSwitch<std::optional<bool>>(Macro)
      .Cases("__linux__", "__linux", "__gnu_linux__", "__unix__", "__unix", true)
      .Cases("__APPLE__", "__APPLE_CC__", "__MACH__", "__MACOSX__", false)
      .Cases("_WIN32", "_WIN64", "__WIN32__", "_MSC_VER", false)
      .Cases("__MINGW32__", "__MINGW64__", "__CYGWIN__", "__CYGWIN32__", "__MSYS__", false)
      .Cases("__FreeBSD__", "__FreeBSD_kernel__", "__NetBSD__", "__OpenBSD__", "__DragonFly__",
             "__bsdi__", false)
      .Cases("__sun", "__sun__", "__SVR4", "__svr4__", false)
      .Cases("_AIX", "__hpux", "__hpux__", "__osf__", "__sgi", "__sgi__", "_SCO_DS", false)
      .Cases("__GNU__", "__HAIKU__", "__BEOS__", "__QNX__", "__QNXNTO__", "__Fuchsia__", false)
      .Cases("__vxworks", "__VXWORKS__", "__MVS__", "__OS2__", "__INTERIX", false)
      .Cases("__EMSCRIPTEN__", "__wasi__", "__MSDOS__", "__DJGPP__", "__minix", false)
      .Default(std::nullopt);
}

namespace {

// The value of a condition as far as the system decides it.
class Condition {
public:
  explicit Condition(StringRef Text) : Text(Text.str()) {
    LangOptions Language;
    Lexer Raw(SourceLocation(), Language, this->Text.c_str(), this->Text.c_str(),
              this->Text.c_str() + this->Text.size());
    Token Next;
    for (Raw.LexFromRawLexer(Next); Next.isNot(tok::eof); Raw.LexFromRawLexer(Next))
      Tokens.push_back(Next);
  }

  std::optional<bool> value() {
    std::optional<bool> Result = disjunction();
    if (I < Tokens.size()) // `A ? B : C`, or no condition
      return std::nullopt;
    return Result;
  }

private:
  std::string Text;
  std::vector<Token> Tokens;
  size_t I = 0;

  bool is(tok::TokenKind Kind) const { return I < Tokens.size() && Tokens[I].is(Kind); }
  bool take(tok::TokenKind Kind) { return is(Kind) && ++I; }

  std::optional<bool> disjunction() {
    std::optional<bool> Result = conjunction();
    while (take(tok::pipepipe)) {
      std::optional<bool> Right = conjunction();
      bool Either = Result == true || Right == true;
      Result = Either ? true : Result && Right ? std::optional(false) : std::nullopt;
    }
    return Result;
  }

  std::optional<bool> conjunction() {
    std::optional<bool> Result = comparison();
    while (take(tok::ampamp)) {
      std::optional<bool> Right = comparison();
      bool Neither = Result == false || Right == false;
      Result = Neither           ? std::optional(false)
               : Result && Right ? std::optional(true)
                                 : std::nullopt;
    }
    return Result;
  }

  // What is compared or computed is not followed.
  std::optional<bool> comparison() {
    std::optional<bool> Result = operand();
    while (I < Tokens.size() && !is(tok::ampamp) && !is(tok::pipepipe) && !is(tok::r_paren) &&
           !is(tok::question)) {
      ++I;
      operand();
      Result = std::nullopt;
    }
    return Result;
  }

  std::optional<bool> operand() {
    if (take(tok::exclaim)) {
      std::optional<bool> Inner = operand();
      return Inner ? std::optional(!*Inner) : std::nullopt;
    }
    if (take(tok::l_paren)) {
      std::optional<bool> Inner = disjunction();
      return take(tok::r_paren) ? Inner : std::nullopt;
    }
    if (!is(tok::raw_identifier))
      return std::nullopt;
    StringRef Name = Tokens[I++].getRawIdentifier();
    if (Name != "defined")
      return definedOnLinux(Name);
    bool Enclosed = take(tok::l_paren);
    if (!is(tok::raw_identifier))
      return std::nullopt;
    std::optional<bool> Result = definedOnLinux(Tokens[I++].getRawIdentifier());
    return !Enclosed || take(tok::r_paren) ? Result : std::nullopt;
  }
};

} // namespace

std::optional<bool> valueOnLinux(StringRef Directive) {
  Directive = Directive.ltrim("# \t");
  StringRef Name = Directive.take_while([](char C) { return isalpha((unsigned char)C) != 0; });
  StringRef Rest = Directive.drop_front(Name.size());
  Name.consume_front("el");
  std::optional<bool> Value;
  if (Name == "if")
    Value = Condition(Rest).value();
  else if (Name == "ifdef" || Name == "ifndef")
    Value = Condition(("defined " + Rest).str()).value();
  if (Name == "ifndef" && Value)
    Value = !*Value;
  return Value;
}

} // namespace relock
