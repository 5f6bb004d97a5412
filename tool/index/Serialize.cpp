// SPDX-License-Identifier: MIT
//
// Each record lists its fields once, in fields(); encoder, decoder and printer all walk that list.
#include "index/Serialize.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

#include <type_traits>

using namespace llvm;

namespace relock {
namespace {

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
  Visit("function", C.Function), Visit("name", C.Name), Visit("at", C.At);
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
}
template <class V> void fields(V &&Visit, Prototype &P) {
  Visit("at", P.At), Visit("parameters", P.Parameters);
}
template <class V> void fields(V &&Visit, WrapperPlace &P) {
  Visit("exported", P.Exported), Visit("declared", P.Declared), Visit("common", P.Common);
  Visit("begin", P.Begin), Visit("end", P.End);
}
template <class V> void fields(V &&Visit, Wrapper &W) {
  fields(Visit, static_cast<WrapperPlace &>(W));
  Visit("kind", W.Kind), Visit("node", W.Node), Visit("variable", W.Variable);
  Visit("expression", W.Expression);
  Visit("key", W.Key), Visit("parameter", W.Parameter), Visit("pure", W.Pure);
  Visit("tests", W.Tests), Visit("aborts", W.Aborts);
  Visit("condition", W.Condition), Visit("deadline", W.Deadline);
  Visit("loads", W.Loads), Visit("loadsUnknown", W.LoadsUnknown), Visit("computed", W.Computed);
  Visit("parameters", W.Parameters), Visit("storage", W.Storage), Visit("taken", W.Taken);
}
template <class V> void fields(V &&Visit, RelayedArgument &A) {
  Visit("operand", A.Operand), Visit("loads", A.Loads), Visit("loadsUnknown", A.LoadsUnknown);
  Visit("opaque", A.Opaque), Visit("part", A.Part), Visit("changed", A.Changed);
}
template <class V> void fields(V &&Visit, Relay &R) {
  fields(Visit, static_cast<WrapperPlace &>(R));
  Visit("callee", R.Callee), Visit("arguments", R.Arguments);
  Visit("pure", R.Pure), Visit("tests", R.Tests), Visit("aborts", R.Aborts);
  Visit("value", R.Value);
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
  Visit("waits", F.Waits), Visit("endsProcess", F.EndsProcess), Visit("lastCallee", F.LastCallee),
      Visit("releases", F.Releases), Visit("stores", F.Stores);
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
}

struct Printer {
  json::OStream &J;
  void operator()(StringRef Name, auto &Value) {
    J.attributeBegin(Name);
    write(Value);
    J.attributeEnd();
  }
  void write(std::string &Value) { J.value(json::fixUTF8(Value)); }
  void write(bool &Value) { J.value(Value); }
  void write(unsigned &Value) { J.value(int64_t(Value)); }
  void write(int &Value) { J.value(Value); }
  template <class E>
    requires std::is_enum_v<E>
  void write(E &Value) {
    J.value(int(Value));
  }
  template <class T> void write(std::optional<T> &Value) {
    if (Value)
      write(*Value);
    else
      J.value(nullptr);
  }
  template <class T> void write(std::vector<T> &Values) {
    J.array([&] {
      for (T &Value : Values)
        write(Value);
    });
  }
  template <class T> void write(SharedRecords<T> &Records) {
    J.array([&] {
      for (T Record : Records)
        write(Record);
    });
  }
  template <class T>
    requires std::is_class_v<T>
  void write(T &Record) {
    J.object([&] { fields(*this, Record); });
  }
};

// The records as bytes: numbers in groups of seven bits, the lowest first; each text once, in a
// table before the records, which have its index. A record that other units may have is a text,
// so that it is the same bytes in all of them.
struct Encoder {
  StringMap<unsigned> Indices;
  std::vector<StringRef> Texts; // into Indices
  SmallVector<char, 0> Records;
  raw_svector_ostream OS{Records};

