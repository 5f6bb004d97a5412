// SPDX-License-Identifier: MIT
//
// relock check --sarif: the verdicts for viewers of SARIF 2.1.0. Each reason to keep a class or to
// hold a section is a result, its code the rule, its way to the cause a code flow; so is each cycle
// in the order of locks.
#include "driver/Check.h"
#include "driver/Explain.h"
#include "driver/Subcommand.h"
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

  void write(const Decision &Decided) {
    collect(Decided);
    J.object([&] {
      J.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
      J.attribute("version", "2.1.0");
      J.attributeArray("runs", [&] { J.object([&] { writeRun(); }); });
    });
  }

private:
  struct Result {
    Reason Why;
    bool Held;  // of a section: shown at its lock
    bool Warns; // about the program, or a whole class; else a note
    std::string Message;
    std::optional<Step> About; // the section, or the class, where that is another place
  };

  json::OStream J;
  std::string Root;
  std::vector<Result> Results;
  std::vector<Page> Rules;

  void collect(const Decision &Decided) {
    for (const CheckedClass &Class : Decided.Classes) {
      const std::string &Name = Class.Class.Name;
      for (const Reason &R : Class.Class.Kept)
        Results.push_back({R, false, true, "lock class '" + Name + "' is kept: it " + R.Message,
                           Step{"'" + Name + "' is declared here", Class.Class.At}});
      for (const CheckedSection &S : Class.Sections)
        if (S.Outcome == Verdict::Hold)
          for (const Reason &R : S.Reasons)
            Results.push_back({R, true, false,
                               "this section of '" + Name + "', in '" + S.Facts.FunctionName +
                                   "', is held: " + R.Message,
                               Step{"the lock is taken here", S.Facts.At}});
    }
    for (const std::vector<OrderEdge> &Cycle : Decided.Cycles) {
      Reason R = cycleReason(Cycle);
      for (const OrderEdge &E : Cycle)
        append_range(R.Way, E.Way);
      Results.push_back({R, false, isSure(Cycle), R.Message, {}});
    }
    for (const AccidentalMerge &M : Decided.Merges) {
      Reason R{"accidental-merge", describe(M), M.At};
      Results.push_back({R, false, false, R.Message, {}});
    }
    for (const UncoveredSite &Site : Decided.Uncovered)
      if (none_of(Results, [&](const Result &R) {
            return R.Why.Code == "uncovered" && R.Why.At == Site.At;
          })) {
        Reason R{"uncovered", describe(Site), Site.At};
        Results.push_back({R, false, false, R.Message, {}});
      }
    std::set<std::string> Used;
    for (const Result &R : Results)
      Used.insert(R.Why.Code);
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
      for (const Result &R : Results)
        writeResult(R);
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

  void writeResult(const Result &R) {
    J.object([&] {
      J.attribute("ruleId", R.Why.Code);
      J.attribute("level", R.Warns ? "warning" : "note");
      writeText("message", R.Message);
      // A viewer shows a section's reason at its lock, and from there the way to the cause.
      const Position &At = R.Held ? R.About->At : R.Why.At;
      J.attributeArray("locations", [&] { writeLocation(At, ""); });
      const Position &Cause = R.Why.Way.empty() ? R.Why.At : R.Why.Way.back().At;
      if (R.Held && !(Cause == At))
        J.attributeArray("relatedLocations",
                         [&] { writeLocation(Cause, "what makes it hold is here"); });
      else if (R.About && !(R.About->At == At))
        J.attributeArray("relatedLocations", [&] { writeLocation(R.About->At, R.About->Text); });
      if (!R.Why.Way.empty())
        J.attributeArray("codeFlows", [&] { J.object([&] { writeFlow(R); }); });
    });
  }

  void writeFlow(const Result &R) {
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
          if (R.Held)
            Write(*R.About);
          for (const Step &Next : R.Why.Way)
            Write(Next);
        });
      });
    });
  }
};

} // namespace

bool writeSarif(const IndexResult &Index, const Decision &Decided, StringRef File) {
  Error Failed = writeAtomically(File, [&](raw_ostream &OS) {
    Document(OS, Index.Root).write(Decided);
    OS << "\n";
  });
  if (!Failed)
    return true;
  messageFor(File, "cannot be written: " + toString(std::move(Failed)), "cannot-write");
  return false;
}

} // namespace relock
