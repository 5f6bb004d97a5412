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
//
// A section that releases its lock for a while, `unlock(&l); work(); lock(&l);`, returns there, and
// is entered again behind it:
//
//   while (relock_execute(&l, f_section, &section)) {
//     work();
//   }
//
// A section within another one is a call in the other's function: what the call names, and the
// statements behind the inner unlocks, are written as that function sees its variables.
#include "rewrite/Outline.h"

#include "section/Nest.h"

#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace llvm;

namespace relock {

namespace {

bool wordPart(char C) { return isAlnum(C) || C == '_'; }

} // namespace

size_t findWord(StringRef Text, StringRef Word) {
  for (size_t At = Text.find(Word); At != StringRef::npos; At = Text.find(Word, At + 1)) {
    bool Begins = At == 0 || !wordPart(Text[At - 1]);
    bool Ends = At + Word.size() == Text.size() || !wordPart(Text[At + Word.size()]);
    if (Begins && Ends)
      return At;
  }
  return StringRef::npos;
}

namespace {

// A text line by line. The break before a line may lie in a string literal, which a `\` continues:
// what stands around it is the program's then, not layout.
struct TextLine {
  StringRef Text;
  bool InLiteral; // it begins there
};

std::vector<TextLine> linesOf(StringRef Text) {
  clang::LangOptions C;
  C.LineComment = C.RawStringLiterals = true;
  std::string Buffer = Text.str(); // ends with a 0, as the lexer wants it
  clang::Lexer Raw(clang::SourceLocation(), C, Buffer.data(), Buffer.data(),
                   Buffer.data() + Buffer.size());
  std::set<size_t> Inside; // where lines begin
  for (clang::Token T; !Raw.LexFromRawLexer(T);) {
    if (!clang::tok::isStringLiteral(T.getKind()) && T.isNot(clang::tok::char_constant))
      continue;
    size_t End = Raw.getBufferLocation() - Buffer.data();
    for (size_t I = End - T.getLength(); I < End; ++I)
      if (Buffer[I] == '\n')
        Inside.insert(I + 1);
  }
  std::vector<TextLine> Lines;
  for (StringRef Line : split(Text, '\n'))
    Lines.push_back({Line, Inside.count(Line.data() - Text.data()) != 0});
  return Lines;
}

bool isBlank(char C) { return C == ' ' || C == '\t'; }

StringRef indentOf(StringRef Line) { return Line.take_while(isBlank); }

size_t columns(StringRef Text) {
  size_t Column = 0;
  for (char C : Text)
    Column += C == '\t' ? 8 - Column % 8 : 1;
  return Column;
}

// The indentation of a line that is moved to another column, with tabs where it had some.
std::string movedIndent(StringRef Indent, StringRef From, StringRef To) {
  StringRef Rest = Indent;
  if (Rest.consume_front(From) && (columns(To) % 8 == columns(From) % 8 || !Rest.contains('\t')))
    return (To + Rest).str();
  size_t Column = columns(Indent);
  if (Column == 0)
    return ""; // a label or a directive
  Column = std::max(Column + columns(To), columns(From)) - columns(From);
  bool Tabs = Indent.contains('\t');
  return std::string(Tabs ? Column / 8 : 0, '\t') + std::string(Tabs ? Column % 8 : Column, ' ');
}

// Lines moved from one indentation to another, but for directives at the margin.
std::string reindent(StringRef Text, StringRef From, StringRef To) {
  std::vector<TextLine> Lines = linesOf(Text);
  while (!Lines.empty() && Lines.front().Text.trim().empty())
    Lines.erase(Lines.begin());
  while (!Lines.empty() && Lines.back().Text.trim().empty())
    Lines.pop_back();
  std::string Result;
  for (size_t I = 0; I < Lines.size(); ++I) {
    StringRef Line = Lines[I].Text;
    if (I + 1 == Lines.size() || !Lines[I + 1].InLiteral)
      Line = Line.rtrim(" \t\r");
    if (Lines[I].InLiteral || Line.empty() || Line.starts_with("#"))
      Result += Line.str();
    else
      Result += movedIndent(indentOf(Line), From, To) + Line.ltrim(" \t").str();
    Result += "\n";
  }
  return Result;
}

// The indentation that all lines share, directives aside.
StringRef commonIndent(StringRef Text) {
  StringRef Common;
  bool First = true;
  for (const TextLine &Line : linesOf(Text)) {
    if (Line.InLiteral || Line.Text.trim().empty() || Line.Text.starts_with("#"))
      continue;
    StringRef Indent = indentOf(Line.Text);
    if (First || columns(Indent) < columns(Common))
      Common = Indent;
    First = false;
  }
  return Common;
}

class Renderer {
public:
  // Around: renders the function in which the call stands; null: the user's.
  Renderer(const OutlinedSection &Section, StringRef File, const std::vector<TextEdit> &Tokens,
           const Renderer *Around = nullptr)
      : E(*Section.Extract), Name(Section.Name), Execute(Section.Execute), Inner(Section.Inner),
        Around(Around), File(File), Tokens(Tokens), Unit(E.IndentUnit) {
    for (const Capture &C : E.Captures)
      if (C.How != Travel::Inside)
        Passed.push_back(&C);
    numberExits();
    Direct = !E.resumes() && Passed.size() == 1 && !Passed[0]->Parameter.empty();
    OnlyResume = E.resumes() && Passed.empty();
    // The second section of a function is f_section2: its variables are told apart likewise.
    StringRef Suffix = StringRef(Section.CallerName).rsplit("_section").second;
    SectionName = freeName("section");
    // A macro's variable must not hide what its arguments name.
    CallerName =
        freeName(E.Macro.empty() ? ("section" + Suffix).str() : StringRef(E.FunctionName).str());
    ContextName = freeName("context");
    TakenName = freeName(("taken" + Suffix).str());
    ResumeName = freeName(OnlyResume ? ("resume" + Suffix).str() : "resume");
  }

