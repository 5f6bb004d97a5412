// SPDX-License-Identifier: MIT
//
// Which variables of a function its critical section needs, and how each can travel.
#pragma once

#include "section/Section.h"
#include "support/Source.h"

#include "clang/AST/Decl.h"
#include "clang/AST/ParentMap.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <vector>

namespace clang {
class CFG;
}

namespace relock {

// Which local variables are live directly after each call of a function.
class CallLiveness {
public:
  explicit CallLiveness(const clang::FunctionDecl *F);
  // True also where the answer is not known.
  bool liveAfter(const clang::CallExpr *Call, const clang::VarDecl *V) const;
  // Takes the calls for one: what is live after any of them is live after the first.
  void join(const clang::CallExpr *First, llvm::ArrayRef<const clang::CallExpr *> Others);

private:
  llvm::DenseMap<const clang::Stmt *, llvm::SmallPtrSet<const clang::VarDecl *, 8>> After;
};

// True if a local variable may be read behind a call, before it gets another value. What stands in
// Gone does not count; Never are statements that do not run. Graph: of the function, with every
// expression.
bool mayBeRead(const clang::VarDecl *V, const clang::CallExpr *Call,
               llvm::ArrayRef<const clang::Stmt *> Gone, llvm::ArrayRef<const clang::Stmt *> Never,
               const clang::FunctionDecl &F, const clang::CFG &Graph);

// One mention of a variable in a function.
struct Mention {
  const clang::DeclRefExpr *Ref;
  const clang::VarDecl *Variable;
  enum Role { Read, Write, AddressTaken, Element, Member, Unevaluated } How;
};
// Those in the operands of `typeof`, too, which get their parents here: for Clang the operands
// belong to types, not to the statement that names the type.
std::vector<Mention> mentions(clang::Stmt *Body, clang::ParentMap &Parents);
// What each `typeof` of a statement asks about, and the statement or expression around it.
std::vector<std::pair<clang::Expr *, const clang::Stmt *>> typeOperands(clang::Stmt *Body);

// A name of a local variable in text that this configuration drops.
struct DroppedName {
  const clang::VarDecl *Variable = nullptr; // one of that name; Unique: the only one
  bool Unique = false;
  Range At;
  clang::SourceLocation Location;
  bool Pasted = false;   // in the argument of a macro that makes text of it
  bool Asserted = false; // in that of `assert`, which makes text of it in another configuration
  bool Sized = false;    // of an array, its size or its address may be asked for
  bool Written = false;
};

// A name in text that this configuration drops, around the section.
struct Around {
  std::string Text;
  unsigned At;
};

// Where a section releases its lock and takes it again.
struct Gap {
  const clang::CallExpr *Unlock, *Lock;
  std::vector<const clang::Stmt *> Between;
};

// A section as the capture analysis sees it.
struct SectionText {
  std::vector<const clang::Stmt *> Statements;  // between lock and unlock, tails included
  std::vector<const clang::Stmt *> Outside;     // the unlocks in branches and their tails
  std::vector<const clang::DeclStmt *> Hoisted; // declared before the lock instead
  const clang::CallExpr *Lock;
  std::vector<const clang::CallExpr *> Unlocks; // the last one first, where there is a last one
  const clang::Stmt *Last = nullptr;            // the statement of that one
  const clang::Stmt *Joins = nullptr; // else: the last statement, whose branches have unlocked
  // The section ends with its block: there is no unlock. Returns: `return` is a statement of it.
  // Leaves: its ends are those of the function.
  bool InScope = false, Returns = false, Leaves = false;
  bool ReturnsForFunction = false; // all that it returns are values that its function can return
  std::vector<const clang::CallExpr *> Waits;
  // Of each wait, the statement that does no more as long as it returns 0; null: there is none.
  std::vector<const clang::Stmt *> WaitStatements;
  std::vector<const Wrapper *> WaitWrappers; // of each wait; null: it is one of POSIX's own
  std::vector<Gap> Gaps;
  std::vector<const clang::VarDecl *> Escaping; // declared here, outlive the section, if it waits
  std::vector<const clang::Expr *> Printed; // operands of waits that are not spelled in one piece
  std::vector<DroppedName> Dropped;
  std::vector<Around> DroppedAround;
  // How often the statements that go with the operations, as they test results, name a variable.
  std::map<const clang::VarDecl *, size_t> Gone;
  std::set<const clang::VarDecl *> GoneWhole; // they are declared by such a statement, too

  // True if the section is entered again, behind a wait or a gap.
  bool resumes() const { return !Waits.empty() || !Gaps.empty(); }
};

// `typeof(n)` means something else in another place; the type that it stands for does not. Not
// every version of C has the keyword, either.
clang::QualType withoutTypeOf(clang::QualType T, const clang::ASTContext &Context);
// True where `*x` for the variable needs no parentheses: operators that bind less tightly than the
// dereference, and never after a `/`, which would open a comment. `a * *x` would be read twice.
bool bare(const clang::DeclRefExpr *Ref, const clang::ParentMap &Parents);
// True if the type can be written at file scope.
bool spellable(clang::QualType T, const clang::ASTContext &Context);
// A declaration that is written at file scope before At.
std::string declarationText(clang::QualType T, llvm::StringRef Name, clang::SourceLocation At,
                            const Source &S);
// The type of the variable, or of its array's elements, with the bounds as they are written, and
// the macros that name types, where they mean the same at At. Only for declarationText(): such
// bounds look like those of a VLA, and macros like typedefs.
clang::QualType asWritten(clang::QualType T, const clang::VarDecl *V, clang::SourceLocation At,
                          const Source &S);
// The same for what a function returns, without qualifiers.
clang::QualType returnAsWritten(const clang::FunctionDecl *F, const Source &S);
// True if a macro brings the variable's type, but not by a name that asWritten() can write, and its
// file has another definition of the macro.
bool isMacrosType(const clang::VarDecl *V, clang::SourceLocation At, const Source &S);
// The type of a variable as its declaration has it: the bounds `[ROWS][COLUMNS]`, and of what. Both
// without the first Skip dimensions. A bound whose macros are others at At is its value. None if a
// bound names something of the function, and cannot be written elsewhere.
struct ArrayText {
  std::string Bounds;
  clang::QualType Element;
};
std::optional<ArrayText> arrayText(const clang::VarDecl *V, unsigned Skip, clang::SourceLocation At,
                                   const Source &S);
// Fills LockNodes for a variable that the extraction declares.
void noteLockType(const clang::VarDecl *V, const Source &S, Extraction &Result);
// True unless a macro makes more of a declaration than its type, as `bool` does.
bool beginsWithType(const clang::DeclStmt *Statement, const clang::VarDecl *V, const Source &S);

// The declarator of a variable, if it can be taken out of its declaration in that file. Mentions is
// not filled.
std::optional<Declarator> declaratorOf(const clang::VarDecl *V, const clang::FunctionDecl *F,
                                       llvm::StringRef File, const Source &S);
// The end of a statement, or of the comment behind it on the same line.
unsigned withComment(llvm::StringRef File, unsigned End);
// Widens a range to whole lines if nothing else stands on them.
Range wholeLines(Range R, llvm::StringRef Text);

// Fills the captures of the extraction, or says in Against why a variable cannot travel.
void findCaptures(const SectionText &Text, const clang::FunctionDecl *F,
                  const std::vector<Mention> &All, const CallLiveness &Liveness,
                  const clang::ParentMap &Parents, const Source &S, Extraction &Result,
                  std::vector<Reason> &Against);

} // namespace relock
