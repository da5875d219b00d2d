"""Generate a folder of HTML pages from the documents and headers. A browser can show them without a server.

Each page has the path of its source: docs/manual/queue.md becomes docs/manual/queue.html, README.md becomes index.html
in its folder, and include/coil/queue.h becomes include/coil/queue.html. There is a page for every document in docs/,
and for everything to which the documents link: other documents, sources, folders and pictures. In code, each of coil's
names links to its header. cmark-gfm(1) converts the Markdown.

search.js implements the search. Its index, index.js, has an entry for each name, for each section, and for each table
row that begins with code in a page for users. Pages for users rank before other pages.
"""

import functools
import html
import json
import os
import pathlib
import re
import shutil
import subprocess

import headers

HERE = pathlib.Path(__file__).resolve().parent
ALWAYS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'src/README.md']
START = ['README.md', 'docs/start.md', 'docs/guide.md', 'docs/asyncio.md']
# The pages of docs/manual/, grouped by task. A page that is not listed comes last, in a group of its own.
MANUAL = [
    ('Tasks that work together', ['group', 'scope', 'guard', 'queue', 'broadcast', 'rwlock', 'promise', 'timer', 'interval',
                                  'context', 'gen', 'coro']),
    ('The network', ['stream', 'server', 'names', 'tls', 'http', 'datagram']),
    ('Files, programs, threads', ['file', 'watch', 'process', 'signal', 'executor', 'threads', 'fork']),
    ('Errors, debugging, tests', ['error', 'debug', 'ps', 'trace', 'testing']),
    ('With other code', ['posix', 'libraries', 'hooks', 'guest', 'cxx', 'python']),
    ('Memory', ['stack', 'light']),
    ('coil-crawl', ['link-checking', 'coil-crawl']),
]
# The other groups in the side bar: titles and folders of documents.
GROUPS = [('Headers', 'include/coil'), ('How async works', 'docs/tutorial'),
          ('For contributors: inside', 'docs/design'),
          ('For contributors: decisions', 'docs/decisions')]
CONTRIBUTORS = GROUPS[2][0]
# The rank of a page in the search, found by the beginning of its path: 0 is for pages for users, 1 for further reading,
# 2 for contributors, and 3 for the history and the tests.
RANKS = [('docs/manual/', 0), ('docs/tutorial/', 1), ('docs/claims', 1), ('docs/', 2),
         ('include/', 0), ('README.md', 0), ('SECURITY.md', 1), ('examples/', 1), ('CHANGELOG.md', 3),
         ('tests/', 3), ('', 2)]
PICTURES = ('.svg', '.png')

EMPTY_HEAD = re.compile(r'<thead>\s*<tr>(\s*<th[^>]*></th>)+\s*</tr>\s*</thead>')
ROW = re.compile(r'<tr>\s*<td[^>]*>\s*(?P<name><code>.*?)</td>(?P<rest>.*?)</tr>', re.S)
HEADING = re.compile(r'<h([1-6])>(.*?)</h\1>', re.S)
CODE = re.compile(r'<pre><code(?: class="language-(?P<language>[^"]*)")?>(?P<block>.*?)</code></pre>|'
                  r'<a [^>]*>.*?</a>|<code>(?P<inline>.*?)</code>', re.S)
LINK = re.compile(r'(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]*)(")')
TOKEN = re.compile(
    r'(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')|'
    r'(?P<header>\bcoil/\w+\.h\b)|'
    r'(?P<document>\b(?:\w[\w.-]*/)*[\w.-]+\.md\b|\b(?:\w[\w.-]*/)+[\w.-]+\.(?:[chS]|py|hpp)\b)|'
    r'(?P<word>\b[A-Za-z_]\w*)', re.S)
KEYWORDS = set('break case char const continue default do double else enum extern float for goto if '
               'int long return short signed sizeof static struct switch typedef union unsigned void '
               'volatile while bool int64_t uint64_t size_t ssize_t NULL true false'.split())


class Page:
    def __init__(self, source, target, title, body, sections, rows=()):
        self.source, self.target = source, target
        self.title, self.body = title, body
        self.sections = sections  # triples: anchor, heading, the text below it
        self.rows = rows          # triples: anchor, the code that a table's row begins with, its text


