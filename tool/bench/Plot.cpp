// SPDX-License-Identifier: MIT
//
// Both axes are logarithmic: threads double from column to column, and locks differ by factors.
// Locks that have but one way (the C library's, a limit) are drawn in every panel, in greys, for
// comparison.
#include "bench/Plot.h"
#include "bench/Table.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace llvm;

namespace relock {

namespace {

constexpr double PanelWidth = 330, PanelHeight = 400, Left = 64, Top = 70, Gap = 26, Inset = 16;
constexpr double LegendWidth = 170, Bottom = 56, LegendLine = 17;

// Dark enough on white and apart for most eyes. With four markers, 40 locks and 12 others that
// they are compared with look different.
constexpr const char *Colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b",
                                   "#56b4e9", "#7b3294", "#a6611a", "#4d9221", "#c51b7d"};
// A panel for each that was measured.
constexpr StringRef Modes[] = {"hold", "execute", "any-thread"};
constexpr const char *Greys[] = {"#000000", "#606060", "#a0a0a0"};

struct Style {
  std::string Colour;
  size_t Marker;
  bool Compared; // in every panel
};

class Plot {
public:
  // Baseline: the row that ratios are to; none: throughput.
  Plot(const BenchResults &Results, const BenchPoint &Point, std::optional<size_t> Baseline,
       raw_ostream &OS)
      : Results(Results), Point(Point), Baseline(Baseline), OS(OS),
        Threads(Results.threads(Point)) {
    choosePanels();
    chooseStyles();
    chooseScale();
  }
  void draw();

private:
  bool hasCells(size_t Row) const {
    return any_of(Threads, [&](int64_t T) { return value(Results.find(Row, Point, T)); });
  }
  std::optional<Spread> value(const BenchCell *C) const;
  double atThreads(int64_t T) const;
  double atValue(double Value) const;

  void choosePanels();
  void chooseStyles();
  void chooseScale();
  void drawText(double X, double Y, StringRef Text, StringRef Attributes = "");
  void drawLine(double X1, double Y1, double X2, double Y2, StringRef Attributes);
  void drawMarker(const Style &S, double X, double Y);
  void drawFrame(StringRef Title, bool First);
  void drawRow(size_t Row);
  void drawLegend(double X);