  void operator()(StringRef, auto &Value) { write(Value); }
  void write(std::string &Value) {
    auto [At, New] = Indices.try_emplace(Value, Texts.size());
    if (New)
      Texts.push_back(At->getKey());
    encodeULEB128(At->second, OS);
  }
  void write(bool &Value) { OS << char(Value); }
  void write(unsigned &Value) { encodeULEB128(Value, OS); }
  void write(int &Value) { encodeSLEB128(Value, OS); }
  template <class E>
    requires std::is_enum_v<E>
  void write(E &Value) {
    encodeULEB128(unsigned(Value), OS);
  }
  template <class T> void write(std::optional<T> &Value) {
    OS << char(Value.has_value());
    if (Value)
      write(*Value);
  }
  template <class T> void write(std::vector<T> &Values) {
    encodeULEB128(Values.size(), OS);
    for (T &Value : Values)
      write(Value);
  }
  template <class T> void write(SharedRecords<T> &Records) {
    encodeULEB128(Records.size(), OS);
    for (const T &Record : Records) {
      std::string Bytes = encode(Record);
      write(Bytes);
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void write(T &Record) {
    fields(*this, Record);
  }

  template <class T> static std::string encode(T Record) { // a copy: fields() serves readers, too
    Encoder Encoded;
    Encoded.write(Record);
    std::string Bytes;
    raw_string_ostream OS(Bytes);
    encodeULEB128(Encoded.Texts.size(), OS);
    for (StringRef Text : Encoded.Texts) {
      encodeULEB128(Text.size(), OS);
      OS << Text;
    }
    OS << Encoded.Records;
    return Bytes;
  }
};

// Anybody may have written the bytes: Good is false from the first one on that is not as it must
// be, and what is read then is empty.
struct Decoder {
  const uint8_t *At, *End;
  std::vector<StringRef> Texts;
  SharedPools &Known;
  bool Good = true;

  Decoder(StringRef Bytes, SharedPools &Known)
      : At(Bytes.bytes_begin()), End(Bytes.bytes_end()), Known(Known) {
    uint64_t Count = count();
    Texts.reserve(Count);
    for (uint64_t I = 0; I < Count && Good; ++I) {
      uint64_t Size = count();
      Texts.push_back({reinterpret_cast<const char *>(At), size_t(Size)});
      At += Size;
    }
  }

  uint64_t number() {
    unsigned Size = 0;
    const char *Wrong = nullptr;
    uint64_t Result = decodeULEB128(At, &Size, End, &Wrong);
    Good &= !Wrong;
    At = Good ? At + Size : End;
    return Good ? Result : 0;
  }
  // Of things that take a byte at least.
  uint64_t count() {
    uint64_t Result = number();
    Good &= Result <= uint64_t(End - At);
    return Good ? Result : 0;
  }

  void operator()(StringRef, auto &Value) { read(Value); }
  StringRef text() {
    uint64_t Index = number();
    Good &= Index < Texts.size();
    return Good ? Texts[Index] : "";
  }
  void read(std::string &Value) { Value = text().str(); }
  void read(bool &Value) {
    uint64_t Number = number();
    Good &= Number <= 1;
    Value = Number;
  }
  void read(unsigned &Value) { Value = unsigned(number()); }
  void read(int &Value) {
    unsigned Size = 0;
    const char *Wrong = nullptr;
    int64_t Result = decodeSLEB128(At, &Size, End, &Wrong);
    Good &= !Wrong;
    At = Good ? At + Size : End;
    Value = int(Result);
  }
  template <class E>
    requires std::is_enum_v<E>
  void read(E &Value) {
    Value = E(int(number()));
  }
  template <class T> void read(std::optional<T> &Value) {
    bool Has = false;
    read(Has);
    if (Has)
      read(Value.emplace());
  }
  template <class T> void read(std::vector<T> &Values) {
    uint64_t Count = count();
    for (uint64_t I = 0; I < Count && Good; ++I)
      read(Values.emplace_back());
  }
  SharedPool<Function> &pool(SharedRecords<Function> &) { return Known.Functions; }
  SharedPool<Dependency> &pool(SharedRecords<Dependency> &) { return Known.Dependencies; }
  template <class T> void read(SharedRecords<T> &Records) {
    uint64_t Count = count();
    for (uint64_t I = 0; I < Count && Good; ++I) {
      StringRef Bytes = text();
      auto Record = pool(Records).get(Bytes, [&] { return decode<T>(Bytes, Known); });
      Good &= Record != nullptr;
      Records.add(std::move(Record));
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void read(T &Record) {
    fields(*this, Record);
  }

  // Null: the bytes are no such record.
  template <class T> static std::shared_ptr<T> decode(StringRef Bytes, SharedPools &Known) {
    auto Record = std::make_shared<T>();
    Decoder Encoded(Bytes, Known);
    Encoded.read(*Record);
    return Encoded.Good && Encoded.At == Encoded.End ? Record : nullptr;
  }
};

template <class T> void share(SharedRecords<T> &Records, SharedPool<T> &Known) {
  SharedRecords<T> Shared;
  for (const auto &Record : Records.handles())
    Shared.add(Known.get(Encoder::encode(*Record), [&] { return Record; }));
  Records = std::move(Shared);
}

} // namespace

std::string encodeFacts(const UnitFacts &Facts) { return Encoder::encode(Facts); }

std::optional<UnitFacts> decodeFacts(StringRef Bytes, SharedPools &Known) {
  std::shared_ptr<UnitFacts> Facts = Decoder::decode<UnitFacts>(Bytes, Known);
  return Facts ? std::optional(std::move(*Facts)) : std::nullopt;
}

void shareRecords(UnitFacts &Facts, SharedPools &Known) {
  share(Facts.Dependencies, Known.Dependencies);
  share(Facts.Functions, Known.Functions);
}

void printFacts(raw_ostream &OS, const UnitFacts &Facts) {
  json::OStream J(OS, /*IndentSize=*/1);
  UnitFacts Copy = Facts;
  Printer{J}.write(Copy);
  OS << "\n";
}

} // namespace relock
