"""check_svg.py FILE DEVICES SHARES: a picture of a topology is well-formed, has
that many boxes and lines, and no box of a device covers another."""
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
svg = "{http://www.w3.org/2000/svg}"
assert root.tag == svg + "svg", root.tag
width, height = float(root.get("width")), float(root.get("height"))
boxes = []
for r in root.iter(svg + "rect"):
    if r.get("class") in ("gpu", "nic", "off"):
        x, y, w, h = (float(r.get(k)) for k in ("x", "y", "width", "height"))
        assert 0 <= x and x + w <= width and 0 <= y and y + h <= height, (x, y)
        boxes.append((x, y, w, h))
for i, a in enumerate(boxes):
    for b in boxes[:i]:
        assert (a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or
                a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]), (a, b)
assert len(boxes) == int(sys.argv[2]), len(boxes)
shares = sum(line.find(svg + "title") is not None for line in root.iter(svg + "line"))
assert shares == int(sys.argv[3]), shares
