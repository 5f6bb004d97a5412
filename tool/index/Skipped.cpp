// SPDX-License-Identifier: MIT
//
// Skipped text has no AST: it is read token by token. POSIX's own functions are recognised in it,
// and macros that use them. Functions of the program that lock for their callers are not: they are
// converted with their parameters, whoever calls them.
#include "index/Skipped.h"

#include "index/LockApi.h"
#include "index/OtherSystems.h"
#include "index/SkippedFunctions.h"

#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace clang;
using namespace llvm;

namespace relock {

void SkippedText::watch(Preprocessor &PP) {
  struct Watch : PPCallbacks {
    const SourceManager &SM;
    decltype(Inclusions) &Seen;
    decltype(Expansions) &Expanded;
    Watch(const SourceManager &SM, decltype(Inclusions) &Seen, decltype(Expansions) &Expanded)
        : SM(SM), Seen(Seen), Expanded(Expanded) {}
    void MacroExpands(const Token &Name, const MacroDefinition &Macro, SourceRange,
                      const MacroArgs *) override {
      if (Macro.getMacroInfo()->isFunctionLike())
        Expanded[Name.getIdentifierInfo()->getName()].push_back(Name.getLocation());
    }
    void FileChanged(SourceLocation L, FileChangeReason Why, SrcMgr::CharacteristicKind,
                     FileID) override {
      FileID File = SM.getFileID(L);
      if (OptionalFileEntryRef Entry = SM.getFileEntryRefForID(File); Entry && Why == EnterFile)
        Seen[&Entry->getFileEntry()].push_back({File, {}});
    }
    void SourceRangeSkipped(SourceRange Range, SourceLocation) override {
      auto [File, Begin] = SM.getDecomposedLoc(Range.getBegin());
      if (OptionalFileEntryRef Entry = SM.getFileEntryRefForID(File))
        for (Inclusion &I : Seen[&Entry->getFileEntry()])
          if (I.File == File)
            I.Skipped.push_back({Begin, SM.getFileOffset(Range.getEnd())});
    }
  };
  PP.addPPCallbacks(std::make_unique<Watch>(PP.getSourceManager(), Inclusions, Expansions));
}

std::vector<SkippedText::Part> SkippedText::inBoth(const std::vector<Part> &A,
                                                   const std::vector<Part> &B) {
  std::vector<Part> Result;
  for (size_t I = 0, J = 0; I < A.size() && J < B.size(); A[I].End < B[J].End ? ++I : ++J) {
    Part Both = {std::max(A[I].Begin, B[J].Begin), std::min(A[I].End, B[J].End)};
    if (Both.Begin < Both.End)
      Result.push_back(Both);
  }
  return Result;
}

std::vector<SkippedText::Part> SkippedText::inAll(const std::vector<Inclusion> &OfFile) {
  std::vector<Part> Result = OfFile.front().Skipped;
  for (const Inclusion &Other : ArrayRef(OfFile).drop_front())
    Result = inBoth(Result, Other.Skipped);
  return Result;
}

// `#if 0`
static bool neverCompiled(StringRef Directive) {
  Directive = Directive.split('\n').first.ltrim("# \t");
  return Directive.consume_front("if") && Directive.trim() == "0";
}

namespace {

// Reads operations: of a lock function, of one that skipped text declares, or of a macro whose body
// has some, at any depth. In compiled text, only of those that skipped text declares.
class Operations {
public:
  struct Found {
    bool Acquires = false;
    std::vector<Operand> Operands;
  };

  Operations(Preprocessor &PP, const SkippedFunctions *Skipped, bool InCompiled = false)
      : PP(PP), Skipped(Skipped), InCompiled(InCompiled) {}

