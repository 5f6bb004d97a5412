# SPDX-License-Identifier: MIT
"""hostile-bytes.py --source SOURCE: copies SOURCE here under a hostile name, which debug
information repeats. --rename PROGRAM LIBRARY: gives names in both, and both, hostile bytes.
--check: each report is what its format demands."""
import gzip
import json
import os
import re
import sys
import unicodedata

if sys.argv[1] == "--source":
    with open(sys.argv[2], "rb") as source, open(b"hostile\xff\x1b[31m;<u>.c", "wb") as copy:
        copy.write(source.read())
    sys.exit()

RENAMED = {  # of the same length
    b"hostile_variable": b"v\xff;\x1b[31m\xe2\x80\xae\xc2\x9b\n<b",
    b"hostile_function": b"f\xff;\x1b[2J\xe2\x80\xae\xc2\x9b\n&<b",
}
if sys.argv[1] == "--rename":
    files = (b"pro\xff\x1b[31m\xe2\x80\xae\xc2\x9bgram", b"lib\xff<script>\n\x1b.so")
    for file, name in zip(sys.argv[2:], files):
        with open(file, "rb") as old:
            built = old.read()
        for plain, hostile in RENAMED.items():
            assert len(plain) == len(hostile)
            assert plain in built
            built = built.replace(plain, hostile)
        with open(file, "wb") as new:
            new.write(built)
        os.rename(file, name)
    sys.exit()

for name in "table", "diff", "messages":
    with open(name, newline="\n", encoding="utf-8") as file:  # which must not fail
        for line in file:
            assert all(unicodedata.category(c)[0] != "C" for c in line[:-1]), line
with open("p", encoding="utf-8") as file:
    profile = json.load(file)
assert profile["program"]["command"][1] == "\ufffd\ufffdarg\x1b]0;x\x07"
assert len(profile["classes"]) >= 3, [c["name"] for c in profile["classes"]]
assert any("v\ufffd;\x1b" in c["name"] for c in profile["classes"])
frames = [f for c in profile["classes"] for s in c.get("sites", []) for f in s["stack"]]
assert any("f\ufffd;\x1b" in f for f in frames), frames
assert any("<i>" in t["name"] for t in profile["by_thread"])
with open("json", encoding="utf-8") as file:
    json.load(file)
with open("trace", encoding="utf-8") as file:
    assert json.load(file)["traceEvents"]
with open("folded", newline="\n", encoding="utf-8") as file:
    lines = list(file)
assert lines and all(re.fullmatch(r"[^\x00-\x1f\x7f]+ \d+\n", line) for line in lines), lines
with gzip.open("pprof") as file:
    for text in re.findall(rb"f\xef\xbf\xbd", file.read()):
        text.decode("utf-8")
with open("html", encoding="utf-8") as file:
    page = file.read()
data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)
assert data and "<" not in data.group(1)
assert json.loads(data.group(1))["program"]["command"] == profile["program"]["command"]
