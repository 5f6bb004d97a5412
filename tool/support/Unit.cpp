// SPDX-License-Identifier: MIT
#include "support/Unit.h"

#include "support/Source.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Driver/Options.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VersionTuple.h"
#include "llvm/Support/VirtualFileSystem.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

class Collector : public DiagnosticConsumer {
public:
  std::vector<UnitDiagnostic> Seen;

  void HandleDiagnostic(DiagnosticsEngine::Level Level, const Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level < DiagnosticsEngine::Warning)
      return;
    UnitDiagnostic D;
    D.Error = Level >= DiagnosticsEngine::Error;
    SmallString<128> Text;
    Info.FormatDiagnostic(Text);
    D.Text = std::string(Text);
    if (Info.hasSourceManager() && Info.getLocation().isValid()) {
      const SourceManager &SM = Info.getSourceManager();
      PresumedLoc P = SM.getPresumedLoc(SM.getExpansionLoc(Info.getLocation()));
      if (P.isValid()) {
        D.At.File = P.getFilename();
        D.At.Line = P.getLine();
        D.At.Column = P.getColumn();
      }
      for (SourceLocation L :
           {SM.getSpellingLoc(Info.getLocation()), SM.getExpansionLoc(Info.getLocation())})
        D.Written.push_back(filePosition(SM, L));
    }
    Seen.push_back(std::move(D));
  }
};

// A file of the disk with another text.
class ReplacedFile : public vfs::File {
public:
  ReplacedFile(std::unique_ptr<vfs::File> OnDisk, StringRef Text)
      : OnDisk(std::move(OnDisk)), Text(Text) {}

  ErrorOr<vfs::Status> status() override {
    ErrorOr<vfs::Status> Status = OnDisk->status();
    if (!Status)
      return Status;
    return vfs::Status::copyWithNewSize(*Status, Text.size());
  }
  ErrorOr<std::string> getName() override { return OnDisk->getName(); }
  ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(const Twine &Name, int64_t, bool,
                                                   bool) override {
    return MemoryBuffer::getMemBuffer(Text, Name.str());
  }
  std::error_code close() override { return OnDisk->close(); }

private:
  std::unique_ptr<vfs::File> OnDisk;
  StringRef Text;
};

// The disk with other texts, which are found by any path to their file: a compiler may come to it
// through a link. New files are found from the folders that they are in, and from no other.
class ReplacedFiles : public vfs::ProxyFileSystem {
public:
  ReplacedFiles(IntrusiveRefCntPtr<vfs::FileSystem> Disk, const FileTexts &Replaced)
      : ProxyFileSystem(Disk), New(new vfs::InMemoryFileSystem) {
    for (const auto &[Path, Text] : Replaced)
      if (ErrorOr<vfs::Status> Status = Disk->status(Path))
        Texts.try_emplace(Status->getUniqueID(), Text);
      else
        New->addFile(Path, 0, MemoryBuffer::getMemBuffer(Text));
  }

  ErrorOr<vfs::Status> status(const Twine &Path) override {
    ErrorOr<vfs::Status> Status = ProxyFileSystem::status(Path);
    if (!Status) {
      Status = New->status(inRealFolder(Path));
      return Status ? vfs::Status::copyWithNewName(*Status, Path) : Status;
    }
    auto Text = Texts.find(Status->getUniqueID());
    return Text == Texts.end() ? Status
                               : vfs::Status::copyWithNewSize(*Status, Text->second.size());
  }

  ErrorOr<std::unique_ptr<vfs::File>> openFileForRead(const Twine &Path) override {
    ErrorOr<std::unique_ptr<vfs::File>> File = ProxyFileSystem::openFileForRead(Path);
    if (!File)
      return New->openFileForRead(inRealFolder(Path));
    ErrorOr<vfs::Status> Status = (*File)->status();
    auto Text = Status ? Texts.find(Status->getUniqueID()) : Texts.end();
    if (Text == Texts.end())
      return File;
    return std::make_unique<ReplacedFile>(std::move(*File), Text->second);
  }

private:
  std::map<sys::fs::UniqueID, StringRef> Texts;
  IntrusiveRefCntPtr<vfs::InMemoryFileSystem> New;

