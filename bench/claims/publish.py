"""publish.py - writes the tables as Markdown, and inserts them into docs/claims.md."""

import re
import sys


def number(value):
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def as_table(table):
    unit = f" ({table['unit']})" if table["unit"] else ""
    columns = list(table["columns"])
    if "compared" in table:
        columns.append(f"{table['compared']}: times coil's")
    lines = [f"| {table['title']}{unit} | {' | '.join(columns)} |",
             "|---" + "|---:" * len(columns) + "|"]
    for row in table["rows"]:
        cells = row["cells"] + ([row["times_coil"]] if "compared" in table else [])
        lines.append(f"| {row['name']} | {' | '.join(map(number, cells))} |")
    if table["notes"]:
        lines += ["", *table["notes"]]
    return "\n".join(lines) + "\n"


def about(found):
    """Describe the machine, and the time of the measurement."""
    quick = ", a quick run, which measures nothing" if found["quick"] else ""
    return (f"{found['machine']}, CPython {found['python']}; load average {found['load']} "
            f"at the start, {found['seconds']} s in all{quick}.\n")


def as_markdown(found):
    return "\n".join([*map(as_table, found["tables"]), about(found)])


def into_docs(found, picture, docs):
    """Write each table between `<!-- KEY -->` and `<!-- end -->`. Abort unless the run has all
    tables."""
    page = docs / "claims.md"
    text = page.read_text()
    places = {table["key"]: as_table(table) for table in found["tables"]}
    places["about"] = about(found)
    if found["quick"] or set(places) != set(re.findall(r"<!-- (?!end)(\w+) -->", text)):
        sys.exit(f"{page}: not written: it needs a whole run, not a quick one")
    for key, it in places.items():
        text = re.sub(rf"(<!-- {key} -->\n).*?(<!-- end -->)",
                      lambda match, it=it: f"{match[1]}\n{it}\n{match[2]}", text, flags=re.S)
    page.write_text(text)
    (docs / "claims.svg").write_text(picture)
