// SPDX-License-Identifier: MIT
//
//   lock(&l);                     struct f_section { … };
//   ret = work(a);                static int f_section(void *context) {
//   if (!ret) {                     struct f_section *section = context;
//     unlock(&l);          →        …
//     return 0;                   }
//   }                             …
//   more(ret);                    struct f_section section = {.a = a, .ret = &ret};
//   unlock(&l);                   if (relock_execute(&l, f_section, &section)) { return 0; }
//
// The section's own text moves as it is written; only the names of captured variables change, and
// only where the variable does not simply reappear as a local of the extracted function.
#include "rewrite/Outline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {

std::string applyEdits(StringRef File, Range R, const std::vector<TextEdit> &Edits) {
  std::string Result;
  unsigned At = R.Begin;
  for (const TextEdit &E : Edits) {
    if (E.At.Begin < At || E.At.End > R.End)
      continue;
    Result += File.slice(At, E.At.Begin);
    Result += E.Text;
    At = E.At.End;
  }
  return Result + File.slice(At, R.End).str();
}

namespace {

bool hasWord(StringRef Text, StringRef Word) {
  for (size_t At = Text.find(Word); At != StringRef::npos; At = Text.find(Word, At + 1)) {
    auto Part = [](char C) { return isAlnum(C) || C == '_'; };
    bool Begins = At == 0 || !Part(Text[At - 1]);
    bool Ends = At + Word.size() == Text.size() || !Part(Text[At + Word.size()]);
    if (Begins && Ends)
      return true;
  }
  return false;
}

// Lines moved from one indentation to another; what stands further left stays at the margin.
std::string reindent(StringRef Text, StringRef From, StringRef To) {
  SmallVector<StringRef, 32> Lines;
  Text.split(Lines, '\n');
  while (!Lines.empty() && Lines.front().trim().empty())
    Lines.erase(Lines.begin());
  while (!Lines.empty() && Lines.back().trim().empty())
    Lines.pop_back();
  std::string Result;
  for (StringRef Line : Lines) {
    Line = Line.rtrim(" \t\r");
    if (Line.consume_front(From))
      Result += (To + Line).str();
    else if (!Line.empty()) // a label, mostly
      Result += Line.ltrim().str();
    Result += "\n";
  }
  return Result;
}

// The indentation that all lines share.
StringRef commonIndent(StringRef Text) {
  StringRef Common;
  bool First = true;
  for (StringRef Line : split(Text, '\n')) {
    if (Line.trim().empty())
      continue;
    StringRef Indent = Line.take_while([](char C) { return C == ' ' || C == '\t'; });
    if (First || Indent.size() < Common.size())
      Common = Indent;
    First = false;
  }
  return Common;
}

class Renderer {
public:
  Renderer(const Extraction &E, StringRef Name, const ExecuteCall &Execute, StringRef File,
           const std::vector<TextEdit> &Tokens)
      : E(E), Name(Name.str()), Execute(Execute), File(File), Tokens(Tokens), Unit(E.IndentUnit) {
    for (const Capture &C : E.Captures)
      if (C.How != Travel::Inside)
        Passed.push_back(&C);
    Direct = Passed.size() == 1 && !Passed[0]->Parameter.empty();
    // The second section of a function is f_section2: its variables are told apart likewise.
    StringRef Suffix = Name.rsplit("_section").second;
    SectionName = freeName("section");
    CallerName = freeName(("section" + Suffix).str());
    ContextName = freeName("context");
    TakenName = freeName(("taken" + Suffix).str());
  }

  Outline run() { return {function(), call()}; }

private:
  const Extraction &E;
  std::string Name;
  const ExecuteCall &Execute;
  StringRef File;
  const std::vector<TextEdit> &Tokens;
  std::string Unit;
  std::vector<const Capture *> Passed;
  bool Direct;                          // the only capture is the context itself
  std::string SectionName, ContextName; // in the function
  std::string CallerName, TakenName;    // at the call

  std::string freeName(const std::string &Base) const {
    std::string Candidate = Base;
    StringRef Text = File.slice(E.Whole.Begin, E.Whole.End);
    for (unsigned N = 2; is_contained(E.Taken, Candidate) || hasWord(Text, Candidate); ++N)
      Candidate = Base + "_" + std::to_string(N);
    return Candidate;
  }

