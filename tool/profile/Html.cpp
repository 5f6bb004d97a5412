// SPDX-License-Identifier: MIT
#include "profile/Html.h"

#include "profile/Compare.h"
#include "profile/Text.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <optional>
#include <vector>

using namespace llvm;

namespace relock {

namespace {

// The page, its style, Chart.js and the script; the page of a comparison and its script.
const char *const Parts[] = {
#include "ReportPage.inc"
};

} // namespace

// Outside of strings JSON has none of these characters. LLVM's JSON is valid UTF-8 and has the
// other control characters escaped.
std::string scriptJson(const json::Value &V) {
  std::string Text, Safe;
  raw_string_ostream(Text) << V;
  for (StringRef Rest = Text; !Rest.empty();) {
    if (Rest.starts_with("\u2028") || Rest.starts_with("\u2029")) {
      Safe += Rest.starts_with("\u2028") ? "\\u2028" : "\\u2029";
      Rest = Rest.drop_front(strlen("\u2028"));
      continue;
    }
    char C = Rest.front();
    if (C == '<')
      Safe += "\\u003c";
    else if (C == '>')
      Safe += "\\u003e";
    else if (C == '&')
      Safe += "\\u0026";
    else if (C == '\x7f')
      Safe += "\\u007f";
    else
      Safe += C;
    Rest = Rest.drop_front();
  }
  return Safe;
}

// Text of a page, whatever it holds: no markup, and nothing that looks like an attribute.
static std::string htmlText(StringRef Text) {
  std::string Safe;
  for (char C : printable(Text))
    if (StringRef("<>&\"'=").contains(C))
      Safe += "&#" + std::to_string(int(C)) + ";";
    else
      Safe += C;
  return Safe;
}

static std::string headlineHtml(const Headline &H) {
  std::string Text = "<strong>" + htmlText(H.Text) + "</strong>";
  if (!H.Next.empty())
    Text += " <span>next: <code>" + htmlText(H.command()) + "</code></span>";
  return Text;
}

// For a browser that runs no script: the ranking.
static std::string tableHtml(const Profile &P) {
  std::string Rows;
  for (const ProfiledClass &Class : P.Classes) {
    if (!Class.acquisitions())
      continue;
    uint64_t Contended = Class.Counts.Contended + (Class.Readers ? Class.Readers->Contended : 0);
    Rows += "<tr><td class=\"text long\">" + htmlText(Class.Name) + "</td>";
    for (const std::string &Cell :
         {count(Class.acquisitions()), percent(Contended, Class.acquisitions()),
          duration(Class.waitTotal()),
          Class.isTimed() ? duration(Class.holdTotal()) : std::string("-")})
      Rows += "<td>" + Cell + "</td>";
    Rows += "</tr>\n";
  }
  return Rows.empty() ? Rows
                      : "<table><thead><tr><th class=\"text\">Lock class</th><th>Acquired</th>"
                        "<th>Waited</th><th>Wait</th><th>Hold</th></tr></thead>\n<tbody>" +
                            Rows + "</tbody></table>";
}

// Only marks of the page itself are replaced; what is filled in is not looked at again. They come
// in the order of the page.
static void fillPage(StringRef Page, ArrayRef<std::pair<StringRef, StringRef>> Marks,
                     raw_ostream &OS) {
  for (auto [Mark, Text] : Marks) {
    auto [Before, After] = Page.split(Mark);
    OS << Before << Text;
    Page = After;
  }
  OS << Page;
}

void writeHtml(const json::Value &Document, const Profile &P, const HeadlineSources &Sources,
               raw_ostream &OS) {
  std::string Head = headlineHtml(headlineOf(P, &Sources)), Table = tableHtml(P);
  std::string Data = scriptJson(Document);
  std::string Checked = scriptJson(Sources.Verdicts ? *Sources.Verdicts : json::Value(nullptr));
  const std::pair<StringRef, StringRef> Marks[] = {
      {"@STYLE@", Parts[1]},   {"@HEADLINE@", Head},  {"@TABLE@", Table},    {"@PROFILE@", Data},
      {"@VERDICTS@", Checked}, {"@CHART@", Parts[2]}, {"@SCRIPT@", Parts[3]}};
  fillPage(Parts[0], Marks, OS);
}

// One cell; `Value` is what its column sorts by.
static std::string cellHtml(StringRef Text, std::optional<double> Value, StringRef Class = "") {
  std::string Cell = "<td";
  if (!Class.empty())
    Cell += (" class=\"" + Class + "\"").str();
  if (Value)
    Cell += " data-value=\"" + formatv("{0:e6}", *Value).str() + "\"";
  return Cell + ">" + htmlText(Text.empty() ? "-" : Text) + "</td>";
}

static std::string rowHtml(const ComparedRow &Row) {
  std::string Html = "<tr><td class=\"text long\">" + htmlText(Row.Name) + "</td>";
  for (const ComparedFigure &F : Row.Figures) {
    double Change = F.ChangeValue.value_or(0);
    Html += cellHtml(F.Before, F.OldValue) + cellHtml(F.After, F.NewValue) +
            cellHtml(F.Change, F.ChangeValue,
                     Change > 0   ? "change more"
                     : Change < 0 ? "change less"
                                  : "change");
  }
  return Html + "</tr>\n";
}

void writeComparisonHtml(const Profile &Before, const Profile &After, raw_ostream &OS) {
  std::vector<ComparedRow> Rows = comparedRows(Before, After);
  std::string Head = htmlText(comparisonHeadline(Before, After)), Runs, Classes,
              All = rowHtml(Rows.back());
  for (const std::string &Text : comparedRuns(Before, After))
    Runs += "<li>" + htmlText(Text) + "</li>\n";
  for (const ComparedRow &Row : drop_end(Rows))
    Classes += rowHtml(Row);
  fillPage(Parts[4],
           {{"@STYLE@", Parts[1]},
            {"@HEADLINE@", Head},
            {"@RUNS@", Runs},
            {"@CLASSES@", Classes},
            {"@ALL@", All},
            {"@SCRIPT@", Parts[5]}},
           OS);
}

} // namespace relock
