// SPDX-License-Identifier: MIT
//
// The algorithms that the runtime library has.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

bool isAlgorithm(llvm::StringRef Name);
// True for those with a server thread.
bool usesServer(llvm::StringRef Algorithm);
std::vector<std::string> algorithmNames();
std::string algorithmList();

// Servers are numbered from 1, processors from 0; as in relock.h.
constexpr unsigned MaxServers = 16, MaxCpus = 4096;

std::optional<unsigned> serverNumber(llvm::StringRef Text);
// `rcl:2`, as the table of lock classes has it: server 1 is not said.
std::string withServer(llvm::StringRef Algorithm, unsigned Server);
// The same of what a person wrote. None: there is no such algorithm, or it has no such server.
std::optional<std::string> parseAlgorithm(llvm::StringRef Text);

constexpr llvm::StringLiteral DefaultAlgorithm = "adaptive";

} // namespace relock