  SmallString<256> inRealFolder(const Twine &Path) {
    SmallString<256> Text, Real;
    Path.toVector(Text);
    StringRef Folder = sys::path::parent_path(Text);
    if (getRealPath(Folder.empty() ? "." : Folder, Real))
      return Text;
    sys::path::append(Real, sys::path::filename(Text));
    return Real;
  }
};

// The variables that `#pragma omp threadprivate(a, b)` names: each thread has its own.
class ThreadPrivate : public PPCallbacks {
public:
  ThreadPrivate(const SourceManager &SM, std::set<std::string> &Names) : SM(SM), Names(Names) {}

  void PragmaDirective(SourceLocation At, PragmaIntroducerKind) override {
    auto [File, Offset] = SM.getDecomposedSpellingLoc(At);
    StringRef Text = SM.getBufferData(File).substr(Offset);
    size_t End = Text.find('\n');
    while (End != StringRef::npos && Text.take_front(End).rtrim('\r').ends_with("\\"))
      End = Text.find('\n', End + 1);
    auto [Before, List] = Text.take_front(End).split("threadprivate");
    if (Before.size() == Text.take_front(End).size())
      return;
    for (StringRef Name : split(List.split('(').second.split(')').first, ','))
      Names.insert(Name.trim(" \t\r\n\\").str());
  }

private:
  const SourceManager &SM;
  std::set<std::string> &Names;
};

// Declares variables thread-local: those of these names, and all if there is none of one of them,
// as where a macro makes the name.
class PrivateVariables : public RecursiveASTVisitor<PrivateVariables> {
public:
  static void declare(const std::set<std::string> &Names, ASTContext &Context) {
    PrivateVariables Named{Names};
    if (Names.empty())
      return;
    Named.TraverseDecl(Context.getTranslationUnitDecl());
    Named.All = Named.Found.size() < Names.size();
    if (Named.All)
      Named.TraverseDecl(Context.getTranslationUnitDecl());
  }

  bool VisitVarDecl(VarDecl *V) {
    bool Named = Names.count(V->getNameAsString()) != 0;
    if (!V->hasGlobalStorage() || !(Named || All))
      return true;
    V->setTSCSpec(TSCS___thread);
    if (Named)
      Found.insert(V->getNameAsString());
    return true;
  }

private:
  explicit PrivateVariables(const std::set<std::string> &Names) : Names(Names) {}

  const std::set<std::string> &Names;
  std::set<std::string> Found;
  bool All = false;
};

class Action : public ASTFrontendAction {
public:
  Action(const UnitActions &Actions) : Actions(Actions) {}

  bool BeginSourceFileAction(CompilerInstance &CI) override {
    CI.getDiagnosticOpts().ShowCarets = false; // no "1 error generated." behind our backs
    CI.getPreprocessor().addPPCallbacks(
        std::make_unique<ThreadPrivate>(CI.getSourceManager(), Private));
    if (Actions.Begin)
      Actions.Begin(CI);
    return true;
  }
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI, StringRef) override {
    struct Consumer : ASTConsumer {
      Consumer(CompilerInstance &CI, const UnitActions &Actions,
               const std::set<std::string> &Private)
          : CI(CI), Actions(Actions), Private(Private) {}
      void HandleTranslationUnit(ASTContext &Context) override {
        PrivateVariables::declare(Private, Context);
        const DiagnosticsEngine &Diagnostics = CI.getDiagnostics();
        const auto &Then = Diagnostics.hasErrorOccurred() ? Actions.EndWithErrors : Actions.End;
        if (Then && !Diagnostics.hasFatalErrorOccurred())
          Then(CI);
      }
      CompilerInstance &CI;
      const UnitActions &Actions;
      const std::set<std::string> &Private;
    };
    return std::make_unique<Consumer>(CI, Actions, Private);
  }

private:
  const UnitActions &Actions;
  std::set<std::string> Private;
};