  Outline run() {
    Outline Result = {function(), E.Macro.empty() ? call() : continued(call())};
    Result.Collided = Collided;
    return Result;
  }

private:
  const Extraction &E;
  std::string Name;
  const ExecuteCall &Execute;
  const std::vector<OutlinedSection> &Inner;
  const Renderer *Around;
  StringRef File;
  const std::vector<TextEdit> &Tokens;
  std::string Unit;
  std::vector<const Capture *> Passed;
  bool Direct;                          // the only capture is the context itself
  std::string SectionName, ContextName; // in the function
  std::string CallerName, TakenName;    // at the call
  bool OnlyResume;                      // the context is where the section goes on
  std::string ResumeName;               // the field, or all of the context
  std::vector<unsigned> Codes;          // by exit: what the function returns
  std::vector<const EarlyExit *> Cases; // by code: an exit whose tail the caller runs, or null
  mutable bool Collided = false;        // two edits do
  size_t Returns = 0; // the codes from 1 up to this one: the section goes on behind the tail

  // Exits with one tail share a number. Number 0 goes on without a tail; where no exit does that
  // and the section's end is not reached, it is the last tail's.
  void numberExits() {
    Cases.push_back(nullptr);
    for (const EarlyExit &Exit : E.Exits)
      if (Exit.Returns)
        Cases.push_back(&Exit);
    Returns = Cases.size() - 1;
    for (const EarlyExit &Exit : E.Exits) {
      size_t Code = Exit.Returns;
      if (!Code && (!Exit.Joins || !tailText(Exit).empty()))
        for (Code = Returns + 1; Code < Cases.size() && tailText(*Cases[Code]) != tailText(Exit);)
          ++Code;
      if (Code == Cases.size())
        Cases.push_back(&Exit);
      Codes.push_back(Code);
    }
    if (E.Completes || is_contained(Codes, 0u) || Cases.size() == Returns + 1)
      return;
    for (unsigned &Code : Codes)
      if (Code == Cases.size() - 1)
        Code = 0;
    Cases[0] = Cases.back();
    Cases.pop_back();
  }

  std::string tailText(const EarlyExit &Exit) const {
    if (Exit.Value.End)
      return "return";
    return Exit.Before + File.slice(Exit.Tail.Begin, Exit.Tail.End).trim().str() + Exit.Behind;
  }

  std::string freeName(const std::string &Base) const {
    std::string Candidate = Base;
    StringRef Text = File.slice(E.Whole.Begin, E.Whole.End);
    auto Hides = [&] { // the context of the function around
      return Around && (Candidate == Around->SectionName || Candidate == Around->ContextName);
    };
    for (unsigned N = 2; is_contained(E.Taken, Candidate) || hasWord(Text, Candidate) || Hides();
         ++N)
      Candidate = Base + "_" + std::to_string(N);
    return Candidate;
  }

  // --- The function -----------------------------------------------------------------------

  bool hasLocal(const Capture &C) const {
    if (C.How == Travel::Inside || C.Copied)
      return true;
    if (Direct || !C.Argument.empty() || C.How == Travel::Pointer || C.How == Travel::Kept ||
        C.Changes || C.Dropped)
      return false;
    return C.InMacro || uses(C) > 1;
  }

  // How often the function's text names a captured variable: each inner call does so once.
  size_t uses(const Capture &C) const {
    size_t Count = 0;
    for (const Reference &R : C.References)
      Count += none_of(Inner, [&](const OutlinedSection &S) { return replaced(R.At, *S.Extract); });
    for (const OutlinedSection &S : Inner)
      Count += any_of(C.References, [&](const Reference &R) { return replaced(R.At, *S.Extract); });
    return Count;
  }

  // True if the call of an inner section takes the place of this text. Tails keep theirs.
  static bool replaced(const Range &R, const Extraction &Section) {
    return contains(Section.Whole, R) &&
           none_of(Section.Exits, [&](const EarlyExit &Exit) { return contains(Exit.Tail, R); });
  }

