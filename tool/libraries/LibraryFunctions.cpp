// SPDX-License-Identifier: MIT
#include "libraries/LibraryFunctions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace relock {

StringRef effectName(FunctionEffect E) {
  switch (E) {
  case FunctionEffect::Plain:
    return "plain";
  case FunctionEffect::Identity:
    return "identity";
  case FunctionEffect::Thread:
    return "thread";
  case FunctionEffect::Blocks:
    return "blocks";
  case FunctionEffect::Jumps:
    return "jumps";
  case FunctionEffect::Ends:
    return "ends";
  case FunctionEffect::Unknown:
    return "unknown";
  }
  llvm_unreachable("an effect");
}

static bool readPlace(StringRef Text, bool Target, PointerFlow::Place &Place) {
  if (Target && Text == "result")
    return Place.Kind = PointerFlow::Place::Result, true;
  if (Target && Text == "kept")
    return Place.Kind = PointerFlow::Place::Kept, true;
  for (; Text.consume_front("*"); ++Place.Loads)
    ;
  if (Text.getAsInteger(10, Place.Index) || Place.Index == 0 || (Target && Place.Loads == 0))
    return false;
  --Place.Index;
  return true;
}

std::optional<PointerFlow> readPointerFlow(StringRef Text, std::string &Problem) {
  auto [From, To] = Text.split('>');
  PointerFlow Flow;
  if (!readPlace(From, /*Target=*/false, Flow.From)) {
    Problem = "begins with no argument, like `1` or `*1`";
    return std::nullopt;
  }
  if (!readPlace(To, /*Target=*/true, Flow.To)) {
    Problem = "ends neither in `>result` nor in `>kept` nor in a place like `>*2`";
    return std::nullopt;
  }
  return Flow;
}

static std::string placeText(const PointerFlow::Place &Place) {
  if (Place.Kind != PointerFlow::Place::Argument)
    return Place.Kind == PointerFlow::Place::Result ? "result" : "kept";
  return std::string(Place.Loads, '*') + std::to_string(Place.Index + 1);
}

std::string pointerFlowText(const PointerFlow &Flow) {
  return placeText(Flow.From) + ">" + placeText(Flow.To);
}

StringRef plainName(StringRef Name) {
  if (Name.consume_front("__builtin_"))
    Name.consume_back("_chk"), Name.consume_front("__");
  return Name;
}

namespace {

struct Table {
  StringMap<LibraryFunction> Functions;
  StringSet<> Math; // families: `sin` of `sinf`

  Table() {
    // The entries of the table, whose effects are finer than those of functions in general.
    enum Effect { Plain, Identity, CancelPoint, Thread, Blocks, Jumps };
    auto Add = [&](Effect E, StringRef Flows, StringRef Names) {
      static const FunctionEffect Meaning[] = {FunctionEffect::Plain,    FunctionEffect::Identity,
                                               FunctionEffect::Identity, FunctionEffect::Thread,
                                               FunctionEffect::Blocks,   FunctionEffect::Jumps};
      LibraryFunction Function = {Meaning[E], E == CancelPoint, std::vector<PointerFlow>()};
      std::string Problem;
      if (Flows == "unknown")
        Function.Pointers.reset();
      else
        for (StringRef Text : split(Flows, ' ')) {
          std::optional<PointerFlow> Flow = readPointerFlow(Text, Problem);
          if (!Flow && !Text.empty())
            report_fatal_error("LibraryFunctions.def: '" + Text + "' " + Problem);
          if (Flow)
            Function.Pointers->push_back(*Flow);
        }
      for (StringRef Name : split(Names, ' '))
        Functions[Name] = Function;
    };
#define FUNCTIONS(EFFECT, FLOWS, NAMES) Add(EFFECT, FLOWS, NAMES);
#define MATH(NAMES)                                                                                \
  Add(Identity, "", NAMES);                                                                        \
  for (StringRef Name : split(NAMES, ' '))                                                         \
    Math.insert(Name);
#define CALLS_GIVEN_TO(SETTER, NAMES)                                                              \
  for (StringRef Name : split(NAMES, ' '))                                                         \
    Functions[Name].CallsGivenTo = SETTER;
#include "libraries/LibraryFunctions.def"
  }

  const LibraryFunction *find(StringRef Name) const {
    if (auto Found = Functions.find(Name); Found != Functions.end())
      return &Found->second;
    for (StringRef Type : {"f", "l", "f32", "f64", "f128", "f32x", "f64x"}) {
      StringRef Family = Name;
      if (Family.consume_back(Type) && Math.contains(Family))
        return &Functions.find(Family)->second;
    }
    return nullptr;
  }
};

} // namespace

// Compiler builtins compute; the few that do more are refused where a section contains them.
static bool isBuiltin(StringRef Name) {
  return Name.starts_with("__builtin_") || Name.starts_with("__sync_") ||
         Name.starts_with("__atomic_") || Name.starts_with("__c11_");
}

const LibraryFunction *libraryFunction(StringRef Name) {
  static const Table Known;
  static const LibraryFunction Builtin = {FunctionEffect::Identity, false, std::nullopt};
  if (const LibraryFunction *Itself = Known.find(Name))
    return Itself;
  StringRef Plain = plainName(Name);
  // `__read_alias`, `__read_chk_warn`: of inline functions in headers that check sizes.
  bool Checked = false;
  for (StringRef End : {"_chk", "_chk_warn", "_alias"})
    Checked |= Plain.starts_with("__") && Plain.ends_with(End);
  if (Plain.consume_front("__isoc99_") || Plain.consume_front("__isoc23_") || Checked) {
    Plain.consume_front("__");
    Plain.consume_back("_warn");
    Plain.consume_back("_chk") || Plain.consume_back("_alias");
  }
  if (const LibraryFunction *Found = Plain == Name ? nullptr : Known.find(Plain))
    return Found;
  return isBuiltin(Name) ? &Builtin : nullptr;
}

} // namespace relock
