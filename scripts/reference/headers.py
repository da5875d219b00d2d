"""Parse the public headers: their heads, and their declarations with comments.

A header consists of a comment (its head) and blocks. A block is a sequence of lines without a blank
line: a comment, declarations, or a comment and the declarations below it. `/* ---- title ---- */` begins
a section. A comment consists of paragraphs and examples; an example's lines are indented by four or
more. Lines between #ifdef and #endif belong to the header. Names that begin with coil__ or COIL__ are
private.

Anything else is an error with the file and line, so that no part of a header is ignored.
"""

import dataclasses
import pathlib
import re

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
SECTION = re.compile(r'/\* -{2,} (.*?) -{2,} \*/')
PRIVATE = re.compile(r'(?i)coil__')
FOLLOWED = re.compile(r'\((?:[^()]|\([^()]*\))*?\b(asyncio|Python|Go|trio|ssl|aiohttp|'
                      r'concurrent\.futures): ((?:[^();]|\([^()]*\))*)')
ERRNO = re.compile(r'(?<![\w-])-(E[A-Z0-9]{2,})\b')
MANUAL_PAGE = re.compile(r'\b([a-z][\w-]*)\((\d)\)')


@dataclasses.dataclass
class Paragraph:
    text: str  # of an example: its lines, with their relative indentation
    example: bool = False


@dataclasses.dataclass
class Declaration:
    text: str
    names: list  # pairs: 'function', 'macro', 'type' or 'constant', and the name
    suspends: bool = False


@dataclasses.dataclass
class Block:
    section: str
    comment: list
    declarations: list
    line: int

    def names(self):
        return [name for declaration in self.declarations for _, name in declaration.names]


@dataclasses.dataclass
class Header:
    path: str     # the path in #include: coil/queue.h
    title: str    # for example: items from task to task
    head: list
    blocks: list
    includes: list

    @property
    def noun(self):
        return pathlib.PurePath(self.path).stem

    def named(self):
        """Return {name: kind}. If a function has the same name as a macro or an enum, the kind is "function"."""
        pairs = [pair for block in self.blocks for declaration in block.declarations
                 for pair in declaration.names]
        return {name: kind for kind, name in pairs} | {
            name: kind for kind, name in pairs if kind == 'function'}

    def suspending(self):
        return [name for block in self.blocks for declaration in block.declarations
                if declaration.suspends for _, name in declaration.names]

    def comments(self):
        """Yield the head, and then the comment of each block, each with the names that the block declares."""
        yield [], self.head
        for block in self.blocks:
            yield block.names(), block.comment


class Malformed(Exception):
    pass


# ---- comments ---------------------------------------------------------------------------


def comment_lines(text):
    """Return the lines of a comment, without the stars."""
    if text.startswith('//'):
        return [line.strip().removeprefix('//').strip() for line in text.splitlines()]
    lines = [line.rstrip() for line in text.removeprefix('/*').removesuffix('*/').split('\n')]
    rest = [re.sub(r'^ \* ?', '', line) if line.startswith(' *') else
            re.sub(r'^ {1,3}', '', line) for line in lines[1:]]
    return [lines[0].strip(), *rest]


def paragraphs(lines):
    found, gathered, was_example = [], [], False
    for line in [*lines, '']:
        example = line.startswith('    ')
        if gathered and (not line or example != was_example):
            found.append(Paragraph('\n'.join(gathered), was_example))
            gathered = []
        if line:
            gathered.append(line[4:] if example else line.strip())
            was_example = example
    # Join examples that are separated only by a blank line.
    joined = []
    for paragraph in found:
        if paragraph.example and joined and joined[-1].example:
            joined[-1].text += '\n\n' + paragraph.text
        else:
            joined.append(paragraph)
    return joined


def plain(comment):
    """Return the text of a comment without its examples, as one line."""
    return ' '.join(' '.join(paragraph.text.split()) for paragraph in comment
                    if not paragraph.example)


# ---- declarations -----------------------------------------------------------------------


def names_of(text):
    """Return pairs of a kind and a name for the public names that a declaration declares."""
    code = COMMENT.sub(' ', text)
    found = []
    if macro := re.match(r'#define (\w+)', code):
        found.append(('macro', macro[1]))
    elif enum := re.match(r'(?:typedef )?enum\s*(\w*)\s*\{(.*)\}\s*(\w*)\s*;', code, re.S):
        if enum[3] or enum[1]:
            found.append(('type', enum[3] or enum[1]))
        found += [('constant', name) for name in re.findall(r'(\w+)\s*(?:=[^,]*)?(?:,|$)',
                                                            enum[2].strip())]
    elif pointer := re.match(r'typedef [^({]*\(\*(\w+)\)\(', code):
        found.append(('type', pointer[1]))
    elif typedef := re.match(r'typedef .*?(\w+)\s*;\s*$', code, re.S):
        found.append(('type', typedef[1]))
    elif function := re.match(r'COIL_(?:API|SUSPENDS)\b[^;(]*?\b(\w+)\s*\(', code):
        found.append(('function', function[1]))
    elif re.match(r'struct \w+;', code):
        return []  # belongs to another library, and is for strict compilers
    elif not PRIVATE.search(code):
        raise Malformed('neither a function, a type nor a macro')
    return [(kind, name) for kind, name in found if not PRIVATE.match(name)]


