// SPDX-License-Identifier: MIT
#include "profile/Symbolize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <optional>

using namespace llvm;
using namespace llvm::dwarf;

namespace relock {

namespace {

constexpr StringRef DebugFolder = "/usr/lib/debug";

// The DWARF of one module; in the module itself, or in the file that its build id names.
struct DebugInfo {
  object::OwningBinary<object::ObjectFile> File;
  std::unique_ptr<DWARFContext> Context;
};

std::unique_ptr<DebugInfo> openDebugInfo(StringRef Path) {
  auto Result = std::make_unique<DebugInfo>();
  auto File = object::ObjectFile::createObjectFile(Path);
  if (!File) {
    consumeError(File.takeError());
    return Result;
  }
  object::BuildIDFetcher Fetcher({DebugFolder.str()});
  object::BuildIDRef Id = object::getBuildID(File->getBinary());
  if (std::optional<std::string> Debug = Id.empty() ? std::nullopt : Fetcher.fetch(Id)) {
    auto Separate = object::ObjectFile::createObjectFile(*Debug);
    if (Separate)
      File = std::move(Separate);
    else
      consumeError(Separate.takeError());
  }
  Result->File = std::move(*File);
  Result->Context = DWARFContext::create(*Result->File.getBinary());
  return Result;
}

// Peels names and qualifiers off a type and remembers the last name that was peeled.
DWARFDie peel(DWARFDie Type, std::string &Typedef) {
  Typedef.clear();
  while (Type) {
    switch (Type.getTag()) {
    case DW_TAG_typedef:
      Typedef = toStringRef(Type.find(DW_AT_name)).str();
      if (isPrimitiveType(Typedef))
        return Type;
      [[fallthrough]];
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
      Type = Type.getAttributeValueAsReferencedDie(DW_AT_type);
      break;
    default:
      return Type;
    }
  }
  return Type;
}

// The member that contains the offset, which becomes relative to it.
DWARFDie memberAt(DWARFDie Record, uint64_t &Offset) {
  DWARFDie Found;
  uint64_t FoundAt = 0;
  for (DWARFDie Child : Record.children()) {
    if (Child.getTag() != DW_TAG_member && Child.getTag() != DW_TAG_inheritance)
      continue;
    if (Child.find(DW_AT_external))
      continue;
    uint64_t At = toUnsigned(Child.find(DW_AT_data_member_location), 0);
    if (At <= Offset && (!Found || At > FoundAt)) {
      Found = Child;
      FoundAt = At;
    }
  }
  if (Found)
    Offset -= FoundAt;
  return Found;
}

bool isRecord(DWARFDie Type) {
  return Type.getTag() == DW_TAG_structure_type || Type.getTag() == DW_TAG_union_type ||
         Type.getTag() == DW_TAG_class_type;
}

// The locks and conditions of the C++ library are the end of a path, not a record with fields.
bool isLibraryType(DWARFDie Type) {
  StringRef Name = toStringRef(Type.find(DW_AT_name));
  return Name == "mutex" || Name == "recursive_mutex" || Name == "timed_mutex" ||
         Name == "recursive_timed_mutex" || Name == "shared_mutex" ||
         Name == "shared_timed_mutex" || Name == "condition_variable";
}

// Follows the offset into the variable's type.
class FieldPath {
public:
  std::string Class, Path;

  FieldPath(StringRef Name, DWARFDie Type, uint64_t Offset) : Class(Name), Path(Name) {
    Complete = walk(Type, Offset);
  }
  bool complete() const { return Complete; }

private:
  bool walk(DWARFDie Type, uint64_t Offset) {
    for (unsigned Depth = 0; Depth < 32; ++Depth) {
      std::string Typedef;
      Type = peel(Type, Typedef);
      if (!Type || Type.getTag() == DW_TAG_typedef)
        return Offset == 0;
      if (Type.getTag() == DW_TAG_array_type) {
        if (!enterElement(Type, Offset))
          return false;
      } else if (isRecord(Type) && !isLibraryType(Type)) {
        if (!enterMember(Type, Offset, Typedef))
          return false;
      } else {
        return Offset == 0;
      }
    }
    return false;
  }

  bool enterElement(DWARFDie &Type, uint64_t &Offset) {
    DWARFDie Element = Type.getAttributeValueAsReferencedDie(DW_AT_type);
    std::optional<uint64_t> Size = Element ? Element.getTypeSize(8) : std::nullopt;
    if (!Size || !*Size)
      return false;
    // Of several dimensions the flat index tells enough.
    Path += "[" + utostr(Offset / *Size) + "]";
    Offset %= *Size;
    Type = Element;
    return true;
  }

