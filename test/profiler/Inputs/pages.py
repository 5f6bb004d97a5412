# SPDX-License-Identifier: MIT
"""Opens a page in windows of 400, 900 and 1400 pixels, in light and dark, and prints it:

    pages.py PAGE FOLDER

A line for each width, and one for paper, says how far the page scrolls sideways, and which texts are cut off; others
say how light the page is, and what is wrong with its sheets of paper. FOLDER then has light.png and dark.png, with the
three windows side by side, and print.pdf.
"""
import html
import os
import re
import struct
import subprocess
import sys
import zlib

WIDTHS = (400, 900, 1400)
PAPER = 718  # A4 between margins of 1 cm
HEIGHT = 2400
# Runs in each window. A text that is cut off has no way to be read: what scrolls or wraps has.
LOOK = """<script>
const where = location.pathname.endsWith("paper.html") ? "paper" : innerWidth;
addEventListener("error", (event) => parent.postMessage(where + ": error: " + event.message, "*"));
addEventListener("load", () => setTimeout(() => {
  const root = document.documentElement, words = (element) => element.textContent.trim().slice(0, 30);
  const cut = [...document.querySelectorAll("body *")].filter((element) => {
    const style = getComputedStyle(element);
    return element.clientWidth && style.overflowX !== "visible" && !/auto|scroll/.test(style.overflowX) &&
        element.scrollWidth > element.clientWidth + 1 && !element.title;
  });
  parent.postMessage(where + ": sideways " + Math.max(0, root.scrollWidth - innerWidth) + ", cut off: " +
                     (cut.map(words).join(" | ") || "none"), "*");
}, 500));
</script>
"""
# A window of its own cannot be narrower than 500 pixels.
FRAMES = """<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<style>body { margin: 0; display: flex } iframe { border: 0; flex: none; height: %dpx }</style>
%s<pre id="said" hidden></pre>
<script>
const lines = [], rank = (line) => parseInt(line) || Infinity;
addEventListener("message", (event) => {
  lines.push(event.data);
  document.getElementById("said").textContent = "[[" + lines.sort((a, b) => rank(a) - rank(b)).join("\\n") + "]]";
});
</script>
"""


def browser(folder, page, *options):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
               "--disable-background-networking", "--no-first-run", f"--window-size={sum(WIDTHS)},{HEIGHT}",
               "--user-data-dir=" + os.path.join(folder, "browser"), "--virtual-time-budget=20000", *options,
               "file://" + page]
    return subprocess.run(command, env={**os.environ, "HOME": folder}, capture_output=True, text=True, timeout=200,
                          check=True).stdout


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def brightness(path):
    """Of the first pixel, in per cent."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    pixel = zlib.decompress(packed)[1:4]  # behind the byte that names the filter of the line
    return sum(pixel) * 100 // (3 * 255)


def sheets(path):
    """The streams of the pages of a PDF, in their order: what is painted."""
    with open(path, "rb") as file:
        data = file.read()
    objects = {int(number): text for number, text in re.findall(rb"(?s)(\d+) 0 obj\b(.*?)\bendobj", data)}
    for text in objects.values():
        if re.search(rb"/Type\s*/Page\b", text):
            contents = objects[int(re.search(rb"/Contents\s+(\d+) 0 R", text)[1])]
            yield zlib.decompress(contents.partition(b"stream")[2].lstrip(b"\r\n"))


def check_print(path):
    """Blank: nothing is written on it. Grey: its ground is painted in something else than white."""
    painted = list(sheets(path))
    blank = [i + 1 for i, sheet in enumerate(painted) if not re.search(rb"\bT[jJ]\b", sheet)]
    grey = []
    for i, sheet in enumerate(painted):
        for color, height in re.findall(rb"([\d. ]+) rg(?:(?! rg).)*?[\d.-]+ [\d.-]+ [\d.-]+ ([\d.-]+) re\s+f",
                                        sheet.replace(b"\n", b" ")):
            if float(height) > 700 and any(float(part) < 0.99 for part in color.split()):
                grey.append(i + 1)
    print("print: %d pages, blank: %s, grey: %s" % (len(painted), blank or "none", grey or "none"))


def main():
    page, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    with open(page, encoding="utf-8") as file:
        text = re.sub(r'(<meta charset="?utf-8"?>)', lambda found: found[1] + LOOK, file.read(), count=1)
    write(os.path.join(folder, "page.html"), text)
    write(os.path.join(folder, "paper.html"), text.replace("@media print", "@media screen"))
    windows = "".join(f'<iframe src="{name}.html" style="width: {width}px"></iframe>\n'
                      for name, width in [("page", width) for width in WIDTHS] + [("paper", PAPER)])
    frames = write(os.path.join(folder, "frames.html"), FRAMES % (HEIGHT, windows))
    said = re.search(r"\[\[(.*?)\]\]", browser(folder, frames, "--dump-dom"), re.DOTALL)
    print(html.unescape(said[1]) if said else "error: the page said nothing")
    for name, scheme in (("light", 1), ("dark", 0)):
        picture = os.path.join(folder, name + ".png")
        browser(folder, frames, f"--blink-settings=preferredColorScheme={scheme}", "--screenshot=" + picture)
        print("%s: %d %%" % (name, brightness(picture)))
    paper = os.path.join(folder, "print.pdf")
    browser(folder, page, "--no-pdf-header-footer", "--print-to-pdf=" + paper)
    check_print(paper)


main()
