// SPDX-License-Identifier: MIT
//
// The facts of one critical section, as plain records: its shape, what speaks against moving it,
// and everything that is needed to write it as a function. No AST pointer survives in them.
#pragma once

#include "index/Records.h"
#include "program/Program.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace relock {

enum class Shape {
  Straight,      // one lock, one unlock, same block
  EarlyExit,     // besides, an unlock in a branch that then leaves
  Split,         // several unlocks, code after them that goes on
  LoopCarried,   // unlock and lock again in a loop
  Waiting,       // waits on a condition variable
  Nested,        // takes another lock
  CrossFunction, // no unlock in this function
  Conditional,   // the lock or its result is conditional
  Try,           // trylock or timedlock
};

llvm::StringRef shapeName(Shape S);

struct Range {
  unsigned Begin = 0, End = 0; // offsets in the file of the section
};

// How a variable of the function reaches its section.
enum class Travel {
  Value,   // only read: copied into the context
  Pointer, // written, or an object that others may see: the context holds its address
  Array,   // an array: the context holds a pointer to its elements
  Inside,  // used by nothing else: declared in the extracted function
  Kept,    // likewise, but lives across a wait: a field of the context
};

struct Reference {
  Range At; // the name, or `&name` for an address
  enum Form { Plain, Address, Member, Bare } Kind = Plain;
  Range Operator; // Member: the `.` that becomes `->`
};

// One declarator of a plain declaration, `*b` of `int a, *b;`.
struct Declarator {
  // The declaration; its whole lines where it stands alone on them, perhaps with a comment.
  Range Statement, Lines;
  unsigned SpecifierEnd = 0; // behind `int`
  std::vector<Range> All;    // the declarators, without the commas
  size_t Index = 0;          // this one
  size_t Mentions = 0;       // of its variable in the function
};

// A variable that text which goes has named.
struct Variable {
  Declarator Outer; // it goes, too, when all mentions have gone
  size_t Mentions = 0;
};

struct Capture {
  std::string Name;
  Travel How = Travel::Value;
  std::string Field;    // declaration of the context's field
  std::string Local;    // declaration of a local of that name in the extracted function
  std::string Argument; // of a macro's parameter: its value in the context
  // Of a macro's parameter, for which each use gives an operand of its own type: the field without
  // names of typedefs; of a value that travels and whose address might, the field then; of an
  // integer that any signed type of that many bits can stand for, the field of such a type.
  std::string Canonical, AddressField, AddressCanonical, WideField;
  unsigned Bits = 0;
  std::string Parameter; // declaration of a local that can hold the whole context: `item *it`
  bool InMacro = false;  // some reference is spelled in a macro body
  bool Changes = false;  // Value: the section changes it and reads it behind a wait
  bool Dropped = false;  // Value: only text that some configuration drops names it
  // Pointer, to what only the section touches meanwhile: then Local may stand for it, and does if
  // it is Copied. It is stored at these exits, by number, and at the end, which is the one behind
  // them. Assigned: the section does not need the value from before.
  bool Copied = false, Assigned = false;
  std::vector<unsigned> Stored;
  unsigned First = 0; // where the section's text names it first
  std::vector<Reference> References;
  std::optional<Declarator> Outer; // Inside: it goes when all mentions of the variable have gone
  size_t Mentions = 0;             // in the section
  std::string Comment;             // Inside: that of its declaration, with the blanks before it
};

// An unlock in a branch, and what the caller does after it.
struct EarlyExit {
  Range Unlock;          // the unlock and the statements after it, up to the jump or the lock
  Range Tail;            // those statements
  Range Value;           // instead: the caller returns this value, which the section evaluates
  bool Braces = false;   // Value: two statements need braces here
  bool Joins = false;    // goes on behind the section instead of leaving
  bool Declares = false; // the tail has declarations
  bool InBlock = false;  // another statement may stand before the unlock
  unsigned Returns = 0;  // any: behind the tail the section goes on, at the point of this number
  std::string Before, Behind; // statements around the tail, in the place of tests of results
  // Goes before the jump: where Unlock begins with the line of a directive, or behind an unlock
  // macro that the section goes on using.
  std::string Indent;
};

// A wait on a condition variable. With its result used, it is taken out of its statement.
struct Wait {
  struct Operand {
    Range At;                             // in the file of the section
    std::string Text;                     // where it is not spelled there in one piece
    std::string Before = "", Behind = ""; // what a wrapper of the wait makes of it
  };
  Range Call;
  Range Statement;     // without its `;`
  bool Whole = false;  // the statement is the call
  bool Braces = false; // two statements need braces here
  Operand Condition;
  std::optional<Operand> Clock, Deadline;
};

