// SPDX-License-Identifier: MIT
#include "profile/Declared.h"

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

// The type behind names and qualifiers; `Typedef` becomes the last name on the way.
DWARFDie strip(DWARFDie Type, std::string &Typedef) {
  Typedef.clear();
  for (;;) {
    if (!Type)
      return Type;
    if (Type.getTag() == DW_TAG_typedef)
      Typedef = toStringRef(Type.find(DW_AT_name)).str();
    else if (Type.getTag() != DW_TAG_const_type && Type.getTag() != DW_TAG_volatile_type &&
             Type.getTag() != DW_TAG_restrict_type)
      return Type;
    if (isPrimitiveType(Typedef))
      return Type;
    Type = Type.getAttributeValueAsReferencedDie(DW_AT_type);
  }
}

bool isObject(DWARFDie Type, relock_primitive Primitive) {
  std::string Typedef;
  strip(Type, Typedef);
  return isTypeOf(Primitive, Typedef);
}

bool isRecord(DWARFDie Type) {
  return Type && (Type.getTag() == DW_TAG_structure_type || Type.getTag() == DW_TAG_union_type);
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
    DWARFDie Type = strip(Child.getAttributeValueAsReferencedDie(DW_AT_type), Typedef);
    if (ChildName.empty() && isRecord(Type))
      if (DWARFDie Found = member(Type, Name))
        return Found;
  }
  return DWARFDie();
}

// Follows an expression from its variable to what it denotes.
class Walk {
public:
  Walk(DWARFDie Variable, StringRef Function)
      : Declaration(Variable), Type(Variable.getAttributeValueAsReferencedDie(DW_AT_type)) {
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
    DWARFDie Pointer = strip(Type, Typedef);
    return !Steps.empty() && Steps.back() != "[" && Pointer &&
           Pointer.getTag() == DW_TAG_pointer_type &&
           isObject(Pointer.getAttributeValueAsReferencedDie(DW_AT_type), Primitive);
  }

  DWARFDie Declaration;
  std::string Class;
  bool ThroughPointer = false; // the class is still the variable, which only points to mutexes

private:
  bool element() {
    std::string Typedef;
    DWARFDie Whole = strip(Type, Typedef);
    if (!Whole || (Whole.getTag() != DW_TAG_array_type && Whole.getTag() != DW_TAG_pointer_type))
      return false;
    ThroughPointer |= Whole.getTag() == DW_TAG_pointer_type;
    Type = Whole.getAttributeValueAsReferencedDie(DW_AT_type);
    return true;
  }

  bool field(StringRef Step) {
    std::string Typedef;
    DWARFDie Record = strip(Type, Typedef);
    if (Step.consume_front("->")) {
      if (!Record || Record.getTag() != DW_TAG_pointer_type)
        return false;
      Record = strip(Record.getAttributeValueAsReferencedDie(DW_AT_type), Typedef);
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
    Type = Member.getAttributeValueAsReferencedDie(DW_AT_type);
    return true;
  }

  DWARFDie Type;
};

// Variables of the name, the innermost function's first: also those of what was inlined into it.
void collectVariables(DWARFDie Scope, StringRef Name, std::vector<DWARFDie> &Found) {
  for (DWARFDie Child : Scope.children()) {
    if (Child.getTag() == DW_TAG_variable || Child.getTag() == DW_TAG_formal_parameter) {
      if (Child.getShortName() && Child.getShortName() == Name)
        Found.push_back(Child);
    } else if (Child.getTag() == DW_TAG_lexical_block ||
               Child.getTag() == DW_TAG_inlined_subroutine) {
      collectVariables(Child, Name, Found);
    }
  }
}

// A variable of a concrete function keeps its type with the abstract one.
DWARFDie origin(DWARFDie Variable) {
  DWARFDie Origin = Variable.getAttributeValueAsReferencedDie(DW_AT_abstract_origin);
  return Origin ? Origin : Variable;
}

Declared describe(const Walk &W) {
  Declared Result;
  Result.ClassName = W.Class;
  Result.File = W.Declaration.getDeclFile(DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath);
  Result.Line = unsigned(W.Declaration.getDeclLine());
  return Result;
}

using Follow = bool (Walk::*)(relock_primitive, ArrayRef<std::string>);

Declared resolve(const DWARFContext::DIEsForAddress &Place, relock_primitive Primitive,
                 const Expression &E, Follow Follows) {
  std::vector<DWARFDie> Locals, Globals;
  if (Place.FunctionDIE)
    collectVariables(Place.FunctionDIE, E[0], Locals);
  for (DWARFDie Local : Locals) {
    const char *Function = Place.FunctionDIE.getShortName();
    Walk W(origin(Local), Function ? Function : "");
    // A local pointer says nothing about where its mutex is declared.
    if ((W.*Follows)(Primitive, ArrayRef(E).drop_front()) && !W.ThroughPointer)
      return describe(W);
  }
  if (!Locals.empty())
    return {};
  collectVariables(Place.CompileUnit->getUnitDIE(false), E[0], Globals);
  for (DWARFDie Global : Globals)
    if (Walk W(Global, ""); (W.*Follows)(Primitive, ArrayRef(E).drop_front()))
      return describe(W);
  return {};
}

// The one that all expressions that lead to an object lead to.
Declared onlyOne(const DWARFContext::DIEsForAddress &Place, relock_primitive Primitive,
                 ArrayRef<Expression> Expressions, Follow Follows) {
  Declared Found;
  for (const Expression &E : Expressions) {
    Declared Next = resolve(Place, Primitive, E, Follows);
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
    return Typedef == "pthread_barrier_t";
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
                      StringRef Statement, bool Initialises) {
  DWARFContext::DIEsForAddress Place = Context.getDIEsForAddress(Address);
  if (!Place.CompileUnit)
    return {};
  Declared Found = onlyOne(Place, Primitive, addressedExpressions(Statement), &Walk::follow);
  // Later a pointer may point to what is declared elsewhere.
  if (Found.ClassName.empty() && Initialises)
    Found = onlyOne(Place, Primitive, argumentExpressions(Statement), &Walk::followToPointer);
  return Found;
}

} // namespace relock