  // --- The function -----------------------------------------------------------------------

  bool hasLocal(const Capture &C) const {
    if (C.How == Travel::Inside)
      return true;
    if (Direct || C.How == Travel::Pointer)
      return false;
    return C.InMacro || C.References.size() > 1;
  }

  std::string function() const {
    std::string Text;
    if (!Direct && !Passed.empty()) {
      Text += "struct " + Name + (E.BraceOnOwnLine ? "\n{\n" : " {\n");
      for (const Capture *C : Passed)
        Text += Unit + C->Field + ";\n";
      Text += "};\n\n";
    }
    Text += std::string("static ") + (E.Inline ? "inline " : "") + "int " + Name + "(void *" +
            ContextName + ")" + (E.BraceOnOwnLine ? "\n{\n" : " {\n");
    std::string Declarations = declarations();
    std::string Body = body();
    Text += Declarations;
    if (!Declarations.empty() && !Body.empty())
      Text += "\n";
    return Text + Body + Unit + "return 0;\n}\n\n";
  }

  std::string declarations() const {
    std::string Text;
    if (Direct)
      Text += Unit + Passed[0]->Parameter + " = " + ContextName + ";\n";
    else if (!Passed.empty())
      Text += Unit + "struct " + Name + " *" + SectionName + " = " + ContextName + ";\n";
    for (const Capture &C : E.Captures) {
      if (!hasLocal(C))
        continue;
      if (C.How == Travel::Inside)
        Text += Unit + C.Local + ";\n";
      else
        Text += Unit + C.Field + " = " + SectionName + "->" + C.Name + ";\n";
    }
    if (Passed.empty())
      Text += Unit + "(void)" + ContextName + ";\n";
    return Text;
  }

  std::string body() const {
    std::vector<TextEdit> Edits;
    unsigned Number = 0;
    for (const EarlyExit &Exit : E.Exits)
      Edits.push_back({Exit.Unlock, "return " + std::to_string(++Number) + ";"});
    for (const Capture &C : E.Captures)
      for (const Reference &R : C.References)
        addReference(C, R, Edits);
    for (const TextEdit &Token : Tokens)
      if (Token.At.Begin >= E.Body.Begin && Token.At.End <= E.Body.End &&
          none_of(E.Exits, [&](const EarlyExit &Exit) {
            return Token.At.Begin >= Exit.Unlock.Begin && Token.At.End <= Exit.Unlock.End;
          }))
        Edits.push_back(Token);
    sort(Edits);
    return reindent(firstLine(applyEdits(File, E.Body, Edits)), E.Indent, Unit);
  }

  // What stands on the line of the lock, a comment mostly, gets a line of its own.
  std::string firstLine(const std::string &Text) const {
    StringRef First = StringRef(Text).split('\n').first;
    if (First.trim().empty())
      return Text;
    return E.Indent + StringRef(Text).ltrim().str();
  }

  void addReference(const Capture &C, const Reference &R, std::vector<TextEdit> &Edits) const {
    if (C.How == Travel::Inside || hasLocal(C))
      return;
    std::string Access = Direct ? C.Name : SectionName + "->" + C.Name;
    if (C.How != Travel::Pointer) {
      if (!Direct)
        Edits.push_back({R.At, Access});
      return;
    }
    switch (R.Kind) {
    case Reference::Address:
      Edits.push_back({R.At, Access});
      break;
    case Reference::Member:
      Edits.push_back({R.At, Access});
      Edits.push_back({R.Operator, "->"});
      break;
    case Reference::Bare:
      if (R.At.Begin > 0 && File[R.At.Begin - 1] != '/') {
        Edits.push_back({R.At, "*" + Access});
        break;
      }
      [[fallthrough]];
    case Reference::Plain:
      Edits.push_back({R.At, "(*" + Access + ")"});
      break;
    }
  }

  // --- The call ---------------------------------------------------------------------------

  static std::string argument(const Capture &C) {
    return C.How == Travel::Pointer ? "&" + C.Name : C.Name;
  }

