// SPDX-License-Identifier: MIT
//
// relock check --lock-order: which lock is taken under which, and the circles in that order.
#include "driver/Check.h"
#include "driver/Subcommand.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

using Circle = std::vector<OrderEdge>;

bool isSure(const Circle &Edges) {
  return all_of(Edges, [](const OrderEdge &E) { return E.Surely; });
}

static std::string shownCircle(const Circle &Edges) {
  std::string Text;
  for (const OrderEdge &E : Edges)
    Text += E.HeldName + " -> ";
  return Text + Edges.front().HeldName;
}

Reason cycleReason(const Circle &Edges) {
  return Reason{"lock-cycle", (isSure(Edges) ? "cycle: " : "possible cycle: ") + shownCircle(Edges),
                Edges.front().Way.front().At};
}

namespace {

// The parts of a class are one node.
std::vector<const OrderEdge *> byClass(const std::vector<OrderEdge> &Edges) {
  std::map<std::pair<std::string, std::string>, const OrderEdge *> Shown;
  for (const OrderEdge &E : Edges) {
    const OrderEdge *&Known = Shown[{E.HeldName, E.TakenName}];
    if (!Known || (E.Surely && !Known->Surely))
      Known = &E;
  }
  auto All = make_second_range(Shown);
  return {All.begin(), All.end()};
}

std::string count(size_t N, StringRef What) {
  return (Twine(N) + " " + What + (N == 1 ? "" : "s")).str();
}

void printText(const Decision &Decided) {
  std::vector<const OrderEdge *> Edges = byClass(Decided.Order);
  for (const OrderEdge *E : Edges)
    outs() << E->HeldName << " -> " << E->TakenName << " (" << shownPlace(E->Way.front().At) << ", "
           << E->Function << ")" << (E->Surely ? "" : ", perhaps") << "\n";
  for (const Circle &Edges : Decided.Cycles) {
    Reason Found = cycleReason(Edges);
    outs() << Found.Message << " [" << Found.Code << "]\n";
    for (const OrderEdge &E : Edges)
      for (const Step &Next : E.Way)
        outs() << (&Next == &E.Way.front() ? "  " : "    ") << shownPlace(Next.At) << ": "
               << Next.Text << "\n";
  }
  for (const Step &Place : Decided.OrderUnseen)
    outs() << "not followed: " << shownPlace(Place.At) << ": " << Place.Text << "\n";
  size_t Sure = count_if(Decided.Cycles, isSure);
  outs() << count(Edges.size(), "edge") << ", " << count(Sure, "cycle") << ", "
         << count(Decided.Cycles.size() - Sure, "possible cycle") << ", "
         << count(Decided.OrderUnseen.size(), "place") << " not followed\n";
}

std::string dotString(StringRef Text) {
  std::string Result;
  for (char C : Text)
    Result += (C == '"' || C == '\\' ? "\\" : "") + std::string(1, C);
  return "\"" + Result + "\"";
}

void printDot(const Decision &Decided) {
  std::set<std::pair<std::string, std::string>> OnCircle;
  for (const Circle &Edges : Decided.Cycles)
    for (const OrderEdge &E : Edges)
      OnCircle.insert({E.HeldName, E.TakenName});
  outs() << "digraph \"lock order\" {\n  node [shape=box];\n";
  for (const OrderEdge *E : byClass(Decided.Order))
    outs() << "  " << dotString(E->HeldName) << " -> " << dotString(E->TakenName)
           << " [label=" << dotString(shownPlace(E->Way.front().At))
           << (OnCircle.count({E->HeldName, E->TakenName}) ? ", color=red" : "")
           << (E->Surely ? "" : ", style=dashed") << "];\n";
  outs() << "}\n";
}

void writeEdge(json::OStream &J, const OrderEdge &E) {
  J.object([&] {
    J.attribute("held", E.HeldName);
    J.attribute("taken", E.TakenName);
    J.attribute("function", E.Function);
    J.attribute("location", shownPlace(E.Way.front().At));
    J.attribute("sure", E.Surely);
    writeWay(J, E.Way);
  });
}

void printJson(const Decision &Decided) {
  json::OStream J(outs(), 1);
  J.object([&] {
    J.attribute("version", 1);
    J.attributeArray("edges", [&] {
      for (const OrderEdge *E : byClass(Decided.Order))
        writeEdge(J, *E);
    });
    J.attributeArray("cycles", [&] {
      for (const Circle &Edges : Decided.Cycles)
        J.array([&] {
          for (const OrderEdge &E : Edges)
            writeEdge(J, E);
        });
    });
    J.attributeArray("not_followed", [&] {
      for (const Step &Place : Decided.OrderUnseen)
        J.object([&] {
          J.attribute("message", Place.Text);
          J.attribute("location", shownPlace(Place.At));
        });
    });
  });
  outs() << "\n";
}

} // namespace

int showLockOrder(const Decision &Decided, bool Dot, bool Json) {
  if (Json)
    printJson(Decided);
  else if (Dot)
    printDot(Decided);
  else
    printText(Decided);
  return Decided.Cycles.empty() ? Done : LookAtThis;
}

} // namespace relock
