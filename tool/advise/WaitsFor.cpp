// SPDX-License-Identifier: MIT
#include "advise/WaitsFor.h"

#include "advise/Costs.h"
#include "profile/ThreadNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace llvm;

namespace relock {
namespace {

// A part of the threads' time, and what most of it is for.
struct Part {
  std::string Name;
  uint64_t Time = 0;
  std::string Most;
};

// Who or what has at least a half of a sum, and more than one share it; else nobody.
template <class Map> std::string mostOf(const Map &Times) {
  uint64_t All = 0, Most = 0;
  std::string Name;
  for (const auto &[Each, Time] : Times) {
    All += Time;
    if (Time > Most) {
      Most = Time;
      Name = Each;
    }
  }
  if (!All || 2 * Most < All)
    return "";
  return percentText(double(Most) / double(All)) + " of it for " + Name;
}

class WaitGraph {
public:
  explicit WaitGraph(const Profile &Run) : Run(Run), Names(Run) {
    Parts.push_back({"on processors", Run.ProcessorTime, ""});
    addLocks();
    addWaits("waiting for conditions", "condition");
    addWaits("waiting for semaphores", "semaphore");
    addWaits("waiting at barriers", "barrier");
    addWaits("waiting for futexes", "futex");
    addRest();
  }

  std::vector<std::string> sentences() const {
    std::vector<std::string> Texts;
    for (const Part &P : Parts)
      if (double(P.Time) >= Least * double(Run.ThreadTime))
        Texts.push_back(percentText(double(P.Time) / double(Run.ThreadTime)) + " " + P.Name +
                        (P.Most.empty() ? "" : " (" + P.Most + ")"));
    if (Texts.empty())
      return {};
    return {"Of their time the threads are " + join(Texts, ", ") + ".", verdict()};
  }

private:
  static constexpr double Least = 0.01; // of the threads' time, to be named
  const Profile &Run;
  ThreadNames Names;
  std::vector<Part> Parts;
  uint64_t LockTime = 0;

  // Who waits for a lock waits for whoever holds it.
  void addLocks() {
    std::map<std::string, uint64_t> Locks, Holders;
    for (const ProfiledClass &Class : Run.Classes)
      if (Class.Primitive != "spinlock") { // that is processor time
        LockTime += Class.waitTotal();
        Locks[Class.Name] += Class.waitTotal();
      }
    for (const WaitEdge &Edge : Run.Edges)
      Holders[Edge.Holder ? "what '" + Names.of(Edge.Holder) + "' held" : ""] += Edge.Wait;
    std::string Most = mostOf(Locks);
    if (std::string Holder = mostOf(Holders);
        Holders.size() > 1 && !Holder.empty() && !StringRef(Holder).ends_with("for "))
      Most += (Most.empty() ? "" : ", ") + Holder;
    Parts.push_back({"waiting for locks", LockTime, Most});
  }

  void addWaits(StringRef Name, StringRef Primitive) {
    std::map<std::string, uint64_t> Times;
    uint64_t All = 0;
    for (const ProfiledClass &Wait : Run.Waits)
      if (Wait.Primitive == Primitive) {
        Times[Wait.Name] += Wait.Wait.Total;
        All += Wait.Wait.Total;
      }
    Parts.push_back({Name.str(), All, Times.size() > 1 ? mostOf(Times) : ""});
  }

  // Calls that sleep are not recorded, and turns on a processor neither.
  void addRest() {
    uint64_t Known = 0;
    for (const Part &P : Parts)
      Known += P.Time;
    const uint64_t Rest = Run.ThreadTime > Known ? Run.ThreadTime - Known : 0;
    std::string Name = "asleep elsewhere, in I/O say";
    if (!Run.ProcessorTime)
      Name = "computing, or " + Name;
    if (!Run.hadProcessorsToSpare())
      Name += ", or without a processor";
    Parts.push_back({Name, Rest, ""});
  }

  // Amdahl's law, of what is recorded: sections that take no time at all are the best lock. Threads
  // without a processor of their own wait for each other's turns besides, which another lock
  // changes.
  std::string bound() const {
    const double Busy = double(Run.busyTime().Least);
    const double Sections = std::min(double(Run.SectionTime), 0.99 * Busy);
    if (Busy <= 0 || Run.ThreadsAtOnce > uint64_t(std::max(Run.Processors, 1)))
      return "";
    char Text[32];
    snprintf(Text, sizeof Text, "%.2fx", Busy / (Busy - Sections));
    return "no lock makes the program more than " + std::string(Text) +
           " as fast, for that is what sections and waits of no length at all would do";
  }

  std::string verdict() const {
    // The rest is waiting only where it is known what was computed.
    const Part *Most =
        &*std::max_element(Parts.begin() + 1, Run.ProcessorTime ? Parts.end() : Parts.end() - 1,
                           [](auto &A, auto &B) { return A.Time < B.Time; });
    std::string Text = Most->Name == "waiting for locks"
                           ? "Locks are what they wait for most"
                           : "It is not locks that they wait for most";
    if (!LockTime)
      Text = "They do not wait for locks";
    const std::string Bound = bound();
    return Text + (Bound.empty() ? "" : "; " + Bound) + ".";
  }
};

} // namespace

std::vector<std::string> waitsFor(const Profile &Run) {
  return Run.ThreadTime ? WaitGraph(Run).sentences() : std::vector<std::string>();
}

} // namespace relock