class ListFiles : public PreprocessOnlyAction {
public:
  ListFiles(UnitFiles &Result) : Result(Result) {}

  bool BeginSourceFileAction(CompilerInstance &CI) override {
    struct Watch : PPCallbacks {
      const SourceManager &SM;
      UnitFiles &Result;
      FileID Last;
      std::set<std::string> *NamesOfLast = nullptr;
      // Text that asks for C++ is none of C files that include it, too: it counts as the main
      // file's own. By open directive: whether that asks.
      std::vector<bool> Asks;
      Watch(const SourceManager &SM, UnitFiles &Result) : SM(SM), Result(Result) {}
      std::string pathOf(FileID File) const {
        OptionalFileEntryRef Entry = SM.getFileEntryRefForID(File);
        return Entry ? Entry->getFileEntry().tryGetRealPathName().str() : "";
      }
      void add(const IdentifierInfo *Name, SourceLocation L) {
        L = SM.getExpansionLoc(L);
        if (!Name || SM.isInSystemHeader(L))
          return;
        if (is_contained(Asks, true))
          Result.Names[pathOf(SM.getMainFileID())].insert(Name->getName().str());
        if (FileID File = SM.getFileID(L); File != Last) { // mostly it is the same
          Last = File;
          NamesOfLast = &Result.Names[pathOf(File)];
        }
        NamesOfLast->insert(Name->getName().str());
      }
      bool FileNotFound(StringRef) override {
        Result.All = false;
        return false;
      }
      void FileChanged(SourceLocation L, FileChangeReason, SrcMgr::CharacteristicKind Kind,
                       FileID) override {
        std::string Path = pathOf(SM.getFileID(L));
        if (Path.empty())
          return;
        if (Kind == SrcMgr::C_User)
          Result.Names[Path]; // it may have none
        Result.Files.insert(std::move(Path));
      }
      bool asks(SourceRange R) const {
        bool Invalid = false;
        const char *Begin = SM.getCharacterData(SM.getExpansionLoc(R.getBegin()), &Invalid);
        const char *End = SM.getCharacterData(SM.getExpansionLoc(R.getEnd()), &Invalid);
        return Invalid || End < Begin || // the end: its last token, or what is behind that
               StringRef(Begin, End - Begin).contains("__cplusplus") ||
               StringRef(End).starts_with("__cplusplus");
      }
      void If(SourceLocation, SourceRange Condition, ConditionValueKind) override {
        Asks.push_back(asks(Condition));
      }
      void Ifdef(SourceLocation, const Token &Name, const MacroDefinition &) override {
        Asks.push_back(Name.getIdentifierInfo()->getName() == "__cplusplus");
      }
      void Ifndef(SourceLocation L, const Token &Name, const MacroDefinition &Macro) override {
        Ifdef(L, Name, Macro);
      }
      void Elif(SourceLocation, SourceRange Condition, ConditionValueKind,
                SourceLocation) override {
        if (!Asks.empty())
          Asks.back() = Asks.back() || asks(Condition);
      }
      void Endif(SourceLocation, SourceLocation) override {
        if (!Asks.empty())
          Asks.pop_back();
      }
      void MacroExpands(const Token &Name, const MacroDefinition &, SourceRange,
                        const MacroArgs *) override {
        add(Name.getIdentifierInfo(), Name.getLocation());
      }
    };
    CI.getDiagnosticOpts().ShowCarets = false; // as above
    auto Seen = std::make_unique<Watch>(CI.getSourceManager(), Result);
    CI.getPreprocessor().setTokenWatcher([Seen = Seen.get()](const Token &T) {
      if (!T.isAnnotation())
        Seen->add(T.getIdentifierInfo(), T.getLocation());
    });
    CI.getPreprocessor().addPPCallbacks(std::move(Seen));
    return true;
  }

private:
  UnitFiles &Result;
};

} // namespace

std::string mainFile(const tooling::CompileCommand &Command) {
  SmallString<256> Path(Command.Filename);
  if (sys::path::is_relative(Path)) {
    Path = Command.Directory;
    sys::path::append(Path, Command.Filename);
  }
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  SmallString<256> Real;
  if (!sys::fs::real_path(Path, Real))
    return std::string(Real);
  return std::string(Path);
}

