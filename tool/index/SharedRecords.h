// SPDX-License-Identifier: MIT
//
// Units share most of what their headers say: facts of functions and files that are equal in many
// units. In a program of thousands of units each is in memory once, and is decoded and linked once.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/iterator.h"
#include "llvm/Support/xxhash.h"

#include <array>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace relock {

// A list of records that nobody changes, as other lists may have the same.
template <class T> class SharedRecords {
public:
  using Handle = std::shared_ptr<const T>; // the same for two: the records are equal

  void add(T Record) { Handles.push_back(std::make_shared<const T>(std::move(Record))); }
  void add(Handle Record) { Handles.push_back(std::move(Record)); }
  size_t size() const { return Handles.size(); }
  auto begin() const { return Iterator(Handles.begin()); }
  auto end() const { return Iterator(Handles.end()); }
  const std::vector<Handle> &handles() const { return Handles; }

private:
  using Iterator = llvm::pointee_iterator<typename std::vector<Handle>::const_iterator>;
  std::vector<Handle> Handles;
};

// The records of one type in a program, by the bytes that they are encoded as. Threads may use it
// at a time.
template <class T> class SharedPool {
public:
  using Handle = typename SharedRecords<T>::Handle;

  // What Decode() makes of the bytes, if nobody has asked for these before; null: they are wrong.
  template <class Function> Handle get(llvm::StringRef Bytes, Function Decode) {
    auto [Low, High] = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(Bytes));
    Part &Mine = Parts[Low % Parts.size()];
    std::pair Key(Low, High);
    {
      std::lock_guard Lock(Mine.Access);
      if (auto Known = Mine.Records.find(Key); Known != Mine.Records.end())
        return Known->second;
    }
    Handle New = Decode(); // two threads may do this at a time: the first one's stays
    if (!New)
      return New;
    std::lock_guard Lock(Mine.Access);
    return Mine.Records.try_emplace(Key, std::move(New)).first->second;
  }

private:
  struct Part {
    std::mutex Access;
    llvm::DenseMap<std::pair<uint64_t, uint64_t>, Handle> Records;
  };
  std::array<Part, 32> Parts;
};

// What lists of the units have, each record once, in the order of the units.
template <class Unit, class T>
std::vector<std::shared_ptr<const T>> distinct(const std::vector<Unit> &Units,
                                               SharedRecords<T> Unit::*List) {
  std::vector<std::shared_ptr<const T>> Result;
  llvm::DenseSet<const T *> Seen;
  for (const Unit &U : Units)
    for (const auto &Record : (U.*List).handles())
      if (Seen.insert(Record.get()).second)
        Result.push_back(Record);
  return Result;
}

struct Dependency;
struct Escape;
struct Function;
struct FunctionFlow;
struct PointerCast;
struct TakenFunction;

// One of each type.
class SharedPools {
public:
  template <class T> SharedPool<T> &of() { return std::get<SharedPool<T>>(Pools); }

private:
  std::tuple<SharedPool<Dependency>, SharedPool<Escape>, SharedPool<Function>,
             SharedPool<FunctionFlow>, SharedPool<PointerCast>, SharedPool<TakenFunction>>
      Pools;
};

} // namespace relock