  bool enterMember(DWARFDie &Type, uint64_t &Offset, StringRef Typedef) {
    StringRef Tag = toStringRef(Type.find(DW_AT_name));
    if (Tag.empty())
      Tag = Typedef;
    DWARFDie Member = memberAt(Type, Offset);
    if (!Member)
      return false;
    StringRef Name = toStringRef(Member.find(DW_AT_name));
    if (!Tag.empty())
      Class = Tag.str();
    if (!Name.empty()) {
      Class += "." + Name.str();
      Path += "." + Name.str();
    }
    Type = Member.getAttributeValueAsReferencedDie(DW_AT_type);
    return true;
  }

  bool Complete = false;
};

std::string enclosingFunction(DWARFDie Variable) {
  for (DWARFDie Die = Variable.getParent(); Die; Die = Die.getParent())
    if (Die.getTag() == DW_TAG_subprogram)
      return Die.getShortName() ? Die.getShortName() : "";
  return "";
}

} // namespace

bool isLibraryFunction(StringRef Function) {
  return Function.starts_with("std::") || Function.starts_with("__gthread") ||
         Function.starts_with("__gnu_cxx::");
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

  DWARFContext *debug(StringRef Module) {
    std::unique_ptr<DebugInfo> &Info = Debug[Module];
    if (!Info)
      Info = openDebugInfo(Module);
    return Info->Context.get();
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

  DWARFDie variable(StringRef Module, uint64_t Address) {
    DWARFContext *Context = debug(Module);
    DWARFCompileUnit *Unit = Context ? Context->getCompileUnitForDataAddress(Address) : nullptr;
    return Unit ? Unit->getVariableForAddress(Address) : DWARFDie();
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
    Place.Function = Known ? Line.FunctionName : "";
    if (Line.FileName != DILineInfo::BadString && Line.Line) {
      Place.File = Line.FileName;
      Place.Line = Line.Line;
    }
  }
  if (Places.empty())
    Places.emplace_back();
  return Places;
}

static void placeByDebugInfo(DataPlace &Place, DWARFDie Variable, uint64_t Offset) {
  FieldPath Field(Place.Symbol, Variable.getAttributeValueAsReferencedDie(DW_AT_type), Offset);
  std::string Function = enclosingFunction(Variable);
  if (const char *Name = Variable.getShortName(); Name && !Function.empty())
    Field = FieldPath(Function + "." + Name, Variable.getAttributeValueAsReferencedDie(DW_AT_type),
                      Offset);
  Place.File = Variable.getDeclFile(DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath);
  Place.Line = Variable.getDeclLine();
  if (!Field.complete())
    return;
  Place.ClassName = Field.Class;
  Place.Path = Field.Path;
  Place.Exact = true;
}

// Without type information an array can still be told by its size.
static void placeBySize(DataPlace &Place, uint64_t Offset, uint64_t Size, uint64_t Element) {
  bool Array = Size > Element && Size % Element == 0 && Offset % Element == 0;
  Place.Exact = Array || Offset == 0;
  Place.ClassName = Place.Path = Place.Symbol;
  if (Array)
    Place.Path += "[" + utostr(Offset / Element) + "]";
  else if (Offset)
    Place.ClassName = Place.Path = Place.Symbol + "+0x" + utohexstr(Offset, /*LowerCase=*/true);
}

DataPlace Symbolizer::data(StringRef Module, uint64_t Address, uint64_t Size) {
  DataPlace Place;
  auto Global =
      Impl->Symbols.symbolizeData(Module.str(), {Address, object::SectionedAddress::UndefSection});
  if (!Global) {
    consumeError(Global.takeError());
    return Place;
  }
  if (Global->Name == DILineInfo::BadString || Address < Global->Start ||
      (Global->Size && Address >= Global->Start + Global->Size))
    return Place;
  Place.Symbol = Global->Name;
  uint64_t Offset = Address - Global->Start;
  placeBySize(Place, Offset, Global->Size, Size);
  if (DWARFDie Variable = Impl->variable(Module, Address))
    placeByDebugInfo(Place, Variable, Offset);
  return Place;
}

Declared Symbolizer::declared(relock_primitive Primitive, StringRef Module, uint64_t ReturnAddress,
                              const CodePlace &Call, bool Initialises) {
  DWARFContext *Context = Impl->debug(Module);
  if (!Context || Call.File.empty())
    return {};
  return findDeclared(*Context, Primitive, ReturnAddress - 1, Impl->statement(Call.File, Call.Line),
                      Initialises);
}

} // namespace relock
