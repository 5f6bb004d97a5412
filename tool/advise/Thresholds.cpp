// SPDX-License-Identifier: MIT
#include "advise/Thresholds.h"

#include "support/Yaml.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace relock {
namespace {

struct Member {
  const char *Name;
  double Thresholds::*Value;
  bool Percent;
};
constexpr Member Members[] = {
    {"lower", &Thresholds::Lower, true},          {"upper", &Thresholds::Upper, true},
    {"waits", &Thresholds::Waits, true},          {"misses", &Thresholds::Misses, false},
    {"handovers", &Thresholds::Handovers, false}, {"rescued", &Thresholds::Rescued, true},
};

class ThresholdsReader : YamlReader {
public:
  ThresholdsReader(StringRef File, MemoryBufferRef Text)
      : YamlReader(File, Text, "a file of thresholds") {}

  Expected<Thresholds> run() {
    if (Error Failed = readDocument([&](yaml::Node *Root) { return readRoot(Root); }))
      return Failed;
    return Result;
  }

private:
  Thresholds Result;

  bool readRoot(yaml::Node *Root) {
    bool HasVersion = false;
    bool Good = members(Root, "a file of thresholds",
                        [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
                          if (Key == "version")
                            return HasVersion = readVersion(Value);
                          return readMember(Key, At, Value);
                        });
    return Good && (HasVersion || failAt(1, 1, "says no 'version: 1'")) &&
           (Result.Lower <= Result.Upper || failAt(1, 1, "'lower' is above 'upper'"));
  }

  bool readMember(StringRef Key, const yaml::Node *At, yaml::Node *Value) {
    for (const Member &M : Members)
      if (Key == M.Name)
        return readNumber(Value, M);
    return unknownKey(At, Key, "version, lower, upper, waits, misses, handovers and rescued");
  }

  bool readNumber(const yaml::Node *N, const Member &M) {
    std::string Word = scalar(N).value_or("");
    StringRef Rest = Word;
    double Number;
    bool Good = !M.Percent || Rest.consume_back("%");
    Good = Good && !Rest.trim().getAsDouble(Number) && Number >= 0 && (!M.Percent || Number <= 100);
    if (!Good)
      return fail(N, Twine("'") + M.Name + "' must be a " +
                         (M.Percent ? "share of the threads' time, as 15 %" : "number, as 10"));
    Result.*M.Value = M.Percent ? Number / 100 : Number;
    return true;
  }
};

} // namespace

Expected<Thresholds> Thresholds::read(StringRef File) {
  Expected<std::unique_ptr<MemoryBuffer>> Text = openYaml(File, "the file of thresholds");
  if (!Text)
    return Text.takeError();
  Expected<Thresholds> Read =
      ThresholdsReader((*Text)->getBufferIdentifier(), (*Text)->getMemBufferRef()).run();
  if (Read)
    Read->File = File.str();
  return Read;
}

void writeThresholds(raw_ostream &OS, const Thresholds &T,
                     const std::vector<std::string> &Remarks) {
  for (const std::string &Remark : Remarks)
    OS << "# " << Remark << "\n";
  OS << "version: 1\n";
  for (const Member &M : Members)
    OS << M.Name << ": " << format("%g", T.*M.Value * (M.Percent ? 100 : 1))
       << (M.Percent ? " %" : "") << "\n";
}

} // namespace relock
