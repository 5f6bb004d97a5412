// SPDX-License-Identifier: MIT
//
// A macro may drop its argument in this configuration and use it in another (`assert`): what it
// names must be there for the other configuration. All that is known of such a name is the text
// around it, and whatever that leaves open is taken for the worst.
#include "section/Dropped.h"

#include "section/Hoist.h"

#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

class NameReader {
public:
  NameReader(const Extraction &Placed, const FunctionDecl *F, const std::vector<Mention> &All,
             const Source &S)
      : Placed(Placed), F(F), S(S) {
    for (const Mention &M : All)
      addCompiled(M.Ref->getLocation());
    addOtherNames(F->getBody());
  }

  std::vector<DroppedName> inside() {
    lex(Placed.Body);
    for (At = 0; Tokens[At].isNot(tok::eof); ++At)
      if (read() && !inExit(offset(Tokens[At])))
        add(Tokens[At]);
    return std::move(Found);
  }

  std::vector<Around> around() {
    unsigned Open = S.SM.getFileOffset(F->getBody()->getBeginLoc());
    lex({Open, S.SM.getFileOffset(F->getBody()->getEndLoc())});
    std::vector<Around> Names;
    for (At = 0; Tokens[At].isNot(tok::eof); ++At) {
      unsigned Begin = offset(Tokens[At]);
      bool Behind = Begin >= Placed.Whole.End || inExit(Begin);
      if (read() && (Behind || Begin < Placed.Whole.Begin))
        Names.push_back({Tokens[At].getRawIdentifier().str(), Begin});
    }
    return Names;
  }

private:
  const Extraction &Placed;
  const FunctionDecl *F;
  const Source &S;
  std::set<unsigned> Compiled; // where mentions stand, and names of members and labels
  std::vector<Token> Tokens;
  size_t At = 0;
  SmallVector<StringRef, 8> Callees; // of the open parentheses; empty: none
  std::vector<DroppedName> Found;

  void addCompiled(SourceLocation Name) {
    if (S.inFile(Name))
      Compiled.insert(S.spelled(Name).Offset);
  }

  // A label may have the name of a variable; an argument of a macro may name a member:
  // `for_each(entry, &list, entry)`, `container_of(entry, struct box, entry)`.
  void addOtherNames(const Stmt *Statement) {
    if (const auto *Member = dyn_cast<MemberExpr>(Statement))
      addCompiled(Member->getMemberLoc());
    else if (const auto *Label = dyn_cast<LabelStmt>(Statement))
      addCompiled(Label->getIdentLoc());
    else if (const auto *Address = dyn_cast<AddrLabelExpr>(Statement))
      addCompiled(Address->getLabelLoc());
    else if (const auto *Offset = dyn_cast<OffsetOfExpr>(Statement))
      for (unsigned I = 0; I < Offset->getNumComponents(); ++I)
        addCompiled(Offset->getComponent(I).getEndLoc());
    for (const Stmt *Child : Statement->children())
      if (Child)
        addOtherNames(Child);
  }

  unsigned offset(const Token &T) const { return S.SM.getFileOffset(T.getLocation()); }
  bool before(tok::TokenKind Kind) const { return At > 0 && Tokens[At - 1].is(Kind); }

  void lex(Range R) {
    FileID File = S.SM.getFileID(F->getBody()->getBeginLoc());
    StringRef Text = S.fileText(File);
    Lexer Raw(S.SM.getLocForStartOfFile(File), S.Language, Text.begin(), Text.begin() + R.Begin,
              Text.end());
    Token Current;
    do {
      Raw.LexFromRawLexer(Current);
      Tokens.push_back(Current);
    } while (Current.isNot(tok::eof) && offset(Current) < R.End);
    Tokens.back().setKind(tok::eof); // behind the text
  }

  // True if the token may name a variable, and nothing that is compiled does so there.
  bool read() {
    const Token &Current = Tokens[At];
    if (Current.is(tok::l_paren))
      Callees.push_back(before(tok::raw_identifier) ? Tokens[At - 1].getRawIdentifier() : "");
    else if (Current.is(tok::r_paren) && !Callees.empty())
      Callees.pop_back();
    return Current.is(tok::raw_identifier) && !before(tok::period) && !before(tok::arrow) &&
           !(before(tok::raw_identifier) && tags(Tokens[At - 1].getRawIdentifier())) &&
           !Compiled.count(offset(Current));
  }

  static bool tags(StringRef Keyword) {
    return is_contained({"struct", "union", "enum", "goto"}, Keyword);
  }

  bool inExit(unsigned Offset) const {
    return any_of(Placed.Exits, [&](const EarlyExit &Exit) {
      return Offset >= Exit.Unlock.Begin && Offset < Exit.Unlock.End;
    });
  }

