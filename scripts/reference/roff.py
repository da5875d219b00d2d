"""Generate manual pages from the headers, in the man(7) format."""

import re

import headers

WIDTH = 78
MARKS = {'\\': r'\e', '`': r'\(ga', '^': r'\(ha', '~': r'\(ti'}
CALL = re.compile(r'`([^`\n]+)`|\b(coil_\w+|COIL_\w+)(\(\))?|\b([a-z][\w-]*)(\(\d\))')


def escape(text):
    return ''.join(MARKS.get(c, c if c < '\x7f' else f'\\[u{ord(c):04X}]') for c in text)


def code(text):
    """Escape verbatim text, in which quotes and hyphens remain ASCII characters."""
    text = escape(text).replace('-', r'\-').replace("'", r'\(aq')
    return '\n'.join(r'\&' + line if line.startswith('.') else line for line in text.split('\n'))


def prose(text):
    """Format prose: names, calls and texts in backticks become bold. man(1) breaks the lines."""
    done, at = [], 0
    for name in CALL.finditer(text):
        done.append(escape(text[at:name.start()]))
        bold = name[1] or name[2] or name[4]
        done.append(rf'\fB\%{code(bold)}\fP{name[3] or name[5] or ""}')
        at = name.end()
    done.append(escape(text[at:]))
    text = ''.join(done)
    # A leading hyphen belongs to a number, an option or an errno, which readers may copy. So it stays an ASCII hyphen.
    text = re.sub(r'(?<![\w\\-])-(?=\w)', r'\\%\\-', text)
    # Start a new line after each sentence, so that man(1) sets the correct space between sentences.
    lines = []
    for sentence in re.split(r'(?<=[.?!:]) (?=[A-Z\\(*])', ' '.join(text.split())):
        line = ''
        for word in sentence.split(' '):
            if line and len(line) + 1 + len(word) > WIDTH:
                lines.append(line)
                line = word
            else:
                line = f'{line} {word}' if line else word
        lines.append(line)
    return '\n'.join(r'\&' + line if line[:1] in ".'" else line for line in lines)


def example(text):
    return f'.EX\n{code(text)}\n.EE'


def paragraphs(comment, gap):
    """Format the paragraphs and examples of a comment, with the macro `gap` between them."""
    found = []
    for paragraph in comment:
        if found:
            found.append(gap)
        if paragraph.example:
            found.append(example(re.sub('^(?=.)', '    ', paragraph.text, flags=re.M)))
        else:
            found.append(prose(paragraph.text))
    return found


def page_of(header):
    return f'coil_{header.noun}'


def references(names):
    """Format references to manual pages: coil_event(3), coil_loop(3)."""
    pairs = [name.rsplit('(', 1) for name in names]
    return '\n'.join(rf'.BR \%{code(name)} ({section}' + (',' if i < len(pairs) - 1 else '')
                     for i, (name, section) in enumerate(pairs))