def is_whole(text):
    """Return true if the text is a complete statement, including its trailing comment."""
    if text.count('/*') > text.count('*/'):
        return False
    code = COMMENT.sub('', text).rstrip()
    if code.startswith('#'):
        return not code.endswith('\\')
    return code.count('{') == code.count('}') and code.endswith((';', '}'))


def as_it_stands(text):
    """Remove COIL_API, which callers do not need, and the gaps before backslashes."""
    text = re.sub(r' +\\$', r' \\', text, flags=re.M)
    if not text.startswith('COIL_API '):
        return text
    first, *rest = text.split('\n')
    gap = ' ' * len('COIL_API ')
    return '\n'.join([first[len(gap):], *(line.removeprefix(gap) for line in rest)])


# ---- a header ---------------------------------------------------------------------------


class Reader:
    def __init__(self, text):
        self.lines = text.rstrip('\n').split('\n')
        self.at = 0

    def until(self, whole):
        """Return the lines of the block that begins at the current line."""
        start = self.at
        while self.at < len(self.lines):
            self.at += 1
            text = '\n'.join(self.lines[start:self.at])
            if whole(text):
                return text
        self.at = start
        raise Malformed('this never ends')

    def comment(self):
        return self.until(lambda text: text.endswith('*/'))

    def declaration(self):
        text = self.until(is_whole)
        return Declaration(as_it_stands(text), names_of(text), text.startswith('COIL_SUSPENDS '))

    def is_ignored(self, line):
        return (line in ('extern "C" {', '}') or line.startswith('/* clang-format')
                or line.startswith('#') and not line.startswith('#define')
                or re.fullmatch(r'#define COIL_\w+_H', line) is not None)

    def blocks(self):
        section, block = '', None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line or self.is_ignored(line):
                self.at += 1
                if not line:
                    block = None
                continue
            if heading := SECTION.fullmatch(line):
                section, block = heading[1], None
                self.at += 1
                continue
            number = self.at + 1
            if line.startswith('/*'):
                comment = paragraphs(comment_lines(self.comment()))
                block = Block(section, comment, [], number)
                yield block
                continue
            declaration = self.declaration()
            if PRIVATE.search(declaration.text) and not declaration.names:
                continue
            if block is None:
                block = Block(section, [], [], number)
                yield block
            block.declarations.append(declaration)


def read(file, path):
    """Parse the header `file`. Programs include it as <path>."""
    text = file.read_text()
    reader = Reader(text)
    try:
        head = paragraphs(comment_lines(reader.comment()))
        title = re.fullmatch(re.escape(path) + r' - (.*)\.', plain(head[:1]))
        if title is None:
            raise Malformed(f'a header begins with "{path} - what it is."')
        blocks = [block for block in list(reader.blocks()) if block.comment or block.declarations]
    except Malformed as problem:
        raise SystemExit(f'{file}:{reader.at + 1}: {problem}') from None
    return Header(path, title[1], head[1:], blocks,
                  re.findall(r'^#include <(coil/\w+\.h)>', text, re.M))


def read_all(include):
    """Parse the public headers in the folder include/, sorted by name."""
    files = sorted((include / 'coil').glob('*.h'))
    return [read(file, f'coil/{file.name}') for file in files]


def homes(headers):
    """Return {name: header}. If several headers declare a type, choose the header that is named after the type, or else
    the header that defines its fields."""
    found = {}
    for header in headers:
        for block in header.blocks:
            for declaration in block.declarations:
                for _, name in declaration.names:
                    better = '{' in declaration.text or name == f'coil_{header.noun}'
                    if name not in found or better:
                        found[name] = header
    return found


def library_of(header):
    """Return the pkg-config name of a header's library."""
    return {'http': 'coil-http', 'posix': 'coil-posix', 'testing': 'coil-testing',
            'network': 'coil-testing'}.get(header.noun, 'coil')


def follows(header):
    """Yield (names, source, functions) for each reference such as "(asyncio: Queue.get)" in a comment: the names that
    the block declares, "asyncio", and "Queue.get"."""
    for names, comment in header.comments():
        for source, words in FOLLOWED.findall(plain(comment)):
            yield names, source, words.strip()


def errnos(header):
    """Yield each errno with the functions that may return it, according to their comments."""
    found = {}
    kinds = header.named()
    for names, comment in header.comments():
        for code in ERRNO.findall(plain(comment)):
            functions = found.setdefault(code, [])
            functions += [name for name in names
                          if kinds[name] == 'function' and name not in functions]
    return found