  void add(const Token &Name) {
    DroppedName Dropped;
    unsigned Begin = offset(Name);
    Dropped.At = {Begin, Begin + Name.getLength()};
    Dropped.Location = Name.getLocation();
    for (const Decl *D : F->decls()) {
      const auto *V = dyn_cast<VarDecl>(D);
      if (!V || !V->getIdentifier() || V->getName() != Name.getRawIdentifier() ||
          !V->isLocalVarDeclOrParm() || V->hasExternalStorage())
        continue;
      if (S.spelled(V->getLocation()).Offset == Begin)
        return; // its own declaration
      Dropped.Unique = !Dropped.Variable;
      Dropped.Variable = V;
    }
    if (!Dropped.Variable)
      return;
    Dropped.Pasted =
        any_of(Callees, [&](StringRef Callee) { return S.makesText(Callee, Dropped.Location); });
    Dropped.Asserted = is_contained(Callees, "assert");
    Dropped.Sized = sized();
    Dropped.Written = written();
    Found.push_back(Dropped);
  }

  // True if the size or the address of an array may be asked for.
  bool sized() const {
    if (Tokens[At + 1].is(tok::l_square))
      return false;
    if (addressed() || (before(tok::raw_identifier) && asks(Tokens[At - 1].getRawIdentifier())))
      return true;
    for (StringRef Callee : reverse(Callees))
      if (!Callee.empty())
        return asks(Callee) || (Callee != "assert" && S.macroAt(Callee, Tokens[At].getLocation()));
    return false;
  }

  static bool asks(StringRef Operator) {
    return is_contained({"sizeof", "typeof", "__typeof__", "__typeof", "_Alignof", "__alignof__"},
                        Operator);
  }

  bool addressed() const {
    if (!before(tok::amp) || Tokens[At + 1].isOneOf(tok::arrow, tok::l_square))
      return false; // `&p->x`: what the pointer points to
    bool Binary = At > 1 && Tokens[At - 2].isOneOf(tok::raw_identifier, tok::r_paren, tok::r_square,
                                                   tok::numeric_constant);
    return !Binary;
  }

  bool written() const {
    return addressed() || before(tok::plusplus) || before(tok::minusminus) ||
           Tokens[At + 1].isOneOf(tok::equal, tok::plusequal, tok::minusequal, tok::starequal,
                                  tok::slashequal, tok::percentequal, tok::ampequal, tok::pipeequal,
                                  tok::caretequal, tok::lesslessequal, tok::greatergreaterequal,
                                  tok::plusplus, tok::minusminus);
  }
};

} // namespace

std::vector<DroppedName> droppedNames(const Extraction &Placed, const FunctionDecl *F,
                                      const std::vector<Mention> &All, const Source &S) {
  return NameReader(Placed, F, All, S).inside();
}

std::vector<Around> namesAround(const Extraction &Placed, const FunctionDecl *F,
                                const std::vector<Mention> &All, const Source &S) {
  return NameReader(Placed, F, All, S).around();
}

bool isNamed(const VarDecl *V, const std::vector<Around> &Names, const FunctionDecl *F,
             const ParentMap &Parents, const Source &S) {
  const Stmt *Declaration = nullptr;
  std::optional<Source::Range> Scope;
  for (const Around &Name : Names) {
    if (Name.Text != V->getName() || Name.At <= S.shown(V->getLocation()).Offset)
      continue;
    if (!Declaration && (Declaration = declarationOf(V, F->getBody())))
      if (const Stmt *Block = Parents.getParent(Declaration))
        Scope = S.range(Block->getSourceRange());
    if (!Scope || Name.At < Scope->End)
      return true;
  }
  return false;
}

static bool hasLabel(const Stmt *Statement) {
  return Statement && (isa<LabelStmt>(Statement) || any_of(Statement->children(), hasLabel));
}

bool hasValueAt(const Stmt *Statement, const VarDecl *V, const ParentMap &Parents) {
  if (isa<ParmVarDecl>(V) || V->hasInit())
    return true;
  const Stmt *Child = Statement;
  for (const Stmt *Up = Parents.getParent(Child); Up; Child = Up, Up = Parents.getParent(Up)) {
    if (isa<LabelStmt>(Up) || isa<SwitchCase>(Up))
      return false; // reached by a jump
    const auto *Block = dyn_cast<CompoundStmt>(Up);
    if (!Block)
      continue;
    std::vector<const Stmt *> Before;
    for (const Stmt *Sibling : Block->body()) {
      if (Sibling == Child)
        break;
      Before.push_back(Sibling);
    }
    for (const Stmt *Sibling : reverse(Before)) {
      if (hasLabel(Sibling) || isa<SwitchCase>(Sibling))
        return false;
      const auto *Assigned = dyn_cast<BinaryOperator>(Sibling);
      const auto *Target = Assigned && Assigned->getOpcode() == BO_Assign
                               ? dyn_cast<DeclRefExpr>(Assigned->getLHS()->IgnoreParens())
                               : nullptr;
      if (Target && Target->getDecl() == V)
        return true;
    }
  }
  return false;
}

} // namespace relock
