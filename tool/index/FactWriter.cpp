// SPDX-License-Identifier: MIT
#include "index/FactWriter.h"

using namespace clang;
using namespace llvm;

namespace relock {

void FactWriter::flow(std::string From, std::string To, Flow::Kind How, SourceLocation At,
                      bool Untyped) {
  if (From.empty() || To.empty() || From == To)
    return;
  bool IsText = How == Flow::Text || How == Flow::NamingText;
  Facts.Flows.push_back(
      {std::move(From), std::move(To), How, Untyped, IsText ? S.spelled(At) : S.shown(At)});
}

void FactWriter::escape(std::string Node, StringRef Code, const Twine &Message, SourceLocation At) {
  if (!Node.empty())
    Facts.Escapes.add({std::move(Node), Code.str(), Message.str(), S.shown(At)});
}

void FactWriter::unfollowed(const std::string &Node, SourceLocation At) {
  if (!Unrun)
    return escape(Node, "pointer-cast", "mixes with a pointer that is not followed", At);
  SkippedSite Site;
  Site.At = S.spelled(At);
  Site.Operator = "a pointer that is not followed";
  Site.Exact = Site.Unrun = true;
  Site.Locks = {Node};
  Facts.Skipped.push_back(std::move(Site));
}

void FactWriter::edit(SourceLocation L, unsigned Length, std::string Text,
                      const std::string &Node) {
  Facts.Edits.push_back({S.spelled(L), Length, std::move(Text), Node, Edit::Anywhere, ""});
}

void FactWriter::sharedEdit(SourceLocation L, unsigned Length, std::string Text,
                            const std::string &Node) {
  // Text that names a class can stand for one class only.
  bool NamesClass = Text.find("$CLASS") != std::string::npos;
  edit(L, Length, std::move(Text), Node);
  flow(Node, tokenNode(S.spelled(L)), NamesClass ? Flow::NamingText : Flow::Text, L);
}

} // namespace relock
