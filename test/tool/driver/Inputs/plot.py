# SPDX-License-Identifier: MIT
"""Reads a plot of `relock bench --svg` as XML and prints what it shows; refuses points outside."""
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def texts(element, kind=None):
    return [t.text for t in element.findall(SVG + "text") if t.get("class") == kind]


root = xml.parse(sys.argv[1]).getroot()
assert root.tag == SVG + "svg"
width, height = float(root.get("width")), float(root.get("height"))
assert root.get("viewBox") == "0 0 %.1f %.1f" % (width, height)
print(texts(root, "title")[0])
*panels, legend = root.findall(SVG + "g")
for panel in panels:
    frame = panel.find(SVG + "rect")
    right, bottom = float(frame.get("width")), float(frame.get("height"))
    rows = []
    for row in panel.findall(SVG + "g"):
        points = [tuple(map(float, p.split(","))) for p in
                  row.find(SVG + "polyline").get("points").split()]
        assert points == sorted(points), points
        assert all(0 <= x <= right and 0 <= y <= bottom for x, y in points), points
        rows.append("%s (%d points)" % (row.find(SVG + "title").text, len(points)))
    print("panel " + texts(panel, "panel")[0] + ": " + ", ".join(rows))
print("legend: " + ", ".join(texts(legend)))
