// SPDX-License-Identifier: MIT
#include "advise/Plan.h"

#include "advise/Algorithms.h"
#include "support/Yaml.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/YAMLTraits.h"

using namespace llvm;

namespace relock {

const PlanEntry *Plan::find(StringRef Class) const {
  auto Found = find_if(Classes, [&](const PlanEntry &E) { return E.Class == Class; });
  return Found == Classes.end() ? nullptr : &*Found;
}

const PlanServer *Plan::idleServer() const {
  auto IsIdle = [&](const PlanServer &S) {
    return none_of(Classes, [&](const PlanEntry &E) {
      return usesServer(E.Algorithm) && E.Server.value_or(1) == S.Number;
    });
  };
  auto Found = find_if(Servers, IsIdle);
  return Found == Servers.end() ? nullptr : &*Found;
}

// --- Reading ------------------------------------------------------------------------------------

namespace {

class PlanReader : YamlReader {
public:
  PlanReader(StringRef File, MemoryBufferRef Text) : YamlReader(File, Text, "a plan") {
    Result.Path = File.str();
    Result.Exists = true;
  }

  Expected<Plan> run() {
    if (Error Failed = readDocument([&](yaml::Node *Root) { return readRoot(Root); }))
      return Failed;
    attachComments();
    return std::move(Result);
  }

private:
  // A key of the file, and whose it is.
  struct Key {
    Commented *Of;
    std::string Name;
    Position At;
  };

  Plan Result;
  std::vector<Key> Keys;                            // in the order of the file
  std::vector<std::pair<unsigned, unsigned>> Words; // the values: what looks like a comment is none

  void note(const yaml::Node *At, StringRef Name, Commented &Of) {
    Keys.push_back({&Of, Name.str(), place(At)});
  }

  std::optional<std::string> word(const yaml::Node *N) {
    SMRange Range = N->getSourceRange();
    if (Range.isValid())
      Words.push_back({Range.Start.getPointer() - Text.getBufferStart(),
                       Range.End.getPointer() - Text.getBufferStart()});
    return scalar(N);
  }

  bool readRoot(yaml::Node *Root) {
    bool HasVersion = false;
    bool Good =
        members(Root, "a plan", [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
          note(At, Key, Result);
          if (Key == "version")
            return HasVersion = readVersion(Value,
                                            "; `relock advise -o` writes a plan of this version "
                                            "into another file",
                                            "plan-version");
          if (Key == "classes")
            return isEmpty(Value) ||
                   elements(Value, Key, [&](yaml::Node *Entry) { return readClass(Entry); });
          if (Key == "cuts")
            return isEmpty(Value) ||
                   elements(Value, Key, [&](yaml::Node *Entry) { return readCut(Entry); });
          if (Key == "servers")
            return isEmpty(Value) ||
                   elements(Value, Key, [&](yaml::Node *Entry) { return readServerEntry(Entry); });
          if (Key == "profiles")
            return isEmpty(Value) ||
                   elements(Value, Key, [&](yaml::Node *Entry) { return readProfileName(Entry); });
          if (Key == "thresholds") {
            Result.Thresholds = word(Value).value_or("");
            return !Result.Thresholds.empty() || fail(Value, "'thresholds' must be a file");
          }
          if (Key == "machine") {
            Result.Machine = word(Value).value_or("");
            return !Result.Machine.empty() || fail(Value, "'machine' must be a name or a file");
          }
          if (Key == "threads")
            return !StringRef(word(Value).value_or("")).getAsInteger(10, Result.Threads) ||
                   fail(Value, "'threads' must be a number");
          if (Key == "predicted") {
            Result.Predicted = word(Value).value_or("");
            return StringRef(Result.Predicted).find_first_not_of("0123456789.-") ==
                       StringRef::npos ||
                   fail(Value, "'predicted' must be two ratios: 1.5-2.2");
          }
          return unknownKey(At, Key,
                            "version, profiles, thresholds, machine, threads, predicted, cuts, "
                            "servers and classes");
        });
    return Good && (HasVersion || failAt(1, 1, "says no 'version: 1'"));
  }

