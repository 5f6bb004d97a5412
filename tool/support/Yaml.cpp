// SPDX-License-Identifier: MIT
#include "support/Yaml.h"

#include "support/Messages.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace llvm;

namespace relock {

char YamlError::ID;

YamlReader::YamlReader(StringRef File, MemoryBufferRef Text, StringRef What)
    : Text(Text), File(File), What(What), Last{File.str(), 0, 1, 1} {}

Error YamlReader::readDocument(function_ref<bool(yaml::Node *)> ReadRoot) {
  Manager.setDiagHandler(
      [](const SMDiagnostic &D, void *Self) {
        static_cast<YamlReader *>(Self)->failAt(D.getLineNo(), D.getColumnNo() + 1,
                                                "is not YAML: " + D.getMessage());
      },
      this);
  yaml::Stream Stream(Text, Manager);
  yaml::document_iterator Document = Stream.begin();
  if (yaml::Node *Root = Document->getRoot())
    ReadRoot(Root);
  if (!Problem && !Stream.failed() && ++Document != Stream.end())
    fail(Document->getRoot(), What + " is one YAML document; this begins another one");
  return Problem ? make_error<YamlError>(*Problem) : Error::success();
}

bool YamlReader::failAt(unsigned Line, unsigned Column, const Twine &Text, StringRef Code) {
  if (!Problem)
    Problem.emplace(Position{File, 0, Line, Column}, Text.str(), Code.str());
  return false;
}

bool YamlReader::fail(const yaml::Node *Where, const Twine &Text, StringRef Code) {
  Position At = Where ? place(Where) : Last;
  return failAt(At.Line, At.Column, Text, Code);
}

bool YamlReader::unknownKey(const yaml::Node *At, StringRef Key, StringRef Known) {
  return fail(At, "there is no key '" + Key + "' here; there are " + Known);
}

// Nodes that stand for missing text may have no place; then it is that of the text before.
Position YamlReader::place(const yaml::Node *N) {
  if (SMLoc Start = N->getSourceRange().Start; Start.isValid()) {
    std::tie(Last.Line, Last.Column) = Manager.getLineAndColumn(Start);
    Last.Offset = Start.getPointer() - Text.getBufferStart();
  }
  return Last;
}

bool YamlReader::members(yaml::Node *N, StringRef Mapping,
                         function_ref<bool(StringRef, const yaml::Node *, yaml::Node *)> Read) {
  auto *Members = dyn_cast_or_null<yaml::MappingNode>(N);
  if (!Members)
    return fail(N, Mapping + " must be a mapping, `key: value`");
  std::set<std::string> Seen;
  for (yaml::KeyValueNode &Member : *Members) {
    yaml::Node *KeyNode = Member.getKey();
    std::optional<std::string> Key = scalar(KeyNode);
    if (Problem)
      return false;
    if (!Key)
      return fail(KeyNode, "a key must be a word");
    if (!Seen.insert(*Key).second)
      return fail(KeyNode, "'" + Twine(*Key) + "' stands here twice");
    yaml::Node *Value = Member.getValue();
    if (Problem || !Value || !Read(*Key, KeyNode, Value))
      return fail(KeyNode, "'" + Twine(*Key) + "' has no value");
  }
  return !Problem;
}

bool YamlReader::elements(yaml::Node *N, StringRef Key, function_ref<bool(yaml::Node *)> Read) {
  auto *Sequence = dyn_cast<yaml::SequenceNode>(N);
  if (!Sequence)
    return fail(N, "'" + Key + "' must be a list");
  for (yaml::Node &Element : *Sequence)
    if (Problem || !Read(&Element))
      return false;
  return !Problem;
}

std::optional<std::string> YamlReader::scalar(const yaml::Node *N) {
  if (const auto *Block = dyn_cast_or_null<yaml::BlockScalarNode>(N))
    return Block->getValue().str();
  const auto *Scalar = dyn_cast_or_null<yaml::ScalarNode>(N);
  if (!Scalar)
    return std::nullopt;
  SmallString<64> Storage;
  return Scalar->getValue(Storage).str();
}

bool YamlReader::readVersion(const yaml::Node *Value, StringRef Remedy, StringRef Code) {
  std::optional<std::string> Version = scalar(Value);
  if (!Version)
    return fail(Value, "'version' must be a number");
  return Version == "1" || fail(Value,
                                "the file has version '" + Twine(*Version) +
                                    "', and this relock reads version 1" + Remedy,
                                Code);
}

bool YamlReader::readText(const yaml::Node *N, StringRef Key, std::string &Read) {
  std::optional<std::string> Found = scalar(N);
  if (!Found)
    return fail(N, "'" + Key + "' must be text");
  Read = StringRef(*Found).trim().str();
  return true;
}

Expected<std::unique_ptr<MemoryBuffer>> openYaml(StringRef File, StringRef What) {
  SmallString<256> Path(File);
  sys::fs::make_absolute(Path);
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  ErrorOr<std::unique_ptr<MemoryBuffer>> Text = MemoryBuffer::getFile(Path);
  if (!Text)
    return make_error<YamlError>(Position{Path.str().str(), 0, 0, 0},
                                 (What + " cannot be read: " + Text.getError().message()).str());
  return std::move(*Text);
}

void reportYaml(Error Failed, StringRef Code) {
  handleAllErrors(std::move(Failed), [&](const YamlError &E) {
    if (!E.At.Line)
      messageFor(E.At.File, E.Text, Code);
    else
      message(E.At, E.Text, E.Code.empty() ? Code : StringRef(E.Code));
  });
}

} // namespace relock