class Pages:
    """Generates all pages: `pages` maps file names to texts, and `links` maps names of links to pages."""

    def __init__(self, sources, version, date):
        self.sources = sources
        self.headers = found = headers.read_all(sources / 'include')
        self.homes = headers.homes(found)
        self.version, self.date = version, date
        self.pages = {f'{page_of(header)}.3': self.page(header) for header in found}
        self.pages['coil.3'] = self.overview()
        self.links = {}
        for header in found:
            for block in header.blocks:
                self.add_block(header, block)
        for name, header in self.homes.items():
            if f'{name}.3' not in self.pages:
                self.links.setdefault(f'{name}.3', f'{page_of(header)}.3')

    def add_block(self, header, block):
        """Add a page for functions that share a comment, and a link for each further name."""
        kinds = header.named()
        names = [name for name in dict.fromkeys(block.names())
                 if kinds[name] == 'function' and f'{name}.3' not in self.pages]
        if not block.comment or not names:
            return
        self.pages[f'{names[0]}.3'] = self.block_page(header, block, names)
        for name in names[1:]:
            self.links[f'{name}.3'] = f'{names[0]}.3'

    def block_page(self, header, block, names):
        summary = re.split(r'(?<=[^.])[.:](?:\s|$)', block.comment[0].text, maxsplit=1)[0]
        text = '\n'.join(declaration.text for declaration in block.declarations)
        lines = self.top(names[0], summary)
        lines[3] = ',\n'.join(code(name) for name in names) + r' \-'
        lines += ['.SH SYNOPSIS', '.nf', rf'\fB#include <{code(header.path)}>\fP', '.fi', '.PP',
                  example(text), '.SH DESCRIPTION', *paragraphs(block.comment, '.PP'),
                  '.SH SEE ALSO',
                  prose(f'{page_of(header)}(3) describes coil/{header.noun}.h as a whole.')]
        return '\n'.join(lines) + '\n'

    def top(self, name, title):
        return [f'.TH {name.upper()} 3 {self.date} "coil {self.version}" "Library functions of coil"',
                '.ad l', '.SH NAME', rf'{code(name)} \-', prose(title)]

    def page(self, header):
        lines = self.top(page_of(header), header.title)
        lines += ['.SH SYNOPSIS', '.nf', rf'\fB#include <{code(header.path)}>\fP', '.PP',
                  f'cc ... $(pkg\\-config \\-\\-cflags \\-\\-libs {code(headers.library_of(header))})',
                  '.fi']
        for block in header.blocks:
            if block.declarations:
                text = '\n'.join(declaration.text for declaration in block.declarations)
                lines += ['.PP', example(text)]
        lines += ['.SH DESCRIPTION', *self.namesake(header), *paragraphs(header.head, '.PP')]
        section = ''
        for block in header.blocks:
            if block.section != section:
                section = block.section
                lines.append(f'.SS {prose(section).capitalize()}')
            lines += self.described(header, block)
        lines += self.suspending(header) + self.errors(header) + self.followed(header)
        lines += ['.SH SEE ALSO', references(self.see_also(header)), *self.manual(header)]
        return '\n'.join(lines) + '\n'

    def namesake(self, header):
        """If another header declares the function with this page's name, return a reference to that function's page."""
        name = page_of(header)
        home = self.homes.get(name, header)
        if home is header:
            return []
        return [prose(f'{name}() itself is in coil/{home.noun}.h: see {page_of(home)}(3).'), '.PP']

    def described(self, header, block):
        if not block.comment:
            return []
        kinds = header.named()
        tags = [rf'\fB{code(name)}\fP' + ('()' if kinds[name] == 'function' else '')
                for name in dict.fromkeys(block.names())]
        if not tags:
            return ['.PP', *paragraphs(block.comment, '.PP')]
        head = ['.TP', tags[0]] + [line for tag in tags[1:] for line in ('.TQ', tag)]
        return head + paragraphs(block.comment, '.IP')

    def suspending(self, header):
        names = header.suspending()
        if not names:
            return []
        return ['.SS What suspends',
                prose('Between two calls that are marked COIL_SUSPENDS nothing else of the thread '
                      'runs. They may suspend the calling task, and are called from a task: '
                      + ', '.join(f'{name}()' for name in names) + '.')]

    def errors(self, header):
        named = headers.errnos(header)
        if not named:
            return []
        lines = ['.SH ERRORS', prose(
            'A function that fails returns a negative errno; what is meant by it is said above, '
            'with the functions, and in coil_base(3) what is meant in all of coil. These are '
            'named:')]
        for errno, functions in sorted(named.items()):
            words = ', '.join(f'{name}()' for name in functions) or 'see above'
            lines += ['.TP', rf'.B \-{errno}', prose(words)]
        return lines

    def followed(self, header):
        found = list(headers.follows(header))
        if not found:
            return []
        lines = ['.SH FOLLOWS']
        for names, source, words in found:
            lines += ['.TP', ', '.join(rf'\fB{code(name)}\fP' for name in names)
                      or rf'\fB{code(header.path)}\fP',
                      prose(f'{source}: {words}')]
        return lines

    def see_also(self, header):
        """Return the pages to which the header refers: first coil's pages, then the system's pages."""
        own, system = {'coil(3)'}, set()
        for path in header.includes:
            own.add(f'coil_{path[5:-2]}(3)')
        for _, comment in header.comments():
            words = headers.plain(comment)
            own |= {f'coil_{noun}(3)' for noun in re.findall(r'\bcoil/(\w+)\.h', words)}
            own |= {f'{page_of(self.homes[name])}(3)'
                    for name in re.findall(r'\b(?:coil|COIL)_\w+', words) if name in self.homes}
            system |= {f'{name}({section})'
                       for name, section in headers.MANUAL_PAGE.findall(words)}
        own.discard(f'{page_of(header)}(3)')
        return sorted(own) + sorted(system)

    def manual(self, header):
        name = f'docs/manual/{header.noun}.md'
        if not (self.sources / name).exists():
            return []
        return ['.PP', prose(f'More than the header tells: {name} in the sources, '
                             'of which "make docs" makes HTML.')]

    def overview(self):
        lines = self.top('coil', 'stackful coroutines and an event loop: the library')
        lines += ['.SH SYNOPSIS', '.nf', r'\fB#include <coil.h>\fP', '.PP',
                  r'cc ... $(pkg\-config \-\-cflags \-\-libs coil)', '.fi', '.SH DESCRIPTION',
                  prose('Each header has a page, and so has each function. The name of a type or '
                        'a macro leads to the page of its header. '
                        'coil.h includes all of them but coil/http.h and coil/posix.h, which are '
                        'of the libraries coil-http and coil-posix. What all have in common '
                        'is in coil_base(3). coil.hpp, for C++17, is one more header: its '
                        'manual is docs/manual/cxx.md in the sources.')]
        for header in self.headers:
            lines += ['.TP', rf'.BR {code(page_of(header))} (3)', prose(header.title)]
        lines += ['.SH SEE ALSO', references(['coil_base(3)', 'coil_run(3)', 'coil_task(3)'])]
        return '\n'.join(lines) + '\n'
