// SPDX-License-Identifier: MIT
#include "program/Effects.h"

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
    if (!isBuiltin(C.Name))
      Result.Refuse =
          Reason{"unknown-callee", "calls '" + C.Name + "', which is not in the program", C.At};
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
    Result.Identity = true;
    Result.Refuse = Reason{"may-block", "calls '" + C.Name + "', which may block", C.At};
    break;
  case LibraryEffect::Jumps:
    Result.Identity = true;
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
                                   "strtok",
                                   "setvbuf",
                                   "qsort",
                                   "bsearch",
                                   "pthread_once"};
  return library().contains(Name) && !Keep.contains(Name);
}

const Effects &EffectTable::of(const Call &C) {
  auto It = Known.find(C.Function);
  if (It == Known.end()) {
    std::set<std::string> Visiting;
    It = Known.emplace(C.Function, compute(C, Visiting)).first;
  }
  return It->second;
}

Effects EffectTable::compute(const Call &C, std::set<std::string> &Visiting) {
  auto It = Known.find(C.Function);
  if (It != Known.end())
    return It->second;
  Effects Result;
  auto F = Linked.Functions.find(C.Function);
  if (F == Linked.Functions.end() || !F->second.Defined)
    return libraryEffects(C);
  if (!Visiting.insert(C.Function).second)
    return Result; // recursion adds nothing to what the first visit finds
  const Function &Callee = F->second;
  // A lock that it takes may be recursive: its owner must be the caller.
  Result.Identity = !Callee.IdentityUses.empty() || Callee.TakesLocks;
  if (Callee.Waits)
    Result.Refuse =
        Reason{"may-block", "'" + Callee.Name + "' waits on a condition variable", Callee.At};
  else if (!Callee.IndirectCalls.empty())
    Result.Refuse = Reason{"indirect-call",
                           "'" + Callee.Name + "' calls through a pointer, which is not followed",
                           Callee.IndirectCalls.front()};
  for (const Call &Inner : Callee.Calls) {
    if (Linked.wrapperOf(Inner.Function)) {
      Result.Identity = true; // a lock operation
      continue;
    }
    Effects E = compute(Inner, Visiting);
    Result.Identity |= E.Identity;
    if (E.Refuse && !Result.Refuse) {
      Result.Refuse = E.Refuse;
      Result.Refuse->Message = "'" + Callee.Name + "' " + E.Refuse->Message;
    }
  }
  return Result;
}

std::set<std::string> EffectTable::reachable(const std::string &Function) const {
  std::set<std::string> Seen;
  SmallVector<std::string, 16> Open = {Function};
  while (!Open.empty()) {
    std::string Next = Open.pop_back_val();
    auto F = Linked.Functions.find(Next);
    if (!Seen.insert(Next).second || F == Linked.Functions.end())
      continue;
    for (const Call &Inner : F->second.Calls)
      if (!Linked.wrapperOf(Inner.Function)) // a lock operation of the function that calls it
        Open.push_back(Inner.Function);
  }
  return Seen;
}

} // namespace relock
