"""pages.py - generate the site to crawl: pages of 15 KB with 40 links each, all reachable."""

import random

PAGE_BYTES = 15 * 1024
LINKS = 40
CHILDREN = 10
WORDS = ("loop task future queue group stream timer socket buffer stack switch wait ready "
         "cancel spawn yield event lock scope result").split()


def targets(number, count, dice):
    """Return the pages to which a page links: its ten children, so that all pages are reachable,
    and random pages."""
    children = [n for n in range(number * CHILDREN + 1, number * CHILDREN + CHILDREN + 1)
                if n < count]
    return children + [dice.randrange(count) for _ in range(LINKS - len(children))]


def page(number, count):
    dice = random.Random(number)
    text = " ".join(dice.choice(WORDS) for _ in range(40))
    parts = [f"<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>"
             f"<title>Page {number}</title></head>\n<body>\n<h1>Page {number}</h1>\n"]
    for target in targets(number, count, dice):
        parts.append(f'<p class="text">{text[:dice.randrange(150, 250)]}\n'
                     f'<a class="link" href="p{target}.html">page {target}</a></p>\n')
    size = sum(map(len, parts)) + len("<p></p>\n</body></html>\n")
    filling = (text + " ") * (1 + (PAGE_BYTES - size) // len(text))
    parts.append(f"<p>{filling[:PAGE_BYTES - size]}</p>\n</body></html>\n")
    return "".join(parts)


def generate(folder, count):
    for number in range(count):
        (folder / f"p{number}.html").write_text(page(number, count))
