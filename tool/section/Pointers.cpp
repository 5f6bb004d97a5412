// SPDX-License-Identifier: MIT
//
// A points-to analysis of the section's text, after Andersen: each variable and compound literal is
// an object, and holds the set of objects that it may point to. All other memory is one object,
// Elsewhere. What Elsewhere may point to, directly or not, has *escaped*, and is part of it. Order
// and conditions of statements do not matter, nor which field or element of an object holds a
// pointer: sets only grow, until nothing changes.
//
// The variables of the function that are used behind the section have escaped from the start. A
// function whose body this unit has is followed, one of the C library or the project file does what
// is said of it, and any other one lets all escape that it is given.
#include "section/Pointers.h"

#include "index/LockApi.h"
#include "program/PointerEffects.h"
#include "section/Dropped.h"
#include "section/Flow.h"

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SparseBitVector.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

using Objects = SparseBitVector<>;
constexpr unsigned Elsewhere = 0;

class PointerAnalysis {
public:
  PointerAnalysis(const SectionText &Text, const std::vector<DroppedName> &Dropped,
                  const FunctionDecl *F, const std::vector<Mention> &All,
                  const CallLiveness &Liveness, const ParentMap &Parents, const ProgramView &Linked,
                  const Source &S, std::set<std::string> &Trusts)
      : Text(Text), Dropped(Dropped), F(F), All(All), Liveness(Liveness), Parents(Parents),
        Linked(Linked), S(S), Trusts(Trusts) {
    Holds.emplace_back();
    Escaped.set(Elsewhere);
  }

  std::vector<OutlivingPointer> run() {
    for (const Stmt *Statement : Text.Statements)
      findOwn(Statement);
    if (Own.empty())
      return {};
    for (const DroppedName &D : Dropped)
      if (At = D.Location; !D.Asserted)
        escape(object(D.Variable));
    do {
      Changed = false;
      Returned = Elsewhere;
      for (const Stmt *Statement : Text.Statements)
        visit(Statement);
      for (size_t I = 0; I < Followed.size(); ++I) {
        Returned = number(Followed[I]);
        visit(Followed[I]->getBody());
      }
    } while (Changed);
    std::vector<OutlivingPointer> Found;
    for (const OwnObject &O : Own) {
      unsigned Number = Numbers.lookup(O.Identity);
      bool Held = O.Literal && O.Waits &&
                  any_of(Holds, [&](const Objects &Set) { return Set.test(Number); });
      if (Number && (Escaped.test(Number) || Held))
        Found.push_back({O.Variable, Escapes.count(Number) ? Escapes.lookup(Number) : O.At});
    }
    return Found;
  }

private:
  // A variable or literal of the section whose block lives on behind an unlock or a wait.
  struct OwnObject {
    const void *Identity;
    const VarDecl *Variable;
    bool Literal, Waits;
    SourceLocation At;
  };

  static constexpr size_t MostFollowed = 64; // functions; the rest lets everything escape

  const SectionText &Text;
  const std::vector<DroppedName> &Dropped;
  const FunctionDecl *F;
  const std::vector<Mention> &All;
  const CallLiveness &Liveness;
  const ParentMap &Parents;
  const ProgramView &Linked;
  const Source &S;
  std::set<std::string> &Trusts;

  std::vector<OwnObject> Own;
  DenseMap<const void *, unsigned> Numbers; // of variables, literals, and functions' results
  std::vector<Objects> Holds;               // by number
  Objects Escaped;
  DenseMap<unsigned, SourceLocation> Escapes; // where
  SetVector<const FunctionDecl *> Followed;
  unsigned Returned = Elsewhere; // by the function whose body is visited
  SourceLocation At;             // the expression that is evaluated
  bool Changed = false;

  // --- What is at risk ----------------------------------------------------------------------

