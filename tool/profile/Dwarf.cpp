// SPDX-License-Identifier: MIT
#include "profile/Dwarf.h"

#include "profile/Declared.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/DebugInfo/DWARF/DWARFTypeUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFUnit.h"

#include <vector>

using namespace llvm;
using namespace llvm::dwarf;

namespace relock {

// LLVM does not follow references to type units (-fdebug-types-section).
static DWARFDie referenced(DWARFDie Entry, Attribute Attr) {
  std::optional<DWARFFormValue> Value = Entry.find(Attr);
  if (!Value || Value->getForm() != DW_FORM_ref_sig8)
    return Entry.getAttributeValueAsReferencedDie(Attr);
  DWARFUnit *Unit = Entry.getDwarfUnit();
  DWARFTypeUnit *Types = Unit->getContext().getTypeUnitForHash(
      Unit->getVersion(), Value->getRawUValue(), Unit->isDWOUnit());
  return Types ? Types->getDIEForOffset(Types->getOffset() + Types->getTypeOffset()) : DWARFDie();
}

DWARFDie originalOf(DWARFDie Entry) {
  DWARFDie Declared = Entry.getAttributeValueAsReferencedDie(DW_AT_specification);
  return Declared ? Declared : Entry.getAttributeValueAsReferencedDie(DW_AT_abstract_origin);
}

// The entry itself, or what it is an instance of, whichever says it.
static DWARFDie withAttribute(DWARFDie Entry, Attribute Attr) {
  constexpr unsigned Deepest = 8;
  for (unsigned Steps = 0; Entry && Steps < Deepest; ++Steps, Entry = originalOf(Entry))
    if (Entry.find(Attr))
      return Entry;
  return DWARFDie();
}

DWARFDie typeOf(DWARFDie Entry) {
  DWARFDie Typed = withAttribute(Entry, DW_AT_type);
  return Typed ? referenced(Typed, DW_AT_type) : DWARFDie();
}

// LLVM's getDeclFile() has no file where the abbreviation has the number (DW_FORM_implicit_const).
std::string fileOf(DWARFDie Declaration) {
  std::string File;
  DWARFDie Placed = withAttribute(Declaration, DW_AT_decl_file);
  if (!Placed)
    return File;
  DWARFUnit *Unit = Placed.getDwarfUnit()->getLinkedUnit(); // the skeleton has the names
  if (!Unit)
    return File;
  const DWARFDebugLine::LineTable *Lines = Unit->getContext().getLineTableForUnit(Unit);
  uint64_t Number = Placed.find(DW_AT_decl_file)->getRawUValue();
  if (Lines)
    Lines->getFileNameByIndex(Number, Unit->getCompilationDir(),
                              DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, File);
  return File;
}

unsigned lineOf(DWARFDie Declaration) { return unsigned(Declaration.getDeclLine()); }

DWARFDie behindNames(DWARFDie Type, std::string &Typedef) {
  Typedef.clear();
  while (Type) {
    Type = Type.resolveTypeUnitReference();
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
      Type = typeOf(Type);
      break;
    default:
      return Type;
    }
  }
  return Type;
}

std::optional<uint64_t> sizeOf(DWARFDie Type) {
  constexpr uint64_t PointerSize = 8;
  std::string Typedef;
  Type = behindNames(Type, Typedef);
  if (Type && Type.getTag() == DW_TAG_typedef)
    Type = behindNames(typeOf(Type), Typedef);
  return Type ? Type.getTypeSize(PointerSize) : std::nullopt;
}

bool isRecord(DWARFDie Type) {
  return Type && (Type.getTag() == DW_TAG_structure_type || Type.getTag() == DW_TAG_union_type ||
                  Type.getTag() == DW_TAG_class_type);
}

// The members that contain the offset, by where they begin: several in a union.
static std::vector<DWARFDie> membersAt(DWARFDie Record, uint64_t Offset, uint64_t &Begin) {
  std::vector<DWARFDie> Found;
  for (DWARFDie Child : Record.children()) {
    if (Child.getTag() != DW_TAG_member && Child.getTag() != DW_TAG_inheritance)
      continue;
    uint64_t At = toUnsigned(Child.find(DW_AT_data_member_location), 0);
    if (Child.find(DW_AT_external) || At > Offset || (!Found.empty() && At < Begin))
      continue;
    if (!Found.empty() && At > Begin)
      Found.clear();
    Found.push_back(Child);
    Begin = At;
  }
  return Found;
}

// The locks and conditions of the C++ library are the end of a path, not a record with fields.
static bool isLibraryType(DWARFDie Type) {
  StringRef Name = toStringRef(Type.find(DW_AT_name));
  return Name == "mutex" || Name == "recursive_mutex" || Name == "timed_mutex" ||
         Name == "recursive_timed_mutex" || Name == "shared_mutex" ||
         Name == "shared_timed_mutex" || Name == "condition_variable";
}

FieldPath::FieldPath(StringRef Name, DWARFDie Type, uint64_t Offset, relock_primitive Primitive)
    : Class(Name), Path(Name), Primitive(Primitive) {
  Reached = walk(Type, Offset);
}

FieldPath::End FieldPath::walk(DWARFDie Type, uint64_t Offset, unsigned Depth) {
  constexpr unsigned Deepest = 32;
  std::string Typedef;
  Type = behindNames(Type, Typedef);
  if (Depth > Deepest)
    return Nothing;
  if (Type && Type.getTag() == DW_TAG_array_type)
    return walkElement(Type, Offset, Depth);
  if (isRecord(Type) && !isLibraryType(Type))
    return walkMember(Type, Offset, Typedef, Depth);
  if (Offset)
    return Nothing;
  return isRecord(Type) || isTypeOf(Primitive, Typedef) ? Object : SomethingElse;
}

FieldPath::End FieldPath::walkElement(DWARFDie Array, uint64_t Offset, unsigned Depth) {
  DWARFDie Element = typeOf(Array);
  std::optional<uint64_t> Size = sizeOf(Element);
  if (!Size || !*Size)
    return Nothing;
  // Of several dimensions the flat index tells enough.
  Path += "[" + utostr(Offset / *Size) + "]";
  return walk(Element, Offset % *Size, Depth + 1);
}

FieldPath::End FieldPath::walkMember(DWARFDie Record, uint64_t Offset, StringRef Typedef,
                                     unsigned Depth) {
  StringRef Tag = toStringRef(Record.find(DW_AT_name));
  uint64_t Begin = 0;
  FieldPath Best = *this;
  End Furthest = Nothing;
  for (DWARFDie Next : membersAt(Record, Offset, Begin)) {
    FieldPath Here = *this;
    Here.append(Tag.empty() ? Typedef : Tag, Next);
    End Reached = Here.walk(typeOf(Next), Offset - Begin, Depth + 1);
    if (Reached <= Furthest)
      continue;
    Furthest = Reached;
    Best = Here;
  }
  *this = Best;
  return Furthest;
}

void FieldPath::append(StringRef Tag, DWARFDie Into) {
  StringRef Name = toStringRef(Into.find(DW_AT_name));
  if (!Tag.empty())
    Class = Tag.str();
  if (Name.empty())
    return;
  Class += "." + Name.str();
  Path += "." + Name.str();
  Member = Into;
}

} // namespace relock
