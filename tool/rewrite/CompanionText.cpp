// SPDX-License-Identifier: MIT
#include "rewrite/CompanionText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {
namespace {

// What names can stand for in the text of a companion.
std::string freeName(const Companion &Through, const std::string &Base) {
  auto Taken = [&](const std::string &Name) {
    return is_contained(Through.Facts.Taken, Name) ||
           (Through.Unlock && is_contained(Through.Unlock->Taken, Name));
  };
  std::string Name = Base;
  for (unsigned N = 2; Taken(Name); ++N)
    Name = Base + std::to_string(N);
  return Name;
}

// `#ifdef THREADS` of the condition `defined(THREADS)`.
std::string directiveFor(StringRef Condition) {
  for (auto [Word, Not] : {std::pair("#ifdef ", ""), std::pair("#ifndef ", "!")}) {
    StringRef Rest = Condition;
    if (Rest.consume_front((StringRef(Not) + "defined(").str()) && Rest.consume_back(")") &&
        all_of(Rest, [](char C) { return isAlnum(C) || C == '_'; }))
      return (Word + Rest + "\n").str();
  }
  // Both ends are those of one pair, unless another one begins in between.
  if (Condition.starts_with("(") && Condition.count('(') == 1 && Condition.ends_with(")"))
    Condition = Condition.drop_front().drop_back();
  return ("#if " + Condition + "\n").str();
}

std::string indented(StringRef Text, StringRef Unit) {
  std::string Result;
  SmallVector<StringRef> Lines;
  Text.rtrim('\n').split(Lines, '\n');
  for (StringRef Line : Lines)
    Result += (Line.empty() ? "" : Unit.str()) + Line.str() + "\n";
  return Text.empty() ? "" : Result;
}

// The companion that does what the two wrappers do.
class Around {
public:
  Around(const CompanionText &Text, const Companion &Through)
      : Text(Text), Through(Through), Lock(*Through.Facts.Body),
        Unlock(Through.Unlock ? *Through.Unlock->Body : Nothing),
        Section(freeName(Through, "section")), Context(freeName(Through, "context")),
        Call(freeName(Through, "call")), Result(freeName(Through, "result")) {}

  // The function that does what is done under the lock; empty: nothing is.
  std::string inner() const {
    if (!hasInner())
      return "";
    std::string Fields, Locals;
    for (const WrapperBody::Parameter &P : Lock.Parameters)
      if (isUnder(P)) {
        Fields += Text.Unit + P.Text + ";\n";
        Locals += Text.Unit + P.Text + " = " + Call + "->" + P.Name + ";\n";
      }
    const std::string Storage = Through.Facts.Storage.empty() ? "static " : Through.Facts.Storage;
    return "struct " + callType() + Text.Brace + Fields + Text.Unit + "relock_section_t " +
           Section + ";\n" + Text.Unit + "void *" + Context + ";\n};\n\n" + Storage + "int " +
           Text.Name + "_section(void *" + Context + ")" + Text.Brace + Text.Unit + "struct " +
           callType() + " *" + Call + " = " + Context + ";\n" + Locals +
           aliases(&WrapperBody::Alias::Under) + Text.Unit + "int " + Result + ";\n\n" +
           indented(Lock.Under, Text.Unit) + Text.Unit + Result + " = " + Call + "->" + Section +
           "(" + Call + "->" + Context + ");\n" + indented(Unlock.Under, Text.Unit) + Text.Unit +
           "return " + Result + ";\n}\n\n";
  }

  std::string body() const {
    const bool Behind = !Unlock.Outside.empty();
    const bool Keeps = Behind || any_of(Unlock.Guards, [](const WrapperBody::Guard &G) {
                         return !G.Instead.empty();
                       });
    std::string Declared = aliases(&WrapperBody::Alias::Outside);
    if (hasInner()) {
      Declared += Text.Unit + "struct " + callType() + " " + Call + " = {";
      for (const WrapperBody::Parameter &P : Lock.Parameters)
        if (isUnder(P))
          Declared += P.Name + ", ";
      Declared += Section + ", " + Context + "};\n";
    }
    if (Keeps)
      Declared += Text.Unit + "int " + Result + ";\n";
    const std::string Run =
        Text.Execute + "(" + Text.Lock + ", " +
        (hasInner() ? Text.Name + "_section, &" + Call : Section + ", " + Context) + ");\n";
    std::string Guards;
    for (size_t I = 0; I < Lock.Guards.size(); ++I)
      Guards += guard(Lock.Guards[I], I < Unlock.Guards.size() ? Unlock.Guards[I].Instead : "");
    return Declared + (Declared.empty() ? "" : "\n") + Guards + indented(Lock.Outside, Text.Unit) +
           Text.Unit + (Behind ? Result + " = " : "return ") + Run +
           indented(Unlock.Outside, Text.Unit) +
           (Behind ? Text.Unit + "return " + Result + ";\n" : "");
  }

