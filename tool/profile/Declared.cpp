// SPDX-License-Identifier: MIT
#include "profile/Declared.h"

#include "profile/Dwarf.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace relock {

namespace {

bool isWord(char C) { return isAlnum(C) || C == '_'; }

StringRef takeWord(StringRef &Text) {
  Text = Text.ltrim();
  StringRef Word = Text.take_while(isWord);
  Text = Text.drop_front(Word.size());
  return Word;
}

// Up to the bracket that closes the one Text begins with.
bool skipIndex(StringRef &Text) {
  unsigned Depth = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    Depth += Text[I] == '[';
    Depth -= Text[I] == ']';
    if (Depth == 0) {
      Text = Text.drop_front(I + 1);
      return true;
    }
  }
  return false;
}

Expression parse(StringRef Text) {
  Expression Result;
  StringRef Base = takeWord(Text);
  if (Base.empty() || isDigit(Base[0]))
    return Result;
  Result.push_back(Base.str());
  for (;;) {
    Text = Text.ltrim();
    if (Text.starts_with("[") && skipIndex(Text)) {
      Result.push_back("[");
    } else if (Text.consume_front("->")) {
      Result.push_back("->" + takeWord(Text).str());
    } else if (Text.consume_front(".")) {
      Result.push_back("." + takeWord(Text).str());
    } else {
      return Result;
    }
  }
}

bool isObject(DWARFDie Type, relock_primitive Primitive) {
  std::string Typedef;
  behindNames(Type, Typedef);
  return isTypeOf(Primitive, Typedef);
}

// Members of unnamed members count as the record's own.
DWARFDie member(DWARFDie Record, StringRef Name) {
  for (DWARFDie Child : Record.children()) {
    if (Child.getTag() != DW_TAG_member)
      continue;
    StringRef ChildName = toStringRef(Child.find(DW_AT_name));
    if (ChildName == Name)
      return Child;
    std::string Typedef;
    DWARFDie Type = behindNames(typeOf(Child), Typedef);
    if (ChildName.empty() && isRecord(Type))
      if (DWARFDie Found = member(Type, Name))
        return Found;
  }
  return DWARFDie();
}

// Follows an expression from its variable to what it denotes.
class Walk {
public:
  Walk(DWARFDie Variable, StringRef Function) : Declaration(Variable), Type(typeOf(Variable)) {
    Class = Variable.getShortName() ? Variable.getShortName() : "";
    if (!Function.empty())
      Class = Function.str() + "." + Class;
  }

  bool follow(relock_primitive Primitive, ArrayRef<std::string> Steps) {
    for (StringRef Step : Steps)
      if (!(Step == "[" ? element() : field(Step)))
        return false;
    return isObject(Type, Primitive);
  }

  // To a field that is a pointer to an object of its own.
  bool followToPointer(relock_primitive Primitive, ArrayRef<std::string> Steps) {
    std::string Typedef;
    for (StringRef Step : Steps)
      if (!(Step == "[" ? element() : field(Step)))
        return false;
    DWARFDie Pointer = behindNames(Type, Typedef);
    return !Steps.empty() && Steps.back() != "[" && Pointer &&
           Pointer.getTag() == DW_TAG_pointer_type && isObject(typeOf(Pointer), Primitive);
  }

  DWARFDie Declaration;
  std::string Class;
  bool ThroughPointer = false; // the class is still the variable, which only points to mutexes

private:
  bool element() {
    std::string Typedef;
    DWARFDie Whole = behindNames(Type, Typedef);
    if (!Whole || (Whole.getTag() != DW_TAG_array_type && Whole.getTag() != DW_TAG_pointer_type))
      return false;
    ThroughPointer |= Whole.getTag() == DW_TAG_pointer_type;
    Type = typeOf(Whole);
    return true;
  }

  bool field(StringRef Step) {
    std::string Typedef;
    DWARFDie Record = behindNames(Type, Typedef);
    if (Step.consume_front("->")) {
      if (!Record || Record.getTag() != DW_TAG_pointer_type)
        return false;
      Record = behindNames(typeOf(Record), Typedef);
    } else {
      Step.consume_front(".");
    }
    DWARFDie Member = isRecord(Record) ? member(Record, Step) : DWARFDie();
    if (!Member)
      return false;
    StringRef Tag = toStringRef(Record.find(DW_AT_name));
    if (Tag.empty())
      Tag = Typedef;
    if (!Tag.empty())
      Class = Tag.str();
    Class += "." + Step.str();
    ThroughPointer = false;
    Declaration = Member;
    Type = typeOf(Member);
    return true;
  }

  DWARFDie Type;
};

void collectVariables(DWARFDie Scope, StringRef Name, std::vector<DWARFDie> &Found) {
  for (DWARFDie Child : Scope.children()) {
    if (Child.getTag() == DW_TAG_lexical_block)
      collectVariables(Child, Name, Found);
    else if ((Child.getTag() == DW_TAG_variable || Child.getTag() == DW_TAG_formal_parameter) &&
             Child.getShortName() && Child.getShortName() == Name)
      Found.push_back(Child);
  }
}

