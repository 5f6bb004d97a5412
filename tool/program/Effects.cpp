// SPDX-License-Identifier: MIT
#include "program/Effects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace relock {
namespace {

enum class LibraryEffect { Plain, Identity, Kernel, Blocks, Jumps };

const StringMap<LibraryEffect> &library() {
  static const StringMap<LibraryEffect> Table = [] {
    StringMap<LibraryEffect> Names;
    auto Add = [&](StringRef List, LibraryEffect Effect) {
      SmallVector<StringRef, 64> Words;
      List.split(Words, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef Word : Words)
        Names[Word] = Effect;
    };
#define PLAIN(LIST) Add(LIST, LibraryEffect::Plain);
#define IDENTITY(LIST) Add(LIST, LibraryEffect::Identity);
#define KERNEL(LIST) Add(LIST, LibraryEffect::Kernel);
#define BLOCKS(LIST) Add(LIST, LibraryEffect::Blocks);
#define JUMPS(LIST) Add(LIST, LibraryEffect::Jumps);
#include "program/LibraryEffects.def"
    return Names;
  }();
  return Table;
}

// Compiler builtins compute; the few that do more are refused where a section contains them.
bool isBuiltin(StringRef Name) {
  return Name.starts_with("__builtin_") || Name.starts_with("__sync_") ||
         Name.starts_with("__atomic_") || Name.starts_with("__c11_");
}

Effects libraryEffects(const Call &C) {
  Effects Result;
  StringRef Name = C.Name;
  if (Name.consume_front("__builtin_"))
    Name.consume_back("_chk"), Name.consume_front("__");
  auto Found = library().find(Name);
  if (Found == library().end()) {
    Result.Identity = true;
    if (!isBuiltin(C.Name)) {
      Result.Waits = true;
      Result.Refuse =
          Reason{"unknown-callee", "calls '" + C.Name + "', which is not in the program", C.At};
    }
    return Result;
  }
  switch (Found->second) {
  case LibraryEffect::Plain:
    break;
  case LibraryEffect::Identity:
    Result.Identity = true;
    break;
  case LibraryEffect::Kernel:
    Name.consume_front("thread-");
    Result.Refuse =
        Reason{"kernel-thread",
               "calls '" + Name.str() + "', which is about the thread that runs it", C.At};
    break;
  case LibraryEffect::Blocks:
    Result.Identity = Result.Waits = true;
    Result.Refuse = Reason{"may-block", "calls '" + C.Name + "', which may block", C.At};
    break;
  case LibraryEffect::Jumps:
    Result.Identity = Result.Waits = true;
    Result.Refuse = Reason{"jumps", "calls '" + C.Name + "', which may not return to it", C.At};
    break;
  }
  return Result;
}

} // namespace

bool libraryKeepsNoPointer(StringRef Name) {
  Name.consume_front("__builtin_");
  static const StringSet<> Keep = {"pthread_setspecific",
                                   "pthread_create",
                                   "event_add",
                                   "event_set",
                                   "event_assign",
                                   "event_new",
                                   "evtimer_new",
                                   "event_active",
                                   "event_base_set",
                                   "strtok",
                                   "setvbuf",
                                   "qsort",
                                   "bsearch",
                                   "pthread_once"};
  return library().contains(Name) && !Keep.contains(Name);
}

EffectTable::EffectTable(const Program &Linked) : Linked(Linked) {
  addOwnEffects();
  std::set<std::string> Identity, Waits;
  for (const auto &[Node, E] : Known) {
    if (E.Identity)
      Identity.insert(Node);
    if (E.Waits)
      Waits.insert(Node);
  }
  for (const std::string &Node : reaching(Identity))
    Known[Node].Identity = true;
  for (const std::string &Node : reaching(Waits, /*ThroughWrappers=*/true))
    Known[Node].Waits = true;
  propagateRefusals();
}

// What each function does itself, or by calling what the program does not define.
void EffectTable::addOwnEffects() {
  for (const auto &[Node, F] : Linked.Functions) {
    if (!F.Defined)
      continue;
    Effects &Own = Known[Node];
    // A lock that it takes may be recursive: its owner must be the caller.
    Own.Identity = !F.IdentityUses.empty() || F.TakesLocks;
    Own.Waits = F.Waits || !F.IndirectCalls.empty();
    if (F.Waits)
      Own.Refuse = Reason{"may-block", "'" + F.Name + "' waits on a condition variable", F.At};
    else if (!F.IndirectCalls.empty())
      Own.Refuse =
          Reason{"indirect-call", "'" + F.Name + "' calls through a pointer, which is not followed",
                 F.IndirectCalls.front().At};
    for (const Call &C : F.Calls) {
      auto Callee = Linked.Functions.find(C.Function);
      const Wrapper *Wraps = Linked.wrapperOf(C.Function);
      if (Wraps && Wraps->Kind != Operation::Wait) {
        Own.Identity = true; // a lock operation
        if (!Wraps->Pure)
          WrapperCallers[C.Function].push_back(Node);
      } else if (Callee != Linked.Functions.end() && Callee->second.Defined) {
        Callers[C.Function].push_back(Node);
      } else {
        Effects E = libraryEffects(C);
        Own.Identity |= E.Identity;
        Own.Waits |= E.Waits;
        if (E.Refuse && !Own.Refuse) {
          Own.Refuse = E.Refuse;
          Own.Refuse->Message = "'" + F.Name + "' " + E.Refuse->Message;
        }
      }
    }
  }
}

// Gives each function the nearest refusal below it, so that the message names the shortest way.
void EffectTable::propagateRefusals() {
  std::set<std::string> Level;
  for (const auto &[Node, E] : Known)
    if (E.Refuse)
      Level.insert(Node);
  while (!Level.empty()) {
    std::set<std::string> Next;
    for (const std::string &Node : Level)
      for (CallGraph *Graph : {&Callers, &WrapperCallers})
        for (const std::string &Caller : (*Graph)[Node])
          if (!Known[Caller].Refuse)
            Next.insert(Caller);
    for (const std::string &Node : Next) {
      const Function &F = Linked.Functions.at(Node);
      auto First = find_if(F.Calls, [&](const Call &C) { return Level.count(C.Function) != 0; });
      Reason Inherited = *Known[First->Function].Refuse;
      Inherited.Message = "'" + F.Name + "' calls " + Inherited.Message;
      Known[Node].Refuse = std::move(Inherited);
    }
    Level = std::move(Next);
  }
}

Effects EffectTable::of(const Call &C) const {
  auto Found = Known.find(C.Function);
  return Found == Known.end() ? libraryEffects(C) : Found->second;
}

std::set<std::string> EffectTable::reaching(const std::set<std::string> &Targets,
                                            bool ThroughWrappers) const {
  std::set<std::string> Seen;
  SmallVector<std::string, 16> Open(Targets.begin(), Targets.end());
  auto Follow = [&](const CallGraph &Graph, const std::string &Callee) {
    if (auto Found = Graph.find(Callee); Found != Graph.end())
      Open.append(Found->second.begin(), Found->second.end());
  };
  while (!Open.empty()) {
    std::string Next = Open.pop_back_val();
    if (!Seen.insert(Next).second)
      continue;
    Follow(Callers, Next);
    if (ThroughWrappers)
      Follow(WrapperCallers, Next);
  }
  return Seen;
}

} // namespace relock
