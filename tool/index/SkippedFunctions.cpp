// SPDX-License-Identifier: MIT
#include "index/SkippedFunctions.h"

#include "clang/AST/Decl.h"

#include <optional>

using namespace clang;
using namespace llvm;

namespace relock {

static size_t pastLine(ArrayRef<Word> Words, size_t I) {
  for (++I; I < Words.size() && !Words[I].StartsLine;)
    ++I;
  return I;
}

static bool isCompiled(StringRef Name, const Source &S) {
  ASTContext &Context = S.Context;
  return any_of(Context.getTranslationUnitDecl()->lookup(&Context.Idents.get(Name)),
                [](const NamedDecl *D) { return isa<FunctionDecl>(D); });
}

// `const pthread_mutex_t *m`, or without a name.
static bool isLockAddress(ArrayRef<Word> Parameter, StringRef &Name) {
  unsigned Stars = 0, Types = 0;
  Name = "";
  for (const Word &W : Parameter) {
    if (W.Kind == tok::star)
      ++Stars;
    else if (W.Name == "pthread_mutex_t" || W.Name == "pthread_cond_t")
      ++Types;
    else if (W.Kind != tok::raw_identifier || !Name.empty())
      return false;
    else if (W.Name != "const" && W.Name != "restrict")
      Name = W.Name;
  }
  return Stars == 1 && Types == 1;
}

// The words of a function's head are a type, its name and its parameters: `static int held(…)`.
static bool isHead(ArrayRef<Word> Words, size_t Name) {
  return Name > 0 && Name + 1 < Words.size() && Words[Name].Kind == tok::raw_identifier &&
         Words[Name + 1].Kind == tok::l_paren &&
         (Words[Name - 1].Kind == tok::raw_identifier || Words[Name - 1].Kind == tok::star);
}

// The tag of `struct TAG *v`, whose name is Words[I]; empty: of another type; none: it is no
// declaration.
static std::optional<StringRef> declaredTag(ArrayRef<Word> Words, size_t I) {
  size_t Type = I;
  while (Type > 0 && Words[Type - 1].Kind == tok::star)
    --Type;
  const tok::TokenKind Next = I + 1 < Words.size() ? Words[I + 1].Kind : tok::eof;
  if (Type > 0 && Words[Type - 1].Kind == tok::comma) // perhaps of `struct TAG *u, *v;`
    return is_contained({tok::semi, tok::equal, tok::comma, tok::l_square}, Next)
               ? std::optional(StringRef())
               : std::nullopt;
  if (Type == 0 || Words[Type - 1].Kind != tok::raw_identifier || Words[Type - 1].Name == "return")
    return std::nullopt;
  return Type > 1 && Words[Type - 2].Name == "struct" ? Words[Type - 1].Name : "";
}

void SkippedFunctions::read(const Source &S, std::vector<Word> Part, Condition Where) {
  ArrayRef<Word> Words = Part;
  for (size_t I = 0; I < Words.size();) {
    if (Words[I].Kind == tok::hash && Words[I].StartsLine) {
      I = pastLine(Words, I);
      continue;
    }
    if (Words[I].Kind == tok::r_brace) // it begins within something
      return;
    if (Words[I].Kind == tok::l_brace) {
      I = pastClosing(Words, I);
      continue;
    }
    if (!isHead(Words, I)) {
      if (Words[I].Kind == tok::raw_identifier)
        if (std::optional<StringRef> Tag = declaredTag(Words, I))
          if (auto [It, New] = Globals.try_emplace(Words[I].Name, *Tag); It->second != *Tag)
            It->second = "";
      ++I;
      continue;
    }
    const size_t Head = I;
    I = pastClosing(Words, Head + 1);
    Body Text;
    std::set<unsigned> Locks;
    for (const auto &[Index, Parameter] : enumerate(argumentsOf(Words.drop_front(Head + 1)))) {
      StringRef Name;
      if (isLockAddress(Parameter, Name))
        Locks.insert(Index), Text.Parameters.insert(Name);
    }
    const bool Refined = !Locks.empty() && !isCompiled(Words[Head].Name, S);
    if (Refined) {
      auto [Directives, Elsewhere] = Where(Words[Head].At);
      SkippedFunction &F = Named[Words[Head].Name];
      F.Name = Words[Head].Name.str();
      F.Locks.insert(Locks.begin(), Locks.end());
      F.Elsewhere &= Elsewhere;
      if (F.Condition.empty())
        F.Condition = Directives;
      Heads.insert(Words[Head].At);
    } else {
      Text.Parameters.clear();
    }
    if (I >= Words.size() || Words[I].Kind != tok::l_brace)
      continue;
    const size_t Begin = I;
    I = pastClosing(Words, Begin);
    Text.Name = Words[Head].Name;
    Text.Words = Words.slice(Head, I - Head);
    for (auto P = Text.Parameters.begin(); P != Text.Parameters.end();)
      P = changes(*P, Words.slice(Begin, I - Begin)) ? Text.Parameters.erase(P) : std::next(P);
    Bodies[Words[I - 1].At] = std::move(Text);
  }
}

const SkippedFunction *SkippedFunctions::named(StringRef Name) const {
  auto Found = Named.find(Name);
  return Found == Named.end() ? nullptr : &Found->second;
}

const SkippedFunctions::Body *SkippedFunctions::around(SourceLocation At) const {
  auto Found = Bodies.lower_bound(At);
  return Found == Bodies.end() || At < Found->second.Words.front().At ? nullptr : &Found->second;
}

const SkippedFunction *SkippedFunctions::ofParameter(StringRef Name, SourceLocation At) const {
  const Body *Function = around(At);
  return Function && Function->Parameters.count(Name) ? named(Function->Name) : nullptr;
}

StringRef SkippedFunctions::recordOf(StringRef Variable, SourceLocation At) const {
  const Body *Function = around(At);
  if (!Function)
    return "";
  ArrayRef<Word> Words = Function->Words;
  size_t I = find_if(Words, [&](const Word &W) { return W.At == At; }) - Words.begin();
  int Closed = 0; // blocks, from here backwards
  while (I-- > 0) {
    Closed += Words[I].Kind == tok::r_brace;
    Closed -= Closed > 0 && Words[I].Kind == tok::l_brace;
    if (Closed == 0 && Words[I].Name == Variable)
      if (std::optional<StringRef> Tag = declaredTag(Words, I))
        return *Tag;
  }
  return Globals.lookup(Variable);
}

} // namespace relock
