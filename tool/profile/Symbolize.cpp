// SPDX-License-Identifier: MIT
#include "profile/Symbolize.h"

#include "profile/Dwarf.h"
#include "profile/TailCalls.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"
#include "llvm/DebugInfo/DWARF/DWARFExpression.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <map>
#include <optional>

using namespace llvm;
using namespace llvm::dwarf;

namespace relock {

namespace {

constexpr StringRef DebugFolder = "/usr/lib/debug";

using VariableMap = std::map<uint64_t, DWARFDie>; // by address
using Variable = std::pair<uint64_t, DWARFDie>;

// The DWARF of one module.
struct DebugInfo {
  object::OwningBinary<object::ObjectFile> File;
  std::unique_ptr<DWARFContext> Context; // null: none
  // Once they were asked for.
  std::optional<VariableMap> Variables;
  std::optional<TailCalls> Jumps;

  TailCalls *jumps() {
    if (Context && !Jumps)
      Jumps.emplace(*Context);
    return Context ? &*Jumps : nullptr;
  }
};

std::optional<object::OwningBinary<object::ObjectFile>> openObject(StringRef Path) {
  auto File = object::ObjectFile::createObjectFile(Path);
  if (File)
    return std::move(*File);
  consumeError(File.takeError());
  return std::nullopt;
}

StringRef valueOr(Expected<StringRef> Text, StringRef Default = "") {
  if (Text)
    return *Text;
  consumeError(Text.takeError());
  return Default;
}

bool isLinkedFile(StringRef File, uint32_t Checksum) {
  auto Content = MemoryBuffer::getFile(File, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return Content && crc32(arrayRefFromStringRef((*Content)->getBuffer())) == Checksum;
}

// What `objcopy --add-gnu-debuglink` names: beside the module, or where distributions have it.
std::string debugLink(const object::ObjectFile &Module, StringRef Path) {
  for (const object::SectionRef &Section : Module.sections()) {
    StringRef Name = valueOr(Section.getName()), Content = valueOr(Section.getContents());
    if (Name != ".gnu_debuglink" || Content.size() < sizeof(uint32_t))
      continue;
    std::string File = Content.take_until([](char C) { return C == 0; }).str();
    uint32_t Checksum =
        support::endian::read32(Content.end() - sizeof Checksum,
                                Module.isLittleEndian() ? endianness::little : endianness::big);
    std::string Folder = sys::path::parent_path(Path).str() + "/";
    for (std::string Place :
         {Folder + File, Folder + ".debug/" + File, DebugFolder.str() + Folder + File})
      if (isLinkedFile(Place, Checksum))
        return Place;
  }
  return "";
}

// In the module itself, or in the file that its build id or a link names.
std::unique_ptr<DebugInfo> openDebugInfo(StringRef Path) {
  auto Result = std::make_unique<DebugInfo>();
  auto File = openObject(Path);
  if (!File)
    return Result;
  object::BuildIDFetcher Fetcher({DebugFolder.str()});
  object::BuildIDRef Id = object::getBuildID(File->getBinary());
  std::optional<std::string> Debug = Id.empty() ? std::nullopt : Fetcher.fetch(Id);
  if (auto Separate = openObject(Debug ? *Debug : debugLink(*File->getBinary(), Path)))
    File = std::move(Separate);
  Result->File = std::move(*File);
  Result->Context = DWARFContext::create(*Result->File.getBinary());
  return Result;
}

// Where a variable of static storage begins: `DW_OP_addr`, or the index of an address.
std::optional<uint64_t> addressOf(DWARFDie Variable) {
  std::optional<ArrayRef<uint8_t>> Block = toBlock(Variable.find(DW_AT_location));
  DWARFUnit *Unit = Variable.getDwarfUnit();
  if (!Block)
    return std::nullopt;
  DataExtractor Data(*Block, Unit->isLittleEndian(), Unit->getAddressByteSize());
  DWARFExpression Expression(Data, Unit->getAddressByteSize(), Unit->getFormat());
  auto First = Expression.begin();
  if (First == Expression.end() || First->isError())
    return std::nullopt;
  if (First->getCode() == DW_OP_addr)
    return First->getRawOperand(0);
  if (First->getCode() != DW_OP_addrx && First->getCode() != DW_OP_GNU_addr_index)
    return std::nullopt;
  auto Address = Unit->getAddrOffsetSectionItem(uint32_t(First->getRawOperand(0)));
  return Address ? std::optional(Address->Address) : std::nullopt;
}

void collectVariables(DWARFDie Scope, VariableMap &Found) {
  for (DWARFDie Child : Scope.children()) {
    if (Child.getTag() == DW_TAG_variable) {
      if (std::optional<uint64_t> Address = addressOf(Child))
        Found.try_emplace(*Address, Child);
    } else if (!isType(Child.getTag())) {
      collectVariables(Child, Found);
    }
  }
}

// Of each unit, in files of their own (-gsplit-dwarf), too.
VariableMap variablesByAddress(DWARFContext &Context) {
  VariableMap Found;
  for (const std::unique_ptr<DWARFUnit> &Unit : Context.compile_units())
    collectVariables(Unit->getNonSkeletonUnitDIE(/*ExtractUnitDIEOnly=*/false), Found);
  return Found;
}

// Of a static variable the function, too. Compilers give such variables symbols of their own
// making; Clang's has the function where the entry of that has no name.
std::string nameOf(DWARFDie Variable, StringRef Symbol) {
  const char *Name = Variable.getShortName();
  if (!Name)
    return Symbol.str();
  for (DWARFDie Scope = Variable.getParent(); Scope; Scope = Scope.getParent())
    if (Scope.getTag() == DW_TAG_subprogram)
      return Scope.getShortName() ? Scope.getShortName() + ("." + std::string(Name)) : Symbol.str();
  return Name;
}

} // namespace

bool isLibraryFunction(StringRef Function) {
  return Function.starts_with("std::") || Function.starts_with("__gthread") ||
         Function.starts_with("__gnu_cxx::");
}

// Compilers append what they did to a copy of a function: `take.constprop.0`.
static StringRef withoutClone(StringRef Function) {
  bool IsC = all_of(Function, [](char C) { return isAlnum(C) || StringRef("_.$").contains(C); });
  size_t End = IsC ? Function.find('.', 1) : StringRef::npos;
  return Function.take_front(End);
}

struct Symbolizer::Modules {
  symbolize::LLVMSymbolizer Symbols;
  StringMap<std::unique_ptr<DebugInfo>> Debug;
  StringMap<std::unique_ptr<MemoryBuffer>> Sources;

