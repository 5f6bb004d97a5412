// SPDX-License-Identifier: MIT
#include "index/Serialize.h"

#include "index/Encoding.h"
#include "index/RecordFields.h"

#include "llvm/Support/JSON.h"

#include <type_traits>

using namespace llvm;

namespace relock {
namespace {

struct Printer {
  json::OStream &J;
  void operator()(StringRef Name, auto &Value) {
    J.attributeBegin(Name);
    write(Value);
    J.attributeEnd();
  }
  void write(std::string &Value) { J.value(json::fixUTF8(Value)); }
  void write(FileName &Value) { J.value(json::fixUTF8(Value)); }
  void write(bool &Value) { J.value(Value); }
  void write(unsigned &Value) { J.value(int64_t(Value)); }
  void write(int &Value) { J.value(Value); }
  template <class E>
    requires std::is_enum_v<E>
  void write(E &Value) {
    J.value(int(Value));
  }
  template <class T> void write(std::optional<T> &Value) { writeIfAny(Value); }
  template <class T> void write(Rare<T> &Value) { writeIfAny(Value); }
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

private:
  template <class T> void writeIfAny(T &Value) {
    if (Value)
      write(*Value);
    else
      J.value(nullptr);
  }
};

struct Sharer {
  SharedPools &Known;
  void operator()(StringRef, auto &Value) { share(Value); }
  template <class T> void share(SharedRecords<T> &Records) {
    SharedRecords<T> Shared;
    for (const auto &Record : Records.handles())
      Shared.add(Known.of<T>().get(Encoder::encode(*Record), [&] { return Record; }));
    Records = std::move(Shared);
  }
  template <class T> void share(T &) {} // no other unit needs to have it
};

} // namespace

std::string encodeFacts(const UnitFacts &Facts) { return Encoder::encode(Facts); }

std::optional<UnitFacts> decodeFacts(StringRef Bytes, SharedPools &Known) {
  std::shared_ptr<UnitFacts> Facts = Decoder::decode<UnitFacts>(Bytes, Known);
  return Facts ? std::optional(std::move(*Facts)) : std::nullopt;
}

void shareRecords(UnitFacts &Facts, SharedPools &Known) { fields(Sharer{Known}, Facts); }

void printFacts(raw_ostream &OS, const UnitFacts &Facts) {
  json::OStream J(OS, /*IndentSize=*/1);
  UnitFacts Copy = Facts;
  Printer{J}.write(Copy);
  OS << "\n";
}

} // namespace relock
