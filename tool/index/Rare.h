// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace relock {

// Like std::optional, for what few of many records have: where there is none, it takes the room of
// a pointer.
template <class T> class Rare {
public:
  Rare() = default;
  Rare(std::optional<T> Value) : Kept(Value ? std::make_unique<T>(std::move(*Value)) : nullptr) {}
  Rare(const Rare &Other) : Kept(Other ? std::make_unique<T>(*Other) : nullptr) {}
  Rare(Rare &&) = default;
  Rare &operator=(Rare Other) {
    Kept = std::move(Other.Kept);
    return *this;
  }

  explicit operator bool() const { return Kept != nullptr; }
  T &operator*() { return *Kept; }
  const T &operator*() const { return *Kept; }
  T *operator->() { return Kept.get(); }
  const T *operator->() const { return Kept.get(); }
  T &emplace() { return *(Kept = std::make_unique<T>()); }
  void reset() { Kept.reset(); }

  friend bool operator==(const Rare &A, const Rare &B) { return A && B ? *A == *B : !A && !B; }

private:
  std::unique_ptr<T> Kept;
};

} // namespace relock
