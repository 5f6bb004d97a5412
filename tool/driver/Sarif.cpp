// SPDX-License-Identifier: MIT
//
// relock check --sarif: the findings for viewers of SARIF 2.1.0. Each is a result, its code the
// rule, its way to the cause a code flow. What is suppressed or known is there, and marked so; what
// lies on lines that did not change is not.
#include "driver/Check.h"
#include "driver/Explain.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {
namespace {

// Percent-encoding of what a path has and a URI may not.
std::string uriPath(StringRef Path) {
  std::string Uri;
  for (unsigned char C : Path)
    if (isAlnum(C) || StringRef("/-._~!$&'()*+,;=@").contains(C))
      Uri += C;
    else
      Uri += "%" + std::string(1, hexdigit(C >> 4)) + hexdigit(C & 15);
  return Uri;
}

class Document {
public:
  Document(raw_ostream &OS, std::string Root) : J(OS, 1), Root(std::move(Root)) {}

  void write(ArrayRef<JudgedFinding> Findings) {
    collect(Findings);
    J.object([&] {
      J.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
      J.attribute("version", "2.1.0");
      J.attributeArray("runs", [&] { J.object([&] { writeRun(); }); });
    });
  }

private:
  json::OStream J;
  std::string Root;
  std::vector<const JudgedFinding *> Results;
  std::vector<Page> Rules;
  bool Suppresses = false; // then each result says whether it is suppressed, as SARIF demands

  void collect(ArrayRef<JudgedFinding> Findings) {
    std::set<std::string> Used;
    for (const JudgedFinding &Each : Findings) {
      if (Each.State == FindingState::Unchanged)
        continue;
      Results.push_back(&Each);
      Used.insert(Each.Found.Why.Code);
      Suppresses |= Each.State != FindingState::Open;
    }
    // A code that concerns classes and sections both is one rule, with both pages.
    for (const Page &P : explainPages())
      if (Used.count(P.Code.str()))
        Rules.push_back(P);
    stable_sort(Rules, [](const Page &A, const Page &B) { return A.Code < B.Code; });
  }

  void writeRun() {
    J.attributeObject("tool", [&] {
      J.attributeObject("driver", [&] {
        J.attribute("name", "relock");
        J.attribute("version", RELOCK_VERSION);
        J.attributeArray("rules", [&] {
          for (size_t I = 0; I < Rules.size(); ++I)
            if (I == 0 || Rules[I - 1].Code != Rules[I].Code)
              writeRule(I);
        });
      });
    });
    J.attributeObject("originalUriBaseIds", [&] {
      J.attributeObject("SRCROOT", [&] { J.attribute("uri", "file://" + uriPath(Root) + "/"); });
    });
    J.attribute("columnKind", "utf16CodeUnits");
    J.attributeArray("results", [&] {
      for (const JudgedFinding *R : Results)
        writeResult(*R);
    });
  }

  void writeText(StringRef Name, StringRef Text) {
    J.attributeObject(Name, [&] { J.attribute("text", Text); });
  }

  // The first paragraph says what it is.
  void writeRule(size_t First) {
    std::string Help;
    for (size_t I = First; I < Rules.size() && Rules[I].Code == Rules[First].Code; ++I)
      Help += (Help.empty() ? "" : "\n\n") + Rules[I].Text.trim().str();
    J.object([&] {
      J.attribute("id", Rules[First].Code);
      std::string Short = Rules[First].Text.trim().split("\n\n").first.str();
      std::replace(Short.begin(), Short.end(), '\n', ' ');
      writeText("shortDescription", Short);
      J.attributeObject("help", [&] {
        J.attribute("text", Help);
        J.attribute("markdown", Help);
      });
      J.attributeObject("properties", [&] {
        J.attribute("documentation",
                    "tool/doc/" + Rules[First].Document.str() + "#" + Rules[First].Code.str());
      });
    });
  }

  void writePhysical(const Position &At) {
    J.attributeObject("physicalLocation", [&] {
      J.attributeObject("artifactLocation", [&] {
        StringRef Rest = At.File;
        if (Rest.consume_front(Root) && Rest.consume_front("/")) {
          J.attribute("uri", uriPath(Rest));
          J.attribute("uriBaseId", "SRCROOT");
        } else {
          J.attribute("uri", "file://" + uriPath(At.File));
        }
      });
      if (At.Line)
        J.attributeObject("region", [&] {
          J.attribute("startLine", At.Line);
          if (At.Column)
            J.attribute("startColumn", At.Column);
        });
    });
  }

  void writeLocation(const Position &At, StringRef Text) {
    J.object([&] {
      writePhysical(At);
      if (!Text.empty())
        writeText("message", Text);
    });
  }

  void writeResult(const JudgedFinding &Judged) {
    const Finding &R = Judged.Found;
    const bool Held = R.Kind == FindingKind::Hold;
    J.object([&] {
      J.attribute("ruleId", R.Why.Code);
      J.attribute("level", Judged.Fails ? "error" : R.Warns ? "warning" : "note");
      writeText("message", R.Message);
      // A viewer shows a section's reason at its lock, and from there the way to the cause.
      const Position &At = R.at();
      J.attributeArray("locations", [&] { writeLocation(At, ""); });
      const Position &Cause = R.Why.Way.empty() ? R.Why.At : R.Why.Way.back().At;
      if (Held && !(Cause == At))
        J.attributeArray("relatedLocations",
                         [&] { writeLocation(Cause, "what makes it hold is here"); });
      else if (R.About && !(R.About->At == At))
        J.attributeArray("relatedLocations", [&] { writeLocation(R.About->At, R.About->Text); });
      if (!R.Why.Way.empty())
        J.attributeArray("codeFlows", [&] { J.object([&] { writeFlow(R); }); });
      if (Suppresses)
        writeSuppressions(Judged);
    });
  }

  void writeSuppressions(const JudgedFinding &Judged) {
    J.attributeArray("suppressions", [&] {
      if (Judged.State == FindingState::Open)
        return;
      J.object([&] {
        J.attribute("kind", Judged.State == FindingState::Known ? "external" : "inSource");
        if (!Judged.Because.empty())
          J.attribute("justification", Judged.Because);
      });
    });
  }

  void writeFlow(const Finding &R) {
    J.attributeArray("threadFlows", [&] {
      J.object([&] {
        J.attributeArray("locations", [&] {
          auto Write = [&](const Step &Next) {
            J.object([&] {
              J.attributeBegin("location");
              writeLocation(Next.At, Next.Text);
              J.attributeEnd();
            });
          };
          if (R.Kind == FindingKind::Hold)
            Write(*R.About);
          for (const Step &Next : R.Why.Way)
            Write(Next);
        });
      });
    });
  }
};

} // namespace

bool writeSarif(const IndexResult &Index, ArrayRef<JudgedFinding> Findings, StringRef File) {
  auto Write = [&](raw_ostream &OS) {
    Document(OS, Index.Root).write(Findings);
    OS << "\n";
  };
  if (File == "-") {
    Write(outs());
    return true;
  }
  Error Failed = writeAtomically(File, Write);
  if (!Failed)
    return true;
  messageFor(File, "cannot be written: " + toString(std::move(Failed)), "cannot-write");
  return false;
}

} // namespace relock