  void findOwn(const Stmt *Statement) {
    if (!Statement || is_contained(Text.Outside, Statement))
      return;
    if (const auto *Declared = dyn_cast<DeclStmt>(Statement))
      for (const Decl *D : Declared->decls())
        if (const auto *V = dyn_cast<VarDecl>(D); V && V->hasLocalStorage() && outlives(Declared))
          Own.push_back({V, V, false, false, V->getLocation()});
    if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(Statement)) {
      bool Waits = resumesIn(blockAround(Literal));
      if (Waits || outlives(Literal))
        Own.push_back({Literal, nullptr, true, Waits, Literal->getBeginLoc()});
    }
    for (const Stmt *Child : Statement->children())
      findOwn(Child);
  }

  // True if the section ends before the block does in which something is declared.
  bool outlives(const Stmt *Declared) const {
    const Stmt *Block = blockAround(Declared);
    return any_of(Text.Unlocks, [&](const CallExpr *Unlock) {
      bool Gap = any_of(Text.Gaps, [&](const relock::Gap &G) { return G.Unlock == Unlock; });
      return !Gap && within({Block}, Unlock, Parents);
    });
  }

  const Stmt *blockAround(const Stmt *Inner) const {
    do
      Inner = Parents.getParent(Inner);
    while (!isa<CompoundStmt>(Inner) && !isa<ForStmt>(Inner));
    return Inner;
  }

  // True if the section is left in the block, and entered again.
  bool resumesIn(const Stmt *Block) const {
    auto In = [&](const CallExpr *Call) { return within({Block}, Call, Parents); };
    return any_of(Text.Waits, In) || any_of(Text.Gaps, [&](const Gap &G) { return In(G.Lock); });
  }

  // True if more than the section's text uses the variable, or may do so by its address.
  bool usedOutside(const VarDecl *V) const {
    auto Hoisted = [&](const DeclStmt *D) { return is_contained(D->decls(), V); };
    auto Live = [&](const CallExpr *Unlock) { return Liveness.liveAfter(Unlock, V); };
    return any_of(Text.Hoisted, Hoisted) || any_of(Text.Unlocks, Live) ||
           (Text.InScope && !Text.Leaves &&
            none_of(Text.Statements, [&](const Stmt *Child) { return declares(Child, V); })) ||
           isNamed(V, Text.DroppedAround, F, Parents, S) || any_of(All, [&](const Mention &M) {
             return M.Variable == V && mayGiveAddress(M) &&
                    (!within(Text.Statements, M.Ref, Parents) ||
                     within(Text.Outside, M.Ref, Parents));
           });
  }

  static bool mayGiveAddress(const Mention &M) {
    return M.How == Mention::AddressTaken || M.How == Mention::Element || M.How == Mention::Member;
  }

  // --- Objects ------------------------------------------------------------------------------

  unsigned object(const VarDecl *V) {
    if (!V->hasLocalStorage())
      return Elsewhere;
    auto Known = Numbers.find(V);
    if (Known != Numbers.end())
      return Known->second;
    if (V->getDeclContext() != F)
      return create(V);
    if (usedOutside(V))
      return Numbers[V] = Elsewhere;
    unsigned Number = create(V);
    if (none_of(Text.Statements, [&](const Stmt *Child) { return declares(Child, V); }))
      Holds[Number].set(Elsewhere); // its value comes from before the section
    return Number;
  }

  static bool declares(const Stmt *Statement, const VarDecl *V) {
    if (const auto *D = dyn_cast_or_null<DeclStmt>(Statement); D && is_contained(D->decls(), V))
      return true;
    return Statement &&
           any_of(Statement->children(), [&](const Stmt *Child) { return declares(Child, V); });
  }

  // Of a literal, or of a function's result.
  unsigned number(const void *Identity) {
    auto Known = Numbers.find(Identity);
    return Known != Numbers.end() ? Known->second : create(Identity);
  }

  unsigned create(const void *Identity) {
    Holds.emplace_back();
    return Numbers[Identity] = Holds.size() - 1;
  }

  static Objects only(unsigned Object) {
    Objects Result;
    Result.set(Object);
    return Result;
  }

  // What can be read in these objects.
  Objects contents(const Objects &From) const {
    Objects Result;
    for (unsigned Object : From)
      Result |= Escaped.test(Object) ? Escaped : Holds[Object];
    return Result;
  }

  Objects contents(Objects From, unsigned Loads) const {
    for (; Loads; --Loads)
      From = contents(From);
    return From;
  }

  // These objects, and all that can be reached from them.
  Objects reachable(Objects From) const {
    while (From |= contents(From))
      ;
    return From;
  }

  void store(const Objects &Targets, const Objects &Value) {
    for (unsigned Object : Targets)
      if (Escaped.test(Object))
        escape(Value);
      else
        Changed |= Holds[Object] |= Value;
  }

  void escape(const Objects &Value) {
    for (unsigned Object : Value)
      escape(Object);
  }

  void escape(unsigned Object) {
    if (Escaped.test(Object))
      return;
    Escaped.set(Object);
    Escapes[Object] = At;
    Changed = true;
    escape(Objects(Holds[Object]));
  }

  // True if something is among them that has not escaped.
  bool matters(const Objects &Value) const { return !Escaped.contains(Value); }

  // --- Statements ---------------------------------------------------------------------------

  void visit(const Stmt *Statement) {
    if (!Statement || is_contained(Text.Outside, Statement))
      return;
    if (const auto *E = dyn_cast<Expr>(Statement)) {
      evaluate(E);
      return;
    }
    if (const auto *Declared = dyn_cast<DeclStmt>(Statement))
      for (const Decl *D : Declared->decls())
        if (const auto *V = dyn_cast<VarDecl>(D); V && V->hasInit())
          initialise(object(V), V->getInit(), V->getLocation());
    if (const auto *Return = dyn_cast<ReturnStmt>(Statement); Return && Return->getRetValue())
      store(only(Returned), evaluate(Return->getRetValue()));
    for (const Stmt *Child : Statement->children())
      if (isa<AsmStmt>(Statement))
        escape(evaluate(cast<Expr>(Child)));
      else
        visit(Child);
  }

  void initialise(unsigned Object, const Expr *Initial, SourceLocation Place) {
    Objects Value = evaluate(Initial);
    At = Place;
    // An array takes the elements of the one that it is initialised with.
    store(only(Object), Initial->isGLValue() ? contents(Value) : Value);
  }

  // --- Expressions --------------------------------------------------------------------------

  // What the value of an expression may point to; of an lvalue: the objects that it may be.
  Objects evaluate(const Expr *E) {
    if (E->isGLValue())
      return designated(E);
    Objects Value = value(E);
    return mayPoint(E->getType()) ? Value : Objects();
  }

  // True of a type that has room for a pointer; characters may be its bytes, copied one by one.
  bool mayPoint(QualType T) const {
    if (const auto *Atomic = T->getAs<AtomicType>())
      T = Atomic->getValueType();
    if (T->isCharType())
      return true;
    if (T->isIntegralOrEnumerationType())
      return S.Context.getTypeSize(T) >= S.Context.getTypeSize(S.Context.VoidPtrTy);
    return !T->isVoidType() && !T->isFloatingType();
  }

  Objects designated(const Expr *E) {
    E = E->IgnoreParens();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      return V ? only(object(V)) : Objects();
    }
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (Member->isArrow() || Member->getBase()->isGLValue())
        return evaluate(Member->getBase());
    } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      evaluate(Subscript->getIdx());
      return evaluate(Subscript->getBase());
    } else if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      return evaluate(Unary->getSubExpr()); // `*p`, `__extension__ x`
    } else if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(E)) {
      unsigned Object = number(Literal);
      initialise(Object, Literal->getInitializer(), Literal->getBeginLoc());
      return only(Object);
    } else if (const auto *Cast = dyn_cast<CastExpr>(E)) {
      return evaluate(Cast->getSubExpr());
    } else if (isa<clang::StringLiteral>(E) || isa<PredefinedExpr>(E)) {
      return only(Elsewhere);
    } else if (const Expr *Chosen = chosen(E)) {
      return evaluate(Chosen);
    }
    return unknown(E);
  }

  // What an expression stands for that is only another one.
  static const Expr *chosen(const Expr *E) {
    if (const auto *Paren = dyn_cast<ParenExpr>(E))
      return Paren->getSubExpr();
    if (const auto *Generic = dyn_cast<GenericSelectionExpr>(E))
      return Generic->getResultExpr();
    if (const auto *Choose = dyn_cast<ChooseExpr>(E))
      return Choose->getChosenSubExpr();
    if (const auto *Full = dyn_cast<FullExpr>(E))
      return Full->getSubExpr();
    const auto *Opaque = dyn_cast<OpaqueValueExpr>(E);
    return Opaque ? Opaque->getSourceExpr() : nullptr;
  }

  Objects value(const Expr *E) {
    if (const Expr *Chosen = chosen(E))
      return evaluate(Chosen);
    if (const auto *Cast = dyn_cast<CastExpr>(E))
      return castValue(Cast);
    if (const auto *Call = dyn_cast<CallExpr>(E))
      return call(Call);
    if (const auto *Binary = dyn_cast<BinaryOperator>(E))
      return binary(Binary);
    if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      Objects Value = evaluate(Unary->getSubExpr());
      return Unary->isIncrementDecrementOp() ? contents(Value) : Value;
    }
    if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(E)) {
      evaluate(Choice->getCond());
      Objects Value = evaluate(Choice->getTrueExpr());
      Value |= evaluate(Choice->getFalseExpr());
      return Value;
    }
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      return evaluate(Member->getBase()); // of a struct that a function returns
    if (const auto *List = dyn_cast<InitListExpr>(E)) {
      Objects Value;
      for (const Expr *Initial : List->inits())
        Value |= evaluate(Initial);
      return Value;
    }
    if (const auto *Block = dyn_cast<StmtExpr>(E)) {
      visit(Block->getSubStmt());
      const auto *Last = dyn_cast_or_null<ValueStmt>(
          Block->getSubStmt()->body_empty() ? nullptr : Block->getSubStmt()->body_back());
      const Expr *Value = Last ? Last->getExprStmt() : nullptr;
      return Value ? evaluate(Value) : Objects();
    }
    bool Constant = isa<IntegerLiteral>(E) || isa<CharacterLiteral>(E) || isa<FloatingLiteral>(E) ||
                    isa<ImplicitValueInitExpr>(E) || isa<UnaryExprOrTypeTraitExpr>(E) ||
                    isa<OffsetOfExpr>(E) || isa<DeclRefExpr>(E) || isa<GNUNullExpr>(E);
    return Constant ? Objects() : unknown(E);
  }

  Objects castValue(const CastExpr *Cast) {
    Objects Value = evaluate(Cast->getSubExpr());
    if (Cast->getCastKind() == CK_LValueToRValue)
      return contents(Value);
    if (Cast->getCastKind() == CK_IntegralToPointer)
      Value.set(Elsewhere);
    // The array of a struct that a function returns is an object of no name.
    if (Cast->getCastKind() == CK_ArrayToPointerDecay && !Cast->getSubExpr()->isGLValue())
      return unknown(Cast);
    return Value;
  }

  Objects binary(const BinaryOperator *Binary) {
    const Expr *Left = Binary->getLHS(), *Right = Binary->getRHS();
    Objects Target = evaluate(Left), Value = evaluate(Right);
    if (Binary->isAssignmentOp()) {
      if (Binary->isCompoundAssignmentOp())
        Value |= contents(Target);
      At = Binary->getOperatorLoc();
      store(Target, Value);
      return Value;
    }
    if (Binary->getOpcode() == BO_Comma)
      return Value;
    if (Left->getType()->isPointerType() && Right->getType()->isPointerType())
      return {}; // a distance
    Value |= Target;
    return Value;
  }

  // Whatever goes in may go anywhere.
  Objects unknown(const Expr *E) {
    for (const Stmt *Child : E->children())
      if (const auto *Operand = dyn_cast_or_null<Expr>(Child)) {
        Objects Value = evaluate(Operand);
        At = E->getExprLoc();
        escape(Value);
      }
    return only(Elsewhere);
  }

  // --- Calls --------------------------------------------------------------------------------

  Objects call(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee)
      evaluate(Call->getCallee());
    std::vector<Objects> Given;
    for (const Expr *Argument : Call->arguments())
      Given.push_back(evaluate(Argument));
    At = Call->getExprLoc();
    if (none_of(Given, [&](const Objects &Value) { return matters(Value); }))
      return only(Elsewhere);
    StringRef Name = Callee && Callee->getIdentifier() ? Callee->getName() : "";
    if (lockFunction(Name))
      return {};
    PointerEffects Effects = Linked.pointerEffects(Name, definedByProgram(Callee));
    if (Effects.Trusted)
      Trusts.insert(Name.str());
    if (Effects.Known != PointerEffects::Unknown)
      return apply(Effects, Given);
    if (const FunctionDecl *Body = followed(Callee, Given.size()))
      return enter(Body, Given);
    for (const Objects &Value : Given)
      escape(Value);
    return only(Elsewhere);
  }

  // The body that a library's header has of its own function is not the program's.
  bool definedByProgram(const FunctionDecl *Callee) const {
    const FunctionDecl *Definition = Callee ? Callee->getDefinition() : nullptr;
    if (Definition && S.inSystemHeader(Definition->getLocation()))
      return false;
    return Callee && (Definition || Linked.isDefined(nodeFor(Callee, S)) ||
                      Linked.isNamesake(nodeFor(Callee, S)));
  }

  Objects apply(const PointerEffects &Effects, ArrayRef<Objects> Given) {
    Objects Result = only(Elsewhere);
    auto Flow = [&](const Objects &From, const PointerFlow::Place &To) {
      if (To.Kind == PointerFlow::Place::Result)
        Result |= From;
      else if (To.Kind == PointerFlow::Place::Kept)
        escape(From);
      else if (To.Index < Given.size())
        store(contents(Given[To.Index], To.Loads - 1), From);
    };
    for (const PointerFlow &F : Effects.Flows)
      if (F.From.Index < Given.size())
        Flow(contents(Given[F.From.Index], F.From.Loads), F.To);
    for (size_t I = 0; I < Given.size(); ++I) {
      Objects Reached = reachable(Given[I]);
      store(Reached, only(Elsewhere)); // its own memory: what `getline` allocates
      if (Effects.Known != PointerEffects::KeepsNone)
        continue;
      Result |= Reached;
      for (size_t Other = 0; Other < Given.size(); ++Other)
        if (Other != I)
          store(reachable(Given[Other]), Reached);
    }
    return Result;
  }

  // The body of a function, where it is the one that is called.
  const FunctionDecl *followed(const FunctionDecl *Callee, size_t Arguments) const {
    const FunctionDecl *Definition = Callee ? Callee->getDefinition() : nullptr;
    bool Follow = Definition && Definition != F && Definition->hasBody() &&
                  !S.inSystemHeader(Definition->getLocation()) && !Definition->isVariadic() &&
                  !Definition->isWeak() && Definition->getNumParams() == Arguments &&
                  (Followed.contains(Definition) || Followed.size() < MostFollowed);
    return Follow ? Definition : nullptr;
  }

  Objects enter(const FunctionDecl *Body, ArrayRef<Objects> Given) {
    Changed |= Followed.insert(Body);
    for (size_t I = 0; I < Given.size(); ++I)
      store(only(object(Body->getParamDecl(I))), Given[I]);
    return Holds[number(Body)];
  }
};

} // namespace

std::vector<OutlivingPointer>
outlivingPointers(const SectionText &Text, const std::vector<DroppedName> &Dropped,
                  const FunctionDecl *F, const std::vector<Mention> &All,
                  const CallLiveness &Liveness, const ParentMap &Parents, const ProgramView &Linked,
                  const Source &S, std::set<std::string> &Trusts) {
  return PointerAnalysis(Text, Dropped, F, All, Liveness, Parents, Linked, S, Trusts).run();
}

} // namespace relock
