// SPDX-License-Identifier: MIT
//
// Damages a valid file again and again, and gives each result to the command's reader of such files
// and to what uses them next. A reader may refuse; it may not end the process.
//
//   fuzz-readers KIND FILE WORK MUTATIONS [SEED]
//
// KIND facts: the bytes in such a file; facts-plain, facts-zlib, facts-zstd: the file, packed so.
//
// WORK is a folder for the damaged file, which stays there when a reader failed on it. The process
// that reads is a child; the parent goes on with the next mutation and says at the end which
// failed.
#include "advise/Plan.h"
#include "advise/Thresholds.h"
#include "bench/Compare.h"
#include "driver/Baseline.h"
#include "driver/ChangedLines.h"
#include "index/FactsFile.h"
#include "index/Index.h"
#include "index/Serialize.h"
#include "profile/Aggregate.h"
#include "profile/Compare.h"
#include "profile/Export.h"
#include "profile/Html.h"
#include "profile/Merge.h"
#include "profile/Profile.h"
#include "profile/Records.h"
#include "profile/Symbolize.h"
#include "profile/Table.h"
#include "profile/Text.h"
#include "program/Program.h"
#include "program/ProjectFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace relock;

namespace {

class Mutator {
public:
  Mutator(StringRef Valid, uint64_t Seed) : Valid(Valid), Random(Seed) {}

  std::string next() {
    std::string Text = Valid.str();
    for (unsigned Times = 1 + below(4); Times; --Times)
      change(Text);
    return Text;
  }

private:
  size_t below(size_t Bound) { return Bound ? Random() % Bound : 0; }

  void change(std::string &Text) {
    size_t At = below(Text.size());
    switch (below(8)) {
    case 0:
      Text.resize(At);
      break;
    case 1:
      if (!Text.empty())
        Text[At] ^= char(1u << below(8));
      break;
    case 2:
      if (!Text.empty())
        Text[At] = char(below(256));
      break;
    case 3:
      return doubleLine(Text, At);
    case 4:
      return replaceNumber(Text, At);
    case 5:
      Text.erase(At, 1 + below(40));
      break;
    case 6:
      Text.insert(At, nesting());
      break;
    case 7:
      return overwriteWord(Text, At);
    }
  }

  static void doubleLine(std::string &Text, size_t At) {
    size_t Begin = Text.rfind('\n', At), End = Text.find('\n', At);
    Begin = Begin == std::string::npos ? 0 : Begin + 1;
    End = End == std::string::npos ? Text.size() : End + 1;
    if (Begin < End && End - Begin < 4096)
      Text.insert(Begin, Text.substr(Begin, End - Begin));
  }

  void replaceNumber(std::string &Text, size_t At) {
    static constexpr const char *Numbers[] = {"0",     "-1",    "18446744073709551615",
                                              "1e999", "-1e18", "9223372036854775807",
                                              "0.5",   "null",  "4294967296"};
    size_t Begin = Text.find_first_of("0123456789", At);
    if (Begin == std::string::npos)
      return;
    size_t End = Text.find_first_not_of("0123456789.", Begin);
    Text.replace(Begin, std::min(End, Text.size()) - Begin, Numbers[below(std::size(Numbers))]);
  }

  std::string nesting() {
    static constexpr const char *Openers[] = {"[",       "{",  "- ", "? ",
                                              "{\"a\":", "\"", "\\", "&a *a "};
    std::string Text, Opener = Openers[below(std::size(Openers))];
    for (size_t Levels = below(8) ? 1 + below(9) : 20000; Levels; --Levels)
      Text += Opener;
    return Text;
  }

