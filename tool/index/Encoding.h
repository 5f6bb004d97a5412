// SPDX-License-Identifier: MIT
//
// Records as bytes, for the files that keep them. A record lists its fields once, in a function
// fields(Visit, Record), which encoder and decoder both walk.
#pragma once

#include "index/FileName.h"
#include "index/Rare.h"
#include "index/SharedRecords.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace relock {

// The records as bytes: numbers in groups of seven bits, the lowest first; each text once, in a
// table before the records, which have its index. A record that other units may have is a text,
// so that it is the same bytes in all of them.
struct Encoder {
  llvm::StringMap<unsigned> Indices;
  std::vector<llvm::StringRef> Texts; // into Indices
  llvm::SmallVector<char, 0> Records;
  llvm::raw_svector_ostream OS{Records};

  void operator()(llvm::StringRef, auto &Value) { write(Value); }
  void write(std::string &Value) {
    auto [At, New] = Indices.try_emplace(Value, Texts.size());
    if (New)
      Texts.push_back(At->getKey());
    llvm::encodeULEB128(At->second, OS);
  }
  void write(FileName &Value) {
    std::string Text = Value;
    write(Text);
  }
  void write(bool &Value) { OS << char(Value); }
  void write(unsigned &Value) { llvm::encodeULEB128(Value, OS); }
  void write(size_t &Value) { llvm::encodeULEB128(Value, OS); }
  void write(int &Value) { llvm::encodeSLEB128(Value, OS); }
  template <class E>
    requires std::is_enum_v<E>
  void write(E &Value) {
    llvm::encodeULEB128(unsigned(Value), OS);
  }
  template <class T> void write(std::optional<T> &Value) { writeIfAny(Value); }
  template <class T> void write(Rare<T> &Value) { writeIfAny(Value); }
  template <class T> void write(std::vector<T> &Values) {
    llvm::encodeULEB128(Values.size(), OS);
    for (T &Value : Values)
      write(Value);
  }
  template <class A, class B> void write(std::pair<A, B> &Value) {
    write(Value.first), write(Value.second);
  }
  template <class... T> void write(std::tuple<T...> &Value) {
    std::apply([&](auto &...Part) { (write(Part), ...); }, Value);
  }
  template <class T> void write(std::set<T> &Values) { writeEach<T>(Values); }
  template <class K, class T> void write(std::map<K, T> &Values) {
    writeEach<std::pair<K, T>>(Values);
  }
  template <class T> void write(SharedRecords<T> &Records) {
    llvm::encodeULEB128(Records.size(), OS);
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
    llvm::raw_string_ostream OS(Bytes);
    llvm::encodeULEB128(Encoded.Texts.size(), OS);
    for (llvm::StringRef Text : Encoded.Texts) {
      llvm::encodeULEB128(Text.size(), OS);
      OS << Text;
    }
    OS << Encoded.Records;
    return Bytes;
  }

private:
  template <class T> void writeIfAny(T &Value) {
    OS << char(bool(Value));
    if (Value)
      write(*Value);
  }
  template <class T, class List> void writeEach(List &Values) {
    llvm::encodeULEB128(Values.size(), OS);
    for (T Value : Values) // a copy: what a set or map has is const
      write(Value);
  }
};

// Anybody may have written the bytes: Good is false from the first one on that is not as it must
// be, and what is read then is empty.
struct Decoder {
  const uint8_t *At, *End;
  std::vector<llvm::StringRef> Texts;
  std::vector<std::optional<FileName>> Names; // of those texts that have been read as such
  SharedPools &Known;
  bool Good = true;

  Decoder(llvm::StringRef Bytes, SharedPools &Known)
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
    uint64_t Result = llvm::decodeULEB128(At, &Size, End, &Wrong);
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

  void operator()(llvm::StringRef, auto &Value) { read(Value); }
  llvm::StringRef text() {
    uint64_t Index = number();
    Good &= Index < Texts.size();
    return Good ? Texts[Index] : "";
  }
  void read(std::string &Value) { Value = text().str(); }
  void read(FileName &Value) {
    uint64_t Index = number();
    Good &= Index < Texts.size();
    if (!Good)
      return;
    Names.resize(Texts.size());
    if (!Names[Index])
      Names[Index] = FileName(Texts[Index]);
    Value = *Names[Index];
  }
  void read(bool &Value) {
    uint64_t Number = number();
    Good &= Number <= 1;
    Value = Number;
  }
  void read(unsigned &Value) { Value = unsigned(number()); }
  void read(size_t &Value) { Value = size_t(number()); }
  void read(int &Value) {
    unsigned Size = 0;
    const char *Wrong = nullptr;
    int64_t Result = llvm::decodeSLEB128(At, &Size, End, &Wrong);
    Good &= !Wrong;
    At = Good ? At + Size : End;
    Value = int(Result);
  }
  template <class E>
    requires std::is_enum_v<E>
  void read(E &Value) {
    Value = E(int(number()));
  }
  template <class T> void read(std::optional<T> &Value) { readIfAny(Value); }
  template <class T> void read(Rare<T> &Value) { readIfAny(Value); }
  template <class T> void read(std::vector<T> &Values) {
    uint64_t Count = count();
    for (uint64_t I = 0; I < Count && Good; ++I)
      read(Values.emplace_back());
  }
  template <class A, class B> void read(std::pair<A, B> &Value) {
    read(Value.first), read(Value.second);
  }
  template <class... T> void read(std::tuple<T...> &Value) {
    std::apply([&](auto &...Part) { (read(Part), ...); }, Value);
  }
  template <class T> void read(std::set<T> &Values) { readEach<T>(Values); }
  template <class K, class T> void read(std::map<K, T> &Values) {
    readEach<std::pair<K, T>>(Values);
  }
  template <class T> void read(SharedRecords<T> &Records) {
    uint64_t Count = count();
    for (uint64_t I = 0; I < Count && Good; ++I) {
      llvm::StringRef Bytes = text();
      auto Record = Known.of<T>().get(Bytes, [&] { return decode<T>(Bytes, Known); });
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
  template <class T> static std::shared_ptr<T> decode(llvm::StringRef Bytes, SharedPools &Known) {
    auto Record = std::make_shared<T>();
    Decoder Encoded(Bytes, Known);
    Encoded.read(*Record);
    return Encoded.Good && Encoded.At == Encoded.End ? Record : nullptr;
  }

private:
  template <class T> void readIfAny(T &Value) {
    bool Has = false;
    read(Has);
    if (Has)
      read(Value.emplace());
  }
  template <class T, class List> void readEach(List &Values) {
    uint64_t Count = count();
    for (uint64_t I = 0; I < Count && Good; ++I) {
      T Value;
      read(Value);
      Values.insert(std::move(Value));
    }
  }
};

} // namespace relock
