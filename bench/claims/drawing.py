"""drawing.py - draws the tables of the claims as panels of bars or lines, for a light or dark page.

Bars are horizontal, one for each row of a table. A line has a point for each column of the table, evenly spaced, and a
label at its right end. A scale begins at 0 and is linear, or is logarithmic if values differ by a factor of more than a
hundred. A panel with a logarithmic scale says so.
"""

import math
from xml.sax.saxutils import escape

from publish import number

COLUMN, GAP, MARGIN = 460, 24, 16
BAR, LABELS, VALUES = 22, 168, 112     # height of a bar, widths of the labels beside it
PLOT, AXIS, NAMES = 190, 58, 132       # height of a plot, widths of the labels beside it
HEAD = 46

# name: (light, dark). A row gets the class of the first entry that is a prefix of the row's name.
COLOURS = {
    "coil": ("#0b6e4f", "#4cc38a"),
    "C, threads": ("#b45309", "#f0a04b"),
    "CPython, tasks": ("#2563a8", "#7ab0ee"),
    "CPython": ("#7a4fa3", "#c09be6"),
    "other": ("#6b7280", "#9aa1ac"),
}
INK, PAPER, GRID = ("#1f2328", "#e6e8eb"), ("#ffffff", "#15181c"), ("#d5d9de", "#363b42")

# (key of the table, form, column that the bars show, title, caption); column -1 is the last one that was measured
PANELS = (
    ("memory", "bars", -1, "Memory of one waiting task or thread",
     "KiB for each, at the largest number measured"),
    ("switch", "bars", 2, "A turn passed on by a semaphore", "ns of processor time"),
    ("depth", "lines", None, "A yield, by the depth of calls", "ns of processor time"),
    ("crawl", "lines", None, "A crawl, by its number of workers", "pages a second"),
    ("sleepers", "bars", 0, "Five sleepers, five naps of 0.1 s", "seconds"),
    ("busy", "bars", 0, "Eight busy connections", "echoes a second: more is better"),
    ("idle_memory", "lines", None, "Idle connections: memory of each", "KiB"),
    ("idle_cost", "lines", None, "An active connection beside idle ones",
     "us of processor time for each echo"),
    ("compute", "bars", 0, "Four computations at once",
     "share of the time of one after the other"),
    ("most", "bars", 0, "The largest number at once", "more tasks than these were not tried"),
)


def kind(name):
    """Return the CSS class of a row, by its name."""
    for i, beginning in enumerate(COLOURS):
        if name.startswith(beginning):
            return f"k{i}"
    return f"k{len(COLOURS) - 1}"


def text(x, y, what, classes="", anchor="start"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}" text-anchor="{anchor}">'
            f"{escape(what)}</text>")


class Scale:
    """Maps values to the range 0..1, linearly or logarithmically."""

    def __init__(self, values):
        most, least = max(values), min(values)
        self.is_log = least > 0 and most / least > 100
        if self.is_log:
            self.low = 10 ** math.floor(math.log10(least))
            self.high = 10 ** math.ceil(math.log10(most))
        else:
            self.low, self.high = 0, self.step_above(most)

    @staticmethod
    def step_above(value):
        """Round up to 1, 2, 4, 6, 8 or 10 times a power of ten."""
        power = 10 ** math.floor(math.log10(value)) if value > 0 else 1
        return next(step * power for step in (1, 2, 4, 6, 8, 10, 20) if step * power >= value)

    def __call__(self, value):
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return value / self.high

    def ticks(self):
        if self.is_log:
            decades = round(math.log10(self.high / self.low))
            return [self.low * 10 ** i for i in range(decades + 1)]
        return [self.high * i / 4 for i in range(5)]


def tick_number(value):
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def head(x, y, title, unit, scale):
    log = ", logarithmic" if scale.is_log else ""
    return [text(x, y + 16, title, "title"), text(x, y + 33, unit + log, "small")]


# ---- bars ------------------------------------------------------------------------------

def bar_values(table, column):
    """Return [(name, name of the column, value)] for the rows of the table. If `column` is -1, use each row's last
    measured value."""
    found = []
    for row in table["rows"]:
        columns = [column] if column >= 0 else range(len(row["cells"]))
        measured = [i for i in columns if row["cells"][i] is not None]
        if measured:
            of = f" of {table['columns'][measured[-1]]}" if column < 0 else ""
            found.append((row["name"], of, row["cells"][measured[-1]]))
    return found