  const BenchResults &Results;
  const BenchPoint Point;
  const std::optional<size_t> Baseline;
  raw_ostream &OS;
  const std::vector<int64_t> Threads;
  std::vector<std::string> Panels; // modes
  std::vector<std::string> Locks;  // in the order of the legend
  std::vector<Style> Styles;       // of the locks
  double Low = 1, High = 10;       // of the vertical axis
};

bool isCompared(const BenchRow &Row) {
  return StringRef(Row.Lock).starts_with("pthread") || !is_contained(Modes, StringRef(Row.Mode));
}

std::optional<Spread> Plot::value(const BenchCell *C) const {
  if (!C || C->Row == Baseline)
    return std::nullopt;
  if (!Baseline)
    return spread(*C, [](const BenchSample &S) { return S.throughput(); });
  const BenchCell *Against = Results.find(*Baseline, Point, C->Threads);
  relock_bench_ratio R = Against ? ratio(*C, *Against) : relock_bench_ratio{};
  return R.pairs ? std::optional(Spread{R.median, R.low, R.high}) : std::nullopt;
}

void Plot::choosePanels() {
  for (StringRef Mode : Modes)
    for (size_t Row = 0; Row < Results.Rows.size(); ++Row)
      if (Results.Rows[Row].Mode == Mode && hasCells(Row) && !isCompared(Results.Rows[Row])) {
        Panels.push_back(Mode.str());
        break;
      }
  if (Panels.empty())
    Panels.push_back("hold");
}

void Plot::chooseStyles() {
  constexpr size_t Markers = 4;
  size_t Coloured = 0, Grey = 0;
  for (size_t Row = 0; Row < Results.Rows.size(); ++Row) {
    const BenchRow &R = Results.Rows[Row];
    if (!hasCells(Row) || is_contained(Locks, R.Lock))
      continue;
    bool Compared = isCompared(R);
    size_t Index = Compared ? Grey++ : Coloured++;
    Locks.push_back(R.Lock);
    Styles.push_back(
        {Compared ? Greys[Index % std::size(Greys)] : Colours[Index % std::size(Colours)],
         (Compared ? Index : Index + Index / 20) % Markers, Compared});
  }
}

// Bounds are 1, 2 or 5 times a power of ten.
double roundDown(double Value) {
  double Power = std::pow(10, std::floor(std::log10(Value)));
  for (double Step : {5.0, 2.0})
    if (Step * Power <= Value)
      return Step * Power;
  return Power;
}
double nextStep(double Value) {
  double Power = std::pow(10, std::floor(std::log10(Value) + 1e-9));
  double First = std::round(Value / Power);
  return (First < 2 ? 2 : First < 5 ? 5 : 10) * Power;
}

void Plot::chooseScale() {
  double Least = INFINITY, Most = 0;
  for (const BenchCell &C : Results.Cells) {
    std::optional<Spread> S = value(&C);
    if (!(BenchPoint{C.Lines, C.Delay} == Point) || !S)
      continue;
    Least = std::min(Least, S->Least);
    Most = std::max(Most, S->Most);
  }
  if (!(Least > 0) || !(Most > 0))
    return;
  Low = roundDown(Least);
  High = nextStep(Low);
  while (High < Most)
    High = nextStep(High);
}

double Plot::atThreads(int64_t T) const {
  double First = std::log2(double(Threads.front())), Last = std::log2(double(Threads.back()));
  if (First == Last)
    return PanelWidth / 2;
  return Inset + (std::log2(double(T)) - First) / (Last - First) * (PanelWidth - 2 * Inset);
}

double Plot::atValue(double Value) const {
  double Share = std::log(Value / Low) / std::log(High / Low);
  return PanelHeight * (1 - std::min(1.0, std::max(0.0, Share)));
}

// 0.5, 1, 500k, 1M, 2M.
std::string tickLabel(double Value) {
  std::string Part;
  if (Value < 1) {
    raw_string_ostream(Part) << format("%g", Value);
    return Part;
  }
  std::string Text = shortCount(Value);
  size_t Point = Text.find('.'), Unit = Text.find_first_not_of("0123456789.");
  if (Point == std::string::npos)
    return Text;
  return Text.substr(0, Point) + (Unit == std::string::npos ? "" : Text.substr(Unit));
}

std::string number(double Value) {
  std::string Text;
  raw_string_ostream(Text) << format("%.1f", Value);
  return Text == "-0.0" ? "0.0" : Text;
}

std::string escaped(StringRef Text) {
  std::string Result;
  for (char C : Text) {
    if (C == '&')
      Result += "&amp;";
    else if (C == '<')
      Result += "&lt;";
    else if (C == '>')
      Result += "&gt;";
    else if (C >= ' ' || C < 0) // no control characters in XML
      Result += C;
  }
  return Result;
}

void Plot::drawText(double X, double Y, StringRef Text, StringRef Attributes) {
  OS << "<text x=\"" << number(X) << "\" y=\"" << number(Y) << "\""
     << (Attributes.empty() ? "" : " ") << Attributes << ">" << escaped(Text) << "</text>\n";
}

void Plot::drawLine(double X1, double Y1, double X2, double Y2, StringRef Attributes) {
  OS << "<line x1=\"" << number(X1) << "\" y1=\"" << number(Y1) << "\" x2=\"" << number(X2)
     << "\" y2=\"" << number(Y2) << "\" " << Attributes << "/>\n";
}

void Plot::drawMarker(const Style &S, double X, double Y) {
  std::string Fill = " fill=\"" + S.Colour + "\"/>\n";
  auto At = [&](double DX, double DY) { return number(X + DX) + "," + number(Y + DY) + " "; };
  switch (S.Marker) {
  case 0:
    OS << "<circle cx=\"" << number(X) << "\" cy=\"" << number(Y) << "\" r=\"3.2\"" << Fill;
    break;
  case 1:
    OS << "<rect x=\"" << number(X - 3) << "\" y=\"" << number(Y - 3)
       << "\" width=\"6\" height=\"6\"" << Fill;
    break;
  case 2:
    OS << "<polygon points=\"" << At(0, -4) << At(4, 3) << At(-4, 3) << "\"" << Fill;
    break;
  default:
    OS << "<polygon points=\"" << At(0, -4.5) << At(4.5, 0) << At(0, 4.5) << At(-4.5, 0) << "\""
       << Fill;
  }
}

void Plot::drawFrame(StringRef Title, bool First) {
  for (double Value = Low; Value <= High * 1.0001; Value = nextStep(Value)) {
    double Y = atValue(Value);
    drawLine(0, Y, PanelWidth, Y, "class=\"grid\"");
    if (First)
      drawText(-8, Y + 4, tickLabel(Value), "text-anchor=\"end\"");
  }
  for (int64_t T : Threads) {
    double X = atThreads(T);
    drawLine(X, 0, X, PanelHeight, "class=\"grid\"");
    drawText(X, PanelHeight + 18, std::to_string(T), "text-anchor=\"middle\"");
  }
  OS << "<rect width=\"" << number(PanelWidth) << "\" height=\"" << number(PanelHeight)
     << "\" fill=\"none\" stroke=\"#404040\"/>\n";
  drawText(PanelWidth / 2, -10, Title, "text-anchor=\"middle\" class=\"panel\"");
  drawText(PanelWidth / 2, PanelHeight + 40, "threads", "text-anchor=\"middle\"");
}

void Plot::drawRow(size_t Row) {
  const BenchRow &R = Results.Rows[Row];
  const Style &S = Styles[find(Locks, R.Lock) - Locks.begin()];
  OS << "<g stroke=\"" << S.Colour << "\">\n<title>" << escaped(R.name()) << "</title>\n";
  std::vector<std::pair<double, double>> Path;
  for (int64_t T : Threads) {
    std::optional<Spread> Value = value(Results.find(Row, Point, T));
    if (!Value)
      continue;
    double X = atThreads(T);
    Path.push_back({X, atValue(Value->Median)});
    drawLine(X, atValue(Value->Least), X, atValue(Value->Most), "class=\"range\"");
  }
  OS << "<polyline fill=\"none\" stroke-width=\"1.6\""
     << (S.Compared ? " stroke-dasharray=\"5 3\"" : "") << " points=\"";
  for (auto [X, Y] : Path)
    OS << number(X) << "," << number(Y) << " ";
  OS << "\"/>\n</g>\n";
  for (auto [X, Y] : Path)
    drawMarker(S, X, Y);
}

void Plot::drawLegend(double X) {
  OS << "<g transform=\"translate(" << number(X) << " " << number(Top) << ")\">\n";
  for (size_t I = 0; I < Locks.size(); ++I) {
    double Y = 8 + double(I) * LegendLine;
    drawLine(0, Y, 26, Y,
             "stroke-width=\"1.6\" stroke=\"" + Styles[I].Colour + "\"" +
                 (Styles[I].Compared ? " stroke-dasharray=\"5 3\"" : ""));
    drawMarker(Styles[I], 13, Y);
    drawText(34, Y + 4, Locks[I]);
  }
  OS << "</g>\n";
}

std::string panelTitle(StringRef Mode) {
  return Mode == "hold"      ? "hold: lock, section, unlock"
         : Mode == "execute" ? "execute: the section is passed to the lock"
                             : "execute, by any thread";
}

void Plot::draw() {
  double LegendX = Left + double(Panels.size()) * (PanelWidth + Gap);
  double Width = LegendX + LegendWidth;
  double Height = Top + std::max(PanelHeight + Bottom, double(Locks.size()) * LegendLine + 16);
  std::string Of = Baseline ? Results.Rows[*Baseline].name() : "";
  std::string Title = (Baseline ? "Throughput, ratio to " + Of : std::string("Throughput")) + ": " +
                      std::to_string(Point.Lines) + " cache line" + (Point.Lines == 1 ? "" : "s") +
                      " per section, " + std::to_string(Point.Delay) + " cycles between sections";
  OS << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
     << "width=\"" << number(Width) << "\" height=\"" << number(Height) << "\" viewBox=\"0 0 "
     << number(Width) << " " << number(Height) << "\">\n<title>" << escaped(Title) << "</title>\n"
     << "<style>text{font:12px sans-serif;fill:#202020}.title{font-size:16px}"
     << ".panel{font-size:13px}.grid{stroke:#e2e2e2}.range{opacity:.45}</style>\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  drawText(Left, 26, Title, "class=\"title\"");
  const json::Object &M = Results.Machine;
  drawText(Left, 44,
           (M.getString("model").value_or("unknown processor") + ", " +
            counted(M.getInteger("processors").value_or(0), "processor") + ", " +
            M.getString("kernel").value_or("") +
            (Baseline ? "; median of the pairs, 95 % interval"
                      : "; median and range of the repetitions"))
               .str());
  drawText(0, 0, Baseline ? "ratio to " + Of : "sections per second",
           "text-anchor=\"middle\" transform=\"translate(16 " + number(Top + PanelHeight / 2) +
               ") rotate(-90)\"");
  for (size_t I = 0; I < Panels.size(); ++I) {
    OS << "<g transform=\"translate(" << number(Left + double(I) * (PanelWidth + Gap)) << " "
       << number(Top) << ")\">\n";
    drawFrame(panelTitle(Panels[I]), I == 0);
    for (size_t Row = 0; Row < Results.Rows.size(); ++Row) {
      const BenchRow &R = Results.Rows[Row];
      if (hasCells(Row) &&
          (R.Mode == Panels[I] || Styles[find(Locks, R.Lock) - Locks.begin()].Compared))
        drawRow(Row);
    }
    OS << "</g>\n";
  }
  drawLegend(LegendX);
  OS << "</svg>\n";
}

} // namespace

void plotThroughput(const BenchResults &Results, const BenchPoint &Point, raw_ostream &OS) {
  Plot(Results, Point, std::nullopt, OS).draw();
}

void plotRatio(const BenchResults &Results, const BenchPoint &Point, raw_ostream &OS) {
  Plot(Results, Point, Results.baseline(), OS).draw();
}

} // namespace relock