  Modules() : Symbols(options()) {
    Symbols.setBuildIDFetcher(
        std::make_unique<object::BuildIDFetcher>(std::vector<std::string>{DebugFolder.str()}));
  }

  static symbolize::LLVMSymbolizer::Options options() {
    symbolize::LLVMSymbolizer::Options Options;
    Options.PathStyle = symbolize::FileLineInfoKind::AbsoluteFilePath;
    return Options;
  }

  DebugInfo &debug(StringRef Module) {
    std::unique_ptr<DebugInfo> &Info = Debug[Module];
    if (!Info)
      Info = openDebugInfo(Module);
    return *Info;
  }

  StringRef source(StringRef File) {
    std::unique_ptr<MemoryBuffer> &Source = Sources[File];
    if (!Source) {
      auto Buffer = MemoryBuffer::getFile(File, /*IsText=*/true);
      Source = Buffer ? std::move(*Buffer) : MemoryBuffer::getMemBuffer("");
    }
    return Source->getBuffer();
  }

  // A line, and those after it up to the end of its last statement.
  StringRef statement(StringRef File, unsigned Line) {
    StringRef Text = source(File);
    for (unsigned I = 1; I < Line; ++I)
      Text = Text.split('\n').second;
    constexpr size_t Longest = 400;
    StringRef First = Text.split('\n').first;
    return First.contains(';') ? First : Text.take_front(std::min(Text.find(';'), Longest));
  }

  // The last variable that begins at the address or before it.
  Variable variable(StringRef Module, uint64_t Address) {
    DebugInfo &Info = debug(Module);
    if (!Info.Variables)
      Info.Variables = Info.Context ? variablesByAddress(*Info.Context) : VariableMap();
    auto Next = Info.Variables->upper_bound(Address);
    return Next == Info.Variables->begin() ? Variable() : Variable(*std::prev(Next));
  }