  // What the identifier Words[0] and its arguments operate on, if they do.
  std::optional<Found> at(ArrayRef<Word> Words, unsigned Depth = 0) {
    std::optional<LockFunction> Api = lockFunction(Words[0].Name);
    if (Api && InCompiled)
      return std::nullopt;
    if (Api) {
      std::vector<ArrayRef<Word>> Arguments = argumentsOf(Words.drop_front());
      Found Result;
      Result.Acquires = acquires(Api->Kind);
      bool Conditions = Api->Kind == Operation::Wait || Api->Mutex < 0;
      for (int I : {Api->Mutex, Conditions ? Api->Companion : -1})
        if (I >= 0) {
          Operand O;
          O.Pointer = true;
          if (size_t(I) < Arguments.size())
            O = operandOf(Arguments[I]);
          O.Operation = Words[0].At;
          Result.Operands.push_back(std::move(O));
        }
      return Result;
    }
    StringRef Name = Words[0].Name;
    if (Depth > 8 || Without.contains(Name))
      return std::nullopt;
    const Definition *Macro = find(Name);
    std::optional<Found> Result =
        Macro ? inMacro(*Macro, Words.drop_front(), Depth) : std::optional<Found>();
    if (!Result)
      if (const SkippedFunction *F = Skipped ? Skipped->named(Name) : nullptr)
        return given(*F, Words);
    if (!Result)
      Without.insert(Name);
    return Result;
  }

  // The text that is read defines a macro, in place of what the name means in compiled text.
  void define(StringRef Name, Definition Macro) {
    Macros[Name] = std::move(Macro);
    Without.clear();
  }

private:
  Preprocessor &PP;
  const SkippedFunctions *Skipped;
  const bool InCompiled;
  StringMap<std::optional<Definition>> Macros;
  StringSet<> Without; // names without operations

  // The locks that a call gives to a function; any lock where it is no call.
  static Found given(const SkippedFunction &F, ArrayRef<Word> Words) {
    std::vector<ArrayRef<Word>> Arguments = argumentsOf(Words.drop_front());
    Found Result;
    for (unsigned I : F.Locks) {
      Operand O;
      O.Pointer = true;
      if (I < Arguments.size())
        O = operandOf(Arguments[I]);
      O.Operation = Words[0].At;
      O.Through = &F;
      Result.Operands.push_back(std::move(O));
    }
    return Result;
  }

  const Definition *find(StringRef Name) {
    auto [Found, New] = Macros.try_emplace(Name);
    const IdentifierInfo *Known = PP.getIdentifierInfo(Name);
    if (New && Known->hasMacroDefinition())
      if (const MacroInfo *Macro = PP.getMacroInfo(Known))
        Found->second = definitionOf(*Macro);
    return Found->second ? &*Found->second : nullptr;
  }

  // After: what follows the name of the macro.
  std::optional<Found> inMacro(const Definition &Macro, ArrayRef<Word> After, unsigned Depth) {
    std::vector<Word> Body = Macro.Body;
    std::vector<ArrayRef<Word>> Arguments = argumentsOf(After);
    size_t Length = Body.size();
    if (!Macro.FunctionLike && !Arguments.empty()) // `#define LOCK pthread_mutex_lock`
      append_range(Body, After.take_front(pastClosing(After, 0)));
    std::optional<Found> Result;
    for (size_t I = 0; I < Length; ++I) {
      if (Body[I].Kind != tok::raw_identifier)
        continue;
      std::optional<Found> Inner = at(ArrayRef(Body).drop_front(I), Depth + 1);
      if (!Inner)
        continue;
      Result = Result ? Result : Found();
      Result->Acquires |= Inner->Acquires;
      for (const Operand &O : Inner->Operands)
        Result->Operands.push_back(asArgument(O, Macro, Arguments));
    }
    return Result;
  }