  // Of a binary file, with the numbers that are likely to go over a border.
  void overwriteWord(std::string &Text, size_t At) {
    static constexpr uint64_t Words[] = {0,          1,          63,    64,        4096,
                                         0x7fffffff, 0xffffffff, ~0ull, 1ull << 63};
    uint64_t Word = Words[below(std::size(Words))];
    At &= ~size_t(3);
    Text.replace(At, std::min<size_t>(sizeof Word, Text.size() - At),
                 reinterpret_cast<const char *>(&Word), std::min(sizeof Word, Text.size() - At));
  }

  StringRef Valid;
  std::mt19937_64 Random;
};

void show(Profile P) {
  writeProfile(P, nulls());
  makePrintable(P);
  printTable(P, {/*Explain=*/true, 0, 9, 9}, nulls());
}

bool readsProfile(StringRef File) {
  json::Value Document = nullptr;
  Expected<Profile> P = readProfile(File, &Document);
  if (!P)
    return consumeError(P.takeError()), false;
  writeHtml(Document, *P, HeadlineSources(), nulls());
  const json::Object &Root = *Document.getAsObject();
  writeFolded(Root, nulls());
  writePprof(Root, nulls());
  if (hasTimeline(Root))
    writeTrace(Root, nulls());
  printComparison(*P, *P, {}, nulls());
  show(*P);
  show(mergeProfiles({*P, *P}));
  return true;
}

bool readsRecords(StringRef File) {
  static const ClockReading Early = readClocks();
  // Opening the program and its libraries takes a hundred times as long as all the rest.
  static Symbolizer Names;
  Expected<RawProcess> Process = readRecords(File);
  if (!Process)
    return consumeError(Process.takeError()), false;
  Profile P = aggregate(*Process, Early, readClocks(), std::nullopt, Names);
  makeUtf8(P); // as the command does
  show(std::move(P));
  return true;
}

bool usesFacts(std::optional<UnitFacts> Facts) {
  if (!Facts)
    return false;
  IndexResult Index;
  Index.Commands.emplace_back();
  Index.Units.push_back(std::move(*Facts));
  Program(Index, /*AcceptUncovered=*/false, ProjectFile());
  return true;
}

std::optional<UnitFacts> decoded(StringRef Bytes) {
  SharedPools None;
  return decodeFacts(Bytes, None);
}

std::optional<std::string> unpacked(StringRef Text) { return unpackBytes(Text, originOf(Text)); }

bool readsFactsFile(StringRef File) {
  auto Buffer = cantFail(errorOrToExpected(MemoryBuffer::getFile(File)));
  std::optional<std::string> Bytes = unpacked(Buffer->getBuffer());
  return Bytes && usesFacts(decoded(*Bytes));
}

// Without the checksum, which nearly no damage gets past.
bool readsFacts(StringRef File) {
  auto Buffer = cantFail(errorOrToExpected(MemoryBuffer::getFile(File)));
  return usesFacts(decoded(Buffer->getBuffer()));
}

// The facts of a file as the kind is damaged.
std::string factsAs(StringRef Kind, StringRef File) {
  std::optional<std::string> Bytes = unpacked(File);
  std::optional<UnitFacts> Facts = Bytes ? decoded(*Bytes) : std::nullopt;
  if (!Facts)
    return "";
  if (Kind == "facts")
    return encodeFacts(*Facts);
  return packFacts(*Facts, originOf(File),
                   Kind == "facts-zlib"   ? Compression::Zlib
                   : Kind == "facts-zstd" ? Compression::Zstd
                                          : Compression::None);
}

// What git prints; no text of it is refused.
bool readsDiff(StringRef File) {
  auto Text = MemoryBuffer::getFile(File);
  if (!Text)
    return false;
  ChangedLines Changed;
  Changed.addDiff((*Text)->getBuffer(), "/");
  for (const char *Name : {"/main.c", "/a b/\n.c", "/"})
    for (unsigned Line : {0u, 1u, 12u, ~0u})
      Changed.has({Name, 0, Line, 1}) || Changed.lostBetween({Name, 0, Line, 1}, ~0u);
  return true;
}

bool readsDatabase(StringRef File) {
  std::vector<UnitPlace> NotC;
  Expected<std::vector<UnitPlace>> Units = unitsOf({StringRef(File).rsplit('/').first.str()}, NotC);
  if (!Units)
    return consumeError(Units.takeError()), false;
  return true;
}

template <class T> bool reads(StringRef File) {
  auto Read = T::read(File);
  if (!Read)
    return consumeError(Read.takeError()), false;
  return true;
}

struct Kind {
  StringRef Name;
  bool (*Read)(StringRef File);
};

constexpr Kind Kinds[] = {
    {"profile", readsProfile},
    {"records", readsRecords},
    {"plan", reads<Plan>},
    {"project", reads<ProjectFile>},
    {"baseline", reads<Baseline>},
    {"diff", readsDiff},
    {"thresholds", reads<Thresholds>},
    {"bench", reads<BenchSummary>},
    {"facts", readsFacts},
    {"database", readsDatabase},
    {"facts-plain", readsFactsFile},
    {"facts-zlib", readsFactsFile},
    {"facts-zstd", readsFactsFile},
};

struct Counts { // shared with the child
  std::atomic<uint64_t> Mutation, Read;
};

void write(const std::string &File, StringRef Text) {
  std::error_code Error;
  raw_fd_ostream OS(File, Error);
  OS << Text;
}

// One generator for each mutation, so that any of them can be had again by itself.
void work(const Kind &K, StringRef Valid, const std::string &File, uint64_t Seed, uint64_t End,
          Counts &At) {
  for (; At.Mutation < End; ++At.Mutation) {
    write(File, Mutator(Valid, Seed + At.Mutation).next());
    alarm(60);
    At.Read += K.Read(File);
  }
}

int run(const Kind &K, StringRef Valid, const std::string &Work, uint64_t Mutations,
        uint64_t Seed) {
  auto &At = *static_cast<Counts *>(
      mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::string File = Work + "/compile_commands.json"; // a database has no other name
  write(File, Valid);
  if (!K.Read(File)) {
    errs() << "fuzz-readers: the file is not valid before it is damaged\n";
    return 2;
  }
  uint64_t Failed = 0;
  while (At.Mutation < Mutations) {
    pid_t Child = fork();
    if (!Child) {
      int Null = open("/dev/null", O_WRONLY);
      dup2(Null, STDERR_FILENO);
      work(K, Valid, File, Seed, Mutations, At);
      _exit(0);
    }
    int Status = 0;
    waitpid(Child, &Status, 0);
    if (Status) {
      std::string Kept = Work + "/" + K.Name.str() + "-" + std::to_string(Seed + At.Mutation);
      sys::fs::copy_file(File, Kept);
      outs() << Kept << ": ended with status " << Status << "\n";
      ++Failed;
      ++At.Mutation;
    }
  }
  outs() << K.Name << ": " << Mutations << " mutations, " << At.Read << " read, " << Failed
         << " failed\n";
  return Failed != 0;
}

} // namespace

int main(int Count, char **Words) {
  const Kind *K = Count < 5 ? std::end(Kinds)
                            : find_if(Kinds, [&](const Kind &K) { return K.Name == Words[1]; });
  if (K == std::end(Kinds)) {
    errs() << "usage: fuzz-readers KIND FILE WORK MUTATIONS [SEED]\n";
    return 2;
  }
  auto Valid = cantFail(errorOrToExpected(
      MemoryBuffer::getFile(Words[2], /*IsText=*/false, /*RequiresNullTerminator=*/false)));
  // Records end in a hole.
  std::string Text = Valid->getBuffer().rtrim('\0').str();
  if (K->Name.starts_with("facts"))
    Text = factsAs(K->Name, Valid->getBuffer());
  return run(*K, Text, Words[3], strtoull(Words[4], nullptr, 10),
             Count > 5 ? strtoull(Words[5], nullptr, 10) : 1);
}