  bool readProfileName(yaml::Node *Node) {
    Result.Profiles.push_back(word(Node).value_or(""));
    return !Result.Profiles.back().empty() || fail(Node, "an entry of 'profiles' must be a file");
  }

  bool readCut(yaml::Node *Node) {
    PlanCut &C = Result.Cuts.emplace_back();
    Position Begin = place(Node);
    C.At = Begin;
    bool Good = members(
        Node, "an entry of 'cuts'", [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
          note(At, Key, C);
          if (Key == "at")
            return readPlace(Value, C);
          if (Key != "from" && Key != "to" && Key != "because")
            return unknownKey(At, Key, "from, to, at and because");
          word(Value);
          return readText(Value, Key, Key == "from" ? C.From : Key == "to" ? C.To : C.Because);
        });
    if (!Good)
      return false;
    if (C.From.empty() || C.To.empty())
      return failAt(Begin.Line, Begin.Column, "a cut needs both ends, 'from' and 'to'");
    auto Same = [&](const PlanCut &Other) {
      return Other.From == C.From && Other.To == C.To && Other.File == C.File &&
             Other.Line == C.Line;
    };
    auto First = find_if(Result.Cuts, Same);
    return &*First == &C || failAt(Begin.Line, Begin.Column,
                                   "this cut stands already in line " + Twine(First->At.Line));
  }

  // FILE:LINE, or FILE.
  bool readPlace(const yaml::Node *N, Cut &C) {
    std::string Place = word(N).value_or("");
    auto [File, Line] = StringRef(Place).rsplit(':');
    C.File = Line.getAsInteger(10, C.Line) ? Place : File.str();
    return !C.File.empty() || fail(N, "'at' must be FILE:LINE");
  }

  bool readServerEntry(yaml::Node *Node) {
    PlanServer &Server = Result.Servers.emplace_back();
    Position Begin = place(Node);
    bool Good = members(Node, "an entry of 'servers'",
                        [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
                          note(At, Key, Server);
                          if (Key == "number")
                            return readNumber(Value, Server);
                          if (Key == "cpu")
                            return readCpu(Value, Server.Cpu);
                          return unknownKey(At, Key, "number and cpu");
                        });
    return Good &&
           (Server.Number || failAt(Begin.Line, Begin.Column, "this entry has no 'number'"));
  }

  bool readNumber(const yaml::Node *N, PlanServer &Server) {
    std::optional<unsigned> Number = serverNumber(word(N).value_or(""));
    if (!Number)
      return fail(N, "'number' must be that of a server, from 1 to " + Twine(MaxServers),
                  "plan-server");
    auto Other = find_if(Result.Servers, [&](const PlanServer &S) { return S.Number == *Number; });
    if (Other != Result.Servers.end())
      return fail(
          N, "server " + Twine(*Number) + " has an entry already, in line " + Twine(Other->At.Line),
          "plan-server");
    Server.At = place(N);
    Server.Number = *Number;
    return true;
  }

  bool readCpu(const yaml::Node *N, std::optional<unsigned> &Cpu) {
    unsigned Number = 0;
    if (StringRef(word(N).value_or("")).getAsInteger(10, Number) || Number >= MaxCpus)
      return fail(N,
                  "'cpu' must be the number of a processor, below " + Twine(MaxCpus) +
                      "; without it the server runs on any",
                  "plan-server");
    Cpu = Number;
    return true;
  }

  // `classes:` and no more.
  static bool isEmpty(const yaml::Node *Value) { return isa<yaml::NullNode>(Value); }