  std::string call() const {
    bool Block = !E.MixedDeclarations && ((!Direct && !Passed.empty()) || E.Exits.size() > 1);
    std::string Indent = Block ? E.Indent + Unit : E.Indent;
    std::vector<std::string> Lines;
    std::string Context = "NULL";
    if (Direct) {
      Context = argument(*Passed[0]);
    } else if (!Passed.empty()) {
      std::vector<std::string> Fields;
      for (const Capture *C : Passed)
        Fields.push_back("." + C->Name + " = " + argument(*C));
      if (E.C99)
        Lines.push_back(list(Indent, "struct " + Name + " " + CallerName + " = {", Fields, "};"));
      else
        Lines.push_back(Indent + "struct " + Name + " " + CallerName + ";");
      Context = "&" + CallerName;
    }
    if (!E.C99 && E.Exits.size() > 1)
      Lines.push_back(Indent + "int " + TakenName + ";");
    if (!E.C99 && !Direct) // C89 initialises an aggregate by constants only
      for (const Capture *C : Passed)
        Lines.push_back(Indent + CallerName + "." + C->Name + " = " + argument(*C) + ";");
    std::vector<std::string> Arguments = Execute.Arguments;
    Arguments.push_back(Name);
    Arguments.push_back(Context);
    if (E.Exits.empty()) {
      Lines.push_back(list(Indent, Execute.Function + "(", Arguments, ");"));
    } else if (E.Exits.size() == 1) {
      Lines.push_back(list(Indent, "if (" + Execute.Function + "(", Arguments, ")) {"));
      Lines.push_back(tail(E.Exits[0], Indent));
    } else {
      Lines.push_back(list(Indent,
                           (E.C99 ? "int " : "") + TakenName + " = " + Execute.Function + "(",
                           Arguments, ");"));
      for (size_t I = 0; I < E.Exits.size(); ++I) {
        Lines.push_back(Indent + "if (" + TakenName + " == " + std::to_string(I + 1) + ") {");
        Lines.push_back(tail(E.Exits[I], Indent));
      }
    }
    std::string Text = join(Lines, "\n");
    if (Block)
      return "{\n" + Text + "\n" + E.Indent + "}";
    return StringRef(Text).drop_front(E.Indent.size()).str(); // the line's indentation is there
  }

  std::string tail(const EarlyExit &Exit, StringRef Indent) const {
    std::vector<TextEdit> Edits;
    for (const TextEdit &Token : Tokens)
      if (Token.At.Begin >= Exit.Tail.Begin && Token.At.End <= Exit.Tail.End)
        Edits.push_back(Token);
    std::string Text = applyEdits(File, Exit.Tail, Edits);
    if (!StringRef(Text).split('\n').first.trim().empty())
      Text = StringRef(Text).ltrim().str(); // it goes on behind the unlock, on the same line
    return reindent(Text, commonIndent(Text), (Indent + Unit).str()) + Indent.str() + "}";
  }

  // `Indent Open a, b, c Close`, broken after commas where it would be wider than 80 columns.
  std::string list(StringRef Indent, const std::string &Open, ArrayRef<std::string> Items,
                   StringRef Close) const {
    constexpr size_t Width = 80;
    std::string Result = Indent.str() + Open;
    size_t Column = columns(Indent) + Open.size();
    std::string Continued = (Indent + Unit + Unit).str();
    for (size_t I = 0; I < Items.size(); ++I) {
      std::string Item = Items[I] + (I + 1 < Items.size() ? "," : Close.str());
      if (I && Column + 1 + Item.size() > Width) {
        Result += "\n" + Continued + Item;
        Column = columns(Continued) + Item.size();
      } else {
        Result += (I ? " " : "") + Item;
        Column += Item.size() + (I ? 1 : 0);
      }
    }
    return Result;
  }

  static size_t columns(StringRef Indent) {
    size_t Column = 0;
    for (char C : Indent)
      Column += C == '\t' ? 8 : 1;
    return Column;
  }
};

} // namespace

Outline renderOutline(const Extraction &E, StringRef Name, const ExecuteCall &Execute,
                      StringRef File, const std::vector<TextEdit> &Tokens) {
  return Renderer(E, Name, Execute, File, Tokens).run();
}

} // namespace relock
