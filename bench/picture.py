"""picture.py - draws the table as bars. A row of the table is a block with a bar for each peer.

The scale of a block is logarithmic, from its smallest to its largest value, because peers differ by a factor of a
thousand. The number next to a bar is the measured value.
"""

import math
from xml.sax.saxutils import escape

WIDTH, LABELS, BARS = 760, 110, 480
BAR, GAP, HEAD = 16, 4, 34
COLOURS = {"coil": "#0b6e4f"}
FLOOR, OTHER = "#c9c9c9", "#7f9fc0"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def length(value, least, most):
    """Return the width of a bar: ten per cent for the smallest value, the full width for the
    largest."""
    if most <= least:
        return BARS
    return BARS * (0.1 + 0.9 * math.log(value / least) / math.log(most / least))


def draw_block(entry, floors, y):
    medians = sorted((it for it in entry["medians"].items() if it[1] > 0),
                     key=lambda it: it[1], reverse=entry["unit"].endswith("/s"))
    better = "more" if entry["unit"].endswith("/s") else "less"
    parts = [f'<text x="8" y="{y + 22}" class="title">{escape(entry["title"])}, '
             f'{escape(entry["unit"])} ({better} is better)</text>']
    y += HEAD
    for name, value in medians:
        colour = COLOURS.get(name, FLOOR if name in floors else OTHER)
        wide = length(value, min(v for _, v in medians), max(v for _, v in medians))
        parts += [
            f'<text x="{LABELS - 6}" y="{y + 12}" class="name">{escape(name)}</text>',
            f'<rect x="{LABELS}" y="{y}" width="{wide:.1f}" height="{BAR}" '
            f'fill="{colour}"/>',
            f'<text x="{LABELS + wide + 6:.1f}" y="{y + 12}">{number(value)}</text>']
        y += BAR + GAP
    return parts, y


def draw(table, floors):
    parts, y = [], 0
    for entry in table:
        block, y = draw_block(entry, floors, y)
        parts += block
    style = ("text { font: 12px sans-serif; fill: #222 } .title { font-weight: bold } "
             ".name { text-anchor: end }")
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
                      f'height="{y + 12}">', f"<style>{style}</style>",
                      '<rect width="100%" height="100%" fill="white"/>', *parts,
                      "</svg>\n"])