  // True if a variable of the function's own is all moved into inner functions.
  bool movesOn(const Capture &C) const {
    size_t Moved = 0;
    for (const OutlinedSection &S : Inner)
      for (const Capture &Own : S.Extract->Captures)
        if (Own.How == Travel::Inside && Own.Name == C.Name)
          Moved += Own.Mentions;
    return C.How == Travel::Inside && Moved && Moved == C.Mentions;
  }

  std::string function() const {
    std::string Text = E.Conditions;
    if (!Direct && !Passed.empty()) {
      Text += "struct " + Name + (E.BraceOnOwnLine ? "\n{\n" : " {\n");
      for (const Capture *C : Passed)
        Text += Unit + C->Field + ";\n";
      if (E.resumes())
        Text += Unit + resumeType() + " " + ResumeName + ";\n";
      Text += "};\n\n";
    }
    Text += functionNames();
    Text += std::string("static ") + (E.Inline ? "inline " : "") + "int " + Name + "(void *" +
            ContextName + ")" + (E.BraceOnOwnLine ? "\n{\n" : " {\n");
    std::string Declarations = declarations();
    std::string Body = body();
    Text += Declarations;
    if (!Declarations.empty() && !Body.empty())
      Text += "\n";
    if (E.resumes())
      Body = resumable(Body);
    if (E.Completes || E.resumes())
      Body += Unit + stores(E.Exits.size(), Unit) + "return 0;\n";
    Text += Body + "}\n";
    for (const std::string &Word : E.FunctionNames)
      Text += "#undef " + Word + "\n";
    for (unsigned I = 0; I < E.ConditionGroups; ++I)
      Text += "#endif\n";
    return Text + "\n";
  }

  // `__func__` in the section's text is the name of the function that it stood in.
  std::string functionNames() const {
    std::string Text;
    if (!E.FunctionNames.empty())
      Text = "/* Messages name the function that this section is from. */\n";
    for (const std::string &Word : E.FunctionNames)
      Text += "#define " + Word + " \"" + E.FunctionName + "\"\n";
    return Text;
  }

  std::string declarations() const {
    std::string Text;
    if (Direct)
      Text += Unit + Passed[0]->Parameter + " = " + ContextName + ";\n";
    else if (OnlyResume)
      Text += Unit + resumeType() + " *" + ResumeName + " = " + ContextName + ";\n";
    else if (!Passed.empty())
      Text += Unit + "struct " + Name + " *" + SectionName + " = " + ContextName + ";\n";
    for (const Capture &C : E.Captures) {
      if (!hasLocal(C) || movesOn(C))
        continue;
      if (C.How == Travel::Inside)
        Text += Unit + C.Local + ";" + C.Comment + "\n";
      else if (C.Copied)
        Text += Unit + C.Local + (C.Assigned ? "" : " = *" + SectionName + "->" + C.Name) + ";\n";
      else
        Text += Unit + C.Field + " = " + SectionName + "->" + C.Name + ";\n";
    }
    if (Passed.empty() && !OnlyResume)
      Text += Unit + "(void)" + ContextName + ";\n";
    return Text;
  }

  // The edits of the section's text, but for its waits and inner sections.
  std::vector<TextEdit> ownEdits() const {
    std::vector<TextEdit> Edits;
    for (const Capture &C : E.Captures)
      for (const Reference &R : C.References)
        addReference(C, R, Edits);
    for (const TextEdit &Token : Tokens) {
      if (!contains(E.Body, Token.At))
        continue;
      // It may be the use of a macro, arguments included.
      bool Names = any_of(Edits, [&](const TextEdit &R) { return contains(Token.At, R.At); });
      compose(Edits, Names ? TextEdit{Token.At, seenHere(Token.Text)} : Token);
    }
    for (size_t I = 0; I < E.Exits.size(); ++I)
      if (E.Exits[I].Value.End)
        addValue(E.Exits[I], Codes[I], Edits);
      else
        compose(Edits, {E.Exits[I].Unlock, leave(I)});
    sort(Edits);
    return Edits;
  }

  // Stores the locals that stand for captured variables at an exit, or at the end.
  std::string stores(size_t Exit, StringRef Indent) const {
    std::string Text;
    for (const Capture *C : Passed)
      if (C->Copied && is_contained(C->Stored, Exit))
        Text += ("*" + SectionName + "->" + C->Name + " = " + C->Name + ";\n" + Indent).str();
    return Text;
  }

  std::string leave(size_t I) const {
    const EarlyExit &Exit = E.Exits[I];
    const unsigned Code = Codes[I];
    if (!Exit.Returns)
      return Exit.Indent + stores(I, indentAt(Exit.Unlock.Begin)) + "return " +
             std::to_string(Code) + ";";
    std::string At = resumePoint();
    return Exit.Indent + "RELOCK_RETURN_TO(" + (At[0] == '*' ? At.substr(1) : "&" + At) + ", " +
           std::to_string(Code) + ");";
  }

