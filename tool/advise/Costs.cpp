// SPDX-License-Identifier: MIT
#include "advise/Costs.h"

#include <algorithm>
#include <cstdio>

using namespace llvm;

namespace relock {
namespace {

std::string scaled(double Value, const char *Unit) {
  char Text[48];
  snprintf(Text, sizeof Text, Value < 10 ? "%.1f %s" : "%.0f %s", Value, Unit);
  return Text;
}

class Adder {
public:
  explicit Adder(FindClass Find) : Find(Find) {}

  Costs run(std::vector<ProfileFile> Files) {
    for (const ProfileFile &File : Files)
      if (File.timed()) {
        Result.Timed = true;
        Result.ThreadTime += File.Run.busyTime().Least;
        Result.SectionTime += File.Run.SectionTime;
        unsigned Processors = std::max(File.Run.Processors, 1);
        Result.Processors =
            Result.Processors ? std::min(Result.Processors, Processors) : Processors;
      }
    for (const ProfileFile &File : Files)
      addFile(File);
    finish(Result.Classes);
    finish(Result.Unknown);
    Result.Files = std::move(Files);
    return std::move(Result);
  }

private:
  FindClass Find;
  Costs Result;

  ClassCost &costOf(const ProfiledClass &Class, const SourceClass &Found) {
    if (Found.Class)
      return Result.Classes[Found.Class->Class.Name];
    bool IsMutex = Class.Primitive == "mutex";
    return Result.Unknown[Class.Name + (IsMutex ? "" : " (" + Class.Primitive + ")")];
  }

  void addFile(const ProfileFile &File) {
    std::map<std::string, std::string> NameOf; // by key
    struct Sum {
      uint64_t Time = 0, Wait = 0;
    };
    std::map<ClassCost *, Sum> Here;
    for (const ProfiledClass &Class : File.Run.Classes) {
      SourceClass Found = Find(File.Run, Class);
      ClassCost &Cost = costOf(Class, Found);
      NameOf[Class.Key] = Found.Class ? Found.Class->Class.Name : "";
      bool Timed = File.timed() && !Class.Runtime;
      add(Cost, Class, Timed);
      Cost.Converted |= Found.Converted;
      Cost.WhyUnknown = Found.Why;
      if (Timed) {
        Here[&Cost].Time += Class.Wait.Total + Class.Hold.Total;
        Here[&Cost].Wait += Class.Wait.Total;
      }
    }
    const TimeRange Busy = File.Run.busyTime();
    for (auto [Cost, Sums] : Here) {
      // A thread that holds two locks of a class is in one section.
      uint64_t Time = std::min(Sums.Time, File.Run.SectionTime);
      double Share = shareOf(Time, Busy.Least);
      if (!Cost->MostIn.empty() && Share <= Cost->Share)
        continue;
      Cost->Share = Share;
      Cost->LeastShare = shareOf(Time, Busy.Most);
      Cost->WaitShare = shareOf(std::min(Sums.Wait, Time), Busy.Least);
      Cost->MostIn = File.File;
    }
    for (const ProfiledClass &Class : File.Run.Classes)
      if (auto Inner = Result.Classes.find(NameOf[Class.Key]); Inner != Result.Classes.end())
        for (const auto &[Key, Count] : Class.Inside)
          if (const std::string &Outer = NameOf[Key]; !Outer.empty() && Outer != Inner->first)
            Inner->second.Inside[Outer] += Count;
  }

  // What librelock counts is a converted lock's: its waits do not add to those of a pthread mutex.
  void add(ClassCost &Cost, const ProfiledClass &Class, bool Timed) {
    if (Cost.Timed && !Timed)
      return;
    if (Timed && !Cost.Timed)
      Cost = ClassCost();
    Cost.Timed = Timed;
    Cost.Acquisitions += Class.Counts.Acquisitions;
    Cost.Contended += Class.Counts.Contended;
    Cost.Handovers += Class.Counts.Handovers;
    Cost.Wait += Class.Wait.Total;
    Cost.Hold += Class.Hold.Total;
    Cost.Holds += Class.Hold.Count;
    if (Class.CacheMissesPerSection) {
      Cost.Missed += *Class.CacheMissesPerSection * double(Class.Counts.Acquisitions);
      Cost.MissSections += Class.Counts.Acquisitions;
    }
  }

  static double shareOf(uint64_t Part, uint64_t Whole) {
    return Whole ? double(Part) / double(Whole) : 0;
  }

  void finish(std::map<std::string, ClassCost> &Classes) {
    for (auto &[Name, Cost] : Classes)
      if (Cost.Timed)
        Cost.ShareOfAll = shareOf(std::min(Cost.time(), Result.SectionTime), Result.ThreadTime);
  }
};

} // namespace

std::optional<double> ClassCost::misses() const {
  if (!MissSections)
    return std::nullopt;
  return Missed / double(MissSections);
}

std::optional<double> ClassCost::estimatedMisses() const {
  if (!SharedLines)
    return std::nullopt;
  return *SharedLines * handovers();
}

Costs addCosts(std::vector<ProfileFile> Files, FindClass Find) {
  return Adder(Find).run(std::move(Files));
}

std::string decimal(double Value) {
  char Text[32];
  snprintf(Text, sizeof Text, "%.2f", Value);
  return Text;
}

std::string percentText(double Share) {
  double Percent = 100 * Share;
  if (Percent > 0 && Percent < 0.01)
    return "under 0.01 %";
  char Text[32];
  snprintf(Text, sizeof Text,
           Percent < 1    ? "%.2f %%"
           : Percent < 10 ? "%.1f %%"
                          : "%.0f %%",
           Percent);
  return Percent == 0 ? "0 %" : Text;
}

std::string countText(uint64_t Count) {
  if (Count < 10000)
    return std::to_string(Count);
  if (Count < 1000000)
    return scaled(double(Count) / 1e3, "k");
  if (Count < 1000000000)
    return scaled(double(Count) / 1e6, "M");
  return scaled(double(Count) / 1e9, "G");
}

std::string timeText(uint64_t Ns) {
  if (Ns < 1000)
    return std::to_string(Ns) + " ns";
  if (Ns < 1000000)
    return scaled(double(Ns) / 1e3, "us");
  if (Ns < 1000000000)
    return scaled(double(Ns) / 1e6, "ms");
  return scaled(double(Ns) / 1e9, "s");
}

} // namespace relock