  std::optional<DIGlobal> symbol(StringRef Module, uint64_t Address) {
    auto Global =
        Symbols.symbolizeData(Module.str(), {Address, object::SectionedAddress::UndefSection});
    if (!Global) {
      consumeError(Global.takeError());
      return std::nullopt;
    }
    if (Global->Name == DILineInfo::BadString || Address < Global->Start ||
        (Global->Size && Address >= Global->Start + Global->Size))
      return std::nullopt;
    return std::move(*Global);
  }
};

Symbolizer::Symbolizer() : Impl(std::make_unique<Modules>()) {}
Symbolizer::~Symbolizer() = default;

std::vector<CodePlace> Symbolizer::code(StringRef Module, uint64_t ReturnAddress) {
  // The call is what lies before the return address.
  auto Frames = Impl->Symbols.symbolizeInlinedCode(
      Module.str(), {ReturnAddress - 1, object::SectionedAddress::UndefSection});
  std::vector<CodePlace> Places;
  if (!Frames) {
    consumeError(Frames.takeError());
    return {CodePlace()};
  }
  for (uint32_t I = 0; I < Frames->getNumberOfFrames(); ++I) {
    const DILineInfo &Line = Frames->getFrame(I);
    bool Known = Line.FunctionName != DILineInfo::BadString;
    if (Known && isLibraryFunction(Line.FunctionName) && I + 1 < Frames->getNumberOfFrames())
      continue;
    CodePlace &Place = Places.emplace_back();
    Place.Function = Known ? withoutClone(Line.FunctionName).str() : "";
    if (Line.FileName != DILineInfo::BadString && Line.Line) {
      Place.File = Line.FileName;
      Place.Line = Line.Line;
    }
  }
  if (Places.empty())
    Places.emplace_back();
  return Places;
}

std::vector<uint64_t> Symbolizer::tailCalls(StringRef Module, uint64_t ReturnAddress,
                                            function_ref<bool(StringRef)> IsCallee) {
  TailCalls *Jumps = Impl->debug(Module).jumps();
  return Jumps ? onlyWay(Module, Jumps->ways(ReturnAddress, IsCallee)) : std::vector<uint64_t>();
}

std::vector<uint64_t> Symbolizer::tailCalls(StringRef Module, uint64_t ReturnAddress,
                                            uint64_t Callee) {
  TailCalls *Jumps = Impl->debug(Module).jumps();
  return Jumps ? onlyWay(Module, Jumps->ways(ReturnAddress, Callee)) : std::vector<uint64_t>();
}

// Compilers copy functions and their ends: several ways through the same lines are one.
std::vector<uint64_t> Symbolizer::onlyWay(StringRef Module,
                                          const std::vector<std::vector<uint64_t>> &Ways) {
  auto Places = [&](const std::vector<uint64_t> &Way) {
    std::vector<std::vector<CodePlace>> Result;
    for (uint64_t Address : Way)
      Result.push_back(code(Module, Address));
    return Result;
  };
  for (const std::vector<uint64_t> &Way : Ways)
    if (Places(Way) != Places(Ways.front()))
      return {};
  return Ways.empty() ? std::vector<uint64_t>() : Ways.front();
}

static void placeByDebugInfo(DataPlace &Place, DWARFDie Variable, uint64_t Offset,
                             relock_primitive Primitive) {
  std::string Name = nameOf(Variable, Place.Symbol);
  FieldPath Path(Name, typeOf(Variable), Offset, Primitive);
  if (Place.Symbol.empty())
    Place.Symbol = Name;
  DWARFDie Named = Path.complete() && Path.Member ? Path.Member : Variable;
  Place.Is.File = fileOf(Named);
  Place.Is.Line = lineOf(Named);
  if (!Path.complete())
    return;
  Place.Is.ClassName = Path.Class;
  Place.Path = Path.Path;
  Place.Field = Path.Member.isValid();
  Place.Exact = true;
}

// Without type information an array can still be told by its size.
static void placeBySize(DataPlace &Place, uint64_t Offset, uint64_t Size, uint64_t Element) {
  bool Array = Size > Element && Size % Element == 0 && Offset % Element == 0;
  Place.Exact = Array || Offset == 0;
  Place.Is.ClassName = Place.Path = Place.Symbol;
  if (Array)
    Place.Path += "[" + utostr(Offset / Element) + "]";
  else if (Offset)
    Place.Is.ClassName = Place.Path = Place.Symbol + "+0x" + utohexstr(Offset, /*LowerCase=*/true);
}

// A program may have types without symbols, where it is stripped and its DWARF is elsewhere, or
// symbols without types.
DataPlace Symbolizer::data(StringRef Module, uint64_t Address, relock_primitive Primitive,
                           uint64_t Size) {
  DataPlace Place;
  std::optional<DIGlobal> Symbol = Impl->symbol(Module, Address);
  auto [Start, Variable] = Impl->variable(Module, Symbol ? Symbol->Start : Address);
  if (Symbol) {
    Place.Symbol = Symbol->Name;
    Place.Is.File = Symbol->DeclFile; // in the symbol table, of what is static
    placeBySize(Place, Address - Symbol->Start, Symbol->Size, Size);
  }
  if (Variable &&
      (Symbol ? Symbol->Start == Start : Address - Start < sizeOf(typeOf(Variable)).value_or(0)))
    placeByDebugInfo(Place, Variable, Address - Start, Primitive);
  return Place;
}

Declared Symbolizer::declared(relock_primitive Primitive, StringRef Module, uint64_t ReturnAddress,
                              const CodePlace &Call, bool Initialises) {
  DWARFContext *Context = Impl->debug(Module).Context.get();
  if (!Context || Call.File.empty())
    return {};
  return findDeclared(*Context, Primitive, ReturnAddress - 1, Call.Function,
                      Impl->statement(Call.File, Call.Line), Initialises);
}

} // namespace relock