// The function of that name, from an inlined one outwards; the outermost if none has it.
DWARFDie functionNamed(StringRef Name, DWARFDie Innermost) {
  DWARFDie Function;
  for (DWARFDie Scope = Innermost; Scope; Scope = Scope.getParent()) {
    if (!Scope.isSubroutineDIE())
      continue;
    Function = Scope;
    if (Scope.getShortName() && Scope.getShortName() == Name)
      break;
  }
  return Function;
}

// The units that the function knows variables of: its own, which may import others, and that of its
// original, where it was moved by link-time optimization.
std::vector<DWARFDie> unitsOf(DWARFDie Function) {
  std::vector<DWARFDie> Units = {Function.getDwarfUnit()->getUnitDIE(false)};
  if (DWARFDie Original = originalOf(Function))
    Units.push_back(Original.getDwarfUnit()->getUnitDIE(false));
  for (DWARFDie Child : Units.front().children())
    if (Child.getTag() == DW_TAG_imported_unit)
      Units.push_back(Child.getAttributeValueAsReferencedDie(DW_AT_import));
  return Units;
}

Declared describe(const Walk &W) {
  Declared Result;
  Result.ClassName = W.Class;
  Result.File = fileOf(W.Declaration);
  Result.Line = lineOf(W.Declaration);
  return Result;
}

using Follow = bool (Walk::*)(relock_primitive, ArrayRef<std::string>);

Declared resolve(DWARFDie Function, relock_primitive Primitive, const Expression &E,
                 Follow Follows) {
  std::vector<DWARFDie> Locals, Globals;
  collectVariables(Function, E[0], Locals);
  collectVariables(originalOf(Function), E[0], Locals); // even if no code of theirs is left
  for (DWARFDie Local : Locals) {
    const char *Name = Function.getShortName();
    Walk W(Local, Name ? Name : "");
    // A local pointer says nothing about where its mutex is declared.
    if ((W.*Follows)(Primitive, ArrayRef(E).drop_front()) && !W.ThroughPointer)
      return describe(W);
  }
  if (!Locals.empty())
    return {};
  for (DWARFDie Unit : unitsOf(Function))
    collectVariables(Unit, E[0], Globals);
  for (DWARFDie Global : Globals)
    if (Walk W(Global, ""); (W.*Follows)(Primitive, ArrayRef(E).drop_front()))
      return describe(W);
  return {};
}

// The one that all expressions that lead to an object lead to.
Declared onlyOne(DWARFDie Function, relock_primitive Primitive, ArrayRef<Expression> Expressions,
                 Follow Follows) {
  Declared Found;
  for (const Expression &E : Expressions) {
    Declared Next = resolve(Function, Primitive, E, Follows);
    if (Next.ClassName.empty())
      continue;
    if (!Found.ClassName.empty() && Found.ClassName != Next.ClassName)
      return {}; // two mutexes in one statement
    Found = Next;
  }
  return Found;
}

} // namespace

std::vector<Expression> addressedExpressions(StringRef Text) {
  std::vector<Expression> Result;
  for (size_t At = Text.find('&'); At != StringRef::npos; At = Text.find('&', At + 1)) {
    if (Text.substr(At).starts_with("&&")) {
      ++At;
      continue;
    }
    Expression E = parse(Text.substr(At + 1));
    if (!E.empty())
      Result.push_back(std::move(E));
  }
  return Result;
}

std::vector<Expression> argumentExpressions(StringRef Text) {
  std::vector<Expression> Result;
  for (size_t At = Text.find_first_of("(,"); At != StringRef::npos;
       At = Text.find_first_of("(,", At + 1))
    if (Expression E = parse(Text.substr(At + 1)); !E.empty())
      Result.push_back(std::move(E));
  return Result;
}

bool isTypeOf(relock_primitive Primitive, StringRef Typedef) {
  switch (Primitive) {
  case RELOCK_MUTEX:
    return Typedef == "pthread_mutex_t" || Typedef == "mtx_t";
  case RELOCK_RWLOCK:
    return Typedef == "pthread_rwlock_t";
  case RELOCK_SPINLOCK:
    return Typedef == "pthread_spinlock_t";
  case RELOCK_CONDITION:
    return Typedef == "pthread_cond_t" || Typedef == "cnd_t";
  case RELOCK_SEMAPHORE:
    return Typedef == "sem_t";
  case RELOCK_BARRIER:
    return Typedef == "pthread_barrier_t" || Typedef == "relock_barrier_t";
  default:
    return false;
  }
}

bool isPrimitiveType(StringRef Typedef) {
  for (unsigned P = 0; P < RELOCK_PRIMITIVES; ++P)
    if (isTypeOf(relock_primitive(P), Typedef))
      return true;
  return false;
}

Declared findDeclared(DWARFContext &Context, relock_primitive Primitive, uint64_t Address,
                      StringRef Caller, StringRef Statement, bool Initialises) {
  DWARFDie Function =
      functionNamed(Caller, Context.getDIEsForAddress(Address, /*CheckDWO=*/true).FunctionDIE);
  if (!Function)
    return {};
  Declared Found = onlyOne(Function, Primitive, addressedExpressions(Statement), &Walk::follow);
  // Later a pointer may point to what is declared elsewhere.
  if (Found.ClassName.empty() && Initialises)
    Found = onlyOne(Function, Primitive, argumentExpressions(Statement), &Walk::followToPointer);
  return Found;
}

} // namespace relock