@functools.cache
def is_copied(path):
    """Return true if the file is a picture or another binary file."""
    if path.suffix in PICTURES:
        return True
    try:
        path.read_text(encoding='utf-8')
    except UnicodeDecodeError:
        return True
    return False


def text_of(markup):
    return ' '.join(html.unescape(re.sub(r'<[^>]*>', '', markup)).split())


def rank_of(source):
    return 0 if source in START else next(rank for path, rank in RANKS if source.startswith(path))


def version_of(top):
    return re.search(r"version: '([^']*)'", (top / 'meson.build').read_text())[1]


def slug(heading, taken):
    """Return the anchor that GitHub would give a heading."""
    name = re.sub(r'[^\w\- ]', '', text_of(heading).lower()).replace(' ', '-')
    number = taken.get(name, 0)
    taken[name] = number + 1
    return f'{name}-{number}' if number else name


def relative(target, origin):
    """Return the relative path from one page to another."""
    path, _, anchor = target.partition('#')
    way = os.path.relpath(path, os.path.dirname(origin) or '.')
    return way + ('#' + anchor if anchor else '')


class Website:
    def __init__(self, top, out):
        self.top, self.out, self.version = top, out, version_of(top)
        self.headers = {f'include/{header.path}': header
                        for header in headers.read_all(top / 'include')}
        self.homes = headers.homes(self.headers.values())
        self.pages, self.waiting, self.seen = [], [], set()

    # ---- where things are ---------------------------------------------------------------

    def target_of(self, source):
        path = self.top / source
        if path.is_dir():
            return os.path.join(source, 'index.html').removeprefix('./')
        if path.name == 'README.md':
            return str(pathlib.PurePath(source).with_name('index.html'))
        if path.suffix == '.md' or source in self.headers:
            return str(pathlib.PurePath(source).with_suffix('.html'))
        return source if is_copied(path) else source + '.html'

    def wanted(self, source):
        """Queue a page for this source, unless it was queued before. Return the source, which for a folder is its
        README.md."""
        if (self.top / source / 'README.md').exists():
            source = os.path.join(source, 'README.md').removeprefix('./')
        if source not in self.seen:
            self.seen.add(source)
            self.waiting.append(source)
        return source

    def link(self, href, source):
        if re.match(r'[a-z]+:|#|$', href):
            return href
        path, _, anchor = html.unescape(href).partition('#')
        path = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if path.startswith('..') or not (self.top / path).exists():
            return href  # tests/suites/website reports the broken link
        target = self.target_of(self.wanted(path))
        return html.escape(relative(target + ('#' + anchor if anchor else ''),
                                    self.target_of(source)))

    def place_of(self, name):
        return f'{self.target_of("include/" + self.homes[name].path)}#{name}'

    # ---- code ---------------------------------------------------------------------------

    def name(self, name, source, declared=()):
        if name in declared:
            return f'<b id="{name}">{name}</b>'
        return f'<a href="{relative(self.place_of(name), self.target_of(source))}">{name}</a>'

    def code(self, text, source, declared=()):
        """Return C code as HTML. `declared` are the names that are declared here."""
        left = list(declared)

        def token(found):
            kind, words = found.lastgroup, found[0]
            if kind == 'word' and words in left:
                left.remove(words)
                return self.name(words, source, [words])
            if kind == 'word' and words in self.homes:
                return self.name(words, source)
            if kind == 'word' and words == 'COIL_SUSPENDS':
                return f'<i class="suspends">{words}</i>'
            if kind == 'word' and words in KEYWORDS:
                return f'<i class="keyword">{words}</i>'
            if kind == 'comment':
                return f'<i class="comment">{self.words(words, source)}</i>'
            return html.escape(words, quote=False)
        return substitute(TOKEN, token, text)

    def words(self, text, source):
        """Return prose as HTML. Names, headers and documents become links."""
        def token(found):
            kind, words = found.lastgroup, found[0]
            path = f'include/{words}' if kind == 'header' else words
            if kind in ('header', 'document') and (self.top / path).exists():
                href = relative(self.target_of(self.wanted(path)), self.target_of(source))
                return f'<a href="{href}">{words}</a>'
            if kind == 'word' and words in self.homes:
                return self.name(words, source)
            if kind in ('comment', 'string'):  # these do not occur in prose
                return words[0] + self.words(words[1:], source)
            return html.escape(words, quote=False)
        return substitute(TOKEN, token, text)

    def documented_code(self, markup, source):
        def piece(found):
            if found['block'] is not None:
                text = html.unescape(found['block'])
                text = (self.code(text, source) if found['language'] in ('c', 'cpp', 'C')
                        else self.words(text, source))
                return f'<pre><code>{text}</code></pre>'
            if found['inline'] is not None:
                return f'<code>{self.words(html.unescape(found["inline"]), source)}</code>'
            return found[0]
        return CODE.sub(piece, markup)

    # ---- kinds of pages -----------------------------------------------------------------

    def document(self, source):
        markup = subprocess.run(
            ['cmark-gfm', '--unsafe', '-e', 'table', '-e', 'strikethrough', '-e', 'autolink',
             self.top / source], check=True, capture_output=True, text=True).stdout
        taken, found = {}, []

        def heading(match):
            anchor = slug(match[2], taken)
            found.append((anchor, match[1], text_of(match[2])))
            return (f'<h{match[1]} id="{anchor}">{match[2]}'
                    f' <a class="here" href="#{anchor}" aria-label="link to this">#</a></h{match[1]}>')
        # Resolve the document's own links first, because the links that are added to code below are already correct.
        markup = LINK.sub(lambda match: match[1] + self.link(match[2], source) + match[3], markup)
        parts = HEADING.split(markup)
        texts = [text_of(parts[0])] + [text_of(part) for part in parts[3::3]]
        markup = self.documented_code(HEADING.sub(heading, markup), source)
        markup = EMPTY_HEAD.sub('', markup).replace('<table>', '<div class="wide"><table>')
        markup = markup.replace('</table>', '</table></div>')
        title = next((words for _, level, words in found if level == '1'), source)
        chapters = [(anchor, words) for anchor, level, words in found if level == '2']
        if len(chapters) > 3:
            end = markup.find('</h1>') + len('</h1>') if '</h1>' in markup else 0
            markup = markup[:end] + contents(chapters) + markup[end:]
        sections = [('', title, texts[0])] if texts[0] else []
        sections += [(anchor, words, text)
                     for (anchor, _, words), text in zip(found, texts[1:])]
        rows = [(anchor, text_of(row['name']), text_of(row['rest'].replace('</td>', ' ')))
                for anchor, part in zip([''] + [anchor for anchor, _, _ in found],
                                        [parts[0], *parts[3::3]]) for row in ROW.finditer(part)]
        return Page(source, self.target_of(source), title, markup, sections, rows)

    def comment(self, comment, source):
        return ''.join(f'<pre><code>{self.code(part.text, source)}</code></pre>' if part.example
                       else f'<p>{self.quoted(part.text, source)}</p>' for part in comment)

    def quoted(self, text, source):
        parts = re.split(r'`([^`\n]+)`', text)
        parts[::2] = [self.words(part, source) for part in parts[::2]]
        parts[1::2] = [f'<code>{self.words(part, source)}</code>' for part in parts[1::2]]
        return ''.join(parts)

    def header(self, source):
        header = self.headers[source]
        mine = {name for name, home in self.homes.items() if home is header}
        body = [f'<h1><code>{header.path}</code></h1>',
                f'<p class="lead">{self.quoted(header.title, source)}</p>',
                f'<pre><code>#include &lt;{header.path}&gt;\n\n'
                f'cc ... $(pkg-config --cflags --libs {headers.library_of(header)})</code></pre>']
        manual = f'docs/manual/{header.noun}.md'
        if (self.top / manual).exists():
            href = relative(self.target_of(self.wanted(manual)), self.target_of(source))
            body.append(f'<p>More than the header tells: <a href="{href}">the manual</a>.</p>')
        body.append(contents([(name, name) for name in dict.fromkeys(
            name for block in header.blocks for name in block.names() if name in mine)], 'names'))
        body.append(self.comment(header.head, source))
        section, left = '', set(mine)
        for block in header.blocks:
            if block.section != section:
                section = block.section
                body.append(f'<h2 id="{slug(section, {})}">{html.escape(section)}</h2>')
            body.append('<section>')
            for declaration in block.declarations:
                names = [name for _, name in declaration.names if name in left]
                left -= set(names)
                body.append('<pre class="declared"><code>'
                            f'{self.code(declaration.text, source, names)}</code></pre>')
            body += [self.comment(block.comment, source), '</section>']
        sections = [('', header.path, header.title + '. ' + headers.plain(header.head).replace('`', ''))]
        return Page(source, self.target_of(source), header.path, '\n'.join(body), sections)

    def folder(self, source):
        names = sorted(path.name for path in (self.top / source).iterdir()
                       if self.is_shown(path))
        rows = []
        for name in names:
            path = os.path.join(source, name)
            href = relative(self.target_of(self.wanted(path)), self.target_of(source))
            about = self.headers[path].title if path in self.headers else ''
            rows.append(f'<tr><td><a href="{href}">{html.escape(name)}</a></td>'
                        f'<td>{html.escape(about)}</td></tr>')
        body = f'<h1>{source}/</h1><div class="wide"><table>{"".join(rows)}</table></div>'
        return Page(source, self.target_of(source), source + '/', body, [])

    def is_shown(self, path):
        if path.name.startswith(('.', '__')):
            return False
        return not path.is_dir() or any(self.is_shown(inside) for inside in path.iterdir())

    def file(self, source):
        text = (self.top / source).read_text()
        c = pathlib.PurePath(source).suffix in ('.c', '.h', '.hpp')
        text = self.code(text, source) if c else html.escape(text, quote=False)
        body = f'<h1>{html.escape(source)}</h1><pre class="source"><code>{text}</code></pre>'
        return Page(source, self.target_of(source), source, body, [('', source, '')])

    def page(self, source):
        path = self.top / source
        if path.is_dir():
            return self.folder(source)
        if path.suffix != '.md' and is_copied(path):
            self.out.joinpath(source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.out / source)
            return None
        if path.suffix == '.md':
            return self.document(source)
        return self.header(source) if source in self.headers else self.file(source)

    # ---- all of it ----------------------------------------------------------------------

    def gather(self):
        documents = sorted(str(path.relative_to(self.top))
                           for path in (self.top / 'docs').rglob('*.md'))
        for source in [*ALWAYS, *documents, 'include/coil', *self.headers, 'include/coil.hpp']:
            self.wanted(source)
        while self.waiting:
            page = self.page(self.waiting.pop(0))
            if page is not None:
                self.pages.append(page)

    def groups(self):
        """Return the groups in the side bar: pairs of a title and a list of pages."""
        by_source = {page.source: page for page in self.pages}
        groups = [[title, [by_source[source] for source in sources if source in by_source]]
                  for title, sources in [('Start', START), *self.manual()]]
        groups += [[title, sorted((page for page in self.pages
                                   if folder in (page.source, os.path.dirname(page.source))),
                                  key=lambda page: (page.source != folder,
                                                    not page.source.endswith('README.md'),
                                                    page.source))]
                   for title, folder in GROUPS]
        placed = {page.source for _, pages in groups for page in pages}
        inside = next(pages for title, pages in groups if title == CONTRIBUTORS)
        inside[:0] = [page for page in self.pages if page.source not in placed and
                      page.source.startswith('docs/') and page.source.endswith('.md')]
        inside += [page for page in self.pages if page.source == 'src/README.md']
        groups.append(['The project', [by_source[source] for source in ALWAYS[1:4]
                                       if source in by_source]])
        return [(title, pages) for title, pages in groups if pages]

    def manual(self):
        """Return the groups of the manual: pairs of a title and a list of documents."""
        groups = [(title, [f'docs/manual/{noun}.md' for noun in nouns]) for title, nouns in MANUAL]
        listed = {source for _, sources in groups for source in sources}
        others = sorted(page.source for page in self.pages
                        if page.source.startswith('docs/manual/') and page.source not in listed)
        return [*groups, ('More of the manual', others)]

    def index(self):
        """Return the entries of the search index: kind, name, page, address, words, rank."""
        entries = []
        for source, header in self.headers.items():
            for block in header.blocks:
                for kind, name in (pair for declaration in block.declarations
                                   for pair in declaration.names):
                    if self.homes[name] is header:
                        entries.append([kind, name, header.path, self.place_of(name),
                                        headers.plain(block.comment).replace('`', ''),
                                        rank_of(source)])
        unique = {entry[3]: entry for entry in entries}
        for page in self.pages:
            for anchor, heading, words in page.sections:
                address = page.target + ('#' + anchor if anchor else '')
                unique.setdefault(address, ['text', heading, page.title, address, words,
                                            rank_of(page.source)])
        rows = [['row', name, page.title, page.target + ('#' + anchor if anchor else ''), words,
                 rank_of(page.source)] for page in self.pages if rank_of(page.source) < 2
                for anchor, name, words in page.rows]
        return [*unique.values(), *rows]

    def write(self):
        self.gather()
        groups = self.groups()
        for page in self.pages:
            target = self.out / page.target
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(framed(page, groups, self.version))
        (self.out / 'index.js').write_text(
            'coilIndex(' + json.dumps(self.index(), ensure_ascii=False,
                                      separators=(',', ':')) + ');\n')
        for name in ('style.css', 'search.js', 'copy.js'):
            shutil.copy(HERE / name, self.out / name)


