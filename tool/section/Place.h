// SPDX-License-Identifier: MIT
//
// Where the text of a section stands in its file: the lock, the body, the exits, and what has to be
// known of the text around it to write the function and the call.
#pragma once

#include "section/Captures.h"
#include "section/Directives.h"
#include "section/Guard.h"
#include "section/Operations.h"

namespace relock {

// The statement of the lock's block at which the section ends.
struct SectionEnd {
  const clang::Stmt *Child = nullptr;
  const LockOperation *Unlock = nullptr; // Child is this unlock; null: its branches have unlocked
  const GuardLoop *Guard = nullptr;      // Child is this loop, whose head unlocks
  const clang::CompoundStmt *Scope = nullptr; // this block ends, of which Child is the last
  const Entrance *Entered = nullptr;          // Child is the last statement of its arm

  // The statement that is all of the section, where that is more than its block's.
  const clang::Stmt *around() const {
    return Guard ? static_cast<const clang::Stmt *>(Guard->Outer) : Entered ? Entered->If : nullptr;
  }
};

// An unlock in a branch of a section, and what follows it.
struct EarlyExitText {
  // Null: there is none. The jump ends the section, or, in a block whose end unlocks, the tail
  // does.
  const LockOperation *Unlock;
  std::vector<const clang::Stmt *> Tail;
  const clang::ReturnStmt *Value = nullptr; // the section evaluates what its caller returns
  const clang::Stmt *Break = nullptr;       // behind the tail, to the end of the section
  bool Joins = false;                       // goes on at the end of the section
  const LockOperation *Relock = nullptr;    // behind the tail, where the section goes on
};

class SectionPlacer {
public:
  SectionPlacer(const clang::FunctionDecl *F, const LockOperation &Lock, const SectionEnd &End,
                const SectionText &Text, const clang::ParentMap &Parents, const Source &S,
                Extraction &Result, std::vector<Reason> &Against)
      : F(F), Lock(Lock), End(End), Text(Text), Parents(Parents), S(S), Result(Result),
        Against(Against) {}

  // Both are false, and say why in Against, where the text cannot change as it has to.
  // Fills where the section, its body and its exits stand.
  bool placeStatements(const std::vector<EarlyExitText> &Exits);
  // Fills how the text around is written; Text.Hoisted is known.
  bool placeSurroundings();

private:
  const clang::FunctionDecl *F;
  const LockOperation &Lock;
  const SectionEnd &End;
  const SectionText &Text;
  const clang::ParentMap &Parents;
  const Source &S;
  Extraction &Result;
  std::vector<Reason> &Against;

  using PlacedRange = std::optional<Source::Range>;

  bool refuse(llvm::StringRef Code, llvm::StringRef Message, clang::SourceLocation At);
  bool refuseMacro(clang::SourceLocation At);
  bool isInFront(const clang::Stmt *Statement, unsigned Position) const;
  bool placeExit(const EarlyExitText &Exit, llvm::StringRef File, clang::FileID Id);
  bool placeEnd(const clang::Stmt *Jump, llvm::StringRef File, clang::FileID Id);
  bool placeValue(const clang::ReturnStmt *Return, llvm::StringRef File, clang::FileID Id);
  bool placeJump(const clang::Stmt *Jump, llvm::StringRef File, clang::FileID Id);
  void placeScope(PlacedRange &First, PlacedRange &Last) const;
  std::string insteadOf(const LockOperation &Op) const;
  void placeDirective(const std::vector<EarlyExitText> &Exits);
  std::optional<OperationGroup> groupOf(const LockOperation &Op) const;
  void widen(Source::Range &R, const LockOperation &Op);
  bool extend(PlacedRange &R, const LockOperation &Op) const;
  bool placePush(PlacedRange &First);
  void placeEntered(PlacedRange &First, PlacedRange &Last) const;
  bool goesWhole(const Source::Range &First, unsigned UnlockEnd) const;
  void placeGuard(PlacedRange &First, PlacedRange &Last) const;
  bool placeHoistedFirst(llvm::StringRef File);
  bool sharesText() const;
  llvm::StringRef otherMacro(clang::FileID File, const std::set<std::string> &Redefined,
                             llvm::StringRef Conditions) const;
};

// Fills how a function is indented where a section begins, and where the one that is extracted
// goes: directly before it.
void layout(llvm::StringRef File, unsigned Begin, const clang::FunctionDecl *F, const Source &S,
            Extraction &Result);

// The begin of a function's first line, or of the comment that stands directly above it. A blank
// line between is none where the comment names the function.
unsigned aboveComment(llvm::StringRef File, unsigned FunctionBegin, llvm::StringRef Function);

} // namespace relock
