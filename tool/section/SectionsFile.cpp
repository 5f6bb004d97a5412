// SPDX-License-Identifier: MIT
#include "section/SectionsFile.h"

#include "index/Encoding.h"
#include "index/FactsFile.h"
#include "index/Index.h"
#include "index/RecordFields.h"
#include "section/ProgramView.h"
#include "support/Output.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

// What a file has.
struct KeptSections {
  Questions Asked;
  std::string Answers;
  UnitSections Found;
};

template <class V> void fields(V &&Visit, Range &R) {
  Visit("begin", R.Begin), Visit("end", R.End);
}
template <class V> void fields(V &&Visit, Reference &R) {
  Visit("at", R.At), Visit("kind", R.Kind), Visit("operator", R.Operator);
}
template <class V> void fields(V &&Visit, Declarator &R) {
  Visit("statement", R.Statement), Visit("lines", R.Lines);
  Visit("specifierEnd", R.SpecifierEnd), Visit("all", R.All), Visit("index", R.Index);
  Visit("mentions", R.Mentions);
}
template <class V> void fields(V &&Visit, Variable &R) {
  Visit("outer", R.Outer), Visit("mentions", R.Mentions);
}
template <class V> void fields(V &&Visit, Capture &R) {
  Visit("name", R.Name), Visit("how", R.How), Visit("field", R.Field), Visit("local", R.Local);
  Visit("argument", R.Argument), Visit("addressField", R.AddressField);
  Visit("canonical", R.Canonical), Visit("addressCanonical", R.AddressCanonical);
  Visit("wideField", R.WideField), Visit("bits", R.Bits);
  Visit("parameter", R.Parameter), Visit("inMacro", R.InMacro), Visit("changes", R.Changes);
  Visit("dropped", R.Dropped), Visit("first", R.First), Visit("references", R.References);
  Visit("outer", R.Outer), Visit("mentions", R.Mentions), Visit("comment", R.Comment);
  Visit("copied", R.Copied), Visit("assigned", R.Assigned), Visit("stored", R.Stored);
}
template <class V> void fields(V &&Visit, EarlyExit &R) {
  Visit("unlock", R.Unlock), Visit("tail", R.Tail), Visit("value", R.Value);
  Visit("braces", R.Braces), Visit("joins", R.Joins), Visit("declares", R.Declares);
  Visit("returns", R.Returns), Visit("before", R.Before), Visit("behind", R.Behind);
  Visit("indent", R.Indent), Visit("inBlock", R.InBlock);
}
template <class V> void fields(V &&Visit, Wait::Operand &R) {
  Visit("at", R.At), Visit("text", R.Text), Visit("before", R.Before), Visit("behind", R.Behind);
}
template <class V> void fields(V &&Visit, Wait &R) {
  Visit("call", R.Call), Visit("statement", R.Statement), Visit("whole", R.Whole);
  Visit("braces", R.Braces), Visit("condition", R.Condition), Visit("clock", R.Clock);
  Visit("deadline", R.Deadline);
}
template <class V> void fields(V &&Visit, KeptDeclaration::Value &R) {
  Visit("name", R.Name), Visit("type", R.Type), Visit("initial", R.Initial);
}
template <class V> void fields(V &&Visit, KeptDeclaration &R) {
  Visit("at", R.At), Visit("lines", R.Lines), Visit("inFor", R.InFor), Visit("values", R.Values);
}
template <class V> void fields(V &&Visit, Companion &R) {
  Visit("node", R.Node), Visit("name", R.Name), Visit("facts", R.Facts);
  Visit("through", R.Facts.Through), Visit("elsewhere", R.Facts.Elsewhere);
  Visit("prototypes", R.Prototypes), Visit("arguments", R.Arguments);
  Visit("around", R.Around), Visit("unlockNode", R.UnlockNode), Visit("unlock", R.Unlock);
  Visit("unlockName", R.UnlockName), Visit("configuration", R.Configuration);
}
template <class V> void fields(V &&Visit, MacroRest::Definition &R) {
  Visit("at", R.At), Visit("text", R.Text);
}
template <class V> void fields(V &&Visit, MacroRest &R) {
  Visit("macro", R.Macro), Visit("use", R.Use), Visit("text", R.Text);
  Visit("definitions", R.Definitions);
}
template <class V> void fields(V &&Visit, Extraction &R) {
  Visit("file", R.File), Visit("whole", R.Whole), Visit("body", R.Body);
  Visit("functionBegin", R.FunctionBegin), Visit("conditions", R.Conditions);
  Visit("conditionGroups", R.ConditionGroups), Visit("functionName", R.FunctionName);
  Visit("lock", R.Lock), Visit("guard", R.Guard), Visit("directive", R.Directive);
  Visit("textBefore", R.TextBefore), Visit("textBehind", R.TextBehind);
  Visit("groups", R.Groups), Visit("push", R.Push), Visit("before", R.Before);
  Visit("behind", R.Behind), Visit("macro", R.Macro), Visit("through", R.Through);
  Visit("wrappers", R.Wrappers), Visit("cleanup", R.Cleanup), Visit("rests", R.Rests);
  Visit("exits", R.Exits);
  Visit("completes", R.Completes), Visit("returns", R.Returns), Visit("result", R.Result);
  Visit("waits", R.Waits), Visit("kept", R.Kept), Visit("hoisted", R.Hoisted);
  Visit("hoistAt", R.HoistAt), Visit("firstDeclares", R.FirstDeclares);
  Visit("lastLabel", R.LastLabel), Visit("captures", R.Captures), Visit("gone", R.Gone);
  Visit("lockNodes", R.LockNodes), Visit("taken", R.Taken), Visit("indent", R.Indent);
  Visit("bodyIndent", R.BodyIndent), Visit("inBranch", R.InBranch);
  Visit("indentUnit", R.IndentUnit), Visit("braceOnOwnLine", R.BraceOnOwnLine);
  Visit("inline", R.Inline), Visit("ownStatics", R.OwnStatics);
  Visit("functionNames", R.FunctionNames), Visit("mixedDeclarations", R.MixedDeclarations);
  Visit("c99", R.C99);
}
template <class V> void fields(V &&Visit, LockPart &R) {
  Visit("node", R.Node), Visit("part", R.Part);
}
template <class V> void fields(V &&Visit, LockUse &R) {
  Visit("function", R.Function), Visit("name", R.Name), Visit("lock", R.Lock), Visit("at", R.At);
}
template <class V> void fields(V &&Visit, UnderLock &R) {
  Visit("held", R.Held), Visit("does", R.Does), Visit("taken", R.Taken);
  Visit("callee", R.Callee), Visit("at", R.At), Visit("function", R.Function);
  Visit("functionName", R.FunctionName), Visit("surely", R.Surely);
}
template <class V> void fields(V &&Visit, InnerLock &R) {
  Visit("lock", R.Lock), Visit("at", R.At);
}
template <class V> void fields(V &&Visit, ResultTest &R) {
  Visit("at", R.At), Visit("wrapper", R.Wrapper);
}
template <class V> void fields(V &&Visit, Step &R) { Visit("text", R.Text), Visit("at", R.At); }
template <class V> void fields(V &&Visit, Reason &R) {
  Visit("code", R.Code), Visit("message", R.Message), Visit("at", R.At), Visit("way", R.Way);
}
template <class V> void fields(V &&Visit, Section &R) {
  Visit("at", R.At), Visit("kind", R.Kind), Visit("node", R.Node);
  Visit("functionName", R.FunctionName), Visit("functionAt", R.FunctionAt);
  Visit("function", R.Function), Visit("macroPlaces", R.MacroPlaces), Visit("form", R.Form);
  Visit("throughWrapper", R.ThroughWrapper), Visit("against", R.Against);
  Visit("calls", R.Calls), Visit("indirectCalls", R.IndirectCalls);
  Visit("identityUses", R.IdentityUses), Visit("loads", R.Loads), Visit("lock", R.Lock);
  Visit("operandChanges", R.OperandChanges), Visit("relocks", R.Relocks);
  Visit("inner", R.Inner), Visit("otherInner", R.OtherInner), Visit("touched", R.Touched);
  Visit("asksForName", R.AsksForName), Visit("storesThroughPointer", R.StoresThroughPointer);
  Visit("usesFloat", R.UsesFloat), Visit("tests", R.Tests), Visit("varying", R.Varying);
  Visit("trusts", R.Trusts);
  Visit("needsEarly", R.NeedsEarly);
  Visit("extract", R.Extract), Visit("continues", R.Continues);
}
template <class V> void fields(V &&Visit, Questions &R) {
  Visit("functions", R.Functions), Visit("locks", R.Locks), Visit("otherLocks", R.OtherLocks);
  Visit("givenAt", R.GivenAt), Visit("pointerEffects", R.PointerEffects);
}
template <class V> void fields(V &&Visit, UnitSections &R) {
  Visit("sections", R.Sections), Visit("loose", R.Loose), Visit("under", R.Under);
  Visit("takes", R.Takes), Visit("others", R.Others), Visit("assertions", R.Assertions);
  Visit("takenAgain", R.TakenAgain), Visit("keepers", R.Keepers);
}
template <class V> void fields(V &&Visit, KeptSections &R) {
  Visit("asked", R.Asked), Visit("answers", R.Answers), Visit("found", R.Found);
}