  // `return value;` becomes `section->result = value; return 1;`.
  void addValue(const EarlyExit &Exit, unsigned Code, std::vector<TextEdit> &Edits) const {
    unsigned Begin = Exit.Unlock.Begin;
    unsigned Before = File.take_front(Begin).rtrim().size();
    StringRef Outer = indentAt(Before - 1);
    bool OnLine = !File.slice(Before, Begin).contains('\n'); // `if (…) return value;`
    std::string Indent = indentAt(Begin).str() + (Exit.Braces && OnLine ? Unit : "");
    std::string Set = SectionName + "->" + E.Result + " = ";
    std::string Return = ";\n" + Indent + "return " + std::to_string(Code) + ";";
    if (Exit.Braces) {
      Set = " {\n" + Indent + Set;
      Return += "\n" + Outer.str() + "}";
    }
    Edits.push_back({{Exit.Braces ? Before : Begin, Exit.Value.Begin}, Set});
    Edits.push_back({{Exit.Value.End, Exit.Unlock.End}, Return});
  }

  // Puts the calls of the inner sections for which Here is true into the place of their text.
  void addInner(std::vector<TextEdit> &Edits, const Renderer *Function,
                function_ref<bool(const Extraction &)> Here) const {
    for (const OutlinedSection &S : Inner) {
      if (!Here(*S.Extract))
        continue;
      Renderer Call(S, File, Tokens, Function);
      compose(Edits, {S.Extract->Whole, Call.call()});
      Collided |= Call.Collided;
    }
    sort(Edits);
  }

  std::string body() const {
    std::vector<TextEdit> Edits = ownEdits();
    addInner(Edits, this, [&](const Extraction &Section) { return !inTail(Section, E); });
    addWaits(Edits);
    Range Body = E.Body;
    if (E.LastLabel)
      Body.End = E.LastLabel;
    std::string To = E.resumes() ? caseIndent() + Unit : Unit;
    std::string Text = applied(Body, Edits);
    if (!E.Macro.empty())
      Text = withoutContinuations(Text);
    return reindent(firstLine(Text), E.BodyIndent, To);
  }

  std::string applied(Range Part, const std::vector<TextEdit> &Edits) const {
    return applyEdits(File, Part, Edits, Collided);
  }

  // --- Macros -----------------------------------------------------------------------------

  static std::string withoutContinuations(StringRef Text) {
    std::vector<TextLine> Lines = linesOf(Text);
    std::string Result;
    for (size_t I = 0; I < Lines.size(); ++I) {
      StringRef Line = Lines[I].Text;
      if (I + 1 == Lines.size() || !Lines[I + 1].InLiteral) {
        Line = Line.rtrim(" \t\r");
        Line.consume_back("\\");
        Line = Line.rtrim(" \t");
      }
      Result += (Line + "\n").str();
    }
    return Result;
  }

  // The lines of a call in the body of a macro: with the `\` where those of the body have it, or
  // as one line if the macro is one.
  std::string continued(StringRef Call) const {
    StringRef Line = File.substr(File.rfind('\n', E.Whole.Begin) + 1).split('\n').first;
    StringRef Code = Line.rtrim(" \t\r");
    if (!Code.consume_back("\\")) {
      std::string Joined;
      for (StringRef Part : split(Call, '\n'))
        Joined += (Joined.empty() ? "" : " ") + Part.trim().str();
      return Joined;
    }
    size_t Margin = columns(Code), Column = columns(E.Indent);
    std::string Result;
    for (StringRef Part : split(Call, '\n')) {
      if (!Result.empty()) {
        Result += std::string(Margin > Column ? Margin - Column : 1, ' ') + "\\\n";
        Column = 0;
      }
      Result += Part.str();
      Column += columns(Part);
    }
    // The last line keeps the `\` that follows the section.
    if (File[E.Whole.End] == '\\')
      Result += std::string(Margin > Column ? Margin - Column : 1, ' ');
    return Result;
  }

  // --- Waits ------------------------------------------------------------------------------

  // The switch that enters the section again behind each wait, and behind work without the lock.
  // The labels of the last unlock stand behind it.
  std::string resumable(const std::string &Body) const {
    std::string Case = caseIndent();
    std::string Text = opened(Unit + "switch (" + resumePoint() + ") {") + "\n" + Case +
                       "case 0:" + (E.FirstDeclares ? " {\n" : "\n") + Body +
                       (E.FirstDeclares ? Case + "}\n" : "") + Unit + "}\n";
    if (E.LastLabel)
      Text += reindent(applied({E.LastLabel, E.Body.End}, ownEdits()), E.Indent, Unit);
    return Text;
  }

  // As the file's own switches have it.
  std::string caseIndent() const {
    StringRef Switch;
    for (StringRef Line : split(File, '\n')) {
      StringRef Text = Line.ltrim(" \t"), Indent = Line.drop_back(Text.size());
      if (Text.starts_with("switch"))
        Switch = Line;
      else if (Text.starts_with("case ") && !Switch.empty())
        return Indent.size() > Switch.size() - Switch.ltrim(" \t").size() ? Unit + Unit : Unit;
    }
    return Unit;
  }

  std::string resume() const {
    return OnlyResume ? ResumeName + "->" : SectionName + "->" + ResumeName + ".";
  }