  // A parameter of the macro means what is given for it.
  static Operand asArgument(Operand O, const Definition &Macro,
                            ArrayRef<ArrayRef<Word>> Arguments) {
    for (size_t I = 0; I < Macro.Parameters.size() && I < Arguments.size() && !O.Path.empty(); ++I)
      if (Macro.Parameters[I] == O.Path.front()) {
        Operand Given = operandOf(Arguments[I]);
        Given.Pointer &= O.Pointer;
        Given.Operation = O.Operation;
        Given.Through = O.Through;
        if (!O.Member)
          return Given;
        Given.Path.insert(Given.Path.end(), O.Path.begin() + 1, O.Path.end());
        O.Path = Given.Path;
        O.Computed |= Given.Computed;
        return O;
      }
    return O;
  }
};

// The directives that decide over each place of a file.
class Conditions {
public:
  Conditions(const Source &S, FileID File) : S(S), Text(S.fileText(File)) {
    Words = wordsOf(S, File, 0, Text.size());
  }

  // Sets those that hide the place, of which the first begins at Begin or behind it.
  void hiding(unsigned Begin, unsigned Place, SkippedSite &Site) const {
    std::vector<Branch> Open;
    for (size_t I = 0; I + 1 < Words.size() && offset(I) < Place; ++I) {
      if (Words[I].Kind != tok::hash || !Words[I].StartsLine)
        continue;
      StringRef Name = Words[I + 1].Name;
      if (Name == "endif" && !Open.empty())
        Open.pop_back();
      else if (Name.starts_with("if"))
        Open.push_back({offset(I), lineFrom(I)});
      else if (Name == "else" && !Open.empty())
        Open.back() = Open.back().next({offset(I), Open.back().Directive, true});
      else if (Name.starts_with("elif") && !Open.empty())
        Open.back() = Open.back().next({offset(I), lineFrom(I)});
    }
    for (const Branch &B : Open) {
      if (B.Begin < Begin)
        continue;
      Site.Condition += (Site.Condition.empty() ? "" : ", ") +
                        std::string(B.Else ? "#else of " : "") + B.Directive;
      Site.Elsewhere |= valueOnLinux(B.Directive) == B.Else;
    }
  }

private:
  struct Branch {
    unsigned Begin;
    std::string Directive;
    bool Else = false; // of that

    // Behind a branch that Linux always takes all others are its `#else`.
    Branch next(Branch Next) const {
      return valueOnLinux(Directive) == true ? Branch{Next.Begin, Directive, true} : Next;
    }
  };
  const Source &S;
  StringRef Text;
  std::vector<Word> Words;

  unsigned offset(size_t I) const { return S.SM.getFileOffset(Words[I].At); }

  // A directive in one line, without comments: `#if defined(A) && B`.
  std::string lineFrom(size_t I) const {
    std::string Result = "#";
    for (size_t J = I + 1; J < Words.size() && !Words[J].StartsLine; ++J) {
      unsigned End = J + 1 < Words.size() ? offset(J + 1) : Text.size();
      StringRef Part = Text.slice(offset(J), End);
      size_t Length = Words[J].Name.empty()
                          ? Lexer::MeasureTokenLength(Words[J].At, S.SM, S.Language)
                          : Words[J].Name.size();
      Result += Part.take_front(Length);
      bool Last = J + 1 >= Words.size() || Words[J + 1].StartsLine;
      if (Part.size() > Length && !Last)
        Result += ' ';
    }
    return Result;
  }
};

} // namespace

// `int pthread_mutex_lock(...)` declares, and does nothing to a lock.
static bool declares(ArrayRef<Word> Words, size_t I) {
  return I > 0 && (Words[I - 1].Name == "int" || Words[I - 1].Name == "void");
}

static bool operatesOn(const Operand &O, const std::optional<Operations::Found> &Does) {
  return Does && any_of(Does->Operands, [&](const Operand &Other) {
           return Other.Path == O.Path && Other.Member == O.Member && !Other.Computed;
         });
}

// The functions that have the skipped text of a file within their bodies.
class Functions {
public:
  explicit Functions(const Source &S) : S(S) {
    for (const Decl *D : S.Context.getTranslationUnitDecl()->decls())
      if (const auto *F = dyn_cast<FunctionDecl>(D); F && F->doesThisDeclarationHaveABody())
        if (std::optional<Source::Range> Range = S.range(F->getBody()->getSourceRange()))
          Bodies[Range->File].push_back({Range->Begin, Range->End, F});
  }

