# SPDX-License-Identifier: MIT
"""links.py SOURCE: each relative link of each Markdown file leads to a file that is there, and, if it
has a fragment, to a heading of it. What does not is printed; the exit status is 1 then."""
import os
import re
import sys
import urllib.parse

source = os.path.realpath(sys.argv[1])
FENCE = re.compile(r"^( {0,3})(```|~~~).*?^ {0,3}\2[^\n]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)


def documents():
    for folder, folders, files in os.walk(source):
        folders[:] = [f for f in folders if not f.startswith(".") and f != "build"]
        yield from (os.path.join(folder, f) for f in sorted(files) if f.endswith(".md"))


def blank(match):
    """Nothing of a block of code, but its lines."""
    return "\n" * match[0].count("\n")


def anchors(path, known={}):
    """The fragments of a file's headings, as GitHub makes them."""
    if path not in known:
        found = known[path] = set()
        with open(path, encoding="utf-8") as file:
            text = FENCE.sub(blank, file.read())
        for heading in re.findall(r"^ {0,3}#{1,6} +(.*?)[ #]*$", text, re.MULTILINE):
            heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
            name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            number = 0
            while (name if not number else "%s-%d" % (name, number)) in found:
                number += 1
            found.add(name if not number else "%s-%d" % (name, number))
    return known[path]


wrong = []
links = 0
for document in documents():
    with open(document, encoding="utf-8") as file:
        text = FENCE.sub(blank, file.read())
    text = re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), text)  # `a[i](b)` is no link
    for match in LINK.finditer(text):
        to = match[1] or match[2]
        if re.match(r"[a-z][a-z0-9+.-]*:", to):
            continue
        links += 1
        path, _, fragment = urllib.parse.unquote(to).partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
        place = "%s:%d: %s" % (os.path.relpath(document, source), text.count("\n", 0, match.start()) + 1, to)
        if not os.path.exists(target):
            wrong.append(place + ": there is no such file")
        elif fragment and target.endswith(".md") and fragment not in anchors(target):
            wrong.append(place + ": there is no such heading")
print("\n".join(wrong) if wrong else "all of %d links" % links)
sys.exit(bool(wrong))