  bool readClass(yaml::Node *Node) {
    PlanEntry &Entry = Result.Classes.emplace_back();
    Position Begin = place(Node), ServerAt;
    bool Good = members(
        Node, "an entry of 'classes'", [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
          note(At, Key, Entry);
          if (Key == "class")
            return readName(Value, Entry);
          if (Key == "verdict")
            return readVerdict(Value, Entry.Converts);
          if (Key == "algorithm")
            return readAlgorithm(Value, Entry.Algorithm);
          if (Key == "server") {
            ServerAt = place(At);
            return readServer(Value, Entry.Server);
          }
          if (Key == "advised")
            return readAdvised(Value, Entry.Advised);
          return unknownKey(At, Key, "class, verdict, algorithm, server and advised");
        });
    if (!Good)
      return false;
    if (Entry.Class.empty())
      return failAt(Begin.Line, Begin.Column, "this entry has no 'class'");
    StringRef Algorithm =
        Entry.Algorithm.empty() ? StringRef(DefaultAlgorithm) : StringRef(Entry.Algorithm);
    return !Entry.Server || usesServer(Algorithm) ||
           failAt(ServerAt.Line, ServerAt.Column,
                  "'" + Algorithm + "' has no server; 'server' goes with rcl and adaptive_rcl",
                  "plan-server");
  }

  bool readName(const yaml::Node *N, PlanEntry &Entry) {
    std::optional<std::string> Name = word(N);
    if (!Name || Name->empty())
      return fail(N, "'class' must be the name of a lock class");
    Entry.At = place(N);
    if (const PlanEntry *Other = Result.find(*Name))
      return fail(N,
                  "'" + Twine(*Name) + "' has an entry already, in line " + Twine(Other->At.Line));
    Entry.Class = *Name;
    return true;
  }

  bool readVerdict(const yaml::Node *N, bool &Converts) {
    std::optional<std::string> Verdict = word(N);
    Converts = Verdict == "convert";
    return Converts || Verdict == "keep" || fail(N, "'verdict' must be convert or keep");
  }

  bool readAlgorithm(const yaml::Node *N, std::string &Algorithm) {
    Algorithm = word(N).value_or("");
    if (!isAlgorithm(Algorithm) && parseAlgorithm(Algorithm))
      return fail(N,
                  "in a plan the server has a line of its own, 'server: " +
                      StringRef(Algorithm).split(':').second + "'",
                  "plan-server");
    return isAlgorithm(Algorithm) ||
           fail(N,
                "there is no algorithm '" + Twine(Algorithm) + "'; there are " + algorithmList() +
                    " (to leave a class as it is: 'verdict: keep')",
                "unknown-algorithm");
  }

  bool readServer(const yaml::Node *N, std::optional<unsigned> &Server) {
    Server = serverNumber(word(N).value_or(""));
    return Server ||
           fail(N, "'server' must be a number from 1 to " + Twine(MaxServers), "plan-server");
  }

  bool readAdvised(const yaml::Node *N, std::string &Advised) {
    Advised = word(N).value_or("");
    if (std::optional<std::string> Algorithm = parseAlgorithm(Advised))
      Advised = *Algorithm;
    else if (Advised != "keep")
      return fail(N, "'advised' is what `relock advise` wrote, an algorithm or keep; to make the "
                     "entry yours, take the line out");
    return true;
  }

  // --- Comments ---------------------------------------------------------------------------------

  bool inWord(unsigned Offset) const {
    return any_of(Words, [&](const auto &W) { return W.first <= Offset && Offset < W.second; });
  }

  // A `#` at the begin of the text or behind a blank, and not in a value.
  unsigned commentIn(StringRef Line, unsigned LineBegin) const {
    for (unsigned I = 0; I < Line.size(); ++I)
      if (Line[I] == '#' && (I == 0 || isSpace(Line[I - 1])) && !inWord(LineBegin + I))
        return I;
    return Line.size();
  }

  void attachComments() {
    StringRef Rest = Text.getBuffer();
    while (!Rest.empty()) {
      auto [Line, Next] = Rest.split('\n');
      unsigned Begin = Line.begin() - Text.getBufferStart();
      unsigned At = commentIn(Line, Begin);
      StringRef Comment = Line.drop_front(At).rtrim();
      if (StringRef Ours = Comment; Ours.consume_front("#."))
        keepRemark(Ours.ltrim(), Begin + At, At + 1);
      else if (!Comment.empty())
        attach(Comment, Begin + At, At + 1, Line.take_front(At).trim().empty());
      Rest = Next;
    }
  }

