// SPDX-License-Identifier: MIT
#include "bench/MachineFile.h"

#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace relock {

StringRef MachineLine::quality() const {
  for (StringRef Quality : {"measured", "unsteady", "default", "guess"})
    if (StringRef(Source).starts_with(Quality))
      return Quality;
  return "";
}

static Error wrong(StringRef Line, StringRef Why) {
  return createStringError("'" + Line.take_front(60) + "' " + Why);
}

// `pairs N = 0 170 - cycles`
static Expected<MachineRow> readRow(const MachineLine &L) {
  MachineRow Row;
  if (StringRef(L.Name).substr(6).getAsInteger(10, Row.Processor))
    return wrong(L.Name, "has no processor's number");
  StringRef Rest = L.Value;
  Rest.consume_back("cycles");
  SmallVector<StringRef> Values;
  Rest.split(Values, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef Value : Values) {
    double Cycles = 0;
    if (Value == "-")
      Row.Cycles.push_back(std::nullopt);
    else if (Value.getAsDouble(Cycles))
      return wrong(L.Name, "is no list of numbers");
    else
      Row.Cycles.push_back(Cycles);
  }
  return Row;
}

static Error addLine(MachineFile &M, StringRef Text) {
  auto [Before, Source] = Text.split('#');
  auto [Name, Value] = Before.split('=');
  if (Value.empty())
    return wrong(Text, "is neither a comment nor 'name = value   # source'");
  MachineLine L{Name.trim().str(), Value.trim().str(), Source.trim().str()};
  if (StringRef(L.Name).starts_with("pairs ")) {
    Expected<MachineRow> Row = readRow(L);
    if (!Row)
      return Row.takeError();
    M.Pairs.push_back(std::move(*Row));
  }
  double Cycles;
  if (StringRef(L.Name).starts_with("class ") &&
      !StringRef(L.Value).split(' ').first.getAsDouble(Cycles))
    M.Classes.push_back(Cycles);
  M.Lines.push_back(std::move(L));
  return Error::success();
}

Expected<MachineFile> MachineFile::read(StringRef Text) {
  MachineFile M;
  SmallVector<StringRef> Lines;
  Text.split(Lines, '\n');
  for (StringRef Line : Lines) {
    Line = Line.trim();
    if (Line.consume_front("#"))
      M.Remarks.push_back(Line.trim().str());
    else if (!Line.empty())
      if (Error E = addLine(M, Line))
        return E;
  }
  if (!M.find("name"))
    return createStringError("'name' is missing");
  for (const MachineRow &Row : M.Pairs)
    if (Row.Cycles.size() != M.Pairs.size())
      return createStringError("there are not as many rows of 'pairs' as they have values");
  return M;
}

const MachineLine *MachineFile::find(StringRef Name) const {
  auto Found = find_if(Lines, [&](const MachineLine &L) { return L.Name == Name; });
  return Found == Lines.end() ? nullptr : &*Found;
}

size_t MachineFile::count(StringRef Quality) const {
  return count_if(Lines, [&](const MachineLine &L) {
    return L.quality() == Quality && !StringRef(L.Name).starts_with("pairs ");
  });
}

static std::string valueOf(const MachineFile &M, StringRef Name) {
  const MachineLine *L = M.find(Name);
  return L ? L->Value : "unknown";
}

// What is not as it was measured, and why.
static void printReplaced(const MachineFile &M, raw_ostream &OS) {
  for (const MachineLine &L : M.Lines)
    if (L.quality() == "default")
      OS << "  " << printable(L.Name + " = " + L.Value + ", " + L.Source) << "\n";
  if (size_t Left = count_if(M.Remarks, [](StringRef R) { return R.starts_with("left out:"); }))
    OS << "  left out, since nothing depends on them: " << Left << "; the file says why\n";
}

void printMachineSummary(const MachineFile &M, raw_ostream &OS) {
  OS << "machine: " << printable(valueOf(M, "name") + ", " + valueOf(M, "title")) << "\n"
     << "clock:   "
     << printable(valueOf(M, "clock") + "; while measuring " + valueOf(M, "clock least") + " to " +
                  valueOf(M, "clock most"))
     << "\n"
     << "figures: " << M.count("measured") << " measured, " << M.count("unsteady")
     << " unsteady (spread above 10 %), " << M.count("default") << " defaults, " << M.count("guess")
     << " guesses\n";
  printReplaced(M, OS);
  for (const MachineLine &L : M.Lines)
    if (StringRef(L.Name).starts_with("check "))
      OS << L.Name << ": " << printable(L.Value + ", " + StringRef(L.Source).split(';').first.str())
         << "\n";
}

// --- the matrix --------------------------------------------------------------------------------

// Neighbours in the order of rows: their first and last one.
struct Group {
  size_t First, Last;
};

static std::vector<Group> makeGroups(size_t Rows) {
  constexpr size_t Most = 14; // in 80 columns
  size_t Size = (Rows + Most - 1) / Most;
  std::vector<Group> Groups;
  for (size_t First = 0; First < Rows; First += Size)
    Groups.push_back({First, std::min(First + Size, Rows) - 1});
  return Groups;
}

// The median of what was measured between the two, without a processor itself.
static std::optional<double> between(const MachineFile &M, Group One, Group Other) {
  std::vector<double> Values;
  for (size_t I = One.First; I <= One.Last; ++I)
    for (size_t J = Other.First; J <= Other.Last; ++J)
      if (I != J && M.Pairs[I].Cycles[J])
        Values.push_back(*M.Pairs[I].Cycles[J]);
  if (Values.empty())
    return std::nullopt;
  sort(Values);
  return Values[Values.size() / 2];
}

// The class that it is nearest to, as a letter.
static char classOf(const MachineFile &M, double Cycles) {
  char Nearest = ' ';
  double Least = INFINITY;
  for (size_t I = 0; I < M.Classes.size(); ++I) {
    double Distance = std::abs(std::log((Cycles + 1) / (M.Classes[I] + 1)));
    if (Distance >= Least)
      continue;
    Least = Distance;
    Nearest = char('a' + I);
  }
  return Nearest;
}

static std::string nameOf(const MachineFile &M, Group G) {
  std::string First = std::to_string(M.Pairs[G.First].Processor);
  return G.First == G.Last ? First : First + "-" + std::to_string(M.Pairs[G.Last].Processor);
}

void printMachinePairs(const MachineFile &M, raw_ostream &OS) {
  if (M.Pairs.empty()) {
    OS << "\nno pairs of processors were measured\n";
    return;
  }
  std::vector<Group> Groups = makeGroups(M.Pairs.size());
  OS << "\ncycles for a line that another processor has written to, with its class"
     << (Groups.size() < M.Pairs.size() ? ";\nmedians of groups of processors\n\n" : "\n\n")
     << std::string(9, ' ');
  for (Group G : Groups)
    OS << format("%4u ", M.Pairs[G.First].Processor);
  OS << "\n";
  for (Group Row : Groups) {
    OS << left_justify(nameOf(M, Row), 9);
    for (Group Column : Groups)
      if (std::optional<double> Cycles = between(M, Row, Column))
        OS << format("%4.0f%c", *Cycles, classOf(M, *Cycles));
      else
        OS << "   - ";
    OS << "\n";
  }
  OS << "\n";
  for (size_t I = 0; I < M.Classes.size(); ++I) {
    const MachineLine *L = M.find("class " + std::to_string(I));
    OS << "class " << char('a' + I) << ": "
       << (L ? printable(L->Value + ", " + L->Source) : std::string()) << "\n";
  }
}

} // namespace relock
