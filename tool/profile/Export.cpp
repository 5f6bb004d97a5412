// SPDX-License-Identifier: MIT
#include "profile/Export.h"

#include "profile/ThreadNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"

#include <array>

using namespace llvm;

namespace relock {

namespace {

// Missing or of another type: nothing.
uint64_t numberIn(const json::Object &O, StringRef Name) {
  const json::Value *V = O.get(Name);
  return V ? V->getAsUINT64().value_or(0) : 0;
}

StringRef textIn(const json::Object &O, StringRef Name) { return O.getString(Name).value_or(""); }

template <typename F> void forEachObject(const json::Object &O, StringRef Name, F Do) {
  if (const json::Array *List = O.getArray(Name))
    for (const json::Value &V : *List)
      if (const json::Object *Item = V.getAsObject())
        Do(*Item);
}

std::string programOf(const json::Object &Profile) {
  const json::Object *Program = Profile.getObject("program");
  StringRef File = Program ? sys::path::filename(textIn(*Program, "executable")) : "";
  return File.empty() ? "program" : File.str();
}

// What a report has to state, for formats that have room for it.
std::string costLine(const json::Object &Profile) {
  const json::Object *Overhead = Profile.getObject("overhead"),
                     *Dropped = Profile.getObject("dropped");
  std::string Line = "profiler: about ";
  Line += utostr(Overhead ? numberIn(*Overhead, "total_ns") : 0) + "ns of " +
          utostr(numberIn(Profile, "thread_ns")) + "ns that all threads lived; not recorded: ";
  bool Any = false;
  if (Dropped)
    for (const auto &[Kind, Count] : *Dropped)
      if (uint64_t N = Count.getAsUINT64().value_or(0)) {
        Line += (Any ? ", " : "") + Kind.str() + " " + utostr(N);
        Any = true;
      }
  return Any ? Line : Line + "nothing was dropped";
}

struct Stack {
  std::vector<std::string> Frames; // the outermost first; the last one is the lock class
  std::array<uint64_t, 3> Values;  // acquisitions, contended, wait
};

std::array<uint64_t, 3> valuesOf(const json::Object &Counts, uint64_t Wait) {
  return {numberIn(Counts, "acquisitions"), numberIn(Counts, "contended"), Wait};
}

void addFrames(Stack &S, const json::Array *Innermost) {
  if (!Innermost)
    return;
  for (const json::Value &Frame : reverse(*Innermost))
    if (std::optional<StringRef> Text = Frame.getAsString())
      S.Frames.push_back(Text->str());
}

// The call sites of a class, and one stack for what they leave; where there are none, the lock
// stands below the calls that made it, and these are marked as what they are.
void addClass(std::vector<Stack> &Stacks, const std::string &Program, const json::Object &Class) {
  std::string Name = textIn(Class, "name").str();
  const json::Object *Wait = Class.getObject("wait");
  std::array<uint64_t, 3> Rest = valuesOf(Class, Wait ? numberIn(*Wait, "total_ns") : 0);
  if (const json::Object *Readers = Class.getObject("readers")) {
    const json::Object *Theirs = Readers->getObject("wait");
    for (auto [Sum, Reading] :
         zip_equal(Rest, valuesOf(*Readers, Theirs ? numberIn(*Theirs, "total_ns") : 0)))
      Sum += Reading;
  }
  bool Sites = false;
  forEachObject(Class, "sites", [&](const json::Object &Site) {
    Stack S = {{Program}, valuesOf(Site, numberIn(Site, "wait_ns"))};
    addFrames(S, Site.getArray("stack"));
    S.Frames.push_back(Name);
    for (auto [Left, Here] : zip_equal(Rest, S.Values))
      Left -= std::min(Left, Here);
    Stacks.push_back(std::move(S));
    Sites = true;
  });
  if (none_of(Rest, [](uint64_t Left) { return Left; }))
    return;
  Stack S = {{Program}, Rest};
  const json::Array *Made = Class.getArray("backtrace");
  if (Sites) {
    S.Frames.push_back("[other call sites]");
  } else if (Made && !Made->empty()) {
    S.Frames.push_back("[lock made at]");
    addFrames(S, Made);
  }
  S.Frames.push_back(Name);
  Stacks.push_back(std::move(S));
}

std::vector<Stack> stacksOf(const json::Object &Profile) {
  std::vector<Stack> Stacks;
  std::string Program = programOf(Profile);
  forEachObject(Profile, "classes",
                [&](const json::Object &Class) { addClass(Stacks, Program, Class); });
  return Stacks;
}

// Semicolons and line ends separate.
std::string foldedFrame(StringRef Frame) {
  std::string Text = Frame.str();
  for (char &C : Text)
    if (C == ';')
      C = ':';
    else if ((unsigned char)C < ' ')
      C = ' ';
  return Text;
}

// A message of protocol buffers.
class Message {
public:
  void number(unsigned Field, uint64_t Value) {
    varint(Field << 3);
    varint(Value);
  }
  void bytes(unsigned Field, StringRef Content) {
    varint(Field << 3 | 2);
    varint(Content.size());
    Bytes += Content;
  }
  void numbers(unsigned Field, ArrayRef<uint64_t> Values) {
    Message Packed;
    for (uint64_t Value : Values)
      Packed.varint(Value);
    bytes(Field, Packed.Bytes);
  }

