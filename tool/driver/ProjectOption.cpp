// SPDX-License-Identifier: MIT
#include "driver/ProjectOption.h"

#include "support/Messages.h"
#include "support/Yaml.h"

using namespace llvm;

namespace relock {

std::optional<ProjectFile> loadProject(const cl::opt<std::string> &Option,
                                       ArrayRef<std::string> Builds, const IndexResult &Index) {
  std::string File = Option;
  if (!Option.getNumOccurrences()) {
    std::vector<std::string> Sources;
    for (const clang::tooling::CompileCommand &Command : Index.Commands)
      Sources.push_back(mainFile(Command));
    for (const std::string &Build : Builds)
      if (File.empty())
        File = findProjectFile(Build, Sources);
  }
  ProjectFile Project;
  if (!File.empty()) {
    Expected<ProjectFile> Read = ProjectFile::read(File);
    if (!Read) {
      reportYaml(Read.takeError(), "project-file");
      return std::nullopt;
    }
    Project = std::move(*Read);
  }
  std::set<StringRef> Files;
  for (const auto &D : distinct(Index.Units, &UnitFacts::Dependencies))
    Files.insert(D->File);
  Project.findLibraries(Files, Index.Root);
  return Project;
}

void reportUnmatched(const Decision &Decided) {
  std::vector<std::pair<Position, std::string>> ByPlace; // and what to say
  for (const auto &[Name, At] : Decided.Unmatched)
    ByPlace.push_back({At, StringRef(Name).ends_with("*")
                               ? "the program calls no function that begins so, that it does not "
                                 "define, and that is not known from the C library: '" +
                                     Name + "'"
                               : "the program neither calls nor defines '" + Name + "'"});
  for (const auto &[Name, At] : Decided.UnmatchedMacros)
    ByPlace.push_back({At, "no section in the body of a macro '" + Name + "' needs this"});
  sort(ByPlace, [](const auto &A, const auto &B) {
    return std::tie(A.first.Line, A.first.Column) < std::tie(B.first.Line, B.first.Column);
  });
  for (const auto &[At, Message] : ByPlace)
    message(At, Message, "project-unmatched");
}

TrustCounts countTrust(const Decision &Decided, function_ref<bool(const CheckedClass &)> Counts) {
  TrustCounts Result;
  for (const CheckedClass &Class : Decided.Classes)
    for (const CheckedSection &S : Class.Sections) {
      if (S.Outcome != Verdict::Delegate || !Counts(Class))
        continue;
      Result.Sections += !S.RestsOn.empty() || !S.RestsOnMacro.empty();
      for (const std::string &Name : S.RestsOn)
        ++Result.Functions[Name];
      if (!S.RestsOnMacro.empty())
        ++Result.Macros[S.RestsOnMacro];
    }
  return Result;
}

std::string trustLine(const TrustCounts &Trust, const ProjectFile &Project) {
  const size_t Functions = Trust.Functions.size(), Macros = Trust.Macros.size();
  auto Counted = [](size_t Number, StringRef What) {
    return (Twine(Number) + " " + What + (Number == 1 ? "" : "s")).str();
  };
  // Libraries that the file does not name.
  std::set<StringRef> Libraries;
  bool OnFile = Macros;
  for (const auto &[Name, Sections] : Trust.Functions) {
    const DeclaredFunction *Entry = Project.entryOf(Name);
    if (!Entry || Entry->Library.empty() || Project.NamesLibraries)
      OnFile = true;
    else
      Libraries.insert(Entry->Library);
  }
  std::string On = OnFile || Libraries.empty() ? shownPath(Project.Path) : "";
  if (!Libraries.empty())
    On += (On.empty() ? "" : " and ") + ("what Relock knows of " + join(Libraries, ", "));
  return std::to_string(Trust.Sections) +
         (Trust.Sections == 1 ? " section rests" : " sections rest") + " on " + On + " (" +
         (Functions || !Macros ? Counted(Functions, "function") : "") +
         (Functions && Macros ? ", " : "") + (Macros ? Counted(Macros, "macro") : "") + ")" +
         (Project.Closed ? "; more may, as it says that nothing else calls the program (closed)"
                         : "");
}

std::vector<std::string> acceptedLines(const Decision &Decided,
                                       function_ref<bool(const CheckedClass &)> Counts,
                                       const ProjectFile &Project) {
  std::map<std::string, size_t> Sections;
  for (const CheckedClass &Class : Decided.Classes)
    for (const CheckedSection &S : Class.Sections)
      if (S.Outcome == Verdict::Delegate && Counts(Class))
        for (const auto &[Code, At] : Project.Accepted)
          Sections[Code] += any_of(S.Accepted, [&](const Reason &R) { return R.Code == Code; });
  std::vector<std::string> Lines;
  for (const auto &[Code, At] : Project.Accepted)
    Lines.push_back(std::to_string(Sections[Code]) +
                    (Sections[Code] == 1 ? " section is" : " sections are") + " delegated since " +
                    shownPlace(At) + " accepts " + Code);
  return Lines;
}

} // namespace relock