static std::string sectionsPath(StringRef Facts) {
  SmallString<256> Path(Facts);
  sys::path::replace_extension(Path, "sections");
  return std::string(Path);
}

static std::optional<UnitSections> keptSections(const std::string &Path, StringRef Origin,
                                                const Program &Linked) {
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  std::optional<std::string> Bytes =
      File ? unpackBytes((*File)->getBuffer(), Origin) : std::nullopt;
  if (!Bytes)
    return std::nullopt;
  SharedPools None; // sections share no records
  auto Kept = Decoder::decode<KeptSections>(*Bytes, None);
  if (!Kept || Kept->Asked.answers(Linked) != Kept->Answers)
    return std::nullopt;
  return std::move(Kept->Found);
}

UnitSections sectionsOf(const IndexResult &Index, size_t Unit, const Program &Linked) {
  const std::string Path = sectionsPath(Index.FactsFiles[Unit]);
  const std::string Origin = textOrigin(Index.Commands[Unit], Index.Units[Unit]);
  if (std::optional<UnitSections> Kept = keptSections(Path, Origin, Linked))
    return std::move(*Kept);
  ProgramView View(Linked);
  KeptSections New;
  New.Found = findSections(Index.Commands[Unit], Index.Units[Unit], View);
  New.Asked = View.asked();
  New.Answers = New.Asked.answers(Linked);
  // Without the file they are found again.
  consumeError(writeAtomically(
      Path, [&](raw_ostream &OS) { OS << packBytes(Encoder::encode(New), Origin); }));
  return std::move(New.Found);
}

} // namespace relock