  std::string resumeType() const { return E.Waits.empty() ? "int" : "relock_resume_t"; }

  // Where the section goes on: `section->resume.at`.
  std::string resumePoint() const {
    if (!E.Waits.empty())
      return resume() + "at";
    return OnlyResume ? "*" + ResumeName : SectionName + "->" + ResumeName;
  }

  // Indentation of the line on which a character stands.
  StringRef indentAt(unsigned Offset) const {
    size_t Line = File.rfind('\n', Offset) + 1;
    if (Offset && File[Offset] == '\n')
      Line = File.rfind('\n', Offset - 1) + 1;
    return File.slice(Line, Offset).take_while([](char C) { return C == ' ' || C == '\t'; });
  }

  void addWaits(std::vector<TextEdit> &Edits) const {
    for (size_t I = 0; I < E.Waits.size(); ++I) {
      addWait(E.Waits[I], Returns + I + 1, Edits);
      sort(Edits);
    }
    for (const KeptDeclaration &Kept : E.Kept) {
      compose(Edits, assignment(Kept, Edits));
      sort(Edits);
    }
  }

  void addWait(const Wait &W, size_t Number, std::vector<TextEdit> &Edits) const {
    StringRef Indent = indentAt(W.Statement.Begin);
    std::string Inner = Indent.str();
    unsigned Before = File.take_front(W.Statement.Begin).rtrim().size();
    StringRef Outer = Before ? indentAt(Before - 1) : "";
    bool OwnLine = W.Braces && !File.slice(Before, W.Statement.Begin).contains('\n');
    if (OwnLine)
      Inner += Unit;
    std::string Call = macro(W, Number, Inner, Edits);
    if (OwnLine)
      for (size_t I = W.Statement.Begin; (I = File.find('\n', I) + 1) && I < W.Statement.End;)
        if (TextEdit Indented = {{unsigned(I), unsigned(I)}, Unit};
            none_of(Edits, [&](const TextEdit &E) { return collide(E, Indented); }))
          Edits.push_back(Indented); // else the line goes
    compose(Edits, {W.Call, W.Whole ? Call : resume() + "error"});
    if (W.Whole)
      return;
    if (!W.Braces) {
      Edits.push_back({{W.Statement.Begin, W.Statement.Begin}, Call + ";\n" + Indent.str()});
      return;
    }
    Edits.push_back({{Before, W.Statement.Begin}, " {\n" + Inner + Call + ";\n" + Inner});
    unsigned End = W.Statement.End;
    size_t Semicolon = File.find_first_not_of(" \t\r\n", End);
    if (Semicolon != StringRef::npos && File[Semicolon] == ';' && File[End - 1] != '}')
      End = Semicolon + 1;
    Edits.push_back({{End, End}, "\n" + Outer.str() + "}"});
  }

  std::string macro(const Wait &W, size_t Number, StringRef Indent,
                    const std::vector<TextEdit> &Edits) const {
    std::vector<std::string> Arguments = {OnlyResume ? ResumeName
                                                     : "&" + SectionName + "->" + ResumeName};
    auto Add = [&](const std::optional<Wait::Operand> &Operand) {
      if (Operand)
        Arguments.push_back(Operand->Before +
                            (Operand->Text.empty() ? applied(Operand->At, Edits) : Operand->Text) +
                            Operand->Behind);
    };
    Add(W.Condition);
    Add(W.Clock);
    Add(W.Deadline);
    Arguments.push_back(std::to_string(Number));
    StringRef Name = W.Clock      ? "RELOCK_COND_CLOCKWAIT("
                     : W.Deadline ? "RELOCK_COND_TIMEDWAIT("
                                  : "RELOCK_COND_WAIT(";
    std::string Text = list(Indent, Name.str(), Arguments, ")");
    return StringRef(Text).drop_front(Indent.size()).str();
  }

  // What a declaration that has become an assignment stores to.
  std::string target(const std::string &Variable) const {
    std::string Access = Direct ? Variable : SectionName + "->" + Variable;
    auto Own = find_if(Passed, [&](const Capture *C) { return C->Name == Variable; });
    if (Own == Passed.end() || (*Own)->How != Travel::Pointer)
      return Access;
    return (*Own)->Copied ? Variable : "*" + Access;
  }

  TextEdit assignment(const KeptDeclaration &Kept, const std::vector<TextEdit> &Edits) const {
    std::vector<std::string> Parts;
    for (const KeptDeclaration::Value &V : Kept.Values)
      Parts.push_back(target(V.Name) + " = " + (V.Type.empty() ? "" : "(" + V.Type + ")") +
                      applied(V.Initial, Edits));
    if (Kept.InFor)
      return {Kept.At, join(Parts, ", ") + ";"};
    if (Parts.empty())
      return {Kept.Lines, ""};
    return {Kept.At, join(Parts, ";\n" + indentAt(Kept.At.Begin).str()) + ";"};
  }

