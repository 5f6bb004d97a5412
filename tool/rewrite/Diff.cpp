// SPDX-License-Identifier: MIT
//
// What no edit touches is the same in both texts. Within the lines that an edit touches, lines are
// matched by Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations",
// Algorithmica 1986), after the common head and tail have been cut off: its cost grows with the
// square of an edit, not of the file.
#include "rewrite/Diff.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

using namespace llvm;

namespace relock {
namespace {

constexpr int Context = 3;

std::vector<StringRef> lines(StringRef Text) {
  std::vector<StringRef> Result;
  while (!Text.empty()) {
    size_t End = Text.find('\n');
    size_t Length = End == StringRef::npos ? Text.size() : End + 1;
    Result.push_back(Text.take_front(Length));
    Text = Text.drop_front(Length);
  }
  return Result;
}

// One line of the result: ' ' in both, '-' in the first only, '+' in the second only.
struct Line {
  char Kind;
  StringRef Text;
};

std::vector<Line> compare(ArrayRef<StringRef> A, ArrayRef<StringRef> B) {
  std::vector<Line> Head, Result, Tail;
  while (!A.empty() && !B.empty() && A.front() == B.front()) {
    Head.push_back({' ', A.front()});
    A = A.drop_front(), B = B.drop_front();
  }
  while (!A.empty() && !B.empty() && A.back() == B.back()) {
    Tail.push_back({' ', A.back()});
    A = A.drop_back(), B = B.drop_back();
  }
  const int N = A.size(), M = B.size();
  // For each D what step D read: the diagonals -D - 1 to D + 1.
  std::vector<std::vector<int>> Trace;
  std::vector<int> V(2 * (N + M) + 3, 0);
  auto At = [&](int K) -> int & { return V[K + N + M + 1]; };
  bool Found = false;
  for (int D = 0; D <= N + M && !Found; ++D) {
    Trace.emplace_back(&At(-D - 1), &At(D + 1) + 1);
    for (int K = -D; K <= D && !Found; K += 2) {
      int X = K == -D || (K != D && At(K - 1) < At(K + 1)) ? At(K + 1) : At(K - 1) + 1;
      int Y = X - K;
      while (X < N && Y < M && A[X] == B[Y])
        ++X, ++Y;
      At(K) = X;
      Found = X >= N && Y >= M;
    }
  }
  int X = N, Y = M;
  for (int D = int(Trace.size()) - 1; D >= 0 && (X > 0 || Y > 0); --D) {
    llvm::copy(Trace[D], &At(-D - 1));
    int K = X - Y;
    int Previous = K == -D || (K != D && At(K - 1) < At(K + 1)) ? K + 1 : K - 1;
    int PreviousX = D ? At(Previous) : 0, PreviousY = D ? PreviousX - Previous : 0;
    while (X > PreviousX && Y > PreviousY && X > 0 && Y > 0)
      Result.push_back({' ', A[--X]}), --Y;
    if (!D)
      break;
    if (X == PreviousX)
      Result.push_back({'+', B[--Y]});
    else
      Result.push_back({'-', A[--X]});
  }
  Head.insert(Head.end(), Result.rbegin(), Result.rend());
  Head.insert(Head.end(), Tail.rbegin(), Tail.rend());
  return Head;
}

// Both texts, line by line: After is Before with the edits.
std::vector<Line> compare(StringRef Before, StringRef After, ArrayRef<TextEdit> Edits) {
  std::vector<Line> All;
  size_t Done = 0;     // in Before
  ptrdiff_t Grown = 0; // from Done on, a place of Before is that much further in After
  auto Same = [&](size_t End) {
    for (StringRef Text : lines(Before.slice(Done, End)))
      All.push_back({' ', Text});
    Done = End;
  };
  while (!Edits.empty()) {
    // The lines that the next edit touches, and all further edits that touch them.
    size_t First = Edits[0].At.Begin;
    size_t Begin = Before.rfind('\n', First) + 1, End = First;
    Same(Begin);
    size_t NewBegin = Begin + Grown;
    for (; !Edits.empty() && Edits[0].At.Begin <= End; Edits = Edits.drop_front()) {
      size_t Newline = Before.find('\n', Edits[0].At.End);
      End = Newline == StringRef::npos ? Before.size() : Newline + 1;
      Grown += ptrdiff_t(Edits[0].Text.size()) - (Edits[0].At.End - Edits[0].At.Begin);
    }
    append_range(
        All, compare(lines(Before.slice(Begin, End)), lines(After.slice(NewBegin, End + Grown))));
    Done = End;
  }
  Same(Before.size());
  return All;
}

void printLine(raw_ostream &OS, const Line &L) {
  OS << L.Kind << L.Text;
  if (!L.Text.ends_with("\n"))
    OS << "\n\\ No newline at end of file\n";
}

void printRange(raw_ostream &OS, char Sign, unsigned First, unsigned Count) {
  OS << Sign << (Count ? First + 1 : First);
  if (Count != 1)
    OS << "," << Count;
}

} // namespace

std::vector<TextEdit> lineEdits(StringRef Before, StringRef After) {
  std::vector<TextEdit> Edits;
  unsigned At = 0; // in Before
  bool Open = false;
  for (const Line &L : compare(lines(Before), lines(After))) {
    if (L.Kind != ' ' && !Open)
      Edits.push_back({{At, At}, ""});
    Open = L.Kind != ' ';
    if (L.Kind == '+')
      Edits.back().Text += L.Text;
    else
      At += L.Text.size();
    if (L.Kind == '-')
      Edits.back().At.End = At;
  }
  return Edits;
}

void printDiff(raw_ostream &OS, StringRef Name, StringRef Before,
               const std::vector<TextEdit> &Edits, bool New) {
  bool Collided = false; // they do not
  std::string After = applyEdits(Before, {0, unsigned(Before.size())}, Edits, Collided);
  if (Before == After)
    return;
  std::vector<Line> All = compare(Before, After, Edits);
  OS << "--- " << (New ? std::string("/dev/null") : "a/" + Name.str()) << "\n+++ b/" << Name
     << "\n";
  unsigned OldLine = 0, NewLine = 0;
  for (size_t I = 0; I < All.size();) {
    if (All[I].Kind == ' ') {
      ++OldLine, ++NewLine, ++I;
      continue;
    }
    // A hunk: back up over the context, and go on until the next change is too far away.
    size_t Begin = I;
    while (Begin > 0 && I - Begin < Context && All[Begin - 1].Kind == ' ')
      --Begin;
    size_t End = I, LastChange = I;
    for (; End < All.size() && End - LastChange <= 2 * Context; ++End)
      if (All[End].Kind != ' ')
        LastChange = End;
    End = std::min(All.size(), LastChange + 1 + Context);
    unsigned OldCount = 0, NewCount = 0;
    for (size_t J = Begin; J < End; ++J) {
      OldCount += All[J].Kind != '+';
      NewCount += All[J].Kind != '-';
    }
    unsigned Back = I - Begin;
    OS << "@@ ";
    printRange(OS, '-', OldLine - Back, OldCount);
    OS << " ";
    printRange(OS, '+', NewLine - Back, NewCount);
    OS << " @@\n";
    for (size_t J = Begin; J < End; ++J)
      printLine(OS, All[J]);
    OldLine += OldCount - Back;
    NewLine += NewCount - Back;
    I = End;
  }
}

} // namespace relock
