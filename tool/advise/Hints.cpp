// SPDX-License-Identifier: MIT
#include "advise/Hints.h"

#include "program/DataUse.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {
namespace {

constexpr double Mostly = 0.9; // of acquisitions
constexpr double Skewed = 0.8; // of the waiting for all locks of a class
constexpr uint64_t ManyLocks = 4;
constexpr size_t MostPlaces = 3; // that a sentence lists

std::string places(const CheckedClass &Class, ArrayRef<size_t> Numbers) {
  std::vector<std::string> Places;
  for (size_t Number : Numbers.take_front(MostPlaces)) {
    const Position &At = Class.Sections[Number].Facts.At;
    Places.push_back((sys::path::filename(At.File) + ":" + Twine(At.Line)).str());
  }
  return join(Places, ", ") + (Numbers.size() > MostPlaces ? ", …" : "");
}

std::vector<size_t> numbersOf(const std::vector<bool> &Have) {
  std::vector<size_t> Numbers;
  for (size_t I = 0; I != Have.size(); ++I)
    if (Have[I])
      Numbers.push_back(I);
  return Numbers;
}

// Sections without a line in common never have to wait for each other.
std::string splitHint(const CheckedClass &Class, const ClassData &Data) {
  if (Data.Groups.size() < 2)
    return "";
  std::vector<std::string> Groups;
  for (const std::vector<size_t> &Group : Data.Groups)
    Groups.push_back("(" + places(Class, Group) + ")");
  return "could be split: as far as the text names data, sections of one group touch nothing that "
         "those of another write: " +
         join(Groups, " and ") + "; a lock for each would do, unless something rests on both";
}

std::string freeHint(const CheckedClass &Class, const ClassData &Data) {
  const std::vector<size_t> Free = numbersOf(Data.NeedsNone);
  if (Free.empty())
    return "";
  return counted(Free.size(), "section") + " (" + places(Class, Free) + ") " +
         (Free.size() == 1 ? "touches" : "touch") +
         " nothing that a section of the class writes, as far as the text names it: perhaps " +
         (Free.size() == 1 ? "it needs" : "they need") + " no lock";
}

// Of the acquisitions whose call the profile knows.
std::string readHint(const CheckedClass &Class, const ClassData &Data,
                     const ProfiledClass &Profiled) {
  const std::vector<size_t> Readers = numbersOf(Data.OnlyReads);
  if (Readers.empty())
    return "";
  std::optional<double> Part = takenPart(Class, Profiled, [&](const CheckedSection &S) {
    return Data.OnlyReads[size_t(&S - Class.Sections.data())];
  });
  if (!Part || *Part < Mostly)
    return "";
  return "read-mostly: " + percentText(*Part) +
         " of the known acquisitions are of sections that "
         "write nothing shared (" +
         places(Class, Readers) +
         "): what lets readers run side by side (an rwlock, a copy for each that is replaced) "
         "gains more than another mutex";
}

// One lock of many.
std::string skewHint(const ProfiledClass &Profiled) {
  if (Profiled.Objects < ManyLocks || Profiled.Locks.empty() || !Profiled.Wait.Total)
    return "";
  auto Most = std::max_element(Profiled.Locks.begin(), Profiled.Locks.end(),
                               [](auto &A, auto &B) { return A.Wait < B.Wait; });
  const double Share = double(Most->Wait) / double(Profiled.Wait.Total);
  if (Share < Skewed)
    return "";
  return "of its " + countText(Profiled.Objects) + " locks one, " + Most->Name + ", has " +
         percentText(Share) +
         " of the waiting: what it guards could be spread over the others, or "
         "over more";
}

} // namespace

std::string rwlockHint(const ProfiledClass &Class) {
  if (Class.Primitive != "rwlock" || !Class.Readers || !Class.acquisitions())
    return "";
  const double Reads = double(Class.Readers->Acquisitions) / double(Class.acquisitions());
  if (Reads < 0.5)
    return percentText(1 - Reads) +
           " of its acquisitions write: as a mutex it would cost less, and could be converted";
  if (Reads >= Mostly && Class.Readers->Contended)
    return percentText(Reads) + " of its acquisitions read, and threads wait for it all the same: "
                                "each reader writes to the lock's own line, which copies of the "
                                "data that are replaced as a whole would spare";
  return "";
}

Hints findHints(const Program &Linked, const Decision &Decided, const Costs &Measured,
                const ProfileClasses &Classes, const Thresholds &Limits) {
  Hints All;
  auto IsWaitedFor = [&](StringRef Name) {
    auto Cost = Measured.Classes.find(Name.str());
    return Cost != Measured.Classes.end() && Cost->second.WaitShare >= Limits.Waits;
  };
  auto Add = [&](StringRef Name, std::string Text) {
    std::vector<std::string> &Known = All[Name.str()];
    if (!Text.empty() && !is_contained(Known, Text))
      Known.push_back(std::move(Text));
  };
  std::map<std::string, ClassData> Data;
  for (const CheckedClass &Class : Decided.Classes)
    if (const std::string &Name = Class.Class.Name; IsWaitedFor(Name)) {
      const ClassData &Of = Data[Name] = classData(Linked, Class);
      Add(Name, splitHint(Class, Of));
      Add(Name, freeHint(Class, Of));
    }
  for (const ProfileFile &File : Measured.Files)
    for (const ProfiledClass &Profiled : File.Run.Classes) {
      const CheckedClass *Class = Classes.find(File.Run, Profiled).Class;
      if (!Class || !Data.count(Class->Class.Name))
        continue;
      const ClassData &Of = Data.at(Class->Class.Name);
      if (Of.Known)
        Add(Class->Class.Name, readHint(*Class, Of, Profiled));
      Add(Class->Class.Name, skewHint(Profiled));
    }
  return All;
}

} // namespace relock
