# SPDX-License-Identifier: MIT
"""links.py DOCUMENTS SOURCE: a Markdown file of the source that an installed one links to is
installed, too, but those for who works on Relock itself."""
import os
import re
import sys

documents, source = map(os.path.realpath, sys.argv[1:])
not_for_users = ("CONTRIBUTING.md", "examples/", "test/")
wrong = []
for folder, _, files in os.walk(documents):
    for name in (n for n in files if n.endswith(".md")):
        path = os.path.join(folder, name)
        with open(path) as file:
            links = re.findall(r"\]\(([^)#: ]+\.md)[^)]*\)", file.read())
        for link in links:
            to = os.path.normpath(os.path.join(folder, link))
            there = os.path.relpath(to, documents)
            if not os.path.exists(to) and not there.startswith(not_for_users):
                wrong.append("%s: %s" % (os.path.relpath(path, documents), link))
print("\n".join(wrong))
sys.exit(bool(wrong))
