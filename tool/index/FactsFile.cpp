// SPDX-License-Identifier: MIT
//
// A file is the magic word, the checksum of all that follows, how the rest is compressed, its size
// before, the size of the origin, the origin, and the compressed bytes. Numbers have eight bytes,
// the lowest first.
#include "index/FactsFile.h"

#include "index/Serialize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace relock {
namespace {

// Its last letter goes up with each change of what a file is.
constexpr StringRef Magic = "relockFD";

// Far more than the facts of any unit; a file that speaks of more is not ours.
constexpr uint64_t MaxSize = uint64_t(1) << 30;

struct Parts {
  Compression Compressed;
  uint64_t Size;
  StringRef Origin, Content;
};

std::string number(uint64_t Value) {
  char Bytes[8];
  support::endian::write64le(Bytes, Value);
  return {Bytes, sizeof Bytes};
}

std::optional<uint64_t> takeNumber(StringRef &File) {
  if (File.size() < 8)
    return std::nullopt;
  uint64_t Value = support::endian::read64le(File.data());
  File = File.drop_front(8);
  return Value;
}

std::optional<Parts> partsOf(StringRef File) {
  if (!File.consume_front(Magic))
    return std::nullopt;
  std::optional<uint64_t> Sum = takeNumber(File);
  if (!Sum || xxh3_64bits(arrayRefFromStringRef(File)) != *Sum)
    return std::nullopt;
  std::optional<uint64_t> Compressed = takeNumber(File), Size = takeNumber(File),
                          OriginSize = takeNumber(File);
  if (!OriginSize || *OriginSize > File.size() || *Size > MaxSize)
    return std::nullopt;
  return Parts{Compression(*Compressed), *Size, File.take_front(*OriginSize),
               File.drop_front(*OriginSize)};
}

std::optional<compression::Format> formatOf(Compression Compressed) {
  if (Compressed == Compression::Zstd)
    return compression::Format::Zstd;
  if (Compressed == Compression::Zlib)
    return compression::Format::Zlib;
  return std::nullopt;
}

} // namespace

Compression bestCompression() {
  if (compression::zstd::isAvailable())
    return Compression::Zstd;
  return compression::zlib::isAvailable() ? Compression::Zlib : Compression::None;
}

std::string packFacts(const UnitFacts &Facts, StringRef Origin, Compression Compressed) {
  return packBytes(encodeFacts(Facts), Origin, Compressed);
}

std::string packBytes(StringRef Bytes, StringRef Origin, Compression Compressed) {
  SmallVector<uint8_t, 0> Small;
  StringRef Content = Bytes;
  if (std::optional<compression::Format> Format = formatOf(Compressed)) {
    compression::compress(compression::Params(*Format), arrayRefFromStringRef(Bytes), Small);
    Content = toStringRef(Small);
  }
  std::string Rest = number(uint64_t(Compressed)) + number(Bytes.size()) + number(Origin.size()) +
                     Origin.str() + Content.str();
  return Magic.str() + number(xxh3_64bits(arrayRefFromStringRef(Rest))) + Rest;
}

std::optional<std::string> unpackBytes(StringRef File, StringRef Origin) {
  std::optional<Parts> Found = partsOf(File);
  if (!Found || Found->Origin != Origin)
    return std::nullopt;
  if (Found->Compressed == Compression::None)
    return Found->Content.str();
  std::optional<compression::Format> Format = formatOf(Found->Compressed);
  if (!Format || compression::getReasonIfUnsupported(*Format))
    return std::nullopt;
  SmallVector<uint8_t, 0> Bytes;
  if (Error Failed = compression::decompress(*Format, arrayRefFromStringRef(Found->Content), Bytes,
                                             Found->Size)) {
    consumeError(std::move(Failed));
    return std::nullopt;
  }
  return toStringRef(Bytes).str();
}

StringRef originOf(StringRef File) {
  std::optional<Parts> Found = partsOf(File);
  return Found ? Found->Origin : "";
}

} // namespace relock