  std::string Bytes;

private:
  void varint(uint64_t Value) {
    for (; Value >= 0x80; Value >>= 7)
      Bytes += char(Value | 0x80);
    Bytes += char(Value);
  }
};

// github.com/google/pprof/proto/profile.proto, which gives the numbers of the fields.
class PprofWriter {
public:
  explicit PprofWriter(const json::Object &Profile) {
    text("");
    sampleType("acquisitions", "count");
    sampleType("contentions", "count");
    sampleType("delay", "nanoseconds");
    for (const Stack &S : stacksOf(Profile))
      sample(S);
    Root.number(10, numberIn(Profile, "duration_ns"));
    Root.number(13, text(costLine(Profile)));
    Root.number(14, text("delay"));
    for (const std::string &Text : Texts)
      Root.bytes(6, Text);
  }

  const std::string &bytes() const { return Root.Bytes; }

private:
  uint64_t text(StringRef Text) {
    auto [Where, New] = TextIndex.try_emplace(Text, Texts.size());
    if (New)
      Texts.push_back(Text.str());
    return Where->second;
  }

  void sampleType(StringRef Type, StringRef Unit) {
    Message M;
    M.number(1, text(Type));
    M.number(2, text(Unit));
    Root.bytes(1, M.Bytes);
  }

  // The innermost frame comes first.
  void sample(const Stack &S) {
    std::vector<uint64_t> Locations;
    for (const std::string &Frame : reverse(S.Frames))
      Locations.push_back(location(Frame));
    Message M;
    M.numbers(1, Locations);
    M.numbers(2, S.Values);
    Root.bytes(2, M.Bytes);
  }

  // `function (file.c:12)`, or anything else. A location and its function have one number.
  uint64_t location(StringRef Frame) {
    auto [Where, New] = Locations.try_emplace(Frame, Locations.size() + 1);
    uint64_t Id = Where->second;
    if (!New)
      return Id;
    StringRef Name = Frame, File;
    uint64_t Line = 0;
    if (Frame.ends_with(")") && Frame.contains(" (")) {
      auto [Function, Place] = Frame.drop_back().rsplit(" (");
      auto [Source, Number] = Place.rsplit(':');
      if (!Number.getAsInteger(10, Line))
        Name = Function, File = Source;
    }
    Message F;
    F.number(1, Id);
    F.number(2, text(Name));
    F.number(3, text(Name));
    F.number(4, text(File));
    Root.bytes(5, F.Bytes);
    Message At, L;
    At.number(1, Id);
    At.number(2, Line);
    L.number(1, Id);
    L.bytes(4, At.Bytes);
    Root.bytes(4, L.Bytes);
    return Id;
  }