  // Relock's own: of the entry in which it stands, at the head, or of the cuts.
  void keepRemark(StringRef Text, unsigned Offset, unsigned Column) {
    auto Next = find_if(Keys, [&](const Key &K) { return K.At.Offset > Offset; });
    if (Next == Keys.begin()) {
      Result.Remarks.push_back(Text.str());
      return;
    }
    const Key &Before = *std::prev(Next);
    auto Entry = find_if(Result.Classes, [&](const PlanEntry &E) { return &E == Before.Of; });
    if (Entry == Result.Classes.end())
      Result.CutRemarks.push_back(Text.str());
    else if (Column >= Before.At.Column)
      Entry->Remarks.push_back(Text.str());
  }

  void attach(StringRef Comment, unsigned Offset, unsigned Column, bool OwnLine) {
    auto Next = find_if(Keys, [&](const Key &K) { return K.At.Offset > Offset; });
    const Key *Before = Next == Keys.begin() ? nullptr : &*std::prev(Next);
    if (!OwnLine && Before) {
      Before->Of->Notes[Before->Name].Behind = Comment.str();
      return;
    }
    bool Inside = Before && Before->Of != &Result && Column >= Before->At.Column;
    bool SameEntry = Next != Keys.end() && Before && Next->Of == Before->Of;
    if (Inside && !SameEntry)
      Before->Of->Below.push_back(Comment.str());
    else if (Next != Keys.end())
      Next->Of->Notes[Next->Name].Above.push_back(Comment.str());
    else
      Result.Below.push_back(Comment.str());
  }
};

} // namespace

Expected<Plan> Plan::read(StringRef File) {
  Expected<std::unique_ptr<MemoryBuffer>> Text = openYaml(File, "the plan");
  if (!Text)
    return Text.takeError();
  return PlanReader((*Text)->getBufferIdentifier(), (*Text)->getMemBufferRef()).run();
}

// --- Writing ------------------------------------------------------------------------------------

std::string scalarText(StringRef Word) {
  bool Plain = !Word.empty() && (isAlpha(Word[0]) || StringRef("_./").contains(Word[0])) &&
               !Word.ends_with(":") && !yaml::isNull(Word) && !yaml::isBool(Word) &&
               all_of(Word, [](char C) { return isAlnum(C) || StringRef("_.:/$-()").contains(C); });
  return Plain ? Word.str() : "\"" + yaml::escape(Word, /*EscapePrintable=*/false) + "\"";
}

namespace {

std::vector<std::string> cutLines(const PlanCut &C) {
  std::vector<std::string> Lines = {"- from: " + scalarText(C.From), "  to: " + scalarText(C.To)};
  if (!C.File.empty())
    Lines.push_back("  at: " + scalarText(C.Line ? C.File + ":" + std::to_string(C.Line) : C.File));
  if (!C.Because.empty())
    Lines.push_back("  because: " + scalarText(C.Because));
  return Lines;
}

std::vector<std::string> serverLines(const PlanServer &Server) {
  std::vector<std::string> Lines = {"- number: " + std::to_string(Server.Number)};
  if (Server.Cpu)
    Lines.push_back("  cpu: " + std::to_string(*Server.Cpu));
  return Lines;
}

class Writer {
public:
  Writer(raw_ostream &OS) : OS(OS) {}