  // What stands on the line of the lock, a comment mostly, gets a line of its own.
  std::string firstLine(const std::string &Text) const {
    StringRef First = StringRef(Text).split('\n').first;
    if (First.trim().empty())
      return Text;
    return E.BodyIndent + StringRef(Text).ltrim().str();
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

  std::string argument(const Capture &C) const {
    if (!C.Argument.empty())
      return C.Argument;
    return seenAround(C.How == Travel::Pointer ? "&" + C.Name : C.Name);
  }

  // An expression of the user's function, as the function around the call can write it.
  std::string seenAround(StringRef Text) const {
    return Around ? Around->seenHere(Text) : Text.str();
  }

  // An expression of the user's function, as the extracted function can write it.
  std::string seenHere(StringRef Text) const {
    std::vector<TextEdit> Edits;
    char Quote = 0;
    for (unsigned I = 0, End; I < Text.size(); I = End) {
      End = I + 1;
      if (Quote) {
        End += Text[I] == '\\';
        Quote = Text[I] == Quote ? 0 : Quote;
        continue;
      }
      if (Text[I] == '"' || Text[I] == '\'')
        Quote = Text[I];
      if (!wordPart(Text[I]))
        continue;
      while (End < Text.size() && wordPart(Text[End]))
        ++End;
      StringRef Before = Text.take_front(I).rtrim();
      auto Named =
          find_if(E.Captures, [&](const Capture &C) { return C.Name == Text.slice(I, End); });
      bool Member = Before.ends_with(".") || Before.ends_with("->");
      bool NamesClass = Before.ends_with("RELOCK_CLASS(") || Before.ends_with("_INITIALIZER(");
      if (Named != E.Captures.end() && !Member && !NamesClass)
        addReference(*Named, referenceIn(Text, {I, End}), Edits);
    }
    return applyEdits(Text, {0, unsigned(Text.size())}, Edits, Collided);
  }

  static Reference referenceIn(StringRef Text, Range Name) {
    Reference Result = {Name, Reference::Plain, {}};
    StringRef Before = Text.take_front(Name.Begin), After = Text.substr(Name.End);
    if (After.starts_with(".")) {
      Result.Kind = Reference::Member;
      Result.Operator = {Name.End, Name.End + 1};
    } else if (Before.ends_with("&") && !Before.ends_with("&&") && !After.starts_with("[") &&
               !After.starts_with("->")) {
      Result = {{Name.Begin - 1, Name.End}, Reference::Address, {}};
    }
    return Result;
  }

  // The call, and what goes around it where the section ends with a cleanup handler.
  std::string call() const {
    std::string Text = execution();
    if (E.Push.End)
      Text = callerText(E.Push) + "\n" + E.Indent + Text;
    if (!E.Before.empty())
      Text = seenAround(E.Before) + "\n" + E.Indent + Text;
    if (!E.Behind.empty())
      Text += "\n" + E.Indent + seenAround(E.Behind);
    return Text;
  }

  // True if the section is the first statement of its block, where declarations may stand.
  bool beginsBlock() const {
    if (!E.Before.empty() || E.Push.End || !E.Macro.empty())
      return false;
    StringRef Above = File.take_front(E.Whole.Begin).rtrim();
    for (bool Gone = true; std::exchange(Gone, false);) // declarations that have moved
      for (const Capture &C : E.Captures)
        if (C.Outer && C.Outer->All.size() == 1 && movesWhole(C) &&
            C.Outer->Lines.Begin < Above.size() && Above.size() <= C.Outer->Lines.End) {
          Above = File.take_front(C.Outer->Lines.Begin).rtrim();
          Gone = true;
        }
    return Above.ends_with("{");
  }

  static bool movesWhole(const Capture &C) {
    return C.How == Travel::Inside && C.Mentions == C.Outer->Mentions;
  }

  std::string execution() const {
    // Else 0 and another one, or none.
    bool Names = Cases.size() > (E.Directive.empty() ? 2u : 1u);
    bool Declares = (!Direct && !Passed.empty()) || OnlyResume || Names;
    bool Block = (E.InBranch || (!E.MixedDeclarations && !beginsBlock())) && Declares;
    std::string Indent = Block ? E.Indent + Unit : E.Indent;
    std::vector<std::string> Lines;
    if (!E.HoistAt)
      for (const std::string &Declaration : E.Hoisted)
        Lines.push_back(Indent + Declaration);
    std::string Context = "NULL";
    if (Direct) {
      Context = argument(*Passed[0]);
    } else if (OnlyResume) {
      StringRef Initial = !Returns ? "" : E.Waits.empty() ? " = 0" : " = {0}";
      Lines.push_back((Indent + resumeType() + " " + ResumeName + Initial + ";").str());
      Context = "&" + ResumeName;
    } else if (!Passed.empty()) {
      std::vector<std::string> Fields;
      for (const Capture *C : Passed)
        if (C->How != Travel::Kept)
          Fields.push_back("." + C->Name + " = " + argument(*C));
      if (Returns) // the others are entered at their begin in any case
        Fields.push_back("." + ResumeName + (E.Waits.empty() ? " = 0" : " = {0}"));
      if (E.C99 && !Fields.empty())
        Lines.push_back(list(Indent, "struct " + Name + " " + CallerName + " = {", Fields, "};"));
      else
        Lines.push_back(Indent + "struct " + Name + " " + CallerName + ";");
      Context = "&" + CallerName;
    }
    if (Names && (!E.C99 || Returns || !E.Directive.empty()))
      Lines.push_back(Indent + "int " + TakenName + ";");
    if (!E.C99 && !Direct) // C89 initialises an aggregate by constants only
      for (const Capture *C : Passed)
        if (C->How != Travel::Kept)
          Lines.push_back(Indent + CallerName + "." + C->Name + " = " + argument(*C) + ";");
    if (!E.C99 && Returns && !OnlyResume)
      Lines.push_back(Indent + CallerName + "." + ResumeName + (E.Waits.empty() ? "" : ".at") +
                      " = 0;");
    std::vector<std::string> Arguments;
    for (const std::string &Argument : Execute.Arguments)
      Arguments.push_back(seenAround(Argument));
    Arguments.push_back(Name);
    Arguments.push_back(Context);
    if (!E.Waits.empty())
      Arguments.push_back(OnlyResume ? Context : Context + "." + ResumeName);
    if (Returns) {
      loop(Indent, Names, Arguments, Lines);
    } else if (!E.Directive.empty()) {
      std::string Result = Names ? TakenName + " = " : "";
      Lines.push_back(E.Directive);
      Lines.push_back(list(Indent, Result + Execute.Function + "(", Arguments, ");"));
      Lines.push_back((indentOf(E.Directive) + "#else").str());
      Lines.push_back(Indent + Result + Name + "(" + Context + ");");
      Lines.push_back((indentOf(E.Directive) + "#endif").str());
    } else if (Cases.size() == 1 && !E.Returns && !Execute.Condition.empty()) {
      Lines.push_back(Indent + "if (" + seenAround(Execute.Condition) + ")");
      Lines.push_back(list(Indent + Unit, Execute.Function + "(", Arguments, ");"));
      Lines.push_back(Indent + "else");
      Lines.push_back(Indent + Unit + Name + "(" + Context + ");");
    } else {
      std::string Call = Execute.Function + "(", Close = ")";
      if (!Execute.Condition.empty()) {
        const std::string Asked = seenAround(Execute.Condition);
        Call = (StringRef(Asked).contains('?') ? "(" + Asked + ")" : Asked) + " ? " + Call;
        Close += " : " + Name + "(" + Context + ")";
      }
      if (Cases.size() == 1)
        Lines.push_back(list(Indent, (E.Returns ? "return " : "") + Call, Arguments, Close + ";"));
      else if (Cases.size() == 2)
        Lines.push_back(opened(list(Indent, "if (" + Call, Arguments, Close + ") {")));
      else
        Lines.push_back(
            list(Indent, (E.C99 ? "int " : "") + TakenName + " = " + Call, Arguments, Close + ";"));
    }
    dispatch(Indent, Names, Lines);
    std::string Text = join(Lines, "\n");
    if (Block)
      Text = E.Indent + "{\n" + Text + "\n" + E.Indent + "}";
    if (!E.Directive.empty())
      return withGroups(Text);
    return StringRef(Text).drop_front(E.Indent.size()).str(); // the line's indentation is there
  }

  // What else stands in the groups of the lock and the last unlock goes on standing in such groups.
  std::string withGroups(const std::string &Text) const {
    std::string Ends = (indentOf(E.Directive) + "#endif\n").str();
    return (E.TextBefore ? Ends : "") + Text + (E.TextBehind ? "\n" + E.Directive : "");
  }

  // True if the section only comes out to go on.
  bool endless() const {
    return !E.Completes && Cases.size() == Returns + 1 && !is_contained(Codes, 0u);
  }

  // Runs the section until it is through, and what the caller does in between.
  void loop(const std::string &Indent, bool Names, ArrayRef<std::string> Arguments,
            std::vector<std::string> &Lines) const {
    std::string Open = "while (" + (Names ? "(" + TakenName + " = " : "") + Execute.Function + "(";
    std::string Close = ")" + std::string(Names ? ")" : "") + ") {";
    if (Cases.size() > Returns + 1) // other exits
      Close = Returns == 1 ? ")) == 1) {"
                           : ")) != 0 && " + TakenName + " <= " + std::to_string(Returns) + ") {";
    if (endless()) {
      Lines.push_back(opened(Indent + "for (;;) {"));
      Lines.push_back(list(Indent + Unit, (Names ? TakenName + " = " : "") + Execute.Function + "(",
                           Arguments, ");"));
    } else {
      Lines.push_back(opened(list(Indent, Open, Arguments, Close)));
    }
    for (size_t Code = 1; Returns > 1 && Code <= Returns; ++Code) {
      std::string Test = Code < Returns ? testOf(Code) : "{";
      if (Code == 1)
        Lines.push_back(opened(Indent + Unit + Test));
      else
        orElse(Test, Indent + Unit, Lines);
      Lines.push_back(tail(*Cases[Code], Indent + Unit + Unit) + Indent + Unit + "}");
    }
    if (Returns == 1)
      Lines.push_back(tail(*Cases[1], Indent + Unit) + Indent + "}");
    else
      Lines.push_back(Indent + "}");
  }

  // Where the nearest brace behind `if (…)` and the like stands, from the function on.
  bool controlBraceOnOwnLine() const {
    for (StringRef Text : {File.substr(E.FunctionBegin), File.take_front(E.FunctionBegin)}) {
      bool AfterHead = false;
      for (StringRef Line, Rest = Text; !Rest.empty();) {
        std::tie(Line, Rest) = Rest.split('\n');
        Line = Line.trim();
        if (AfterHead && Line == "{")
          return true;
        if (Line.ends_with(") {") || Line.ends_with("else {") || Line.ends_with("){"))
          return false;
        bool Control = any_of(ArrayRef<StringRef>{"if", "else", "for", "while", "switch"},
                              [&](StringRef Word) { return findWord(Line, Word) == 0; });
        AfterHead = Control && !Line.ends_with(";");
      }
    }
    return false;
  }

  // `if (…) {` with its brace where the file has it.
  std::string opened(StringRef Line) const {
    StringRef Head = Line;
    if (!Head.consume_back(" {") || !controlBraceOnOwnLine())
      return Line.str();
    return (Head + "\n" + indentOf(Line) + "{").str();
  }

  void orElse(const std::string &Test, const std::string &Indent,
              std::vector<std::string> &Lines) const {
    if (controlBraceOnOwnLine())
      Lines.push_back(opened(Indent + "else " + Test));
    else
      Lines.back() += " else " + Test;
  }

  std::string testOf(size_t Code) const {
    return "if (" + TakenName + " == " + std::to_string(Code) + ") {";
  }

  // What the caller does after the section; a single exit has its `if (… ) {` already.
  void dispatch(const std::string &Indent, bool Names, std::vector<std::string> &Lines) const {
    bool Joins = false; // some tail before goes on behind the dispatch
    for (size_t Code = Returns + 1; Code < Cases.size(); ++Code) {
      if (Joins)
        orElse(testOf(Code), Indent, Lines);
      else if (Names)
        Lines.push_back(opened(Indent + testOf(Code)));
      Joins |= Cases[Code]->Joins;
      Lines.push_back(tail(*Cases[Code], Indent + Unit) + Indent + "}");
    }
    if (!Cases[0])
      return;
    if (Joins) {
      orElse("{", Indent, Lines);
      Lines.push_back(tail(*Cases[0], Indent + Unit) + Indent + "}");
    } else if (Cases[0]->Declares)
      Lines.push_back(Indent + "{\n" + tail(*Cases[0], Indent + Unit) + Indent + "}");
    else
      Lines.push_back(StringRef(tail(*Cases[0], Indent)).rtrim().str());
  }

  // Text of the section's that its caller keeps.
  std::string callerText(Range Kept) const {
    std::vector<TextEdit> Edits = Around ? Around->ownEdits() : Tokens;
    addInner(Edits, Around,
             [&](const Extraction &Section) { return contains(Kept, Section.Whole); });
    return applied(Kept, Edits);
  }

  std::string tail(const EarlyExit &Exit, StringRef Indent) const {
    if (Exit.Value.End)
      return (Indent + "return " + CallerName + "." + E.Result + ";\n").str();
    std::string Text = callerText(Exit.Tail);
    if (!StringRef(Text).split('\n').first.trim().empty())
      Text = StringRef(Text).ltrim().str(); // it goes on behind the unlock, on the same line
    std::string Result = reindent(Text, commonIndent(Text), Indent);
    auto Line = [&](const std::string &Statement) {
      return Statement.empty() ? "" : Indent.str() + seenAround(Statement) + "\n";
    };
    return Line(Exit.Before) + Result + Line(Exit.Behind);
  }

  // `Indent Open a, b, c Close`, broken behind Open and commas where it would be wider than 80
  // columns.
  std::string list(StringRef Indent, const std::string &Open, ArrayRef<std::string> Items,
                   StringRef Close) const {
    constexpr size_t Width = 80;
    std::string Result = Indent.str() + Open;
    size_t Column = columns(Indent) + Open.size();
    std::string Continued = (Indent + Unit + Unit).str();
    for (size_t I = 0; I < Items.size(); ++I) {
      std::string Item = Items[I] + (I + 1 < Items.size() ? "," : Close.str());
      bool Wide = Column + (I ? 1 : 0) + Item.size() > Width;
      if (Wide && (I || columns(Continued) < Column)) {
        Result += "\n" + Continued + Item;
        Column = columns(Continued) + Item.size();
      } else {
        Result += (I ? " " : "") + Item;
        Column += Item.size() + (I ? 1 : 0);
      }
    }
    return Result;
  }
};

} // namespace

Outline renderOutline(const OutlinedSection &Section, StringRef File,
                      const std::vector<TextEdit> &Tokens) {
  return Renderer(Section, File, Tokens).run();
}

} // namespace relock
