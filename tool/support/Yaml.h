// SPDX-License-Identifier: MIT
//
// Reads the YAML files that a person edits: stops at the first thing that is wrong, and says where
// it is.
#pragma once

#include "index/Records.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

#include <optional>
#include <string>

namespace relock {

// The file is not what it should be: At, or the file as a whole where At has no line.
struct YamlError : llvm::ErrorInfo<YamlError> {
  static char ID;
  Position At;
  std::string Text;
  std::string Code; // empty: the one of files of this kind

  YamlError(Position At, std::string Text, std::string Code = "")
      : At(std::move(At)), Text(std::move(Text)), Code(std::move(Code)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

// Says what is wrong: with the error's code, or with this one of files of its kind.
void reportYaml(llvm::Error Failed, llvm::StringRef Code);

// A file's text, under its absolute path. What: how messages call it, `the project file`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> openYaml(llvm::StringRef File,
                                                             llvm::StringRef What);

class YamlReader {
protected:
  // What: how messages call such a file, `a project file`.
  YamlReader(llvm::StringRef File, llvm::MemoryBufferRef Text, llvm::StringRef What);
  ~YamlReader() = default;

  llvm::Error readDocument(llvm::function_ref<bool(llvm::yaml::Node *)> ReadRoot);

  // These return false, as all that read do after an error. Only the first one counts.
  bool failAt(unsigned Line, unsigned Column, const llvm::Twine &Text, llvm::StringRef Code = "");
  bool fail(const llvm::yaml::Node *Where, const llvm::Twine &Text, llvm::StringRef Code = "");
  bool unknownKey(const llvm::yaml::Node *At, llvm::StringRef Key, llvm::StringRef Known);

  Position place(const llvm::yaml::Node *N);

  // Visits the members of a mapping. Read takes the key, its node and the value.
  bool members(
      llvm::yaml::Node *N, llvm::StringRef Mapping,
      llvm::function_ref<bool(llvm::StringRef, const llvm::yaml::Node *, llvm::yaml::Node *)> Read);
  bool elements(llvm::yaml::Node *N, llvm::StringRef Key,
                llvm::function_ref<bool(llvm::yaml::Node *)> Read);
  static std::optional<std::string> scalar(const llvm::yaml::Node *N);
  bool readVersion(const llvm::yaml::Node *Value, llvm::StringRef Remedy = "",
                   llvm::StringRef Code = "");
  bool readText(const llvm::yaml::Node *N, llvm::StringRef Key, std::string &Read);

  llvm::MemoryBufferRef Text;
  llvm::SourceMgr Manager;
  std::optional<YamlError> Problem; // the first one

private:
  std::string File, What;
  Position Last; // where the reader is
};

} // namespace relock