  void write(const Plan &P) {
    remarks(P.Remarks, "");
    line(P, "version", "", "version: 1");
    OS << "\n";
    writeSources(P);
    if (!P.Cuts.empty() || P.Notes.count("cuts"))
      line(P, "cuts", "", P.Cuts.empty() ? "cuts: []" : "cuts:");
    for (const PlanCut &C : P.Cuts)
      writeEntry(C, cutLines(C), {});
    remarks(P.CutRemarks, "");
    if (!P.Cuts.empty() || P.Notes.count("cuts") || !P.CutRemarks.empty())
      OS << "\n";
    if (!P.Servers.empty() || P.Notes.count("servers")) {
      line(P, "servers", "", P.Servers.empty() ? "servers: []" : "servers:");
      for (const PlanServer &Server : P.Servers)
        writeEntry(Server, serverLines(Server), {});
      OS << "\n";
    }
    line(P, "classes", "", P.Classes.empty() ? "classes: []" : "classes:");
    ListSeparator Blank("\n");
    for (const PlanEntry &Entry : P.Classes) {
      OS << Blank;
      writeEntry(Entry, entryLines(Entry), Entry.Remarks);
    }
    if (!P.Below.empty())
      OS << "\n";
    for (const std::string &Comment : P.Below)
      OS << Comment << "\n";
  }

private:
  raw_ostream &OS;

  void remarks(const std::vector<std::string> &Remarks, StringRef Indent) {
    for (const std::string &Remark : Remarks)
      OS << Indent << "#. " << Remark << "\n";
  }

  // What the advice rests on.
  void writeSources(const Plan &P) {
    if (P.Profiles.empty())
      return;
    std::vector<std::string> Names;
    for (const std::string &File : P.Profiles)
      Names.push_back(scalarText(File));
    line(P, "profiles", "", "profiles: [" + join(Names, ", ") + "]");
    if (!P.Thresholds.empty())
      line(P, "thresholds", "", "thresholds: " + scalarText(P.Thresholds));
    if (!P.Machine.empty())
      line(P, "machine", "", "machine: " + scalarText(P.Machine));
    if (P.Threads)
      line(P, "threads", "", "threads: " + std::to_string(P.Threads));
    if (!P.Predicted.empty())
      line(P, "predicted", "", "predicted: " + P.Predicted);
    OS << "\n";
  }

  // A line with the comments on its key.
  void line(const Commented &Of, StringRef Key, StringRef Indent, StringRef Text) {
    auto Note = Of.Notes.find(Key.str());
    if (Note != Of.Notes.end())
      for (const std::string &Comment : Note->second.Above)
        OS << Indent << Comment << "\n";
    OS << Indent << Text;
    if (Note != Of.Notes.end() && !Note->second.Behind.empty())
      OS << "  " << Note->second.Behind;
    OS << "\n";
  }

  void comments(ArrayRef<std::string> Lines) {
    for (const std::string &Comment : Lines)
      OS << "    " << Comment << "\n";
  }

  // An entry of a list; Remarks stand behind its keys.
  void writeEntry(const Commented &Of, const std::vector<std::string> &Lines,
                  const std::vector<std::string> &Remarks) {
    std::map<std::string, Comments> Left = Of.Notes; // on lines that are there no more
    for (const std::string &Text : Lines) {
      StringRef Rest = Text;
      bool First = Rest.consume_front("- ");
      StringRef Key = Rest.ltrim().split(':').first;
      Left.erase(Key.str());
      line(Of, Key, First ? "  " : "    ", First ? Text : Rest.ltrim());
    }
    remarks(Remarks, "    ");
    for (const auto &[Key, Note] : Left) {
      comments(Note.Above);
      comments(ArrayRef(Note.Behind).take_front(!Note.Behind.empty()));
    }
    comments(Of.Below);
  }
};

} // namespace

std::vector<std::string> entryLines(const PlanEntry &Entry) {
  std::vector<std::string> Lines = {"- class: " + scalarText(Entry.Class),
                                    std::string("  verdict: ") +
                                        (Entry.Converts ? "convert" : "keep")};
  if (!Entry.Algorithm.empty())
    Lines.push_back("  algorithm: " + Entry.Algorithm);
  if (Entry.Server)
    Lines.push_back("  server: " + std::to_string(*Entry.Server));
  if (!Entry.Advised.empty())
    Lines.push_back("  advised: " + Entry.Advised);
  return Lines;
}

void writePlan(raw_ostream &OS, const Plan &P) { Writer(OS).write(P); }

} // namespace relock
