// SPDX-License-Identifier: MIT
//
// The semantic patches, which are embedded when the command is built, and Coccinelle's `spatch`,
// which runs them on one text at a time. Coccinelle passes over what it cannot parse. So the names
// that a patch is about (the line `// Names:` of its head) are looked up in the text afterwards,
// token by token: what the patch has neither reported nor changed is part of the result.
#pragma once

#include "rewrite/Outline.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

struct SemanticPatch {
  llvm::StringRef Name, Text;

  // The value of a line of the head, `// Confidence: High`.
  llvm::StringRef head(llvm::StringRef Key) const;
  bool reports() const;        // it has the mode `report`
  bool changes() const;        // it has the mode `patch`; with both, it leaves what it cannot read
  std::string summary() const; // the first sentence of its head
};

llvm::ArrayRef<SemanticPatch> semanticPatches();
const SemanticPatch *findPatch(llvm::StringRef Name); // or null

struct PatchPlace {
  unsigned Line, Column;
  std::string Text;
};

struct PatchFailure {
  std::string File, Text, Code;
};

struct PatchResult {
  std::optional<PatchFailure> Failure;
  std::string After;                     // the new text
  std::vector<TextEdit> Edits;           // from the old text to it
  std::vector<PatchPlace> Reports;       // in the order of the text
  std::vector<PatchPlace> NotUnderstood; // names that are neither reported nor changed
};

// The path of spatch, or none: a message was printed.
std::optional<std::string> findSpatch();

// File: what messages call the text. Where the patch has both modes, Reports are what it changes.
PatchResult runPatch(const SemanticPatch &P, llvm::StringRef Spatch, llvm::StringRef File,
                     const std::string &Text);

struct PatchedFile {
  std::string File, Text;
  PatchResult Result;
};

// The same for all files, Jobs at a time, in their order. None: a message was printed.
std::optional<std::vector<PatchedFile>> runPatch(const SemanticPatch &P, llvm::StringRef Spatch,
                                                 llvm::ArrayRef<std::string> Files, unsigned Jobs);

// Prints a message for each place that the patch has passed over, and counts them.
size_t reportNotUnderstood(const SemanticPatch &P, llvm::ArrayRef<PatchedFile> Files);

bool isCFile(llvm::StringRef File);

// The files below the folders that are Wanted, and those that are named, in the order of their
// names.
llvm::Expected<std::vector<std::string>> filesIn(const std::vector<std::string> &Paths,
                                                 bool (*Wanted)(llvm::StringRef));

} // namespace relock