  // What the section's function did before, by the wrappers.
  std::string calls() const {
    auto Call = [&](const std::string &Name, const WrapperBody &Of) {
      auto Names = map_range(Of.Parameters, [](const WrapperBody::Parameter &P) { return P.Name; });
      return Text.Unit + Name + "(" + join(Names, ", ") + ");\n";
    };
    return Text.Unit + "int " + Result + ";\n\n" + Call(Through.Name, Lock) + Text.Unit + Result +
           " = " + Section + "(" + Context + ");\n" + Call(Through.UnlockName, Unlock) + Text.Unit +
           "return " + Result + ";\n";
  }

private:
  const WrapperBody Nothing;
  const CompanionText &Text;
  const Companion &Through;
  const WrapperBody &Lock, &Unlock;
  const std::string Section, Context, Call, Result;

  // Where there is no lock. Unlocking: what the unlock wrapper does instead of unlocking then.
  std::string guard(const WrapperBody::Guard &G, const std::string &Unlocking) const {
    const std::string If = indented(G.Before, Text.Unit) + Text.Unit + "if (" + G.Condition + ")",
                      Inner = Text.Unit + Text.Unit, Run = Section + "(" + Context + ");\n";
    if (G.Instead.empty() && Unlocking.empty())
      return If + "\n" + Inner + "return " + Run;
    const std::string Open = Text.Brace == "\n{\n" ? "\n" + Text.Unit + "{\n" : " {\n";
    return If + Open + indented(G.Instead, Inner) + Inner +
           (Unlocking.empty() ? "return " + Run
                              : Result + " = " + Run + indented(Unlocking, Inner) + Inner +
                                    "return " + Result + ";\n") +
           Text.Unit + "}\n";
  }

  std::string callType() const { return Text.Name + "_call"; }
  bool hasInner() const { return !Lock.Under.empty() || !Unlock.Under.empty(); }

  bool isUnder(const WrapperBody::Parameter &P) const {
    return P.Under || any_of(Unlock.Parameters, [&](const WrapperBody::Parameter &Q) {
             return Q.Under && Q.Name == P.Name;
           });
  }

  std::string aliases(bool WrapperBody::Alias::*Where) const {
    std::vector<StringRef> Texts;
    for (const WrapperBody *Body : {&Lock, &Unlock})
      for (const WrapperBody::Alias &A : Body->Aliases)
        if (A.*Where && !is_contained(Texts, A.Text))
          Texts.push_back(A.Text);
    std::string Result;
    for (StringRef Alias : Texts)
      Result += indented(Alias, Text.Unit);
    return Result;
  }
};

} // namespace

std::string CompanionText::head(const Companion &Through,
                                std::vector<std::string> Parameters) const {
  Parameters.push_back("relock_section_t " + freeName(Through, "section"));
  Parameters.push_back("void *" + freeName(Through, "context"));
  return Through.Facts.Storage + "int " + Name + "(" + join(Parameters, ", ") + ")";
}

std::string CompanionText::definition(const Companion &Through,
                                      const std::vector<std::string> &Parameters) const {
  const std::string Head = head(Through, Parameters) + Brace;
  if (Through.Around) {
    const Around Text(*this, Through);
    const std::string Inner = Text.inner();
    if (Through.Configuration.empty())
      return Inner + Head + Text.body() + "}";
    const std::string If = directiveFor(Through.Configuration);
    return (Inner.empty() ? "" : If + StringRef(Inner).rtrim('\n').str() + "\n#endif\n\n") + Head +
           If + Text.body() + "#else\n" + Text.calls() + "#endif\n}";
  }
  return Head + Unit + "return " + Execute + "(" + Lock + ", " + freeName(Through, "section") +
         ", " + freeName(Through, "context") + ");\n}";
}

} // namespace relock