def draw_bars(table, column, x, y, title, unit):
    bars = bar_values(table, column)
    scale = Scale([value for _, _, value in bars])
    wide = COLUMN - LABELS - VALUES
    parts = head(x, y, title, unit, scale)
    y += HEAD
    for name, of, value in bars:
        length = max(2, scale(value) * wide)
        parts += [
            text(x + LABELS - 8, y + 15, name, "label", "end"),
            f'<rect x="{x + LABELS}" y="{y + 3}" width="{length:.1f}" height="{BAR - 6}" '
            f'rx="2" class="bar {kind(name)}"/>',
            text(x + LABELS + length + 6, y + 15, number(value) + of, "value")]
        y += BAR
    return parts


# ---- lines -----------------------------------------------------------------------------

def spread(places, least):
    """Move labels apart vertically: return [(x, y, name)] in which labels with the same x are at least `least`
    apart."""
    placed = []
    for x, y, name in sorted(places):
        if placed and placed[-1][0] == x and y - placed[-1][1] < least:
            y = placed[-1][1] + least
        placed.append((x, y, name))
    return placed


def draw_lines(table, x, y, title, unit):
    cells = [cell for row in table["rows"] for cell in row["cells"] if cell is not None]
    scale = Scale(cells)
    left, wide, top = x + AXIS, COLUMN - AXIS - NAMES, y + HEAD + 4
    step = wide / max(1, len(table["columns"]) - 1)
    parts = head(x, y, title, unit, scale)
    for tick in scale.ticks():
        at = top + PLOT * (1 - scale(tick))
        parts += [f'<line x1="{left}" x2="{left + wide}" y1="{at:.1f}" y2="{at:.1f}" '
                  f'class="grid"/>', text(left - 6, at + 4, tick_number(tick), "small", "end")]
    for i, column in enumerate(table["columns"]):
        parts.append(text(left + i * step, top + PLOT + 17, column, "small", "middle"))
    names = []
    for row in table["rows"]:
        points = [(left + i * step, top + PLOT * (1 - scale(cell)))
                  for i, cell in enumerate(row["cells"]) if cell is not None]
        if not points:
            continue
        classes = kind(row["name"]) + (" bound" if row.get("bound") else "")
        joined = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(f'<polyline points="{joined}" class="line {classes}"/>')
        if not row.get("bound"):
            parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" class="bar {classes}"/>'
                      for px, py in points]
        names.append((points[-1][0] + 10, points[-1][1] + 4, row["name"]))
    for at_x, at_y, name in spread(names, 14):
        parts.append(text(at_x, at_y, name, f"name {kind(name)}"))
    return parts


# ---- the page --------------------------------------------------------------------------

def style(which):
    """Return the CSS rules for the colours of a light page (0) or a dark page (1)."""
    rules = [f".paper {{ fill: {PAPER[which]} }}", f"text {{ fill: {INK[which]} }}",
             f".grid {{ stroke: {GRID[which]} }}"]
    for i, colours in enumerate(COLOURS.values()):
        rules += [f".bar.k{i}, .name.k{i} {{ fill: {colours[which]} }}",
                  f".line.k{i} {{ stroke: {colours[which]} }}"]
    return " ".join(rules)


def height(panel, table):
    if panel[1] == "lines":
        return HEAD + PLOT + 30
    return HEAD + BAR * len(bar_values(table, panel[2])) + 8


def draw(found):
    tables = {table["key"]: table for table in found["tables"]}
    panels = [panel for panel in PANELS if panel[0] in tables]
    parts, y = [], MARGIN
    for pair in (panels[i:i + 2] for i in range(0, len(panels), 2)):
        for i, panel in enumerate(pair):
            key, form, column, title, unit = panel
            x = MARGIN + i * (COLUMN + GAP)
            parts += (draw_lines(tables[key], x, y, title, unit) if form == "lines"
                      else draw_bars(tables[key], column, x, y, title, unit))
        y += max(height(panel, tables[panel[0]]) for panel in pair) + GAP
    wide = 2 * (COLUMN + MARGIN) + GAP
    fixed = ("text { font: 13px sans-serif } .title { font-weight: bold; font-size: 14px } "
             ".small { font-size: 12px; opacity: .75 } .grid { stroke-width: 1 } "
             ".name { font-weight: bold; font-size: 12px } "
             ".line { fill: none; stroke-width: 2 } "
             ".line.bound { stroke-width: 1.5; stroke-dasharray: 4 4 }")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{y}" '
        f'viewBox="0 0 {wide} {y}">',
        f"<style>{fixed}\n{style(0)}\n@media (prefers-color-scheme: dark) {{ {style(1)} }}"
        "</style>",
        '<rect width="100%" height="100%" class="paper"/>', *parts, "</svg>\n"])
