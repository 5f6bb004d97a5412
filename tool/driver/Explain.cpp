// SPDX-License-Identifier: MIT
//
// relock explain: prints what the documentation says of a code, or what is known of a function of
// the C library. The pages are tool/doc/refusals.md and tool/doc/messages.md, embedded when the
// command is built; each code has a section there.
#include "driver/Explain.h"

#include "driver/Options.h"
#include "driver/Subcommand.h"
#include "index/LockApi.h"
#include "libraries/LibraryFunctions.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;

namespace relock {

static cl::SubCommand Command("explain", "explain the code of a message, or of a reason to refuse; "
                                         "or say what is known of a function of the C library");
static cl::list<std::string> Wanted(cl::Positional, cl::desc("[CODE|FUNCTION]..."),
                                    cl::sub(Command), cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock explain                  # all codes
  relock explain indirect-call    # what a code means, and what helps
  relock explain strtok_r         # what is known of a function

EXIT STATUS:

  0  done
  2  a code or function that is not known
)help";

namespace {

const StringRef DocumentNames[] = {"refusals.md", "messages.md"};
const char *const Documents[] = {
#include "ExplainPages.inc"
};

} // namespace

// A page is what stands below "### `CODE`", up to the next heading.
std::vector<Page> explainPages() {
  std::vector<Page> Result;
  for (auto [Content, Name] : zip_equal(Documents, DocumentNames)) {
    StringRef Document = Content;
    StringRef Chapter;
    bool Open = false, Example = false; // in a page; in its example, where `#` begins no heading
    for (size_t Begin = 0; Begin < Document.size();) {
      size_t End = std::min(Document.find('\n', Begin), Document.size());
      StringRef Line = Document.slice(Begin, End);
      Example ^= Line.starts_with("```");
      bool Heading = !Example && Line.starts_with("#");
      if (Heading) {
        Open = Line.consume_front("### `");
        if (Open)
          Result.push_back({Line.take_until([](char C) { return C == '`'; }), Chapter, "", Name});
        else
          Chapter = Line.ltrim("# ");
      } else if (Open) {
        StringRef &Text = Result.back().Text;
        Text = Text.empty() ? Line : Document.slice(Text.begin() - Document.begin(), End);
      }
      Begin = End + 1;
    }
  }
  return Result;
}

namespace {

// Examples are indented instead of fenced, and words in bold type are plain.
void print(const Page &P) {
  outs() << P.Code << " (" << P.Chapter << ")\n\n";
  bool Example = false;
  for (StringRef Line : split(P.Text.trim(), '\n')) {
    if (Line.starts_with("```")) {
      Example = !Example;
      continue;
    }
    bool Bold = !Example && Line.consume_front("**");
    auto [Word, Rest] = Line.split("**");
    outs() << (Example && !Line.empty() ? "    " : "") << (Bold ? Word : Line) << (Bold ? Rest : "")
           << "\n";
  }
}

std::string nearest(const std::vector<Page> &Pages, StringRef Wanted) {
  std::vector<std::pair<unsigned, StringRef>> Ranked;
  for (const Page &P : Pages) {
    bool Part = !Wanted.empty() && (P.Code.contains(Wanted) || Wanted.contains(P.Code));
    Ranked.push_back({Part ? 1 : Wanted.edit_distance(P.Code), P.Code});
  }
  sort(Ranked);
  Ranked.erase(std::unique(Ranked.begin(), Ranked.end()), Ranked.end());
  std::string Text;
  for (size_t I = 0; I < Ranked.size() && I < 3; ++I)
    Text += (I ? ", '" : "'") + Ranked[I].second.str() + "'";
  return Text;
}

// Below the heading of their pages, as many in a line as there is room for.
void listCodes(const std::vector<Page> &Pages) {
  constexpr size_t Indent = 4, Width = 80;
  StringRef Chapter;
  size_t Column = 0;
  for (const Page &P : Pages) {
    if (P.Chapter != Chapter)
      outs() << (Chapter.empty() ? "" : "\n\n") << P.Chapter << "\n";
    if (P.Chapter != Chapter || Column + 2 + P.Code.size() > Width) {
      outs() << "\n";
      outs().indent(Indent);
      Column = Indent;
    } else {
      outs() << "  ";
      Column += 2;
    }
    outs() << P.Code;
    Column += P.Code.size();
    Chapter = P.Chapter;
  }
  outs() << "\n\n`relock explain CODE` says what one means, and what helps.\n";
}

// What is known of a function of the C library, in the terms of the project file, where the user
// can say something else.
void print(StringRef Name, const LibraryFunction *F, bool Operates) {
  outs() << Name << " (Functions of the C library)\n\n";
  if (F) {
    outs() << "    - names: [" << Name << "]\n"
           << "      effect: " << effectName(F->Effect) << "\n";
    if (F->Pointers) {
      outs() << "      pointers: [";
      ListSeparator Comma;
      for (const PointerFlow &Flow : *F->Pointers)
        outs() << Comma << '"' << pointerFlowText(Flow) << '"';
      outs() << "]\n";
    } else {
      outs() << "      keeps-pointers: true\n";
    }
    if (F->CancelPoint)
      outs() << "\nIt is a cancellation point.\n";
  }
  if (Operates)
    outs() << (F ? "\n" : "")
           << "It operates locks: in a class that converts, another function takes its place.\n";
}

// False: it is neither a code nor a function.
bool explain(StringRef Name, const std::vector<Page> &Pages) {
  bool Found = false;
  for (const Page &P : Pages) {
    if (P.Code != Name)
      continue;
    outs() << (Found ? "\n" : "");
    print(P);
    Found = true;
  }
  const LibraryFunction *Function = libraryFunction(Name);
  const bool Operates = lockFunction(Name).has_value();
  if (Function || Operates) {
    outs() << (Found ? "\n" : "");
    print(Name, Function, Operates);
  }
  return Found || Function || Operates;
}

int run() {
  std::vector<Page> Pages = explainPages();
  if (Wanted.empty())
    listCodes(Pages);
  int Status = Done;
  for (size_t I = 0; I < Wanted.size(); ++I) {
    StringRef Name = StringRef(Wanted[I]).trim("[]"); // as messages show it
    outs() << (I ? "\n" : "");
    if (explain(Name, Pages))
      continue;
    outs().flush();
    message("there is no code '" + Name.str() +
                "', and no function of the C library; nearest are " + nearest(Pages, Name) +
                "; without a code, `relock explain` lists all",
            "unknown-code");
    Status = BadUsage;
  }
  return Status;
}

} // namespace

Subcommand explainSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
