// SPDX-License-Identifier: MIT
#include "rewrite/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;

namespace relock {

static StringRef lineAt(StringRef Text, size_t Line) { return Text.substr(Line).split('\n').first; }

bool inDirective(StringRef Text, size_t Line) {
  const StringRef Above = Text.take_front(Line ? Line - 1 : 0).rsplit('\n').second;
  return lineAt(Text, Line).rtrim().ends_with("\\") || Above.rtrim().ends_with("\\") ||
         lineAt(Text, Line).ltrim().starts_with("#");
}

namespace {

// True if something stands at the column of a line, behind at least two blanks.
bool startsColumn(StringRef Line, unsigned Column) {
  return Column >= 2 && Column < Line.size() && Line[Column] != ' ' &&
         Line.slice(Column - 2, Column) == "  " && !Line.take_front(Column).trim().empty();
}

// The blanks behind a place of a line that set columns apart; empty: there are none.
Range gapBehind(StringRef Text, size_t Line, size_t Place) {
  StringRef Rest = Text.substr(Place).split('\n').first;
  const size_t Blanks = Rest.size() - Rest.ltrim(' ').size();
  const unsigned Column = Place + Blanks - Line;
  const StringRef Above = Text.take_front(Line ? Line - 1 : 0).rsplit('\n').second;
  const StringRef Below = Text.substr(Line).split('\n').second.split('\n').first;
  const char Next = Rest.substr(Blanks, 1).empty() ? ' ' : Rest[Blanks];
  if ((isAlnum(Next) || Next == '_' || Next == '*') &&
      (Blanks > 1 || (Blanks == 1 && (startsColumn(Above, Column) || startsColumn(Below, Column)))))
    return {unsigned(Place), unsigned(Place + Blanks)};
  for (size_t At = Rest.find("  "); At != StringRef::npos; At = Rest.find("  ", At)) {
    StringRef Next = Rest.substr(At).ltrim(' ');
    size_t End = Rest.size() - Next.size();
    if (Next.starts_with("/*") || Next.starts_with("//") || Next.rtrim() == "\\")
      return {unsigned(Place + At), unsigned(Place + End)};
    At = End;
  }
  return {};
}

// `relock_mutex_init(&lock, NULL, RELOCK_CLASS(lock))`: Name is the edit of the function's name,
// Class the one that adds the last argument. It goes below the first one.
void breakBeforeClass(StringRef Text, size_t Line, const TextEdit &Name, TextEdit &Class) {
  const size_t At = StringRef(Class.Text).rfind(" RELOCK_CLASS(");
  const StringRef Before = Text.slice(Line, Name.At.Begin);
  const size_t Open = Text.substr(Name.At.End).find_first_not_of(" ");
  if (At == std::string::npos || &Name == &Class || Open == StringRef::npos ||
      Text[Name.At.End + Open] != '(')
    return;
  const StringRef Indent = Before.take_while([](char C) { return C == ' ' || C == '\t'; });
  const size_t Column = Before.size() - Indent.size() + Name.Text.size() + Open + 1;
  Class.Text.replace(At, 1, ("\n" + Indent + std::string(Column, ' ')).str());
}

} // namespace

std::vector<LayoutEdit> keepLayout(StringRef Text, ArrayRef<TextEdit *> Edits) {
  std::vector<LayoutEdit> Result;
  std::map<size_t, std::vector<size_t>> ByLine;
  std::vector<Range> Wide; // of more than one line
  for (size_t I = 0; I < Edits.size(); ++I) {
    const Range At = Edits[I]->At;
    if (Text.slice(At.Begin, At.End).contains('\n') ||
        Edits[I]->Text.find('\n') != std::string::npos)
      Wide.push_back(At);
    else
      ByLine[Text.take_front(At.Begin).rfind('\n') + 1].push_back(I);
  }
  size_t Width = 80;
  for (StringRef Line : split(Text, '\n'))
    Width = std::max(Width, Line.rtrim().size());
  for (auto &[Line, On] : ByLine) {
    const Range Whole = {unsigned(Line), unsigned(Line + lineAt(Text, Line).size())};
    if (any_of(Wide, [&](Range R) { return R.Begin < Whole.End && R.End > Whole.Begin; }))
      continue;
    sort(On, [&](size_t A, size_t B) {
      return std::tie(Edits[A]->At.Begin, A) < std::tie(Edits[B]->At.Begin, B);
    });
    int Longer = 0; // what stands behind is further right by this
    for (size_t I = 0; I < On.size(); ++I) {
      const Range At = Edits[On[I]]->At;
      Longer += int(Edits[On[I]]->Text.size()) - int(At.End - At.Begin);
      const unsigned Next = I + 1 < On.size() ? Edits[On[I + 1]]->At.Begin : Whole.End;
      const Range Gap = gapBehind(Text, Line, At.End);
      if (!Longer || !Gap.End || Gap.End > Next || int(Gap.End - Gap.Begin) <= Longer)
        continue;
      Result.push_back({{Gap, std::string(Gap.End - Gap.Begin - Longer, ' ')}, On[I]});
      Longer = 0;
    }
    if (int(Whole.End - Whole.Begin) + Longer > int(Width) && !inDirective(Text, Line))
      breakBeforeClass(Text, Line, *Edits[On.front()], *Edits[On.back()]);
  }
  return Result;
}

} // namespace relock