// A declaration of the section whose variables live across a wait, or behind the section: it
// becomes an assignment.
struct KeptDeclaration {
  struct Value {
    std::string Name;
    std::string Type; // of an initialiser in braces
    Range Initial;
  };
  Range At, Lines; // with the `;`; its whole lines where it stands alone on them
  bool InFor = false;
  std::vector<Value> Values;
};

// The lock wrapper of a lock that the section cannot name, or that does more than to lock: it gets
// a companion, declared wherever the wrapper is, that runs sections under the lock.
struct Companion {
  std::string Node, Name; // of the wrapper
  Wrapper Facts;
  std::vector<Prototype> Prototypes;  // the definition may be one of them
  std::vector<std::string> Arguments; // that the call of the wrapper gives to the companion
  // It does what stands around the wrapper's operation, Facts.Body, and what the unlock wrapper
  // does, if that does more than to unlock.
  bool Around = false;
  std::string UnlockNode, UnlockName;
  std::optional<Wrapper> Unlock;
  // The wrappers have another text elsewhere than where this holds, see Configurations::of(): there
  // it calls them.
  std::string Configuration;

  std::string id() const { return Node + " " + UnlockNode; }
  // It is defined behind this: the wrapper, or the unlock wrapper behind that.
  Position end() const {
    return Unlock && Unlock->Behind.Offset > Facts.Behind.Offset ? Unlock->Behind : Facts.Behind;
  }
};

// A lock macro that does more than to lock or to unlock: the section's function, or what is left of
// the operation, uses another one for the rest. See MacroRest.h.
struct MacroRest {
  struct Definition {
    Position At; // behind the one that it is made of
    std::string Text;
  };
  std::string Macro; // empty: a definition of it, or of a macro in it, has no other one
  Range Use;         // in the section: its name, or also its arguments
  std::string Text;  // goes there; empty: the section does not use it
  std::vector<Definition> Definitions; // of the other macro, and of those in it
};

struct Extraction {
  std::string File;
  Range Whole;                // from the lock to the last unlock
  Range Body;                 // between them
  unsigned FunctionBegin = 0; // where the extracted function goes
  // The directives of the groups within the function that the section stands in: its own function
  // stands in such groups, too.
  std::string Conditions;
  unsigned ConditionGroups = 0;
  std::string FunctionName, Lock;
  std::string Guard; // the lock is taken only where this holds; empty: always
  // The line that opens the groups in which the lock and each unlock stand, `#if THREADS`:
  // elsewhere the section runs without the lock. Empty: there is none. Whole has these lines, or a
  // part of the lock's and the last unlock's group, whose other text stands before the one and
  // behind the other.
  std::string Directive;
  bool TextBefore = false, TextBehind = false;
  Range Groups; // Whole, and these groups
  Range Push;   // this statement goes before the call, `pthread_cleanup_push(release, &lock);`
  // Statements before and behind the call: a pop, or what a lock and unlock leave of the use of
  // their results.
  std::string Before, Behind;
  std::string Macro;                // the macro in whose body all this stands; empty: in a function
  std::optional<Companion> Through; // instead of naming Lock
  std::vector<std::string> Wrappers; // nodes of the lock wrappers that the section no longer calls
  std::string Cleanup; // of them, one that a macro goes on naming, as a cleanup function
  std::vector<MacroRest> Rests;
  std::vector<EarlyExit> Exits;
  bool Completes = true;   // the end of Body is reached: the last unlock stands there
  bool Returns = false;    // its function returns what the section returns
  std::string Result;      // the field of the context for the values of exits
  std::vector<Wait> Waits; // any: the section is resumable
  std::vector<KeptDeclaration> Kept;
  std::vector<std::string> Hoisted; // declarations before the call, of what Kept assigns
  unsigned HoistAt = 0;             // where they go; 0: directly before the call
  bool FirstDeclares = false;       // Waits: the section's first statement is a declaration
  unsigned LastLabel = 0;           // Waits: where the labels of the last unlock begin; 0: none
  std::vector<Capture> Captures;    // in order of first use
  std::vector<Variable> Gone;       // of results that are no longer tested
  // Of the variables above that are mutexes or conditions, or point to one, by their names: the
  // node; of a section that is decided, the Id of the class, with which their types change.
  std::map<std::string, std::string> LockNodes;
  std::vector<std::string> Taken; // identifiers that the extracted code must not hide
  std::string Indent;             // of the lock statement
  std::string BodyIndent;         // of the section's statements
  bool InBranch = false;          // the lock stands where only one statement can
  std::string IndentUnit;
  bool BraceOnOwnLine = false, Inline = false;
  bool OwnStatics = false; // it declares static variables
  // The names by which its text asks for that of its function: `__func__`. They go on meaning it.
  std::set<std::string> FunctionNames;
  bool MixedDeclarations = true, C99 = true;

