// SPDX-License-Identifier: MIT
//
// The fields of each record of Records.h, once, for all who write, read or print them.
#pragma once

#include "index/Records.h"

namespace relock {

template <class V> void fields(V &&Visit, Position &P) {
  Visit("file", P.File), Visit("offset", P.Offset), Visit("line", P.Line),
      Visit("column", P.Column);
}
template <class V> void fields(V &&Visit, Declaration &D) {
  Visit("node", D.Node), Visit("name", D.Name), Visit("kind", D.Kind);
  Visit("condition", D.Condition), Visit("pointer", D.Pointer);
  Visit("definition", D.Definition), Visit("at", D.At);
}
template <class V> void fields(V &&Visit, Edit &E) {
  Visit("at", E.At), Visit("length", E.Length), Visit("text", E.Text), Visit("node", E.Node);
  Visit("where", E.Where), Visit("macro", E.Macro), Visit("variable", E.Variable);
  Visit("use", E.Use), Visit("layer", E.Layer);
}
template <class V> void fields(V &&Visit, Site &S) {
  Visit("kind", S.Kind), Visit("at", S.At), Visit("spelled", S.Spelled), Visit("node", S.Node);
  Visit("attribute", S.Attribute);
  Visit("function", S.Function), Visit("functionAt", S.FunctionAt);
  Visit("inMacro", S.InMacro), Visit("functionName", S.FunctionName);
}
template <class V> void fields(V &&Visit, Flow &F) {
  Visit("from", F.From), Visit("to", F.To), Visit("how", F.How);
  Visit("untyped", F.Untyped), Visit("at", F.At);
}
template <class V> void fields(V &&Visit, LockCall &C) {
  Visit("at", C.At), Visit("spelled", C.Spelled), Visit("callee", C.Callee);
  Visit("nodes", C.Nodes), Visit("function", C.Function);
  Visit("name", C.Name), Visit("behind", C.Behind), Visit("length", C.Length);
  Visit("inMacro", C.InMacro);
}
template <class V> void fields(V &&Visit, Escape &E) {
  Visit("node", E.Node), Visit("code", E.Code), Visit("message", E.Message), Visit("at", E.At);
}
template <class V> void fields(V &&Visit, Call &C) {
  Visit("function", C.Function), Visit("name", C.Name), Visit("at", C.At), Visit("ends", C.Ends);
}
template <class V> void fields(V &&Visit, IndirectCall &C) {
  Visit("at", C.At), Visit("type", C.Type), Visit("slot", C.Slot), Visit("name", C.Name);
}
template <class V> void fields(V &&Visit, FunctionFlow &F) {
  Visit("from", F.From), Visit("to", F.To), Visit("function", F.Function);
}
template <class V> void fields(V &&Visit, TakenFunction &T) {
  Visit("type", T.Type), Visit("function", T.Function), Visit("name", T.Name);
}
template <class V> void fields(V &&Visit, PointerCast &C) {
  Visit("from", C.From), Visit("to", C.To);
}
template <class V> void fields(V &&Visit, IdentityUse &U) {
  Visit("what", U.What), Visit("at", U.At);
}
template <class V> void fields(V &&Visit, WrapperOperand &O) {
  Visit("expression", O.Expression), Visit("variable", O.Variable);
  Visit("parameter", O.Parameter);
}
template <class V> void fields(V &&Visit, OperandLoad &L) {
  Visit("name", L.Name), Visit("node", L.Node), Visit("record", L.Record);
  Visit("ofCondition", L.OfCondition);
}
template <class V> void fields(V &&Visit, Prototype &P) {
  Visit("at", P.At), Visit("parameters", P.Parameters);
}
template <class V> void fields(V &&Visit, WrapperPlace &P) {
  Visit("exported", P.Exported), Visit("declared", P.Declared), Visit("common", P.Common);
  Visit("begin", P.Begin), Visit("end", P.End);
  Visit("configuration", P.Configuration), Visit("unclear", P.Unclear);
  Visit("behind", P.Behind), Visit("alternative", P.Alternative);
  Visit("parameters", P.Parameters), Visit("storage", P.Storage), Visit("taken", P.Taken);
}
template <class V> void fields(V &&Visit, WrapperBody::Parameter &P) {
  Visit("name", P.Name), Visit("text", P.Text), Visit("under", P.Under);
}
template <class V> void fields(V &&Visit, WrapperBody::Alias &A) {
  Visit("name", A.Name), Visit("text", A.Text);
  Visit("outside", A.Outside), Visit("under", A.Under);
}
template <class V> void fields(V &&Visit, WrapperBody::Guard &G) {
  Visit("before", G.Before), Visit("condition", G.Condition), Visit("key", G.Key);
  Visit("instead", G.Instead), Visit("loads", G.Loads);
}
template <class V> void fields(V &&Visit, WrapperBody &B) {
  Visit("parameters", B.Parameters), Visit("aliases", B.Aliases), Visit("guards", B.Guards);
  Visit("lock", B.Lock);
  Visit("outside", B.Outside), Visit("under", B.Under), Visit("calls", B.Calls);
  Visit("tests", B.Tests);
}
template <class V> void fields(V &&Visit, Wrapper &W) {
  fields(Visit, static_cast<WrapperPlace &>(W));
  Visit("kind", W.Kind), Visit("at", W.At), Visit("node", W.Node);
  Visit("variable", W.Variable), Visit("expression", W.Expression);
  Visit("key", W.Key), Visit("parameter", W.Parameter), Visit("pure", W.Pure);
  Visit("tests", W.Tests), Visit("aborts", W.Aborts), Visit("result", W.Result);
  Visit("guarded", W.Guarded), Visit("perhaps", W.Perhaps);
  Visit("condition", W.Condition), Visit("deadline", W.Deadline);
  Visit("loads", W.Loads), Visit("loadsUnknown", W.LoadsUnknown), Visit("computed", W.Computed);
  Visit("body", W.Body);
}
template <class V> void fields(V &&Visit, RelayedArgument &A) {
  Visit("operand", A.Operand), Visit("loads", A.Loads), Visit("loadsUnknown", A.LoadsUnknown);
  Visit("opaque", A.Opaque), Visit("part", A.Part), Visit("changed", A.Changed);
  Visit("text", A.Text), Visit("key", A.Key);
}
template <class V> void fields(V &&Visit, Relay &R) {
  fields(Visit, static_cast<WrapperPlace &>(R));
  Visit("callee", R.Callee), Visit("arguments", R.Arguments);
  Visit("pure", R.Pure), Visit("tests", R.Tests), Visit("aborts", R.Aborts);
  Visit("guarded", R.Guarded), Visit("perhaps", R.Perhaps), Visit("else", R.Else);
  Visit("value", R.Value), Visit("asLock", R.AsLock), Visit("asUnlock", R.AsUnlock);
  Visit("guardLoads", R.Loads);
}
template <class V> void fields(V &&Visit, Forward &F) {
  fields(Visit, static_cast<WrapperPlace &>(F));
  Visit("posix", F.Posix), Visit("callee", F.Callee), Visit("tests", F.Tests);
  Visit("noAttributes", F.NoAttributes);
}
template <class V> void fields(V &&Visit, TouchedLine &L) {
  Visit("line", L.Line), Visit("written", L.Written);
}
template <class V> void fields(V &&Visit, Function &F) {
  Visit("node", F.Node), Visit("name", F.Name), Visit("at", F.At), Visit("defined", F.Defined);
  Visit("namesake", F.Namesake);
  Visit("addressTaken", F.AddressTaken), Visit("takesLocks", F.TakesLocks);
  Visit("waits", F.Waits), Visit("endsProcess", F.EndsProcess), Visit("alias", F.Alias);
  Visit("neverReturns", F.NeverReturns), Visit("lastCallee", F.LastCallee);
  Visit("releases", F.Releases), Visit("releasesOf", F.OfRecord);
  Visit("usesFloat", F.UsesFloat), Visit("stores", F.Stores);
  Visit("touched", F.Touched);
  Visit("calls", F.Calls);
  Visit("indirectCalls", F.IndirectCalls), Visit("callbacks", F.Callbacks),
      Visit("identityUses", F.IdentityUses);
  Visit("prototypes", F.Prototypes), Visit("wraps", F.Wraps);
  Visit("relays", F.Relays), Visit("forwards", F.Forwards);
}
template <class V> void fields(V &&Visit, SkippedSite &S) {
  Visit("at", S.At), Visit("acquires", S.Acquires), Visit("operator", S.Operator),
      Visit("operation", S.Operation), Visit("operand", S.Operand);
  Visit("member", S.Member), Visit("pointer", S.Pointer), Visit("exact", S.Exact),
      Visit("locks", S.Locks);
  Visit("record", S.Record), Visit("through", S.Through);
  Visit("ofParameterOf", S.OfParameterOf);
  Visit("condition", S.Condition), Visit("elsewhere", S.Elsewhere), Visit("unrun", S.Unrun);
}
template <class V> void fields(V &&Visit, LockLike &L) {
  Visit("function", L.Function), Visit("name", L.Name);
  Visit("type", L.Type), Visit("argument", L.Argument);
}
template <class V> void fields(V &&Visit, Dependency &D) {
  Visit("file", D.File), Visit("hash", D.Hash);
}
template <class V> void fields(V &&Visit, UndefinedUse &U) {
  Visit("node", U.Node), Visit("name", U.Name), Visit("function", U.Function);
  Visit("records", U.Records), Visit("at", U.At);
}
template <class V> void fields(V &&Visit, LockRecord &R) {
  Visit("record", R.Record), Visit("locks", R.Locks);
}
template <class V> void fields(V &&Visit, ConvertedClass &C) {
  Visit("identifier", C.Identifier), Visit("name", C.Name), Visit("used", C.Used);
}
template <class V> void fields(V &&Visit, ClassUse &U) {
  Visit("lock", U.Lock), Visit("identifier", U.Identifier);
}
template <class V> void fields(V &&Visit, LateInit &I) {
  Visit("node", I.Node), Visit("lock", I.Lock), Visit("name", I.Name), Visit("at", I.At);
}
template <class V> void fields(V &&Visit, FileNames &F) {
  Visit("file", F.File), Visit("names", F.Names);
}
template <class V> void fields(V &&Visit, UnitFacts &U) {
  Visit("mainFile", U.MainFile), Visit("dependencies", U.Dependencies);
  Visit("declarations", U.Declarations), Visit("edits", U.Edits), Visit("sites", U.Sites);
  Visit("flows", U.Flows), Visit("lockCalls", U.LockCalls), Visit("escapes", U.Escapes),
      Visit("functions", U.Functions);
  Visit("taken", U.Taken), Visit("pointerCasts", U.PointerCasts);
  Visit("openTypes", U.OpenTypes), Visit("functionFlows", U.FunctionFlows);
  Visit("skipped", U.Skipped), Visit("unrunCalls", U.UnrunCalls);
  Visit("lockLikes", U.LockLikes);
  Visit("undefinedUses", U.UndefinedUses), Visit("lockRecords", U.LockRecords);
  Visit("definedVariables", U.DefinedVariables);
  Visit("converted", U.Converted), Visit("lockTable", U.LockTable);
  Visit("classUses", U.ClassUses), Visit("lateInits", U.LateInits);
  Visit("namesIn", U.NamesIn);
}

} // namespace relock
