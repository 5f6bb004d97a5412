// SPDX-License-Identifier: MIT
//
// The plain facts of one translation unit. Nothing here points into an AST: facts are written to
// disk, read back and linked with those of other translation units.
//
// Facts speak of *nodes*: names for things that must be converted together. A node is a
// declaration (variable, field, parameter, result, typedef), or a token of the source text that
// several declarations or operations share (the type name in `pthread_mutex_t a, b;`, or a call
// that is spelled once in the body of a macro). Flows say which nodes can meet, or share text.
#pragma once

#include "index/FileName.h"
#include "index/Rare.h"
#include "index/SharedRecords.h"

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace relock {

struct Position {
  FileName File; // absolute
  unsigned Offset = 0, Line = 0, Column = 0;

  friend bool operator==(const Position &A, const Position &B) {
    return A.Offset == B.Offset && A.File == B.File;
  }
  friend bool operator<(const Position &A, const Position &B) {
    return std::tie(A.File, A.Offset) < std::tie(B.File, B.Offset);
  }
};

// What happens to a mutex or condition variable at one call.
enum class Operation {
  Lock,
  TryLock,
  TimedLock,
  Unlock,
  Init,
  Destroy,
  Wait,   // on a condition variable, with the mutex
  Signal, // or broadcast
  CondInit,
  CondDestroy,
  Attribute, // sets an attribute
  Unsupported,
};

inline bool acquires(Operation O) {
  return O == Operation::Lock || O == Operation::TryLock || O == Operation::TimedLock;
}

// What a function does to a lock that is no pthread mutex, and stays what it is.
struct OtherLock {
  Operation Kind = Operation::Lock;
  std::string Type;             // the locks of a type are told apart by what they are a part of
  unsigned Argument = 0;        // the lock
  bool SucceedsNonzero = false; // the call returns other than 0 where it has taken the lock
  bool NothingAtZero = false;   // the call does nothing where the argument is 0
  bool Executes = false;        // the call runs functions that it is given, and releases the lock
};

enum class DeclarationKind {
  Global,
  Static,
  StaticLocal,
  Field,
  Local,
  Parameter,
  Result,
  Typedef
};

struct Declaration {
  std::string Node;
  std::string Name; // as the user knows it: `slabs_lock`, `conn_queue.lock`, `main.lock`
  DeclarationKind Kind = DeclarationKind::Local;
  bool Condition = false;  // a condition variable rather than a mutex
  bool Pointer = false;    // to one, or an array of such
  bool Definition = false; // false: `extern`, so that it must be defined somewhere else
  Position At;
};

// Text that has to change if the class of Node is converted. `$CLASS` in the text stands for the
// identifier of the class.
struct Edit {
  Position At;
  unsigned Length = 0;
  std::string Text;
  std::string Node;
  // An operation that a macro spells for the lock that it is given can be renamed at its use or in
  // the macro's body: the body where all users of the macro are converted, else the uses.
  // Names of the program's own for the types are like such macros, see Layers.
  // A macro that does more than to initialise names the class in its body where there is one, gets
  // a parameter for it (WithClass), or is written out at its use where it also serves others.
  // An initialiser that is added is needed only if no other text names the class.
  enum Place { Anywhere, AtUse, InBody, WithClass, WrittenOut, IfUnnamed } Where = Anywhere;
  std::string Macro = {};    // the place in the body, or the node of the name; empty: of no macro
  std::string Variable = {}; // IfUnnamed: what is initialised, once
  // WithClass, WrittenOut: the node of the use, but for edits of macros. Of a macro's copy, which
  // goes behind it in each configuration, and of the uses by it: its name.
  std::string Use = {};
  std::string Layer = {}; // in whose functions it stands, see Layers; not known to the indexer
};

struct Site {
  Operation Kind = Operation::Lock;
  Position At;           // of the call, or of the macro invocation that it comes from
  Position Spelled;      // of the function's name: tells two calls of one macro apart
  std::string Node;      // of the mutex (of the condition variable for Signal and the like)
  std::string Attribute; // Init: the node of its attribute object; empty: null
  std::string Function;  // node of the enclosing function; empty outside functions
  Position FunctionAt;   // its name
  bool InMacro = false;  // the operation is spelled in the body of a macro
  std::string FunctionName;
};

struct Flow {
  std::string From, To;
  enum Kind {
    Text,       // they only share source text: two classes, but converted together
    NamingText, // they share text that names their class
    Named,      // From is declared with the name To of the program for its type, see Layers
    Argument,
    Return,
    Assignment,
    Initialiser,
    Comparison,
    Choice, // the two values of a conditional expression
    Wait,   // a condition variable and the mutex that is waited with
  } How = Text;
  bool Untyped = false; // as `void *`
  Position At;          // of shared text: itself
};

// A call of a function of the program that is given pointers to mutexes or condition variables.
struct LockCall {
  Position At, Spelled; // as of a Site
  std::string Callee;
  std::vector<std::string> Nodes; // by argument; empty: none
  std::string Function;           // node of the enclosing function; empty outside functions
  Position Name, Behind; // the callee's name; behind the last argument, if the call is written here
  unsigned Length = 0;   // of the name; 0: no file has it
  bool InMacro = false;  // the name is spelled in the body of a macro
};

// Why the class of a node cannot be converted.
struct Escape {
  std::string Node;
  std::string Code, Message;
  Position At;
};

struct Call {
  std::string Function; // node
  std::string Name;
  Position At;
  bool Ends = false; // the process ends behind it, on each way

  bool operator==(const Call &) const = default;
};

// A call through a pointer. Type: of the function, see functionTypeText; empty: not known.
struct IndirectCall {
  Position At;
  std::string Type;
  std::string Slot; // where the pointer was read, see FunctionFlow; empty: it is not known
  std::string Name; // of that, for people
};

// A pointer to a function is stored in the slot To: a variable, a parameter or result, the members
// of one name and type in all structs (`.compare int (int)`), what pointers to pointers of a type
// point to (`*int (int)`), the arguments and results of calls through a type (`(int (int))#0`). It
// comes from another slot; or it is the address of Function, whose node From is then. From is empty
// where it comes from where nobody looks. What a function of a library is given ends in a slot of
// its own, see givenSlot().
struct FunctionFlow {
  std::string From, To, Function;
};

// What a function that a system header declares is given; the number of the argument follows.
inline std::string givenSlot(const std::string &FunctionNode) {
  return "library:" + FunctionNode + "#";
}

// A function whose address becomes a pointer to functions of that type.
struct TakenFunction {
  std::string Type, Function, Name;
};

// Pointers to functions of type From become such to functions of type To.
struct PointerCast {
  std::string From, To;
};

struct IdentityUse {
  std::string What;
  Position At;
};

// What a wrapper of a wait gives to it, in the terms of its caller.
struct WrapperOperand {
  std::string Expression; // `$` stands for the argument
  std::string Variable;   // node of the variable that it starts from, if that is global
  int Parameter = -1;     // which argument `$` is; -1: none

  bool operator==(const WrapperOperand &) const = default;
};

// A value in memory that a lock operand reads.
struct OperandLoad {
  std::string Name;
  std::string Node, Record; // the variable or field; the struct that a field is part of
  bool OfCondition = false; // it is the condition under which the lock is taken that reads it

  bool operator==(const OperandLoad &) const = default;
};

// A declaration of a lock wrapper. At: directly behind it. Parameters: their text there, of those
// that a companion takes.
struct Prototype {
  Position At;
  std::vector<std::string> Parameters;

  friend bool operator==(const Prototype &A, const Prototype &B) { return A.At == B.At; }
  friend bool operator<(const Prototype &A, const Prototype &B) { return A.At < B.At; }
};

// Where a lock wrapper stands, who can call it, and how a companion beside it is declared.
struct WrapperPlace {
  bool Exported = false; // other files can call it
  bool Declared = false; // it has prototypes
  bool Common = false;   // an inline function of a header, which need not be used
  Position Begin, End;   // its definition
  Position Behind; // a companion stands there: behind that, and a group of directives around it
  // Its text is another one in other configurations of the preprocessor than those in which this
  // holds, see Configurations::of(). Unclear: it cannot be said in which.
  std::string Configuration;
  bool Unclear = false;
  bool Alternative = false; // … since a group around the definition has another one, and only so
  std::vector<unsigned> Parameters; // which ones the companion takes
  std::string Storage;              // `static `
  std::vector<std::string> Taken;   // names that mean something else in the companion

  bool operator==(const WrapperPlace &) const = default;
};

inline bool varies(const WrapperPlace &P) { return P.Unclear || !P.Configuration.empty(); }

// What a lock wrapper does around its operation, see WrapperBody.h. Texts are those of its file.
struct WrapperBody {
  struct Parameter {
    std::string Name, Text; // `struct mutex *m`
    bool Under;             // what is done under the lock names it

    bool operator==(const Parameter &) const = default;
  };
  // A variable that is computed from parameters alone, `struct mutex *l = (struct mutex *)l_;`.
  struct Alias {
    std::string Name, Text;
    bool Outside = false, Under = false; // where it is needed

    bool operator==(const Alias &) const = default;
  };
  // A condition under which the wrapper leaves its operation out: `if (!m) return -1;`.
  struct Guard {
    std::string Before;    // statements that come before it
    std::string Condition; // under which there is no operation
    std::string Key;       // the same where two wrappers ask for the same
    std::string Instead;   // statements that run then
    bool Loads = false;    // it reads more than parameters

    bool operator==(const Guard &) const = default;
  };
  std::vector<Parameter> Parameters;
  std::vector<Alias> Aliases;
  std::vector<Guard> Guards;  // in their order, before all that follows
  std::string Lock;           // the operand, by parameters and aliases
  std::string Outside, Under; // statements: by whoever calls the wrapper, and by who has the lock
  std::vector<Call> Calls;    // of Under
  bool Tests = false;         // the operation's result is tested

  bool operator==(const WrapperBody &) const = default;
};

// A function that is no more than a lock operation, or a wait, for its callers.
struct Wrapper : WrapperPlace {
  Operation Kind = Operation::Lock;
  Position At;            // of the operation
  std::string Node;       // of the mutex
  std::string Variable;   // node of the variable that the expression starts from, if it is global
  std::string Expression; // text of the mutex pointer; `$` stands for the argument
  std::string Key;        // the same in canonical form, see LockKey
  int Parameter = -1;     // which argument `$` is; -1: none
  bool Pure = false;      // the body is the operation and nothing else
  bool Tests = false;     // … but a test of its result
  bool Aborts = false;    // … which aborts where it has failed
  int Result = 0;         // Pure: what it returns where the operation returns 0
  bool Guarded = false;   // it may return without the operation, other than for a null pointer
  bool Perhaps = false;   // … at its end
  std::optional<WrapperOperand> Condition, Deadline; // Wait: its other operands
  std::vector<OperandLoad> Loads; // what the operand reads besides its parameters
  bool LoadsUnknown = false;      // it reads more, which has no name
  // The operand is computed, see Operand.h: a companion of the wrapper evaluates it. Expression is
  // the text in the wrapper.
  bool Computed = false;
  std::optional<WrapperBody> Body; // a companion can do what it does around the operation
  std::string Through;             // node of the wrapper that it calls for that; empty: none
  bool Elsewhere = false;          // only the file of another wrapper may see the name of the lock
};

// An argument of a relayed call.
struct RelayedArgument {
  WrapperOperand Operand; // Expression empty: more than one variable and members of it
  std::string Text;       // by parameters and aliases of a WrapperBody
  std::vector<OperandLoad> Loads;
  bool LoadsUnknown = false;
  bool Changed = false; // the parameter may no longer be what the caller gave
  bool Opaque = false;  // members of what it points to cannot be named there
  std::string Part;     // of the locks of its type, see lockPart()
  std::string Key;      // Operand.Expression empty: how it is found, as in a Wrapper

  bool operator==(const RelayedArgument &) const = default;
};

// A function that does no more than to call another one, or that calls one by the name of a lock
// operation whatever it does besides. It is a lock wrapper if that is.
struct Relay : WrapperPlace {
  std::string Callee; // node
  std::vector<RelayedArgument> Arguments;
  bool Pure = true, Tests = false, Aborts = false; // as of a Wrapper
  bool Guarded = false, Perhaps = false;           // likewise
  std::string Else; // node of what it calls in its place, with the same arguments, or empty
  // What its callers see of what the callee returns.
  enum Result { Used, Ignored, Returned } Value = Used;
  // Its body, if the callee locks, or unlocks; Lock is empty there. Loads: what their guards read.
  std::optional<WrapperBody> AsLock, AsUnlock;
  std::vector<OperandLoad> Loads;

  bool operator==(const Relay &) const = default;
};

// A function that hands its parameters to a lock function, all of them in their order, and does no
// more than to test the result.
struct Forward : WrapperPlace {
  std::string Posix;         // the name of the lock function, or …
  std::string Callee;        // … the node of a function of the program
  bool Tests = false;        // the result
  bool NoAttributes = false; // a null pointer follows

  bool operator==(const Forward &) const = default;
};

// A line of shared memory: what it is a part of, and which line of it, counted from its begin.
struct TouchedLine {
  std::string Line;
  bool Written = false;
};

struct Function {
  std::string Node;
  std::string Name;
  Position At;
  bool Defined = false;
  bool Alias = false; // another name of one that is defined in the unit, which it "calls"
  // The program's own header declares it, and nothing else that the unit reads, though the C
  // library has one of that name.
  bool Namesake = false;
  bool AddressTaken = false;
  bool TakesLocks = false;
  bool Waits = false;        // on a condition variable
  bool EndsProcess = false;  // on each way through it, by abort() or the like
  bool NeverReturns = false; // to its caller, by its own text
  std::string LastCallee; // the node of what each way through it calls last; empty: none, or others
  // The lock that it unlocks, and does nothing else: `&$->mutex` where `$` is its argument, a
  // `void *`. OfRecord: the struct that the argument points to then.
  std::string Releases, OfRecord;
  bool UsesFloat = false; // computes in floating point, or is written in assembly
  std::vector<Call> Calls;
  std::vector<IndirectCall> IndirectCalls;
  std::vector<std::string> Callbacks; // function types of pointers that its callers can give it
  std::vector<IdentityUse> IdentityUses;
  // Nodes of the globals and fields that it stores to, of the structs that it overwrites; with a
  // `&` before them, of those whose address it takes.
  std::vector<std::string> Stores;
  std::vector<TouchedLine> Touched;
  std::vector<Prototype> Prototypes; // of `void f(void)`, and of lock wrappers
  Rare<Wrapper> Wraps;
  Rare<Relay> Relays;
  Rare<Forward> Forwards;
};

// A function that this unit calls and whose name is that of a lock operation, perhaps.
struct LockLike {
  std::string Function, Name;
  std::string Type;      // of the lock that it is given a pointer to, if it is one
  unsigned Argument = 0; // which argument that is

  friend bool operator<(const LockLike &A, const LockLike &B) {
    return std::tie(A.Name, A.Function) < std::tie(B.Name, B.Function);
  }
};

// A lock operation in text that the preprocessor skipped in this configuration; or a pointer that
// is not followed, in an arm that is compiled and never runs.
struct SkippedSite {
  Position At;
  bool Acquires = false;
  std::string Operator; // the identifier
  Position Operation;   // the name of the lock function, which may be in a macro
  std::string Operand;  // the last identifier of its argument
  bool Member = false;  // which names a member there: `p->lock`
  bool Pointer = false; // the value of that, rather than its address: it may be any lock, …
  bool Exact = false;   // … or is one of these nodes:
  std::vector<std::string> Locks = {};
  std::string Record;  // the tag of the struct that has the member, if that is known
  std::string Through; // skipped text declares a function of this name, which is given the lock
  std::string
      OfParameterOf;      // the lock is what the callers of this function of skipped text give it
  std::string Condition;  // the directives that hide it: `#ifdef WITH_AUDIT`
  bool Elsewhere = false; // only other systems than Linux compile it
  bool Unrun = false;     // such an arm has it; Condition is empty
};

struct Dependency {
  std::string File;
  std::string Hash;
};

// A function or variable that a unit uses and does not define. Records: the struct types with locks
// that its type leads to.
struct UndefinedUse {
  std::string Node, Name;
  bool Function = false;
  std::vector<std::string> Records;
  Position At;
};

// The locks that can be reached from an object of a struct type.
struct LockRecord {
  std::string Record;
  std::vector<std::string> Locks; // nodes
};

// A class of the table relock_locks.h, which an earlier rewrite has written.
struct ConvertedClass {
  std::string Identifier, Name;
  bool Used = false; // some text of the unit names it
};

// The class that the text gives a lock that is converted.
struct ClassUse {
  std::string Lock;       // node of the variable or field
  std::string Identifier; // empty: the default class, or not known
};

// pthread_mutex_init() on a lock that is converted, which somebody has added since.
struct LateInit {
  std::string Node;       // of the operation
  std::string Lock, Name; // of the variable or field; empty: not known
  Position At;
};

// The identifiers of a file, its macros expanded, and the names of these.
struct FileNames {
  std::string File;
  std::vector<std::string> Names;
};

struct UnitFacts {
  std::string MainFile;
  // It has errors: what it includes, skips and names is known, and nothing else.
  bool Broken = false;
  std::set<std::string> Names;    // then: the identifiers of its own text
  std::vector<FileNames> NamesIn; // of a unit that is not C, as of a ForeignFile
  SharedRecords<Dependency> Dependencies;
  std::vector<Declaration> Declarations;
  std::vector<Edit> Edits;
  std::vector<Site> Sites;
  std::vector<Flow> Flows;
  std::vector<LockCall> LockCalls;
  SharedRecords<Escape> Escapes;
  SharedRecords<Function> Functions;
  SharedRecords<TakenFunction> Taken;
  SharedRecords<PointerCast> PointerCasts;
  SharedRecords<FunctionFlow> FunctionFlows;
  std::vector<std::string> OpenTypes; // a pointer of this function type may come from anywhere
  std::vector<SkippedSite> Skipped;
  std::vector<Call> UnrunCalls;    // in arms that never run
  std::vector<LockLike> LockLikes; // each function once
  std::vector<UndefinedUse> UndefinedUses;
  std::vector<LockRecord> LockRecords;       // of UndefinedUses
  std::vector<std::string> DefinedVariables; // of types with locks, with external linkage
  std::vector<ConvertedClass> Converted;
  std::vector<ClassUse> ClassUses;
  std::vector<LateInit> LateInits;
  std::string LockTable; // the relock_locks.h that this unit includes already; empty: none
};

// A file in another language, and what it consists of.
struct ForeignFile {
  std::string File;
  std::set<std::string> Includes;
  std::vector<FileNames> NamesIn; // the files that are no headers of the system
  bool All = false;               // nothing that it includes is missing
};

} // namespace relock