// The folder of the runtime's headers: beside the installed command, or in the source tree.
static std::string includeFolder() {
  static const std::string Folder = [] {
    std::string Command = sys::fs::getMainExecutable(nullptr, nullptr);
    SmallString<256> Path(sys::path::parent_path(sys::path::parent_path(Command)));
    sys::path::append(Path, "include");
    return sys::fs::exists(Path + "/relock/relock.h") ? std::string(Path)
                                                      : std::string(RELOCK_BUILD_INCLUDE_DIR);
  }();
  return Folder;
}

// The newest gcc's omp.h, which Clang has not by itself; empty: there is none.
static std::string gccHeaderOfOpenMP() {
  static const std::string File = [] {
    std::pair<VersionTuple, std::string> Newest;
    std::error_code Code;
    for (sys::fs::directory_iterator Target("/usr/lib/gcc", Code), End; !Code && Target != End;
         Target.increment(Code))
      for (sys::fs::directory_iterator It(Target->path(), Code); !Code && It != End;
           It.increment(Code)) {
        VersionTuple Version;
        std::string Path = It->path() + "/include/omp.h";
        if (!Version.tryParse(sys::path::filename(It->path())) && sys::fs::exists(Path))
          Newest = std::max(Newest, {Version, Path});
      }
    return Newest.second;
  }();
  return File;
}

// A folder that has this header and nothing else. Others of gcc's must not be found beside it:
// Clang's stdatomic.h goes on with the next one of its name.
static const char *const OpenMPFolder = "/relock/openmp";

// Takes out the options that Clang does not know, such as gcc's -mpreferred-stack-boundary. They
// are about the code that gcc makes; where one would change the meaning of the text, the text does
// not parse without it.
static void dropUnknownOptions(std::vector<std::string> &Arguments) {
  std::vector<const char *> Texts;
  for (size_t I = 1; I < Arguments.size(); ++I) // behind the compiler's name
    Texts.push_back(Arguments[I].c_str());
  unsigned MissingIndex, MissingCount;
  opt::InputArgList Parsed = clang::driver::getDriverOptTable().ParseArgs(
      Texts, MissingIndex, MissingCount, opt::Visibility(clang::driver::options::ClangOption));
  SmallVector<unsigned, 4> Unknown;
  for (const opt::Arg *A : Parsed.filtered(clang::driver::options::OPT_UNKNOWN))
    Unknown.push_back(A->getIndex() + 1);
  for (unsigned Index : reverse(Unknown))
    Arguments.erase(Arguments.begin() + Index);
}

static bool isOpenMP(StringRef Argument) {
  return Argument == "-fopenmp" || Argument.starts_with("-fopenmp=");
}

// OpenMP's directives are read as what they are without OpenMP: the text of a region is that of its
// function then, with its locks. What stands under a condition for it is there.
static std::vector<std::string> insteadOfOpenMP() {
  std::vector<std::string> Arguments = {"-D_OPENMP=201511"}; // that of gcc 12
  // omp.h has `__malloc__(omp_free)`, an error for Clang, where its own has no arguments.
  if (!gccHeaderOfOpenMP().empty())
    Arguments.insert(Arguments.end(), {"-idirafter", OpenMPFolder, "-D__malloc__(...)="});
  return Arguments;
}