  // True if the section is entered again behind a wait, or behind work without the lock.
  bool resumes() const {
    return !Waits.empty() ||
           llvm::any_of(Exits, [](const EarlyExit &Exit) { return Exit.Returns != 0; });
  }
};

// A lock as far as the order of locks tells them apart: those of a class that lie in a certain
// field or variable, say `next` of `&queue->next.lock`. Part: its node; empty: any lock of the
// class.
struct LockPart {
  std::string Node, Part;

  friend bool operator<(const LockPart &A, const LockPart &B) {
    return std::tie(A.Node, A.Part) < std::tie(B.Node, B.Part);
  }
  friend bool operator==(const LockPart &A, const LockPart &B) {
    return A.Node == B.Node && A.Part == B.Part;
  }
};

// What a function does itself with a lock.
struct LockUse {
  std::string Function, Name; // its node and name
  LockPart Lock;
  Position At;

  friend bool operator<(const LockUse &A, const LockUse &B) {
    return std::tie(A.At, A.Function, A.Lock) < std::tie(B.At, B.Function, B.Lock);
  }
};

// What a thread does while it holds a lock.
struct UnderLock {
  LockPart Held;
  enum Action {
    Takes,        // another lock, Taken
    Calls,        // Callee
    CallsThrough, // a pointer to functions of the type Callee.Name, read in the slot
                  // Callee.Function
    Waits,        // for something that is not followed
    Escapes,      // returns, perhaps, and still holds it
    Again,        // the same again, or another one by the same operand, on some ways
    Stays,        // the same, and its callers know: for them it holds the lock Taken
    Shared,       // declared: others hold it, too, of whom nothing is known
  } Does;
  LockPart Taken;
  Call Callee;
  Position At;
  std::string Function, FunctionName; // that does so: its node and name
  bool Surely = false;                // it is held there on every way through the function

  // CallsThrough: the call.
  IndirectCall pointer() const { return {At, Callee.Name, Callee.Function, ""}; }

  friend bool operator<(const UnderLock &A, const UnderLock &B) {
    return std::tie(A.At, A.Held, A.Does, A.Taken, A.Callee.Function, A.Callee.Name, A.Function,
                    A.Surely) < std::tie(B.At, B.Held, B.Does, B.Taken, B.Callee.Function,
                                         B.Callee.Name, B.Function, B.Surely);
  }
};

// A lock that a section takes in its own text, and releases there.
struct InnerLock {
  LockPart Lock;
  Position At;
};

// Text that tests the result of a lock or unlock, and goes with it.
struct ResultTest {
  Position At;
  std::string Wrapper; // name of the wrapper or macro that it stands in; empty: in the function

  friend bool operator<(const ResultTest &A, const ResultTest &B) { return A.At < B.At; }
};

struct Section {
  Position At;
  Operation Kind = Operation::Lock;
  std::string Node;
  std::string FunctionName; // as the source spells it
  Position FunctionAt;
  std::string Function; // node of a function whose body a macro brings: several have one place
  std::vector<Position> MacroPlaces; // of the lock, in the bodies of macros
  Shape Form = Shape::Straight;
  bool ThroughWrapper = false;
  std::vector<Reason> Against; // what speaks against delegating it, from its own text
  std::vector<Call> Calls;     // what its text calls, for the effects of the callees
  std::vector<IndirectCall> IndirectCalls;
  std::vector<IdentityUse> IdentityUses;
  std::vector<OperandLoad> Loads;
  // What may make another lock of the operand, before the unlock names it again.
  std::vector<Reason> OperandChanges;
  bool Relocks = false; // it also takes the lock again, by its operand
  LockPart Lock;
  std::vector<InnerLock> Inner;
  std::vector<InnerLock> OtherInner;               // of types that are not converted
  std::optional<std::vector<TouchedLine>> Touched; // by its own text, where its extent is known
  std::map<std::string, Position> AsksForName;     // `__func__`, and where
  bool StoresThroughPointer = false;
  bool UsesFloat = false;       // computes in floating point
  std::set<ResultTest> Tests;   // that a delegated section drops
  std::set<ResultTest> Varying; // lock wrappers of which other configurations' text is dropped
  std::set<std::string> Trusts; // functions that only the project file says to keep no pointer
  // The macro in whose body it stands, if arguments of that are evaluated before the lock then, and
  // nothing proves them the same there. See DeclaredMacro.
  std::string NeedsEarly;
  std::optional<Extraction> Extract; // if nothing speaks against it but what can be accepted
  // The section of that acquisition releases the lock for a while, and takes it again here.
  std::optional<Position> Continues;
};

// What tells sections apart: two operations of one macro stand at one place.
using SectionKey = std::tuple<Position, std::string>;
inline SectionKey keyOf(const Section &S) { return {S.At, S.Function + "|" + S.Node}; }

} // namespace relock