def substitute(pattern, token, text):
    """Format the text as markup, and replace each match by token(match)."""
    done, at = [], 0
    for found in pattern.finditer(text):
        done += [html.escape(text[at:found.start()], quote=False), token(found)]
        at = found.end()
    return ''.join(done) + html.escape(text[at:], quote=False)


def contents(entries, kind='chapters'):
    items = ''.join(f'<li><a href="#{anchor}">{html.escape(words)}</a></li>'
                    for anchor, words in entries)
    return f'<nav class="{kind}" aria-label="On this page"><ul>{items}</ul></nav>'


def side_bar(page, groups):
    parts = []
    for title, pages in groups:
        here = any(other is page for other in pages)
        items = ''.join(
            f'<li><a href="{relative(other.target, page.target)}"'
            f'{" aria-current=page" if other is page else ""}>{html.escape(other.title)}</a></li>'
            for other in pages)
        parts.append(f'<details{" open" if here or title == "Start" else ""}>'
                     f'<summary>{title}</summary><ul>{items}</ul></details>')
    return ''.join(parts)


def neighbours(page, groups):
    for _, pages in groups:
        if page in pages:
            at = pages.index(page)
            before = pages[at - 1] if at > 0 else None
            after = pages[at + 1] if at + 1 < len(pages) else None
            links = [f'<a rel="{rel}" href="{relative(other.target, page.target)}">{arrow}</a>'
                     for rel, other, arrow in
                     (('prev', before, f'← {html.escape(before.title)}' if before else ''),
                      ('next', after, f'{html.escape(after.title)} →' if after else ''))
                     if other is not None]
            return f'<nav class="neighbours" aria-label="Neighbours">{"".join(links)}</nav>'
    return ''


def framed(page, groups, version):
    top = relative('index.html', page.target)
    root = top.removesuffix('index.html')
    title = page.title if page.title == 'coil' else f'{page.title} - coil'
    return f'''<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)}</title>
<link rel="stylesheet" href="{root}style.css">
<script defer src="{root}search.js" data-root="{root}"></script>
<script defer src="{root}copy.js"></script>
</head>
<body>
<header>
<a class="name" href="{top}">coil</a> <span class="version">{version}</span>
<form role="search" action="{top}"><input type="search" name="q" placeholder="Search"
 aria-label="Search" autocomplete="off"></form>
</header>
<div class="columns">
<nav class="side" aria-label="All pages"><details class="all"><summary>All pages</summary>
{side_bar(page, groups)}
</details></nav>
<main>
<div id="results" hidden></div>
<article>
{page.body}
{neighbours(page, groups)}
</article>
</main>
</div>
</body>
</html>
'''