// The command as Clang can run it for its syntax only. The runtime's header comes last in the
// search path, so that code that was rewritten before is understood without further options.
static std::vector<std::string> arguments(const tooling::CompileCommand &Command, Warnings Wanted) {
  using namespace tooling;
  ArgumentsAdjuster Adjust = combineAdjusters(
      combineAdjusters(getClangStripOutputAdjuster(), getClangSyntaxOnlyAdjuster()),
      getClangStripDependencyFileAdjuster());
  std::vector<std::string> Arguments = Adjust(Command.CommandLine, Command.Filename);
  // Clang warns of other things than the project's compiler: its warnings must not be errors.
  erase_if(Arguments, [](StringRef Argument) {
    return Argument.starts_with("-Werror") || Argument == "-pedantic-errors";
  });
  if (Wanted == Warnings::All) {
    erase_if(Arguments, [](StringRef Argument) { return Argument == "-w"; });
    // In force over what the command silences of them, and of nothing else: what a project excepts
    // from -Weverything stays so.
    auto Files = find(Arguments, "--");
    Arguments.insert(Files, {"-Wall", "-Wextra"});
  }
  dropUnknownOptions(Arguments);
  const bool OpenMP = std::erase_if(Arguments, isOpenMP) != 0;
  CommandLineArguments Extra = {"-resource-dir=" RELOCK_CLANG_RESOURCE_DIR, "-Qunused-arguments",
                                "-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument",
                                // errors of Clang, where gcc warns or is silent
                                "-Wno-error=implicit-function-declaration",
                                "-Wno-error=implicit-int", "-Wno-error=int-conversion",
                                "-Wno-error=incompatible-function-pointer-types",
                                "-Wno-error=return-mismatch", "-Wno-error=initializer-overrides",
                                "-ferror-limit=0", "-idirafter", includeFolder()};
  // Programs use blocks under `__clang__` alone, where gcc has nested functions. What a header
  // declares only for those who have blocks stays away, as for gcc.
  if (!is_contained(Arguments, "-fblocks"))
    Extra.insert(Extra.end(), {"-fblocks", "-U__BLOCKS__"});
  if (OpenMP)
    append_range(Extra, insteadOfOpenMP());
  return getInsertArgumentAdjuster(Extra, ArgumentInsertPosition::BEGIN)(Arguments,
                                                                         Command.Filename);
}

static std::vector<UnitDiagnostic> runAction(const tooling::CompileCommand &Command,
                                             std::unique_ptr<FrontendAction> Action,
                                             const FileTexts *Replaced, Warnings Wanted) {
  IntrusiveRefCntPtr<vfs::FileSystem> Files(vfs::createPhysicalFileSystem().release());
  if (any_of(Command.CommandLine, isOpenMP) && !gccHeaderOfOpenMP().empty())
    Files = vfs::RedirectingFileSystem::create(
        {{std::string(OpenMPFolder) + "/omp.h", gccHeaderOfOpenMP()}}, /*UseExternalNames=*/true,
        *Files);
  if (Replaced)
    Files = new ReplacedFiles(Files, *Replaced);
  Collector Diagnostics;
  if (Files->setCurrentWorkingDirectory(Command.Directory)) {
    UnitDiagnostic D;
    D.At.File = mainFile(Command);
    D.Text = "the folder " + Command.Directory + " of its compile command does not exist";
    D.Error = true;
    return {D};
  }
  IntrusiveRefCntPtr<FileManager> Manager(new FileManager(FileSystemOptions(), Files));
  tooling::ToolInvocation Invocation(arguments(Command, Wanted), std::move(Action), Manager.get());
  Invocation.setDiagnosticConsumer(&Diagnostics);
  if (!Invocation.run() &&
      none_of(Diagnostics.Seen, [](const UnitDiagnostic &D) { return D.Error; })) {
    UnitDiagnostic D;
    D.At.File = mainFile(Command);
    D.Text = "Clang cannot run its compile command";
    D.Error = true;
    Diagnostics.Seen.push_back(D);
  }
  return std::move(Diagnostics.Seen);
}

std::vector<UnitDiagnostic> parseUnit(const tooling::CompileCommand &Command,
                                      const UnitActions &Actions, const FileTexts *Replaced,
                                      Warnings Wanted) {
  return runAction(Command, std::make_unique<Action>(Actions), Replaced, Wanted);
}

UnitFiles filesOf(const tooling::CompileCommand &Command) {
  UnitFiles Result;
  Result.All = true;
  runAction(Command, std::make_unique<ListFiles>(Result), nullptr, Warnings::Asked);
  Result.All &= !Result.Files.empty(); // Clang may not know the language
  return Result;
}

} // namespace relock
