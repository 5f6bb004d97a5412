# SPDX-License-Identifier: MIT
"""Takes the rules that conversions and profiles rest on out of Relock, one at a time, and demands that
a test fails without each. The algorithms' own stand in test/runtime/explore-mutants.test.

Usage: mutants.py BUILD WORK LIT [NAME...]
       mutants.py --check

BUILD is a build folder made by ninja. Every rule stands below with the text that states it in the
source, and with the test below test/ that must notice that it is gone. A rule of the runtime is
taken out of a copy of the sources, which is built below WORK. Exit status 1 if a test does not
notice, or if a text is not there (any more) exactly once; --check looks for that only.
"""
import os
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))

# name: (file, text, what stands there without the rule, test)
RULES = {
    "a pointer that a function remembers": (
        "tool/program/Allocators.cpp",
        "!Other.contains(Node.first()) && !isResult(Node.first())",
        "!isResult(Node.first())",
        "tool/program/functions-that-are-no-allocators.test",
    ),
    "memory that a function takes from somewhere": (
        "tool/program/Allocators.cpp",
        "return Candidates.contains(From); });",
        "return Candidates.contains(From) || true; });",
        "tool/program/functions-that-are-no-allocators.test",
    ),
    "memory that a function shows to others before it returns it": (
        "tool/program/Allocators.cpp",
        "(isResult(Node) || all_of(at(Next, Node), Leads))",
        "(isResult(Node) || all_of(at(Next, Node), Leads) || true)",
        "tool/program/functions-that-are-no-allocators.test",
    ),
    "a lock that the program makes of an integer": (
        "tool/program/Program.cpp",
        "!IntegersAreLocks && locksOfIntegers(Units)",
        "false && locksOfIntegers(Units)",
        "tool/program/address-of-a-lock-as-an-integer.test",
    ),
    "an operand of a class that is taken under itself": (
        "tool/program/LockOrder.cpp",
        "return Another || MayRepeat.count(L)",
        "return MayRepeat.count(L)",
        "tool/program/operand-of-the-only-lock.c",
    ),
    "an operand that may take several locks in a loop": (
        "tool/program/LockOrder.cpp",
        "return Another || MayRepeat.count(L)",
        "return Another",
        "tool/program/operand-of-the-only-lock.c",
    ),
    "an operand of a class that is tried": (
        "tool/program/LockOrder.cpp",
        "!Class->Plain || Tried.count(Class->Id)",
        "!Class->Plain",
        "tool/program/operand-of-the-only-lock.c",
    ),
    "a recursive type of the program's attribute": (
        "tool/program/Program.cpp",
        "        Class->Plain = false;\n",
        "        ;\n",
        "tool/program/operand-of-the-only-lock.c",
    ),
    "an operand by which the section takes its lock again": (
        "tool/program/Decide.cpp",
        "!Found.Relocks && Order.isAlone(Found.Lock)",
        "Order.isAlone(Found.Lock)",
        "tool/program/operand-of-the-only-lock.c",
    ),
    "a lock macro that jumps over its release": (
        "tool/section/MacroRest.cpp",
        "return Statement &&\n         (isa<BreakStmt>(Statement)",
        "return false && (isa<BreakStmt>(Statement)",
        "tool/section/lock-macros-that-hold.test",
    ),
    "a lock macro that jumps": (
        "tool/section/MacroRest.cpp",
        "return jumps(Whole) ? std::nullopt : besides(",
        "return besides(",
        "tool/section/lock-macros-that-hold.test",
    ),
    "a lock macro that locks in one arm": (
        "tool/section/MacroRest.cpp",
        "if (!Then || !Else)\n      return std::nullopt;",
        "if (!Then && !Else)\n      return std::nullopt;\n    if (!Then || !Else)\n      return Then ? Then : Else;",
        "tool/section/lock-macros-that-hold.test",
    ),
    "a condition of a lock macro's arms that calls": (
        "tool/section/MacroRest.cpp",
        "If->getCond()->HasSideEffects(Context) || calls(If->getCond()))",
        "false)",
        "tool/section/lock-macros-that-hold.test",
    ),
    "a variable that others may see while a local stands for it": (
        "tool/section/Captures.cpp",
        "!IsArray && !IsRecord && !Shared && canCopy()",
        "!IsArray && !IsRecord && canCopy()",
        "tool/section/written-variables-in-macros.c",
    ),
    "an exit at which a local is not stored": (
        "tool/section/Captures.cpp",
        "for (unsigned Exit = 0; Exit <= Result.Exits.size(); ++Exit)",
        "for (unsigned Exit = Result.Exits.size(); Exit <= Result.Exits.size(); ++Exit)",
        "tool/section/written-variables-in-macros.c",
    ),
    "a name that a hoisted variable would hide": (
        "tool/section/Hoist.cpp",
        "return none_of(F->decls(), Named) && !namesAnother(V, Within ? Within : F->getBody(), Within);",
        "return none_of(F->decls(), Named);",
        "tool/section/hoisted-namesakes.c",
    ),
    "what is read behind the unlock of another arm": (
        "tool/section/Find.cpp",
        "        Liveness->join(Op.Call, Op.Others);\n",
        "        ;\n",
        "tool/section/lock-macros-that-log-outside.c",
    ),
    "a lock in another arm": (
        "tool/section/Find.cpp",
        "      for (const CallExpr *Other : Op.Others) {",
        "      for (const CallExpr *Other : ArrayRef(Op.Others).drop_back(Op.Others.size())) {",
        "tool/section/locks-in-arms-are-held.test",
    ),
    "another definition of a lock macro that does more": (
        "tool/section/MacroRest.cpp",
        "else if (D.Body.contains(\"pthread_\") || mentions(L, D.Body, File))",
        "else if (false)",
        "tool/section/lock-macros-that-hold.test",
    ),
    "a lock that a lock macro takes besides": (
        "tool/section/Operations.cpp",
        "Arm->Kind != Op.Kind || !sameLock(*Arm, Op) || Arm->Node != Op.Node ||",
        "Arm->Kind != Op.Kind ||",
        "tool/section/lock-macros-that-hold.test",
    ),
    "what stands behind the label of the last unlock": (
        "tool/rewrite/Outline.cpp",
        "applied({E.LastLabel, E.Body.End}, ownEdits())",
        "File.slice(E.LastLabel, E.Body.End)",
        "tool/section/lock-macros-that-do-more.c",
    ),
    "a block that the program may leave before it ends the process": (
        "tool/index/Dying.cpp",
        "      if (mayLeave(Child, [&](const FunctionDecl *Callee) { return call(Callee); }))\n"
        "        return false;\n    }\n    return false;",
        "    }\n    return false;",
        "tool/section/backtrace-before-abort.c",
    ),
    "a block that ends the process on one way only": (
        "tool/index/Dying.cpp",
        "statement(Condition) || (statement(Then) && statement(Else))",
        "statement(Then)",
        "tool/section/backtrace-before-abort.c",
    ),
    "a hook that others may set": (
        "tool/program/LinkPointers.cpp",
        "if (!Project.Closed && !F.AddressTaken && !Called.count(Node) && !F.Callbacks.empty()) {",
        "if (false) {",
        "tool/program/hook-of-a-closed-program.test",
    ),
    "what a library was given where nobody looks": (
        "tool/program/LinkPointers.cpp",
        "if (Value.Open)\n            return false;",
        "",
        "tool/program/functions-given-to-a-library.test",
    ),
    "what a library was given through a pointer to its function": (
        "tool/program/LinkPointers.cpp",
        "if (!Known || Taken.count(Node))",
        "if (!Known)",
        "tool/program/functions-given-to-a-library.test",
    ),
    "what a library was given by any argument": (
        "tool/program/LinkPointers.cpp",
        "            continue;\n          const PointedTo &Value",
        "            break;\n          const PointedTo &Value",
        "tool/program/functions-given-to-a-library.test",
    ),
    "what a library was given by another language": (
        "tool/program/LinkPointers.cpp",
        "if (Foreign.names(Setter.Name))\n      return false;",
        "",
        "tool/program/functions-given-to-a-library.test",
    ),
    "a member that another language may initialise": (
        "tool/program/LinkPointers.cpp",
        "return Seen.count(Slot.split(' ').first) != 0;",
        "return false;",
        "tool/program/pointers-beside-other-languages.test",
    ),
    "an address that another language may have": (
        "tool/program/LinkPointers.cpp",
        'if (Slot.starts_with("*"))\n      return true;',
        "",
        "tool/program/pointers-beside-other-languages.test",
    ),
    "what another language gives": (
        "tool/program/LinkPointers.cpp",
        "[&](StringRef Part) { return names(Part.split('#').first); });",
        "[&](StringRef) { return false; });",
        "tool/program/pointers-beside-other-languages.test",
    ),
    "text that only C++ compiles": (
        "tool/support/Unit.cpp",
        "if (is_contained(Asks, true))",
        "if (false)",
        "tool/program/pointers-beside-other-languages.test",
    ),
    "a clock that a function changes": (
        "tool/index/Constants.cpp",
        "return All.References == All.Read ? P : nullptr;",
        "return P;",
        "tool/program/clock-given-by-callers.c",
    ),
    "a local pointer that a wrapper assigns to": (
        "tool/index/LocalNames.cpp",
        "!mayChange(F->getBody(), V) && isFixed(V->getInit());",
        "isFixed(V->getInit());",
        "tool/program/wrappers-with-a-local-pointer.c",
    ),
    "a parameter that a wrapper assigns to": (
        "tool/index/LocalNames.cpp",
        " || mayChange(F->getBody(), V)))",
        "))",
        "tool/program/wrappers-with-a-local-pointer.c",
    ),
    "a local pointer to what a wrapper uses last": (
        "tool/index/Tested.cpp",
        "(Pointer && V->hasInit() && !canGo(V->getInit()))",
        "false",
        "tool/program/wrappers-with-a-local-pointer.c",
    ),
    "mentions in functions with lock operations": (
        "tool/section/StaticUses.cpp",
        "(lockFunction(Callee->getName()) || Linked.wrapperOf(nodeFor(Callee, S)))",
        "false",
        "tool/section/failure-calls-a-static-function.c",
    ),
    "a macro that is another one before the function": (
        "tool/section/Place.cpp",
        "Redefined.count(Name.str()) || !S.isSameMacro(Name, Here, F->getBeginLoc())",
        "Redefined.count(Name.str())",
        "tool/section/macro-redefined-holds.c",
    ),
    "a macro that directives on the way define": (
        "tool/section/Place.cpp",
        "Redefined.count(Name.str()) || !S.isSameMacro(Name, Here, F->getBeginLoc())",
        "Macro != S.macroAt(Name, F->getBeginLoc())",
        "tool/section/macro-redefined-holds.c",
    ),
    "conditions that move along": (
        "tool/section/Place.cpp",
        "std::vector<StringRef> Names = identifiersIn(Conditions);",
        "std::vector<StringRef> Names;",
        "tool/section/macro-redefined-holds.c",
    ),
    "a pasted name that may be a macro": (
        "tool/support/Source.cpp",
        "Macro.getParameterNum(First) < 0 && !S.beginsMacro(First->getName())",
        "Macro.getParameterNum(First) < 0",
        "tool/section/arguments-that-become-no-text.c",
    ),
    "a local pointer of another type": (
        "tool/index/LocalNames.cpp",
        "if (!S.Context.hasSameUnqualifiedType(Value->getType(), T))",
        "if (false)",
        "tool/program/wrappers-with-a-local-pointer.c",
    ),
    "a wrapper that changes what its local name reads": (
        "tool/index/LocalNames.cpp",
        "if (Unknown || storesTo(F->getBody(), Loaded))",
        "if (Unknown)",
        "tool/program/wrapper-lock-behind-a-local-name.c",
    ),
    "what a wrapper does between a local name and its lock": (
        "tool/index/LocalNames.cpp",
        "if (!Declares || any_of(",
        "if (Declares && any_of(",
        "tool/program/wrapper-lock-behind-a-local-name.c",
    ),
    "what a wrapper calls in the statement of its lock": (
        "tool/index/LocalNames.cpp",
        "return callsFirst(Statement, Call, S.Context);",
        "return true;",
        "tool/program/wrapper-lock-behind-a-local-name.c",
    ),
    "an effect of a local name": (
        "tool/index/LocalNames.cpp",
        "return !Initialiser->HasSideEffects(S.Context) && namesFixed(Initialiser) &&",
        "return namesFixed(Initialiser) &&",
        "tool/program/wrapper-lock-behind-a-local-name.c",
    ),
    "a pointer to a mutex by another type": (
        "tool/index/Operand.cpp",
        "return !PointsToLock(Cast) && !PointsToLock(Cast->getSubExpr());",
        "return true;",
        "tool/program/wrapper-lock-behind-a-local-name.c",
    ),
    "the type by which a wrapper reaches its lock": (
        "tool/index/Operand.cpp",
        "if (!To->isVoidType() &&",
        "if (false &&",
        "tool/program/wrapper-lock-behind-a-local-name.c",
    ),
    "a noted lock that is taken in each round": (
        "tool/section/Operations.cpp",
        "if (!Block)\n      return false;",
        "if (!Block)\n      continue;",
        "tool/section/a-variable-notes-that-the-lock-is-taken.c",
    ),
    "a noted lock that a goto comes back to": (
        "tool/section/Operations.cpp",
        "return Declared && !Entered;",
        "return Declared;",
        "tool/section/a-variable-notes-that-the-lock-is-taken.c",
    ),
    "a note that is there before the lock": (
        "tool/section/Operations.cpp",
        "Initial.Val.getInt() != 0 ||\n      changesOf",
        "changesOf",
        "tool/section/a-variable-notes-that-the-lock-is-taken.c",
    ),
    "a note that changes elsewhere": (
        "tool/section/Operations.cpp",
        "changesOf(Flag, F->getBody()) != 1)",
        "false)",
        "tool/section/a-variable-notes-that-the-lock-is-taken.c",
    ),
    "a note that says no": (
        "tool/section/Operations.cpp",
        "EvaluateAsInt(Value, S.Context) && Value.Val.getInt() != 0;",
        "EvaluateAsInt(Value, S.Context);",
        "tool/section/a-variable-notes-that-the-lock-is-taken.c",
    ),
    "a condition that changes between a lock and its unlock": (
        "tool/section/Operations.cpp",
        "(Noted || !changesOf(V, F->getBody()));",
        "true;",
        "tool/section/nested-under-a-condition.c",
    ),
    "a condition in memory that others may change": (
        "tool/section/Operations.cpp",
        "return V && V->hasLocalStorage() && !V->getType().isVolatileQualified() &&",
        "return !V ||",
        "tool/section/nested-under-a-condition.c",
    ),
    "a clock given through a pointer": (
        "tool/program/Effects.cpp",
        "return C.Name == OfCaller && !F.AddressTaken;",
        "return C.Name == OfCaller;",
        "tool/program/clock-given-by-callers.c",
    ),
    "the thread's clock given to a function": (
        "tool/index/LockApi.cpp",
        "return recordClocks(Call, Callee, S, Calls);",
        "return;",
        "tool/program/clock-given-by-callers.c",
    ),
    "an inline function of a library that is called through a pointer": (
        "tool/program/LinkPointers.cpp",
        "if (!F.AddressTaken)\n      erase_if(F.IndirectCalls, IsGiven);",
        "if (true)\n      erase_if(F.IndirectCalls, IsGiven);",
        "tool/program/inline-functions-of-libraries.test",
    ),
    "what a library calls that it was given before": (
        "tool/program/Reach.cpp",
        "!Callee->Wraps->Pure : isFollowed(*Callee))",
        "!Callee->Wraps->Pure : Callee->Defined)",
        "tool/program/functions-given-to-a-library.test",
    ),
    "a variable that OpenMP gives each thread": (
        "tool/support/Unit.cpp",
        "V->setTSCSpec(TSCS___thread);\n",
        "",
        "tool/index/openmp.c",
    ),
    "a header that is read twice": (
        "tool/section/MacroBody.cpp",
        "if (!isReadOnce(Define, S))",
        "if (false)",
        "tool/section/section-in-a-macro-of-a-header.test",
    ),
    "the address of a constant": (
        "tool/section/MacroBody.cpp",
        "&& All(IsPlain))",
        ")",
        "tool/section/section-in-a-macro-of-a-header.test",
    ),
    "a part of an argument": (
        "tool/section/MacroBody.cpp",
        "if (!isWholeArgument(E))",
        "if (false)",
        "tool/section/section-in-macro-that-holds.c",
    ),
    "an arm that a label leads into": (
        "tool/index/ConstantArms.cpp",
        "return !Arm || anyPart(Arm, [](const Stmt *Part) { return isa<LabelStmt, SwitchCase>(Part); });",
        "return !Arm;",
        "tool/section/arms-that-never-run.c",
    ),
    "an arm that runs elsewhere": (
        "tool/index/FactWriter.cpp",
        "Facts.Skipped.push_back(std::move(Site));",
        "",
        "tool/section/arms-that-never-run.c",
    ),
    "operations under directives that differ": (
        "tool/section/Place.cpp",
        "StringRef(Other->Directive).ltrim() == StringRef(Group->Directive).ltrim()",
        "true",
        "tool/section/operations-under-a-directive.c",
    ),
    "a clock in a variable whose address is taken": (
        "tool/index/Constants.cpp",
        "Harmless == References",
        "true",
        "tool/program/clock-in-a-variable.c",
    ),
    "a clock in a variable of others": (
        "tool/index/Constants.cpp",
        "V->getFormalLinkage() == Linkage::External",
        "false",
        "tool/program/clock-in-a-variable.c",
    ),
    "what an alias does": (
        "tool/index/Collect.cpp",
        "Record.Calls.push_back({nodeFor(F, S), F->getNameAsString(), S.shown(At)});",
        "",
        "tool/program/other-names-of-functions.test",
    ),
    "a type that typeof's operand spells itself": (
        "tool/index/LockEdits.cpp",
        "E = E->IgnoreParenImpCasts();\n  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))\n    return dyn_cast<VarDecl>",
        "E = E->IgnoreParenCasts();\n  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))\n    return dyn_cast<VarDecl>",
        "tool/index/typeof-follows-its-operand.c",
    ),
    "memory in a void pointer that no allocation gave": (
        "tool/index/Resolve.cpp",
        "if (Call && allocates(Call))\n    return fresh(Call);",
        "if (Call)\n    return fresh(Call);",
        "tool/index/memory-through-a-void-pointer.c",
    ),
    "a callee that returns on one of its ways": (
        "tool/index/Dying.cpp",
        "(!hasReturn(F->getBody()) && !completes",
        "(!completes",
        "tool/section/callee-that-never-returns-is-an-exit.c",
    ),
    "a weak function that ends the process": (
        "tool/index/Collect.cpp",
        "if (!F->isWeak()) // else others may define it",
        "if (true)",
        "tool/section/callee-that-never-returns-is-an-exit.c",
    ),
    "a function that returns in another configuration": (
        "tool/program/Program.cpp",
        "Merged.NeverReturns &= F.NeverReturns;",
        "",
        "tool/section/callee-of-another-file-that-never-returns.test",
    ),
    "a trylock that ends the process only where it fails": (
        "tool/index/Dying.cpp",
        "const Stmt *Arm = *Value ? If->getThen() : If->getElse();",
        "const Stmt *Arm = !*Value ? If->getThen() : If->getElse();",
        "tool/section/trylock-that-asserts.c",
    ),
    "a handler of exit() behind a trylock": (
        "tool/index/Dying.cpp",
        '.Cases("abort", "_exit"',
        '.Cases("exit", "abort", "_exit"',
        "tool/section/trylock-that-asserts.c",
    ),
    "two locks of one type in a union": (
        "tool/index/LockApi.cpp",
        "return Other != Field && contains(Other->getType(), Lock);",
        "return Other == Field;",
        "tool/program/readers-writer-locks-in-unions.c",
    ),
    "a static initialiser in skipped text": (
        "tool/index/Skipped.cpp",
        "if (describeInitialiser(Words, I, Site))",
        "if (false)",
        "tool/program/initialiser-in-skipped-text.test",
    ),
    "a timed wait in a macro that checks": (
        "tool/section/Operations.cpp",
        'Callee->getName() == "pthread_cond_wait"',
        'Callee->getName().contains("wait")',
        "tool/section/wait-in-a-checking-macro.c",
    ),
    "a macro that locks under a condition, or does something else": (
        "tool/section/Operations.cpp",
        "Block && Block->size() == 1 ? dyn_cast_or_null<DoStmt>",
        "Block ? dyn_cast_or_null<DoStmt>",
        "tool/section/locked-under-a-condition-in-a-macro.c",
    ),
    "a pointer alias in another file": (
        "tool/program/Program.cpp",
        "if (F.How != Flow::Text && F.How != Flow::Named)",
        "if (F.How != Flow::Text && F.How != Flow::Named && &Unit == &Units.front())",
        "tool/soundness/alias-in-another-file.test",
    ),
    "a result that is read later": (
        "tool/section/Operations.cpp",
        "if (!V || !V->hasLocalStorage())\n    return true;",
        "if (V)\n    return false;",
        "tool/section/result-of-a-lock-is-kept.c",
    ),
    "the last mention of a name in a test of a result": (
        "tool/section/Operations.cpp",
        "return Stay.contains(D) || Statics.named(D);",
        "return true;",
        "tool/section/tested-lock-that-cannot-fail.c",
    ),
    "the result of a mutex that can fail": (
        "tool/section/Operations.cpp",
        "Op.Pure && cannotFail(Op) &&",
        "Op.Pure && locksOrUnlocks(Op) &&",
        "tool/section/result-of-a-lock-that-can-fail.c",
    ),
    "a panic that jumps away": (
        "tool/program/Effects.cpp",
        "F.Defined && !Others.has(Node) &&",
        "F.Defined &&",
        "tool/program/ends-the-process.c",
    ),
    "a section that pushes the handler of its lock": (
        "tool/section/Find.cpp",
        "if (!Inside || Known || !Handler || !Handler->getIdentifier())",
        "if (true)",
        "tool/index/cleanup-handler-unlocks.c",
    ),
    "the handler that a callee pops": (
        "tool/index/LockApi.cpp",
        "else if (Handler)\n      Calls",
        "else if (!Handler)\n      Calls",
        "tool/section/cleanup-around-library-calls.c",
    ),
    "a header of the system that changes": (
        "tool/index/Collect.cpp",
        "if (File.isInvalid())\n      continue;\n    std::string Path",
        "if (File.isInvalid() || SM.isInSystemHeader(SM.getLocForStartOfFile(File)))\n      continue;\n    std::string Path",
        "tool/index/system-header-changes.test",
    ),
    "a wrapper through a function pointer": (
        "tool/program/Program.cpp",
        "else if (F->second.AddressTaken && !GivenToPointers.count(D.Node))",
        "else if (false)",
        "tool/index/mutexes-through-void-variables.c",
    ),
    "a lock given to a pointer of which not all is known": (
        "tool/program/Program.cpp",
        "return !AllPointersKnown || OpenPointers.count(FunctionType);",
        "return false;",
        "tool/program/kept-classes.c",
    ),
    "a lock given to a pointer of another type": (
        "tool/index/Collect.cpp",
        "if (!Type || Text == functionTypeText(Other))",
        "if (Text == functionTypeText(Other) || true)",
        "tool/soundness/wrapper-through-a-pointer.test",
    ),
    "a lock given to a function of a library through a pointer": (
        "tool/index/Collect.cpp",
        "if (S.inSystemHeader(F->getLocation()))\n        Out.escape(pointer",
        "if (false)\n        Out.escape(pointer",
        "tool/soundness/wrapper-through-a-pointer.test",
    ),
    "an uncovered branch of #if": (
        "tool/program/Program.cpp",
        "collectUncovered(Units, AcceptUncovered);",
        "collectUncovered(Units, true);",
        "tool/index/uncovered-sites.c",
    ),
    "a thread-local variable three calls deep": (
        "tool/program/Effects.cpp",
        "  climb(&Effects::Identity, /*ThroughWrappers=*/false);\n",
        "",
        "tool/soundness/thread-local-three-calls-deep.test",
    ),
    "a binary semaphore": (
        "tool/program/Decide.cpp",
        "    keepSemaphores();\n",
        "",
        "tool/program/mutex-as-semaphore-keeps.c",
    ),
    "a process-shared attribute set in a helper": (
        "tool/program/Program.cpp",
        "AttributeReasons[find(S.Attribute)]",
        "AttributeReasons[S.Attribute]",
        "tool/soundness/process-shared-in-a-helper.test",
    ),
    "a local that is alive across a wait by its address": (
        "tool/section/Waits.cpp",
        "return Shared ? contains(Scope, Call) : Liveness.liveAfter(Call, V);",
        "return contains(Scope, Call) && Liveness.liveAfter(Call, V);",
        "tool/section/local-alive-across-a-wait-by-its-address.c",
    ),
    "a goto from outside to the last unlock": (
        "tool/section/Find.cpp",
        "ToLast |= Up == Target;",
        "ToLast &= Up == Target;",
        "tool/section/outside-goto-to-the-last-unlock-holds.c",
    ),
    "a cancellation point two calls deep": (
        "tool/program/Effects.cpp",
        "  climb(&Effects::Cancels, /*ThroughWrappers=*/true);\n",
        "",
        "tool/program/effects-two-calls-deep.c",
    ),
    "a library function's use of identity two calls deep": (
        "tool/program/Effects.cpp",
        "    Own.Identity |= E.Identity;\n",
        "",
        "tool/program/effects-two-calls-deep.c",
    ),
    "a pointer that the library keeps": (
        "tool/section/Pointers.cpp",
        "else if (To.Kind == PointerFlow::Place::Kept)\n        escape(From);",
        "else if (To.Kind == PointerFlow::Place::Kept)\n        ;",
        "tool/section/pointers-that-the-library-keeps.c",
    ),
    "a pointer that the library returns": (
        "tool/section/Pointers.cpp",
        "        Result |= From;\n",
        "        ;\n",
        "tool/section/pointers-that-the-library-derives.c",
    ),
    "a pointer that the library stores": (
        "tool/section/Pointers.cpp",
        "store(contents(Given[To.Index], To.Loads - 1), From);",
        ";",
        "tool/section/pointers-that-the-library-derives.c",
    ),
    "a pointer that a function of the file returns": (
        "tool/section/Pointers.cpp",
        "return Holds[number(Body)];",
        "return only(Elsewhere);",
        "tool/section/pointers-through-copies.c",
    ),
    "a pointer copied byte by byte": (
        "tool/section/Pointers.cpp",
        "if (T->isCharType())\n      return true;",
        "",
        "tool/section/pointers-through-copies.c",
    ),
    "a pointer that a library may have set": (
        "tool/program/LinkPointers.cpp",
        "(!Known.Functions.empty() || isStaticVariable(Slot))",
        "true",
        "tool/program/pointer-that-nobody-sets.test",
    ),
    "a trylock that only asserts, where the process goes on": (
        "tool/index/Dying.cpp",
        "(Arm ? Test.statement(Arm) : Test.statements(behind(If, Parents)))",
        "true",
        "tool/section/trylock-that-asserts.c",
    ),
    "a lock of another variable, which nobody knows to be another one": (
        "tool/program/Decide.cpp",
        "(Part.empty() || Lock.Part.empty() || Part == Lock.Part)",
        "Part == Lock.Part",
        "tool/program/locks-of-one-struct-type.c",
    ),
    "the order of two locks of one class in a callee": (
        "tool/program/LockOrder.cpp",
        "if (mayBeSame(Taken, A))",
        "if (Taken.first == A.first)",
        "tool/program/locks-of-one-struct-type.c",
    ),
    "a lock that a function releases first on some ways only": (
        "tool/section/Held.cpp",
        "if (Releases && !Takes)",
        "if (Releases)",
        "tool/program/locks-of-one-struct-type.c",
    ),
    "a test in place that does more than to abort": (
        "tool/section/Operations.cpp",
        "return neverFails(Op.Node) || (What.Aborts",
        "return true || (What.Aborts",
        "tool/section/dropped-tests-are-listed.c",
    ),
    "a message about the lock operation": (
        "tool/section/Find.cpp",
        "if (Op && Op->Prints && !std::exchange(Prints, true))",
        "if (false)",
        "tool/section/lock-message.test",
    ),
    "a recursive mutex's lock, which does not fail": (
        "tool/section/Operations.cpp",
        "return Class && Class->ChecksErrors.empty();",
        "return Class.has_value();",
        "tool/section/recursive-lock-whose-result-is-mapped.c",
    ),
    "what a lock wrapper does under the lock with its own thread's variables": (
        "tool/index/WrapperBody.cpp",
        ": V->getTLSKind() == VarDecl::TLS_None;",
        ": true;",
        "tool/section/wrapper-that-notes-and-holds.test",
    ),
    "what a lock wrapper does under the lock with what it computed before": (
        "tool/index/WrapperBody.cpp",
        "V->hasLocalStorage() ? isa<ParmVarDecl>(V) || Aliases.count(V) || Inner.contains(V)",
        "V->hasLocalStorage() ? true",
        "tool/section/wrapper-that-notes-and-holds.test",
    ),
    "a lock wrapper under a condition, and its unlock under another": (
        "tool/section/Companions.cpp",
        "return Own.Key == Other.Key && (!Own.Loads || (A.Under.empty() && B.Under.empty()));",
        "return !Own.Loads || (A.Under.empty() && B.Under.empty());",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "what a lock wrapper does under the lock to its condition": (
        "tool/section/Companions.cpp",
        "return Own.Key == Other.Key && (!Own.Loads || (A.Under.empty() && B.Under.empty()));",
        "return Own.Key == Other.Key;",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "a lock wrapper under a condition, and an unlock that asks for none": (
        "tool/section/Companions.cpp",
        "    if (Result.Around && UnlocksOnly && !W.Body->Guards.empty())",
        "    if (false)",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "what the condition of a lock wrapper reads": (
        "tool/index/WrapperBody.cpp",
        "        Loads.back().OfCondition = G.Loads = true;",
        "        Loads.back().OfCondition = G.Loads = true, Loads.pop_back();",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "what an unlock wrapper does before its condition": (
        "tool/index/WrapperBody.cpp",
        "(W.Kind == Operation::Unlock && !Body.Under.empty())",
        "false",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "the result of a lock wrapper that may leave its operation out": (
        "tool/section/Companions.cpp",
        "(Op.Branch && soleCall(Op.Branch) == Op.Call);",
        "true;",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "an unlock wrapper that names what a parameter of the lock wrapper hides": (
        "tool/section/Companions.cpp",
        "             mentions(Text, P.Name);",
        "             false;",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "a lock that a caller of what perhaps unlocks takes in any case": (
        "tool/program/Relays.cpp",
        "            if (Taken.count(Lock))",
        "            if (false)",
        "tool/driver/lock-order-alone.test",
    ),
    "two structs of one tag": (
        "tool/support/Source.cpp",
        "return \"~\" + utohexstr(xxh3_64bits(Names));",
        "return \"\";",
        "tool/program/structs-of-one-tag.test",
    ),
    "the struct that a cleanup handler takes its argument for": (
        "tool/section/Operations.cpp",
        "recordNode(Argument->getType()->getPointeeType(), S) != Record)",
        "false)",
        "tool/section/cleanup-handler-that-finds-its-lock.c",
    ),
    "a condition of a lock wrapper that is not understood": (
        "tool/index/WrapperBody.cpp",
        "    Lost |= Other && !addInstead(Other);",
        "    Lost = Other && !addInstead(Other);",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "what perhaps locks, and nothing unlocks": (
        "tool/program/Relays.cpp",
        "((F.Wraps->Perhaps && !Paired.count(Node)) || Held.count(Node))",
        "Held.count(Node)",
        "tool/section/wrapper-under-a-condition-that-holds.c",
    ),
    "an unlock wrapper that is given something else than the lock wrapper": (
        "tool/section/Companions.cpp",
        "          exactKey(Lock.Call->getArg(At), nullptr, S) !=\n              exactKey(Unlock.Call->getArg(I), nullptr, S))",
        "          false)",
        "tool/section/wrapper-that-notes-and-holds.test",
    ),
    "what a companion calls under the lock": (
        "tool/section/Find.cpp",
        "          append_range(Found.Calls, W->Body->Calls);\n",
        "",
        "tool/section/wrapper-that-notes-and-holds.test",
    ),
    "a companion of a section that waits": (
        "tool/section/Find.cpp",
        "if (Result && Result->Around && (!Text.Gaps.empty() || !Text.Waits.empty()))",
        "if (false)",
        "tool/section/wrapper-that-notes-and-holds.test",
    ),
    "a number of another width whose type counts": (
        "tool/section/MacroBody.cpp",
        "if (All([&](const Expr *E) { return isNumber(E); }))",
        "if (true)",
        "tool/section/arguments-of-a-macro.test",
    ),
    "another lock's wrapper that returns where it has failed": (
        "tool/index/Wrappers.cpp",
        "(F->getReturnType()->isVoidType() || R.Aborts)",
        "true",
        "tool/program/wrapper-asserts-its-result.c",
    ),
    "a lock that stays with a function that returns": (
        "tool/program/Decide.cpp",
        "      if (F.NeverReturns || Linked.endsProcess(Node))\n        Result.insert(Node);",
        "      Result.insert(Node);",
        "tool/program/wrapper-asserts-its-result.c",
    ),
    "a macro's parameter that is an operator's operand": (
        "tool/section/MacroBody.cpp",
        "Lock == \"$\" ? Parameter : \"(\" + Parameter + \")\"",
        "Parameter",
        "tool/section/section-in-a-macro-through-a-wrapper.c",
    ),
    "a way out of a loop that does not end": (
        "tool/section/Find.cpp",
        "!Ways.Returns.empty() ||",
        "",
        "tool/section/endless-worker.c",
    ),
    "a style of another program": (
        "tool/rewrite/Format.cpp",
        "liesIn(Folder, Root);",
        "!Folder.empty();",
        "tool/rewrite/style-of-the-project.test",
    ),
    "a style that its own line does not have": (
        "tool/rewrite/Format.cpp",
        "if (!Moves && ",
        "if (",
        "tool/rewrite/style-of-the-project.test",
    ),
    "the other arm of a test that goes": (
        "tool/index/Tested.cpp",
        "if (!Arm || (Other && !canGo(Other)))",
        "if (!Arm)",
        "tool/section/entered-arm.c",
    ),
    "text of another configuration that goes with a test": (
        "tool/section/Place.cpp",
        "!HasDirective(File.slice(Arm->End, Result.Whole.End))",
        "true",
        "tool/section/entered-arm.c",
    ),
    "a result that is left where no statement can stand": (
        "tool/section/Operations.cpp",
        "if (Inside && Found->Use.Target && !blockOf(Found->If, Parents))",
        "if (false)",
        "tool/section/entered-arm.c",
    ),
    "a variable that another configuration declares otherwise": (
        "tool/section/Captures.cpp",
        "if (hasOtherType(V))",
        "if (false)",
        "tool/section/types-of-other-configurations.test",
    ),
    "a macro that declares a variable, and another one elsewhere": (
        "tool/section/Captures.cpp",
        "return isMacrosType(V, F->getBeginLoc(), S) ||",
        "return",
        "tool/section/types-of-other-configurations.test",
    ),
    "a macro that is a type": (
        "tool/section/Captures.cpp",
        "if (std::optional<StringRef> Macro = macroNaming(Written)) {",
        "if (std::optional<StringRef> Macro = macroNaming(Written); false) {",
        "tool/section/types-of-other-configurations.test",
    ),
    "another definition of a lock wrapper in its group": (
        "tool/index/Configuration.cpp",
        "G.Other |= definesFunction(File.slice(G.Branch, At), Function);",
        ";",
        "tool/program/companion-beside-alternatives.test",
    ),
    "a macro that changes in a group of definitions": (
        "tool/index/Configuration.cpp",
        "if (!is_contained(All, \"\") && !changesIn(Whole, All))",
        "if (!is_contained(All, \"\"))",
        "tool/program/companion-beside-alternatives.test",
    ),
    "a struct that is complete further down only": (
        "tool/section/Operations.cpp",
        "Record->getDefinition()->getBeginLoc(), F->getBeginLoc()))",
        "Record->getDefinition()->getBeginLoc(), F->getBeginLoc()) && false)",
        "tool/program/companion-under-a-condition.test",
    ),
    "the arguments of a lock that either arm takes": (
        "tool/index/Wrappers.cpp",
        "&& haveSameArguments(First, Second)",
        "",
        "tool/program/readers-writer-lock-in-either-arm.c",
    ),
    "what runs behind the unlock in a block that goes": (
        "tool/section/Operations.cpp",
        "Only && Only->Statement && Only->Statement == lastStatement(Way.Arm) ? Only : nullptr;",
        "Only && Only->Statement ? Only : nullptr;",
        "tool/section/entered-by-its-test.c",
    ),
    "skipped text behind the unlock in a block that goes": (
        "tool/section/Place.cpp",
        "if (End.Entered && !goesWhole(",
        "if (false && !goesWhole(",
        "tool/section/entered-by-its-test.c",
    ),
    "skipped text that operates by a macro of other classes": (
        "tool/program/Program.cpp",
        "if (Operated[Site.Operation].count(I))",
        "if (!Operated[Site.Operation].empty())",
        "tool/index/macro-in-skipped-text.c",
    ),
    "a macro that skipped text may define otherwise": (
        "tool/index/Skipped.cpp",
        "if (I + 2 < Words.size() && Redefined.contains(Words[I + 2].Name))",
        "if (I + 2 < Words.size())",
        "tool/index/skipped-text-redefines-its-macros.c",
    ),
    "a static function that is used": (
        "tool/index/Collect.cpp",
        " && !F->isReferenced() && !F->isUsed()",
        "",
        "tool/index/inline-function-that-nothing-uses.c",
    ),
    "a wrapper's test that does more than to abort": (
        "tool/section/Operations.cpp",
        "(!W->Tests || W->Aborts || neverFails(Op.Node))",
        "true",
        "tool/section/dropped-tests-are-listed.c",
    ),
    "an ignored error of a mutex that checks for them": (
        "tool/section/Find.cpp",
        "    checkIgnoredError(Lock, Found);\n",
        "",
        "tool/section/ignored-error-holds.c",
    ),
    "a callee that ignores such an error": (
        "tool/section/Find.cpp",
        "!Matched.contains(Op.Call) || ignoresError(Op)",
        "!Matched.contains(Op.Call)",
        "tool/section/ignored-error-holds.c",
    ),
    "an initialiser with values of its own": (
        "tool/index/LockEdits.cpp",
        "!Zero || writtenValues(List) > 1",
        "writtenValues(List) > 9",
        "tool/index/zero-initialisers.c",
    ),
    "a branch of #elifdef": (
        "tool/index/Skipped.cpp",
        'Name.starts_with("elif") && !Open.empty()',
        'Name == "elif" && !Open.empty()',
        "tool/index/uncovered-conditions.c",
    ),
    "an include that only a comment names": (
        "tool/rewrite/Rewrite.cpp",
        'hasTokens(Text, {"#", "include", QuotedName})',
        "Text.contains(QuotedName)",
        "tool/rewrite/comment-names-the-include.c",
    ),
    "a rename of the second file that fails": (
        "tool/support/Transaction.cpp",
        "if (Error Failed = rename(E.next(), E.Path))\n      return Failed;",
        "consumeError(rename(E.next(), E.Path));",
        "tool/transaction/every-call.test",
    ),
    "a class that text outside the program's root uses": (
        "tool/program/Program.cpp",
        "  keepOutsideRoots();\n",
        "",
        "tool/index/text-outside-the-source-root.test",
    ),
    "a macro's section that not all units see": (
        "tool/program/Decide.cpp",
        "if (!Others.empty() || (S->Facts.At.File == Text.File && !seenEverywhere(*S)))",
        "if (false)",
        "tool/section/section-in-macro-that-holds.c",
    ),
    "configurations that differ": (
        "tool/program/Decide.cpp",
        "    if (!sameExtraction(Known, Found)) {",
        "    if (false) {",
        "tool/program/configurations-that-differ.test",
    ),
    "a lock operand that a callee changes": (
        "tool/program/Decide.cpp",
        "    checkOperand(Found, Order, Checked);\n",
        "",
        "tool/section/lock-operand-changed-elsewhere-holds.c",
    ),
    "an order of locks that the section would break": (
        "tool/program/Decide.cpp",
        "      if (std::optional<Reason> Conflict = Order.conflict(Found.Lock, Inner))\n"
        "        Checked.Reasons.push_back(std::move(*Conflict));\n"
        "      const LockClass *Class",
        "      const LockClass *Class",
        "tool/section/lock-order-holds.c",
    ),
    "a call through a pointer": (
        "tool/program/Decide.cpp",
        '{"indirect-call", "calls through a pointer, which is not followed", C.At});',
        '{"indirect-call", "calls through a pointer, which is not followed", C.At}),\n'
        "          Checked.Reasons.pop_back();",
        "tool/program/calls-through-pointers.c",
    ),
    "a callee that releases the lock": (
        "tool/program/Decide.cpp",
        "if (const Reach *Loose = looseBelow(Found.Lock, C))",
        "if (const Reach *Loose = nullptr)",
        "tool/program/callee-that-releases-holds.c",
    ),
    "a callee that takes a lock whose owner the kernel knows": (
        "tool/program/Decide.cpp",
        "if (ReachKernelOwned.has(C.Function))",
        "if (false)",
        "tool/program/priority-lock-in-callee-holds.c",
    ),
    "a cancellation point under a program that cancels": (
        "tool/program/Decide.cpp",
        "    checkCancellation(Found, Table, Checked);\n",
        "",
        "tool/program/cancelled-threads-hold.c",
    ),
    "a directive in a lock wrapper that is about something else": (
        "tool/index/Configuration.cpp",
        "if (!isBlank(File, std::min(Behind, D.At), D.At, S.Language))",
        "",
        "tool/rewrite/companion-of-a-wrapper-under-a-directive.test",
    ),
    "another configuration of a lock wrapper that can be named": (
        "tool/section/Companions.cpp",
        "(Lock.Wraps && relock::varies(*Lock.Wraps, F, S)) ||",
        "(Lock.Wraps && false) ||",
        "tool/rewrite/companion-of-a-wrapper-of-configurations.test",
    ),
    "a field of some configurations that no initialiser can name": (
        "tool/index/LockEdits.cpp",
        "(Found.size() != Before && isConditional(Field))",
        "false",
        "tool/rewrite/companion-of-a-wrapper-of-configurations.test",
    ),
    "an integer that is an address": (
        "tool/index/Resolve.cpp",
        " && Value.Val.getInt().abs().ule(4095));",
        ");",
        "tool/program/pointers-that-go-nowhere.c",
    ),
    "a header of the program's own that is called like a library's": (
        "tool/program/ProjectFile.cpp",
        " && !File.starts_with(Own);",
        ";",
        "tool/program/library-whose-headers-are-read.test",
    ),
    "a macro's argument that assigns, evaluated before the lock": (
        "tool/section/MacroBody.cpp",
        "return Early.Allowed && !assigns(E);",
        "return Early.Allowed;",
        "tool/section/declared-macro-arguments.test",
    ),
    "what the project file says of macros, for kept sections": (
        "tool/section/ProgramView.cpp",
        "    All.Macros.push_back(Name);",
        "    ;",
        "tool/section/declared-macro-arguments.test",
    ),
    "the next function behind the program's own": (
        "tool/index/FunctionPointers.cpp",
        'return FoundByName{"next:" + Text, Text};',
        "return FoundByName{nodeOfFunction(Text), Text};",
        "tool/program/functions-found-by-name.c",
    ),
    "the handle of a name that dlsym() looks for": (
        "tool/index/FunctionPointers.cpp",
        "!Call->getArg(0)->IgnoreParenCasts()->EvaluateAsInt(Handle, Context))",
        "(!Call->getArg(0)->IgnoreParenCasts()->EvaluateAsInt(Handle, Context) && false))",
        "tool/program/functions-found-by-name.c",
    ),
    "what one side of a lock macro computes for the other": (
        "tool/section/MacroRest.cpp",
        "  if (names(Whole, Declared, Go))\n",
        "  if (false)\n",
        "tool/section/lock-macros-that-do-more-on-both-sides.c",
    ),
    "arms of a lock macro that do something on both sides": (
        "tool/section/MacroRest.cpp",
        "return Then->Before.empty() || Then->Behind.empty() ? Then : std::nullopt;",
        "return Then;",
        "tool/section/lock-macros-that-do-more-on-both-sides.c",
    ),
    "what a lock macro does where a mutex that checks errors fails": (
        "tool/section/Operations.cpp",
        "      !testsCanGo(What, Op))",
        "      false)",
        "tool/section/lock-macros-that-do-more-on-both-sides.c",
    ),
    "members of structs that are read as each other": (
        "tool/index/FunctionPointers.cpp",
        "    castRecords(Old, New);",
        "    ;",
        "tool/program/calls-through-members.c",
    ),
    "pointers to functions that are stored by their address": (
        "tool/index/FunctionPointers.cpp",
        "    join(Slot, pointedSlot(T, S.Context));",
        "    ;",
        "tool/program/calls-through-members.c",
    ),
    "arguments of calls through pointers": (
        "tool/program/LinkPointers.cpp",
        'All[Slot].Next.insert("P:" + Node + "#" + What);',
        ";",
        "tool/program/calls-through-members.c",
    ),
    "the condition at the unlock": (
        "tool/section/Operations.cpp",
        "Notes.push_back(!If || !Same(If->getCond(), Condition));",
        "Notes.push_back(!If);",
        "tool/section/locked-under-a-condition.c",
    ),
    "what a lock's condition reads": (
        "tool/section/LockOperand.cpp",
        "collectLoaded(Lock.Guard, OfCondition, UnknownCondition);",
        ";",
        "tool/section/locked-under-a-condition.c",
    ),
    "a scope whose variable something else names": (
        "tool/section/Scope.cpp",
        "!Block || Mentions.size() > 1",
        "!Block",
        "tool/section/lock-of-a-scope-that-holds.c",
    ),
    "a scope whose cleanup function does more": (
        "tool/section/Scope.cpp",
        "W->Kind == Operation::Unlock && W->Pure &&",
        "W->Kind == Operation::Unlock &&",
        "tool/section/lock-of-a-scope-that-holds.c",
    ),
    "a variable that lives on in the next round of a scope": (
        "tool/section/Captures.cpp",
        "return LiveIn || Elsewhere;",
        "return Elsewhere;",
        "tool/section/lock-of-a-scope.c",
    ),
    "a variable that has a cleanup function": (
        "tool/section/Captures.cpp",
        "Addressed || V->hasAttr<CleanupAttr>() ||",
        "Addressed ||",
        "tool/section/variable-with-a-cleanup-function.c",
    ),
    "what is cleaned up in a scope": (
        "tool/section/Find.cpp",
        "append_range(Found.Calls, Cleanup);",
        "",
        "tool/section/lock-of-a-scope-that-holds.c",
    ),
    "a pop that may not run its handler": (
        "tool/section/Operations.cpp",
        "!C.Executes || ",
        "",
        "tool/section/ends-at-a-cleanup-pop.c",
    ),
    "the lock of a cleanup handler": (
        "tool/section/Operations.cpp",
        "Lock.Key != Op.Key || ",
        "",
        "tool/section/ends-at-a-cleanup-pop.c",
    ),
    "a macro that tells the C library what to declare": (
        "tool/rewrite/LockTable.cpp",
        "if (isFeatureTest(Name))",
        "if (false)",
        "tool/rewrite/include-behind-feature-tests.test",
    ),
    "code of a branch that is not compiled here, before an include": (
        "tool/rewrite/LockTable.cpp",
        "return encloses(Line, At); });",
        "return encloses(Line, At) || true; });",
        "tool/rewrite/include-behind-feature-tests.test",
    ),
    "floating point below a call": (
        "tool/program/Effects.cpp",
        "  climb(&Effects::Float, /*ThroughWrappers=*/true);\n",
        "",
        "tool/program/floating-point-in-callees.test",
    ),
    "floating point by the address of a number": (
        "tool/support/Source.cpp",
        "(!Pointee.isNull() && Pointee->hasFloatingRepresentation())",
        "false",
        "tool/program/floating-point-in-callees.test",
    ),
    "a relay of a wrapper that returns another number than 0": (
        "tool/program/Relays.cpp",
        "(Inner.Result == 0 || Ignores || R.Value == Relay::Returned)",
        "true",
        "tool/section/wrapper-that-returns-true.c",
    ),
    "a test of a wrapper's number": (
        "tool/section/Operations.cpp",
        "if (!onlyOperation(Statement, Op.Call, S.Context, &What, Op.result()))",
        "if (!onlyOperation(Statement, Op.Call, S.Context, &What))",
        "tool/section/wrapper-that-returns-true.c",
    ),
    "a mutex that checks errors, whose failure goes to a function that does not end the process": (
        "tool/section/Operations.cpp",
        "auto Ends = [&](const FunctionDecl *Callee) { return Linked.endsProcess(nodeFor(Callee, S)); };",
        "auto Ends = [&](const FunctionDecl *Callee) { return Callee != nullptr; };",
        "tool/section/error-check-that-ends-in-a-function.c",
    ),
    "what a case falls through to, in a function that converts a result": (
        "tool/index/Tested.cpp",
        "ArrayRef(Begin == Block->body_end() ? Default : Begin, Block->body_end())",
        "ArrayRef(Begin == Block->body_end() ? Default : Begin, 1)",
        "tool/section/result-that-a-function-converts.c",
    ),
    "the name of a member that offsetof() is given": (
        "tool/section/Dropped.cpp",
        "addCompiled(Offset->getComponent(I).getEndLoc());",
        "(void)I;",
        "tool/section/member-in-an-offset.c",
    ),
    "a class that a macro without parameters names": (
        "tool/index/LockEdits.cpp",
        "    Out.flow(Node, tokenNode(S.spelled(At)), Flow::NamingText, At);\n",
        "    (void)At;\n",
        "tool/index/initialised-through-a-macro-without-parameters.c",
    ),
    "a macro that names the class of one use, and is told that of others": (
        "tool/index/LockEdits.cpp",
        "if (Name == \"pthread_mutex_init\" && !S.inFile(L))",
        "if (false)",
        "tool/index/initialised-through-a-variadic-macro.c",
    ),
    "a macro that names a class, as told by none of its uses": (
        "tool/rewrite/Rewrite.cpp",
        "return Named.count(At); });",
        "return Named.count(At) > 1; });",
        "tool/index/initialised-through-a-variadic-macro.c",
    ),
    "a call by which a lock operand may change, and that returns": (
        "tool/program/Decide.cpp",
        "return !C.Ends && !relock::endsProcess(C.Name) && !Linked.endsProcess(C.Function);",
        "return C.Name.empty();",
        "tool/program/operand-and-calls-that-end.c",
    ),
    "a store through a pointer, to what a lock operand reads": (
        "tool/section/LockOperand.cpp",
        "Found.StoresThroughPointer |= Changed && !D;",
        "Found.StoresThroughPointer |= false;",
        "tool/program/operand-and-calls-that-end.c",
    ),
    "a number that becomes another one by its type": (
        "tool/index/Tested.cpp",
        "return holds(Cast->getType(), *Sub->Value) ? Sub : Result();",
        "return Sub;",
        "tool/section/wrapper-that-returns-true.c",
    ),
    "floating point under a program that sets its environment": (
        "tool/program/Decide.cpp",
        "(Found.UsesFloat || any_of(Found.Calls, [&](const Call &C) { return Table.of(C).Float; }))",
        "false",
        "tool/program/floating-point-state.c",
    ),
    "sections that stand across each other's edges": (
        "tool/program/Decide.cpp",
        "    holdUnfitting(Result);\n",
        "",
        "tool/section/inner-section-that-declares-holds.c",
    ),
    "time-outs of profiles, added": (
        "tool/profile/Merge.cpp",
        "Ours.Timeouts += R.Timeouts;",
        "Ours.Timeouts = std::max(Ours.Timeouts, R.Timeouts);",
        "profiler/merged-runs.test",
    ),
    "the depth of a recursive mutex over a wait": (
        "runtime/profiler/preload.c",
        "  suspended.object->counts.depth = suspended.depth;\n",
        "",
        "profiler/recursive.c",
    ),
    "the bound of a batch": (
        "runtime/locks/batch.h",
        " || batch->served >= batch->most",
        "",
        "runtime/combiner-bounds.test",
    ),
    "an unlock by another thread than the holder": (
        "runtime/mutex/mutex.c",
        "!is_plainly_held(mutex) || !relock_is_holder(mutex)",
        "!is_plainly_held(mutex)",
        "runtime/explore-events-ends.test",
    ),
    "the room that a section needs on the stack": (
        "runtime/base/thread.c",
        "return left >= needed - needed / 8;",
        "return true;",
        "runtime/combiner-bounds.test",
    ),
    "whose stack the room is on": (
        "runtime/base/thread.c",
        "if (left > self->stack)",
        "if (false)",
        "runtime/combiner-bounds.test",
    ),
}


def commands(build):
    """The command that compiles each source, and the one that links relock."""
    ninja = ["ninja", "-C", build, "-t", "commands", "bin/relock"]
    text = subprocess.check_output(ninja, text=True)
    compiles, link = {}, None
    for line in text.splitlines():
        if line.startswith("ninja:"):
            continue
        words = shlex.split(line)
        if "-c" in words:
            source = os.path.realpath(os.path.join(build, words[words.index("-c") + 1]))
            compiles[source] = words
        elif " bin/relock" in line and " -o " in line:
            link = line
    return compiles, link


def mutated(rule, root):
    """The text of the rule's source below root, without the rule."""
    name, text, instead, _ = rule
    with open(os.path.join(root, name)) as file:
        old = file.read()
    if old.count(text) != 1:
        raise SystemExit(f"{name} has `{text.strip()}` {old.count(text)} times, not once")
    return old.replace(text, instead)


def compilation(compiles, source, changed):
    """The command that compiles a source, and what to compile without the rule: the changed source,
    or a copy of the file that includes the source with others."""
    source = os.path.realpath(source)
    if source in compiles:
        return list(compiles[source]), changed
    for together, words in compiles.items():
        with open(together) as file:
            text = file.read()
        if f'"{source}"' in text:
            with open(changed + ".together.cpp", "w") as file:
                file.write(text.replace(f'"{source}"', f'"{changed}"'))
            return list(words), changed + ".together.cpp"
    raise SystemExit(f"nothing compiles {source}")


def relock_without(rule, build, work):
    """Builds relock without the rule; returns the program."""
    source = os.path.join(ROOT, rule[0])
    compiles, link = commands(build)
    changed = os.path.join(work, os.path.basename(source))
    with open(changed, "w") as file:
        file.write(mutated(rule, ROOT))
    words, changed = compilation(compiles, source, changed)
    old_object = words[words.index("-o") + 1]
    new_object = changed + ".o"
    words[words.index("-c") + 1], words[words.index("-o") + 1] = changed, new_object
    subprocess.check_call(words, cwd=build)
    program = os.path.join(work, "relock")
    link = link.replace(" " + old_object + " ", " " + new_object + " ").replace(
        " -o bin/relock ", f" -o {program} ")
    subprocess.check_call(link, shell=True, cwd=build)
    return program


class Runtime:
    """A copy of the sources, from which the runtime and the profiler's library are built."""

    def __init__(self, build, work):
        self.tree = os.path.join(work, "tree")
        self.build = os.path.join(self.tree, "build", "runtime-only")
        shutil.rmtree(self.tree, ignore_errors=True)
        shutil.copytree(ROOT, self.tree, symlinks=True,
                        ignore=lambda folder, names: {"build", ".git"}.intersection(names)
                        if folder == ROOT else set())
        run(["cmake", "--preset", "runtime-only"], cwd=self.tree)
        self.make()
        # It takes the profiler's library from beside it.
        self.relock = os.path.join(self.build, "bin", "relock")
        shutil.copy(os.path.join(build, "bin", "relock"), self.relock)

    def make(self):
        run(["cmake", "--build", "--preset", "runtime-only"], cwd=self.tree)

    def without(self, rule):
        text = mutated(rule, self.tree)
        with open(os.path.join(self.tree, rule[0]), "w") as file:
            file.write(text)
        self.make()

    def restore(self, rule):
        shutil.copyfile(os.path.join(ROOT, rule[0]), os.path.join(self.tree, rule[0]))
        self.make()


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode:
        raise SystemExit(result.stdout[-3000:] + result.stderr)


def main():
    if sys.argv[1:] == ["--check"]:
        for rule in RULES.values():
            mutated(rule, ROOT)
        print(f"{len(RULES)} rules stand in the source")
        return 0
    build, work, lit = (os.path.abspath(argument) for argument in sys.argv[1:4])
    os.makedirs(work, exist_ok=True)
    runtime = None
    missed = []
    for name, rule in RULES.items():
        if sys.argv[4:] and name not in sys.argv[4:]:
            continue
        of_runtime = rule[0].startswith("runtime/")
        if of_runtime and not runtime:
            runtime = Runtime(build, work)
        place = runtime.build if of_runtime else build
        test = [sys.executable, lit, "-v", os.path.join(place, "test", rule[3])]
        if of_runtime:
            test += ["--param", "relock=" + runtime.relock]
        before = subprocess.run(test, capture_output=True, text=True)
        if "Passed: 1 " not in before.stdout:
            raise SystemExit(f"{rule[3]} does not pass with the rule:\n{before.stdout[-3000:]}")
        if of_runtime:
            runtime.without(rule)
        else:
            test += ["--param", "relock=" + relock_without(rule, build, work)]
        after = subprocess.run(test, capture_output=True, text=True)
        if of_runtime:
            runtime.restore(rule)
        noticed = after.returncode == 1 and "Failed: 1 " in after.stdout
        print(f"{'noticed' if noticed else 'MISSED'}: {name} ({rule[3]})", flush=True)
        if not noticed:
            missed.append(name)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