  bool isWithin(FileID File, unsigned At) const {
    auto Found = Bodies.find(File);
    return Found != Bodies.end() &&
           any_of(Found->second, [&](const Body &B) { return B.Begin < At && At < B.End; });
  }

  // The parameter that a name means at a place of the text, unless the function's text, skipped or
  // not, may give it another value; null: none, or not known.
  const ParmVarDecl *parameter(StringRef Name, FileID File, unsigned At) const {
    auto Found = Bodies.find(File);
    if (Found == Bodies.end())
      return nullptr;
    for (const Body &B : Found->second)
      if (B.Begin < At && At < B.End)
        for (const ParmVarDecl *P : B.F->parameters())
          if (P->getName() == Name && syncType(P->getType()) != SyncType::None)
            return changes(Name, wordsOf(S, File, B.Begin, B.End)) ? nullptr : P;
    return nullptr;
  }

  // The locks of the operations on the same operand in the function around, beside Skipped: what a
  // directive chooses between. None where skipped text may give the operand another value.
  std::vector<std::string> ofSameOperand(const Operand &O, FileID File, unsigned At,
                                         ArrayRef<SkippedText::Part> Skipped, Operations &Compiled,
                                         const std::vector<Site> &Sites) const {
    std::vector<std::string> Locks;
    auto Found = Bodies.find(File);
    if (Found == Bodies.end() || O.Computed || O.Path.empty())
      return Locks;
    for (const Body &B : Found->second)
      if (B.Begin < At && At < B.End) {
        std::vector<Word> Words = wordsOf(S, File, B.Begin, B.End);
        std::vector<Word> Hidden;
        for (size_t I = 0; I < Words.size(); ++I) {
          unsigned Place = S.SM.getFileOffset(Words[I].At);
          if (any_of(Skipped,
                     [&](const SkippedText::Part &P) { return P.Begin <= Place && Place < P.End; }))
            Hidden.push_back(Words[I]);
          else if (Words[I].Kind == tok::raw_identifier &&
                   operatesOn(O, Compiled.at(ArrayRef(Words).drop_front(I))))
            for (const Site &Operation : Sites)
              if (Operation.At == S.shown(Words[I].At))
                Locks.push_back(Operation.Node);
        }
        if (any_of(O.Path, [&](StringRef Name) { return changes(Name, Hidden); }))
          Locks.clear();
      }
    return Locks;
  }

private:
  struct Body {
    unsigned Begin, End;
    const FunctionDecl *F;
  };
  const Source &S;
  std::map<FileID, std::vector<Body>> Bodies;
};

// The macros that skipped text defines once, in all of its configurations.
static StringSet<> definedSurely(ArrayRef<Word> Words) {
  StringMap<unsigned> Definitions; // and `#undef`s
  StringSet<> Result;
  int Depth = 0;
  for (size_t I = 0; I + 2 < Words.size(); ++I) {
    if (Words[I].Kind != tok::hash || !Words[I].StartsLine)
      continue;
    StringRef Directive = Words[I + 1].Name, Name = Words[I + 2].Name;
    bool Defines = Directive == "define";
    Depth += Directive.starts_with("if");
    Depth -= Directive == "endif";
    if (Defines || Directive == "undef")
      ++Definitions[Name];
    if (Defines && Depth == 0)
      Result.insert(Name);
  }
  for (const auto &[Name, Count] : Definitions)
    if (Count > 1)
      Result.erase(Name);
  return Result;
}

// The locks that the compiled uses of a macro operate on; false: not known.
using LocksOfUses = function_ref<bool(StringRef Macro, std::vector<std::string> &Locks)>;

// What skipped text itself says about an operand at a place of it.
static void describe(const Operand &O, const SkippedFunctions &Skipped, SourceLocation At,
                     SkippedSite &Site) {
  Site.Through = O.Through ? O.Through->Name : "";
  const bool Plain = !O.Path.empty() && !O.Computed;
  const SkippedFunction *Of =
      Plain && O.Pointer && !O.Member ? Skipped.ofParameter(O.Name, At) : nullptr;
  Site.OfParameterOf = Of ? Of->Name : "";
  Site.Record = Plain && O.Member && !O.Pointer && O.Path.size() == 2
                    ? Skipped.recordOf(O.Path.front(), At).str()
                    : "";
}

// The parameter of a function that this configuration has in the place of a macro.
static const ParmVarDecl *parameterOf(StringRef Function, size_t Index, const Source &S) {
  const IdentifierInfo &Name = S.Context.Idents.get(Function);
  for (const NamedDecl *D : S.Context.getTranslationUnitDecl()->lookup(&Name))
    if (const auto *F = dyn_cast<FunctionDecl>(D); F && Index < F->getNumParams())
      return syncType(F->getParamDecl(Index)->getType()) == SyncType::None ? nullptr
                                                                           : F->getParamDecl(Index);
  return nullptr;
}

// What is known of a unit when its text is read.
struct Unit {
  const Source &S;
  Preprocessor &PP;
  const std::vector<Site> *Compiled; // null: not all are known
  LocksOfUses Uses;
  const Functions Around;
  SkippedFunctions Skipped;
};

// The locks that compiled text of the function around means by the operand.
static void findLocks(const Unit &U, const Operand &O, FileID File, unsigned At,
                      ArrayRef<SkippedText::Part> Parts, Operations &Compiled, SkippedSite &Site) {
  if (O.Pointer && !O.Member && !O.Computed)
    if (const ParmVarDecl *P = U.Around.parameter(O.Name, File, At))
      Site.Locks = {nodeFor(P, U.S)};
  if (Site.Locks.empty() && U.Compiled)
    Site.Locks = U.Around.ofSameOperand(O, File, At, Parts, Compiled, *U.Compiled);
  Site.Exact = !Site.Locks.empty();
}

// The initialiser at I of a variable that skipped text defines: of a mutex, or of a struct with
// one. False: what it initialises is not seen.
static bool describeInitialiser(ArrayRef<Word> Words, size_t I, SkippedSite &Site) {
  auto Named = [&](size_t J) { return Words[J].Kind == tok::raw_identifier; };
  size_t Assigned = I; // the `=` of the declaration
  // Back over the lines of a list, to the first `=` behind a `;` or a directive.
  for (size_t J = I; J-- > 0;) {
    if (Words[J].Kind == tok::semi || (Words[J].Kind == tok::hash && Words[J].StartsLine))
      break;
    bool Designates = J > 1 && Words[J - 2].Kind == tok::period;
    if (Words[J].Kind == tok::equal && !Designates)
      Assigned = J;
  }
  size_t Name = Assigned;
  while (Name > 0 && Words[Name - 1].Kind == tok::r_square) // `[2]`
    while (Name > 0 && Words[--Name].Kind != tok::l_square)
      ;
  if (Words[Assigned].Kind != tok::equal || Name < 2 || !Named(Name - 1) || !Named(Name - 2))
    return false;
  Site.Member = Assigned + 1 < I;
  if (!Site.Member) {
    Site.Operand = Words[Name - 1].Name.str();
    return true;
  }
  Site.Record = Words[Name - 2].Name.str(); // `struct queue` or `queue_t`
  if (I > 2 && Words[I - 1].Kind == tok::equal && Words[I - 3].Kind == tok::period)
    Site.Operand = Words[I - 2].Name.str();
  return true;
}

// Reads the Which-th of the parts of a file that are skipped.
static void scan(const Unit &U, FileID File, ArrayRef<SkippedText::Part> Parts, size_t Which,
                 std::vector<SkippedSite> &Result) {
  const Source &S = U.S;
  const auto [Begin, End] = Parts[Which];
  std::vector<Word> Words = wordsOf(S, File, Begin, End);
  std::optional<Conditions> Where;
  Operations Known(U.PP, &U.Skipped);
  Operations Compiled(U.PP, nullptr); // what macros mean there
  std::vector<StringRef> Parameters;  // of the macro whose definition this is
  bool Defining = false;
  ArrayRef<Word> Defined; // its name and what follows
  const StringSet<> Redefined = definedSurely(Words);
  for (size_t I = 0; I < Words.size(); ++I) {
    if (Words[I].StartsLine) {
      Parameters.clear();
      Defining = false;
    }
    if (Words[I].Kind == tok::hash && Words[I].StartsLine && I + 1 < Words.size()) {
      // The body of a macro counts, the name and the other directives do not.
      bool Defines = Words[I + 1].Name == "define";
      Defining = Defines;
      if (Defines) {
        Definition Macro = definitionAt(ArrayRef(Words).drop_front(I + 1));
        Parameters.assign(Macro.Parameters.begin(), Macro.Parameters.end());
        Defined = ArrayRef(Words).drop_front(std::min(I + 2, Words.size()));
        if (I + 2 < Words.size() && Redefined.contains(Words[I + 2].Name))
          Known.define(Words[I + 2].Name, std::move(Macro));
      }
      for (I += 2; !Defines && I < Words.size() && !Words[I].StartsLine;)
        ++I;
      I -= !Defines;
      continue;
    }
    if (Words[I].Kind != tok::raw_identifier || declares(Words, I) ||
        U.Skipped.declaresAt(Words[I].At))
      continue;
    const bool Initialises = !Defining && !relockInitialiser(Words[I].Name).empty();
    std::optional<Operations::Found> Found = Known.at(ArrayRef(Words).drop_front(I));
    if (!Found && !Initialises)
      continue;
    if (!Where)
      Where.emplace(S, File);
    SkippedSite Site;
    Site.At = S.spelled(Words[I].At);
    Site.Operator = Words[I].Name.str();
    const unsigned At = S.SM.getFileOffset(Words[I].At);
    Where->hiding(Begin, At, Site);
    if (!Found) {
      if (describeInitialiser(Words, I, Site))
        Result.push_back(Site);
      continue;
    }
    Site.Acquires = Found->Acquires;
    for (const Operand &O : Found->Operands) {
      Site.Operand = O.Name;
      Site.Member = O.Member;
      Site.Pointer = O.Pointer || (!O.Member && is_contained(Parameters, O.Name));
      bool OfParameter = !O.Path.empty() && !O.Computed && is_contained(Parameters, O.Path.front());
      Site.Locks.clear();
      Site.Operation = S.spelled(O.Operation);
      // Another definition of a macro that is used here: what it is given, it is given here, too.
      Site.Exact = OfParameter && operatesOn(O, Compiled.at(Defined)) &&
                   U.Uses(Defined.front().Name, Site.Locks);
      // Or of a function that is called here.
      if (OfParameter && O.Path.size() == 1 && !Site.Exact)
        if (const ParmVarDecl *P = parameterOf(
                Defined.front().Name, find(Parameters, O.Path.front()) - Parameters.begin(), S)) {
          Site.Locks = {nodeFor(P, S)};
          Site.Exact = true;
        }
      if (Parameters.empty())
        findLocks(U, O, File, At, Parts, Compiled, Site);
      describe(O, U.Skipped, Words[I].At, Site);
      Result.push_back(Site);
      Site.Acquires = false; // counts once
    }
  }
}

// Calls of functions that only skipped text declares, in what is not skipped: a macro drops them.
static void scanCompiled(const Unit &U, FileID File, ArrayRef<SkippedText::Part> Parts,
                         unsigned Begin, unsigned End, std::vector<SkippedSite> &Result) {
  const Source &S = U.S;
  std::vector<Word> Words = wordsOf(S, File, Begin, End);
  Operations Known(U.PP, &U.Skipped, true);
  Operations Compiled(U.PP, nullptr);
  bool Directive = false;
  for (size_t I = 0; I < Words.size(); ++I) {
    if (Words[I].StartsLine)
      Directive = Words[I].Kind == tok::hash; // the body of a macro counts where it is used
    bool Member = I > 0 && is_contained({tok::period, tok::arrow}, Words[I - 1].Kind);
    if (Directive || Member || Words[I].Kind != tok::raw_identifier)
      continue;
    std::optional<Operations::Found> Found = Known.at(ArrayRef(Words).drop_front(I));
    if (!Found)
      continue;
    for (const Operand &O : Found->Operands) {
      SkippedSite Site;
      Site.At = S.spelled(Words[I].At);
      Site.Operator = Words[I].Name.str();
      Site.Operation = S.spelled(O.Operation);
      Site.Operand = O.Name;
      Site.Member = O.Member;
      Site.Pointer = O.Pointer;
      Site.Through = O.Through->Name;
      Site.Condition = O.Through->Condition;
      Site.Elsewhere = O.Through->Elsewhere;
      findLocks(U, O, File, S.SM.getFileOffset(Words[I].At), Parts, Compiled, Site);
      Result.push_back(std::move(Site));
    }
  }
}

bool SkippedText::findLocksOfUses(StringRef Macro, const Source &S,
                                  const std::vector<Site> &Compiled,
                                  std::vector<std::string> &Locks) const {
  auto Uses = Expansions.find(Macro);
  if (Uses == Expansions.end())
    return true;
  return all_of(Uses->second, [&](SourceLocation Use) {
    size_t Before = Locks.size();
    Position At = S.shown(Use);
    for (const Site &Operation : Compiled)
      if (Operation.At == At)
        Locks.push_back(Operation.Node);
    return Locks.size() > Before;
  });
}

std::vector<SkippedSite> SkippedText::lockSites(const Source &S, Preprocessor &PP,
                                                const std::vector<Site> *Compiled) const {
  std::vector<SkippedSite> Found;
  auto Uses = [&](StringRef Macro, std::vector<std::string> &Locks) {
    return Compiled && findLocksOfUses(Macro, S, *Compiled, Locks);
  };
  Unit U = {S, PP, Compiled, Uses, Functions(S), {}};
  auto EachFile = [&](function_ref<void(FileID, std::vector<Part>)> Do) {
    for (const auto &[Entry, OfFile] : Inclusions)
      if (FileID File = OfFile.front().File;
          !S.SM.isInSystemHeader(S.SM.getLocForStartOfFile(File)))
        Do(File, inAll(OfFile));
  };
  EachFile([&](FileID File, std::vector<Part> Parts) {
    for (const Part &P : Parts)
      if (!neverCompiled(S.fileText(File).substr(P.Begin)) && !U.Around.isWithin(File, P.Begin))
        U.Skipped.read(S, wordsOf(S, File, P.Begin, P.End), [&](SourceLocation At) {
          SkippedSite Place;
          Conditions(S, File).hiding(P.Begin, S.SM.getFileOffset(At), Place);
          return std::pair(Place.Condition, Place.Elsewhere);
        });
  });
  EachFile([&](FileID File, std::vector<Part> Parts) {
    unsigned End = 0; // of the part before
    for (size_t I = 0; I <= Parts.size(); ++I) {
      unsigned Next = I < Parts.size() ? Parts[I].Begin : S.fileText(File).size();
      if (!U.Skipped.empty() && End < Next)
        scanCompiled(U, File, Parts, End, Next, Found);
      if (I == Parts.size())
        break;
      if (!neverCompiled(S.fileText(File).substr(Next)))
        scan(U, File, Parts, I, Found);
      End = Parts[I].End;
    }
  });
  return Found;
}

} // namespace relock
