// SPDX-License-Identifier: MIT
//
// How reports say numbers, and how they break lines.
#pragma once

#include "profile/Profile.h"

namespace relock {

inline constexpr unsigned ReportWidth = 80;

// Four significant places at most, so that a column of seven always holds it.
std::string number(double Value, llvm::StringRef Unit);
std::string duration(uint64_t Ns);
std::string count(uint64_t Value);
std::string share(double Share);
std::string percent(uint64_t Part, uint64_t Whole);

// One line per item that happened; nothing that did not.
class Notes {
public:
  void add(uint64_t Value, const char *Text) {
    if (Value)
      add(std::string(Text) + " " + count(Value));
  }
  void add(const std::string &Text) { Line += (Line.empty() ? "" : ", ") + Text; }
  std::string Line;
};

// `33.3% to 40.0%`, or one figure where both bounds say the same.
std::string shareOfWork(const Profile &P);

std::string droppedText(const Dropped &Drops);

// `event: CACHE_MISSES, …`, how it was counted or why not.
std::string eventText(const CountedEvent &Event);
// Events of the mean section.
std::string perSection(double Events);

// For the terminal: control characters of names and paths become `?`.
void makePrintable(Profile &P);

// Before what is estimated: `~` if its standard error is above 5 %, or not known.
inline constexpr double RoughError = 0.05;
llvm::StringRef about(std::optional<double> Error);

// As much of a text in UTF-8 as so many bytes have room for, without half a character.
llvm::StringRef beginning(llvm::StringRef Text, size_t Bytes);

// Prints a name on lines of its own if it is too long for its column, which is empty then.
llvm::StringRef nameForColumn(llvm::StringRef Name, size_t Width, llvm::raw_ostream &OS);

// Breaks between words; the first line is indented by `First`, what follows by `Indent`.
void printParagraph(llvm::StringRef Text, llvm::raw_ostream &OS, unsigned Indent = 2,
                    unsigned First = 0);

} // namespace relock
