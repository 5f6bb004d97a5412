// SPDX-License-Identifier: MIT
#include "driver/TrialPage.h"

#include "bench/ComparisonTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace relock {
namespace {

constexpr StringRef Style = R"(
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.sentence { font-size: 1.25rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0;
         border-bottom: 1px solid #8886; overflow-wrap: anywhere; }
td.number { text-align: right; white-space: nowrap; }
pre { overflow-x: auto; font-size: .85rem; line-height: 1.35; padding: .75rem; background: #8881; }
ins, del { text-decoration: none; } ins { color: #080; } del { color: #c00; }
@media (prefers-color-scheme: dark) { ins { color: #6d6; } del { color: #f88; } }
@media print {
  body { max-width: none; margin: 0; font-size: 10pt; }
  pre { padding: 0; background: none; font-size: 7pt; white-space: pre-wrap; }
}
)";

class Page {
public:
  Page(const TrialResult &Result, raw_ostream &OS) : R(Result), OS(OS) {}
  void write();

private:
  void text(StringRef Text) { printHTMLEscaped(Text, OS); }
  void element(StringRef Name, StringRef Text) {
    OS << "<" << Name << ">";
    text(Text);
    OS << "</" << Name.take_until([](char C) { return C == ' '; }) << ">\n";
  }
  void preformatted(StringRef Heading, StringRef Text);
  void plan();
  void comparison();
  void diff();
  void steps();

  const TrialResult &R;
  raw_ostream &OS;
};

void Page::preformatted(StringRef Heading, StringRef Text) {
  if (Text.empty())
    return;
  element("h2", Heading);
  element("pre", Text);
}

void Page::plan() {
  if (!R.Planned)
    return;
  element("h2", "What the plan says");
  OS << "<table>\n<tr><th>lock class<th>verdict<th>why\n";
  for (const PlanEntry &Entry : R.Planned->Classes) {
    OS << "<tr>";
    element("td", Entry.Class);
    element("td", Entry.Converts ? "convert to " + Entry.Algorithm : "keep");
    OS << "<td>";
    for (const std::string &Line : Entry.Remarks) {
      text(Line);
      OS << "<br>\n";
    }
  }
  OS << "</table>\n";
}

void Page::comparison() {
  if (!R.Measured || R.Measured->Turns.empty())
    return;
  std::string Table;
  raw_string_ostream Stream(Table);
  printComparedMachine(*R.Measured, Stream);
  printComparison(*R.Measured, Stream);
  preformatted("What it gained", Table);
}

void Page::diff() {
  if (R.Diff.empty())
    return;
  element("h2", "What was changed");
  OS << "<pre>";
  for (StringRef Line : split(StringRef(R.Diff).rtrim('\n'), '\n')) {
    bool Head = Line.starts_with("+++") || Line.starts_with("---");
    StringRef Mark = Head                    ? "b"
                     : Line.starts_with("+") ? "ins"
                     : Line.starts_with("-") ? "del"
                                             : "span";
    element(Mark, Line);
  }
  OS << "</pre>\n";
}

void Page::steps() {
  element("h2", "What was done");
  OS << "<table>\n<tr><th>step<th>command<th>seconds<th>outcome\n";
  for (const TrialStep &Step : R.Steps) {
    OS << "<tr>";
    element("td", Step.Name);
    element("td", Step.Command);
    OS << "<td class=number>" << format("%.1f", Step.Seconds);
    element("td", Step.Outcome);
  }
  OS << "</table>\n";
}

void Page::write() {
  OS << "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
        "<meta name=viewport content='width=device-width, initial-scale=1'>\n<title>";
  text("Relock: a trial of " + R.Program);
  OS << "</title>\n<style>" << Style << "</style>\n";
  element("h1", "A trial of " + R.Program);
  element("p class=sentence", R.Sentence);
  comparison();
  preformatted("What hurt", R.Report);
  preformatted("The locks before and after", R.DiffOfProfiles);
  plan();
  diff();
  preformatted("What can be converted, and what is refused", R.Check);
  steps();
}

} // namespace

void writeTrialPage(const TrialResult &Result, raw_ostream &OS) { Page(Result, OS).write(); }

} // namespace relock
