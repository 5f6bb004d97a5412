// SPDX-License-Identifier: MIT
//
// relock check --why: how two locks became one class, or why they are converted together.
#include "driver/Check.h"
#include "driver/Subcommand.h"
#include "program/Merge.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {
namespace {

std::string nearest(const Program &Linked, StringRef Name) {
  std::vector<std::pair<unsigned, StringRef>> Ranked;
  for (const LockClass &Class : Linked.Classes)
    Ranked.push_back(
        {StringRef(Class.Name).contains(Name) ? 1 : Name.edit_distance(Class.Name), Class.Name});
  sort(Ranked);
  std::string Text;
  for (size_t I = 0; I < Ranked.size() && I < 3; ++I)
    Text += (I ? ", '" : "'") + Ranked[I].second.str() + "'";
  return Text;
}

// Nothing: a message was printed.
std::optional<NamedLock> lookUp(const MergeFinder &Merges, const Program &Linked, StringRef Name) {
  std::vector<NamedLock> Found = Merges.named(Name);
  if (Found.size() == 1)
    return Found.front();
  if (Found.empty()) {
    message("there is no lock '" + Name.str() + "'" +
                (Linked.Classes.empty() ? "; the program has none"
                                        : "; nearest are " + nearest(Linked, Name)),
            "unknown-class");
    return std::nullopt;
  }
  std::string All;
  for (const NamedLock &Lock : Found)
    All += (All.empty() ? "'" : ", '") + Lock.Class->Name + "'";
  message("there are several locks '" + Name.str() + "', of the classes " + All, "unknown-class");
  return std::nullopt;
}

void printText(StringRef A, StringRef B, const NamedLock &From, const NamedLock &To,
               const std::vector<Step> &Chain) {
  outs() << "'" << A << "' and '" << B << "' are ";
  if (From.Class == To.Class)
    outs() << "one class, '" << From.Class->Name << "'\n";
  else if (From.Class->Group == To.Class->Group)
    outs() << "different classes, which are converted together\n";
  else
    outs() << "different classes\n";
  for (const Step &Next : Chain)
    outs() << "  " << shownPlace(Next.At) << ": " << Next.Text << "\n";
}

void printJson(const NamedLock &From, const NamedLock &To, const std::vector<Step> &Chain) {
  json::OStream J(outs(), 1);
  J.object([&] {
    J.attribute("version", 1);
    J.attributeArray("classes", [&] {
      J.value(From.Class->Name);
      if (From.Class != To.Class)
        J.value(To.Class->Name);
    });
    J.attribute("together", From.Class->Group == To.Class->Group);
    writeWay(J, Chain);
  });
  outs() << "\n";
}

} // namespace

int showWhy(const IndexResult &Index, const ProjectFile &Declared, StringRef A, StringRef B,
            bool Json) {
  Program Linked(Index, /*AcceptUncovered=*/true, Declared);
  MergeFinder Merges(Index.Units, Linked);
  std::optional<NamedLock> From = lookUp(Merges, Linked, A), To = lookUp(Merges, Linked, B);
  if (!From || !To)
    return BadUsage;
  bool Same = From->Class == To->Class, Together = From->Class->Group == To->Class->Group;
  std::vector<Step> Chain;
  if (Together)
    Chain = Merges.chain(*From, *To, /*ThroughText=*/!Same).value_or(std::vector<Step>());
  if (Json)
    printJson(*From, *To, Chain);
  else
    printText(A, B, *From, *To, Chain);
  return Same ? Done : LookAtThis;
}

} // namespace relock