  Message Root;
  StringMap<uint64_t> TextIndex, Locations;
  std::vector<std::string> Texts;
};

// LLVM compresses into zlib's format; gzip has the same data in another wrapping.
void writeGzip(StringRef Content, raw_ostream &OS) {
  SmallVector<uint8_t> Packed;
  compression::zlib::compress(arrayRefFromStringRef(Content), Packed);
  ArrayRef<uint8_t> Deflated = ArrayRef(Packed).drop_front(2).drop_back(4);
  OS << StringRef("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10) << toStringRef(Deflated);
  char Trailer[8];
  support::endian::write32le(Trailer, crc32(arrayRefFromStringRef(Content)));
  support::endian::write32le(Trailer + 4, uint32_t(Content.size()));
  OS << StringRef(Trailer, sizeof Trailer);
}

// Chrome counts in microseconds.
double microseconds(uint64_t Ns) { return double(Ns) / 1e3; }

} // namespace

void writeFolded(const json::Object &Profile, raw_ostream &OS) {
  for (const Stack &S : stacksOf(Profile))
    if (S.Values[2]) {
      ListSeparator Separator(";");
      for (const std::string &Frame : S.Frames)
        OS << Separator << foldedFrame(Frame);
      OS << ' ' << S.Values[2] << '\n';
    }
}

void writePprof(const json::Object &Profile, raw_ostream &OS) {
  PprofWriter Writer(Profile);
  if (compression::zlib::isAvailable())
    writeGzip(Writer.bytes(), OS);
  else
    OS << Writer.bytes();
}

bool hasTimeline(const json::Object &Profile) {
  const json::Array *Waits = Profile.getArray("timeline");
  return Waits && !Waits->empty();
}

static ThreadNames threadNames(const json::Object &Profile) {
  std::vector<NamedThread> Threads;
  forEachObject(Profile, "by_thread", [&](const json::Object &Thread) {
    Threads.push_back(
        {numberIn(Thread, "id"), numberIn(Thread, "run"), textIn(Thread, "name").str()});
  });
  return ThreadNames(std::move(Threads));
}

void writeTrace(const json::Object &Profile, raw_ostream &OS) {
  StringMap<StringRef> Names; // of classes, by key
  forEachObject(Profile, "classes", [&](const json::Object &Class) {
    Names[textIn(Class, "key")] = textIn(Class, "name");
  });
  const json::Object *Program = Profile.getObject("program");
  uint64_t Pid = Program ? numberIn(*Program, "pid") : 0;
  json::OStream J(OS);
  auto Label = [&](StringRef Kind, uint64_t Thread, StringRef Name) {
    J.object([&] {
      J.attribute("ph", "M");
      J.attribute("name", Kind);
      J.attribute("pid", Pid);
      J.attribute("tid", Thread);
      J.attributeObject("args", [&] { J.attribute("name", Name); });
    });
  };
  auto Event = [&](const json::Object &Wait) {
    StringRef Key = textIn(Wait, "key");
    J.object([&] {
      J.attribute("ph", "X");
      J.attribute("cat", "wait");
      J.attribute("name", Names.count(Key) ? Names.lookup(Key) : Key);
      J.attribute("pid", Pid);
      J.attribute("tid", numberIn(Wait, "thread"));
      J.attribute("ts", microseconds(numberIn(Wait, "start_ns")));
      J.attribute("dur", microseconds(numberIn(Wait, "wait_ns")));
    });
  };
  J.object([&] {
    J.attribute("displayTimeUnit", "ns");
    J.attributeObject("otherData", [&] { J.attribute("relock", costLine(Profile)); });
    J.attributeArray("traceEvents", [&] {
      Label("process_name", 0, programOf(Profile));
      const ThreadNames Threads = threadNames(Profile);
      forEachObject(Profile, "by_thread", [&](const json::Object &Thread) {
        uint64_t Id = numberIn(Thread, "id");
        Label("thread_name", Id, Threads.of(Id));
      });
      forEachObject(Profile, "timeline", Event);
    });
  });
  OS << '\n';
}

} // namespace relock
