// SPDX-License-Identifier: MIT
#include "profile/Html.h"

using namespace llvm;

namespace relock {

namespace {

// The page, its style, Chart.js and the script.
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

// Only marks of the page itself are replaced; what is filled in is not looked at again.
void writeHtml(const json::Value &Profile, const json::Value &Verdicts, raw_ostream &OS) {
  std::string Data = scriptJson(Profile), Checked = scriptJson(Verdicts);
  const std::pair<StringRef, StringRef> Marks[] = {{"@STYLE@", Parts[1]},
                                                   {"@PROFILE@", Data},
                                                   {"@VERDICTS@", Checked},
                                                   {"@CHART@", Parts[2]},
                                                   {"@SCRIPT@", Parts[3]}};
  StringRef Page = Parts[0];
  for (auto [Mark, Text] : Marks) {
    auto [Before, After] = Page.split(Mark);
    OS << Before << Text;
    Page = After;
  }
  OS << Page;
}

} // namespace relock
