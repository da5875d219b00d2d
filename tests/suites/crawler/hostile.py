"""Define hostile servers, and the verdicts that coil-crawl must give.

    CASES               each a Case: what the server does, and the expected result
    with Case.serve() as (site, other): ...

The index of each site links to a hostile page ("/x" by default) and to "/good", which must be OK whatever the hostile
page does. The hostile page may be on another site ("external"). If docs/design/checker.md does not define the expected
verdict, `what` gives the reason for it.
"""

import contextlib
import dataclasses
import email.utils
import gzip
import hashlib
import itertools
import re
import socket
import ssl
import struct
import subprocess
import tempfile
import time
import typing
import zlib

from check import equal
from server import CLOSE, NOT_FOUND, Server, html, page, redirect, response

MIB = 1 << 20
URL_BYTES, LINK_BYTES = 300, 32  # memory of a known URL and of an open link
WELL, FAILED, BROKEN, USAGE, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 6
FAILING = ('broken', 'fragment', 'error', 'timeout')

# ---- what a hostile server does ------------------------------------------------------------------

HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'


def sends(*pieces, close=True):
    """Send these bytes, and close the connection."""
    def answer(connection, _):
        for piece in pieces:
            connection.sendall(piece)
        return CLOSE if close else None
    return answer


def repeats(head, piece, pause=0.0):
    """Send `head`, and then repeat `piece` endlessly."""
    def answer(connection, _):
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(pause)
    return answer


def hangs(head=b''):
    """Send these bytes, and keep the connection open without sending more."""
    def answer(connection, _):
        connection.sendall(head)
        while connection.recv(65536):
            pass
        return CLOSE
    return answer


def resets(head=b''):
    """Send these bytes, and reset the connection."""
    def answer(connection, _):
        if head:
            connection.sendall(head)
            time.sleep(0.1)  # the bytes arrive before the reset
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        return CLOSE
    return answer


def closes(connection, _):
    return CLOSE


def drips(text, pause):
    def answer(connection, _):
        for at in range(len(text)):
            connection.sendall(text[at:at + 1])
            time.sleep(pause)
    return answer


def by_method(head, get):
    """Answer a HEAD request with `head`, and other requests with `get`."""
    def answer(connection, request):
        chosen = head if request.method == 'HEAD' else get
        if callable(chosen):
            return chosen(connection, request)
        connection.sendall(chosen[:chosen.index(b'\r\n\r\n') + 4]
                           if request.method == 'HEAD' else chosen)
        return None
    return answer


def if_header(name, value, then, otherwise):
    def answer(connection, request):
        connection.sendall(then if request.headers.get(name) == value else otherwise)
    return answer


def with_cookie(location):
    return redirect(location, headers=['Set-Cookie: a=b; Path=/'])


def if_cookie(then, location):
    return if_header('cookie', 'a=b', then, with_cookie(location))


def bomb(size, layers=1):
    """Return a response with gzip data that decompress to a page of `size` bytes. The checksum at the end is wrong, but
    no client reads that far."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b'<p>') + packer.flush(zlib.Z_FULL_FLUSH)
    packed = head + (packer.compress(b' ' * MIB) + packer.flush(zlib.Z_FULL_FLUSH)) * (size // MIB)
    for _ in range(layers - 1):
        packed = gzip.compress(packed)
    return response(packed, headers=['Content-Encoding: ' + ', '.join(['gzip'] * layers)])


def encoded(body, name):
    return response(body, headers=[f'Content-Encoding: {name}'])


def retry_after(value, status=503):
    return html('later', status=status, headers=[f'Retry-After: {value}'])


def in_a_second(connection, _):
    date = email.utils.formatdate(time.time() + 1, usegmt=True)
    connection.sendall(retry_after(date))


def every_path(make):
    """Answer a request for any path with a page of the links that make(path) returns."""
    def answer(connection, request):
        if request.path == '/robots.txt':
            connection.sendall(NOT_FOUND)
        else:
            connection.sendall(page(*make(request.path)))
    return answer


def next_days(path):
    """Return the links of a calendar page: to the days before and after, the next month, and the next and the previous
    year."""
    match = re.search(r'(\d{4})-(\d\d)-(\d\d)', path)
    year, month, day = map(int, match.groups()) if match else (2026, 1, 15)
    days = [(year, month, day % 28 + 1), (year, month, (day + 26) % 28 + 1),
            (year, month % 12 + 1, day), (year + 1, month, day), (year - 1, month, day)]
    return ['/good', *('/x?date=%04d-%02d-%02d' % date for date in days)]


def sessions(counter=itertools.count(1)):
    def session():
        return hashlib.md5(b'%d' % next(counter)).hexdigest()

    def make(_):
        return ['/good', '/x/list', f'/x/list?PHPSESSID={session()}',
                f'/x/item;jsessionid={session().upper()}', '/x/item']
    return make


# ---- the table -----------------------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    name: str
    what: str
    answer: typing.Any = None       # the answer for "/x"
    options: tuple = ()
    verdict: str = 'ok'             # the verdict of `target`
    reason: typing.Any = None
    words: str = ''                 # a regular expression for the message
    status: typing.Any = 'any'      # expected in the record of the verdict
    exit: typing.Any = None         # the exit status; by default that of the verdict
    seconds: float = 10
    urls: int = 0                   # number of URLs that the crawl has to remember
    open_links: int = 0
    searched: typing.Any = None     # expected in the record of the page, if it matters
    target: str = '{site}/x'
    fragment: typing.Any = None
    links: tuple = ('/x', '/good')  # links on the index page
    index: typing.Any = None        # replaces the page with `links`
    answers: dict = dataclasses.field(default_factory=dict)
    otherwise: typing.Any = NOT_FOUND
    also: tuple = ()                # (target, fragment, verdict, reason)
    jsonl: bool = True              # False if there are too many lines to check
    other: str = 'http'             # kind of the other site: or 'tls', 'silent', 'full'
    check: typing.Any = None        # a function that checks the result

    @property
    def exit_status(self):
        if self.exit is not None:
            return self.exit
        return BROKEN if self.verdict in FAILING else WELL

    @property
    def memory(self):
        return 64 * MIB + self.urls * URL_BYTES + self.open_links * LINK_BYTES

    @contextlib.contextmanager
    def serve(self):
        with Server(otherwise=self.otherwise) as site, \
                other_server(self.other, self.otherwise) as other:
            def fill(text):
                return text.format(site=site.origin, other=other.origin, port=other.port)
            for server in (site, other):
                server.answers.update({'/good': page(), **self.answers})
                if self.answer is not None:
                    server.answers['/x'] = (list(self.answer) if isinstance(self.answer, list)
                                            else self.answer)
            site.answers.setdefault(
                '/', self.index or page(*(fill(link) for link in self.links)))
            yield site, other, fill


class Silent(Server):
    """A server that accepts connections and sends nothing."""

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            while connection.recv(65536):
                pass


class Full(Server):
    """A server with a full listen queue, which does not accept connections."""

    def __enter__(self):
        self.listener.listen(0)
        self.waiting = [socket.socket() for _ in range(4)]
        for waiting in self.waiting:
            waiting.setblocking(False)
            waiting.connect_ex(self.listener.getsockname())
        return self

    def __exit__(self, *_):
        for waiting in self.waiting:
            waiting.close()
        self.listener.close()


def other_server(kind, otherwise):
    kinds = {'silent': Silent, 'full': Full}
    return kinds.get(kind, Server)(
        otherwise=otherwise, context=certified()[0] if kind == 'tls' else None)


def certify(folder):
    """Make a self-signed certificate for 127.0.0.1: the files `certificate` and `key`."""
    subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
         '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1',
         '-keyout', f'{folder}/key', '-out', f'{folder}/certificate'],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return f'{folder}/certificate', f'{folder}/key'


def certified():
    """Return a TLS context with a self-signed certificate, and the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = certify(folder)
        context.load_cert_chain(certificate, key)
        with open(certificate, encoding='ascii') as file:
            return context, file.read()


def external(name, what, answer, verdict='ok', reason=None, **more):
    """Return a case whose "/x" is on another site."""
    more.setdefault('links', ('{other}/x', '/good'))
    more.setdefault('target', '{other}/x')
    return Case(name, what, answer, verdict=verdict, reason=reason, **more)


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def asked(method, *paths):
    """Check that the other site received exactly these requests with this method, in this order."""
    return lambda result: equal(result.other.paths(method), list(paths))


def never_asked(result):
    equal(result.other.requests, [])


def masked(result):
    for name, text in (('stdout', result.out), ('stderr', result.err), ('jsonl', result.jsonl)):
        true('s3cret' not in text, f'the password stands in {name}')


def few_requests(most):
    return lambda result: true(len(result.site.requests) <= most,
                               f'{len(result.site.requests)} requests')


def some_are(verdict, reason, least=1, pages=None):
    def check(result):
        found = [r for r in result.of('verdict')
                 if (r['verdict'], r['reason']) == (verdict, reason)]
        true(len(found) >= least, f'{len(found)} verdicts are {verdict}, {reason}')
        if pages:
            few_requests(pages)(result)
    return check


ONCE = ('--max-tries', '1')
HASTY = ('--timeout', '5', *ONCE)
LIMITED = ('--timeout', '20', '--max-time', '4', *ONCE)
TWO_PAGES = ('{site}/x', '{site}/good')
FORBID_ALL = response('User-agent: *\nDisallow: /\n', content_type='text/plain')
LONG = 'y' * 3000

CASES = [
    # ---- bodies --------------------------------------------------------------------------------
    Case('endless-page', 'a page without end: its beginning is searched',
         repeats(HEAD + b'\r\n', b'<p>' * 30000), searched=True, words='only in part'),
    Case('endless-page-fragment', 'nobody can know the ids of a page that was not searched',
         repeats(HEAD + b'\r\n', b'<p>' * 30000), links=('/x#f', '/good'), fragment='f',
         verdict='unchecked', reason='not-searched'),
    Case('endless-file', 'a file without end is there, and is not read to its end',
         repeats(b'HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n', bytes(65536)),
         searched=False),
    Case('endless-word', 'one tag without end',
         repeats(HEAD + b'\r\n<a href="', b'y' * 65536), searched=True, words='only in part'),
    Case('long-page', 'of a page longer than --max-body-size the beginning is searched, and it is not broken',
         html('<a href=/good?1>x</a>' + 'y' * (17 * MIB) + '<a href=/never>'), searched=True, words='only in part',
         answers={'/good?1': page()},
         check=lambda result: equal([p in result.site.paths() for p in ('/good?1', '/never')], [True, False])),
    Case('drip', 'a byte each ten seconds is no progress for five', drips(page(), 10), HASTY,
         'timeout', 'no-progress', r'\b5 s'),
    Case('drip-on', 'a byte each 0.1 s is progress; --max-time ends it',
         drips(HEAD + b'\r\n' + b'y' * 1000, 0.1), LIMITED, 'timeout', 'max-time', r'\b4 s'),
    Case('drip-head', 'the same in the head', drips(HEAD + b'X-Y: ' + b'y' * 1000, 0.1),
         LIMITED, 'timeout', 'max-time', r'\b4 s'),
    Case('slow-but-well', 'a page that takes longer than --timeout, but goes on, is well',
         drips(html('<a href=/good>x</a>'), 0.06), ('--timeout', '4'), searched=True),
    Case('zeros', 'ten megabytes of NUL as HTML', response(bytes(10 * MIB)), searched=True),
    Case('noise', 'all bytes there are, as HTML', response(bytes(range(256)) * 4096),
         searched=True),

    # ---- no answer -----------------------------------------------------------------------------
    Case('hang', 'the connection is accepted, and nothing comes', hangs(), HASTY,
         'timeout', 'no-progress', r'\b5 s'),
    Case('hang-in-head', 'half a head', hangs(b'HTTP/1.1 200 OK\r\nContent-'), HASTY,
         'timeout', 'no-progress', r'\b5 s'),
    Case('hang-in-body', 'half a page', hangs(page('/good')[:-40]), HASTY,
         'timeout', 'no-progress', r'\b5 s'),
    Case('close', 'the connection is closed at once', closes, verdict='error', reason='network'),
    Case('reset', 'reset before the head', resets(), verdict='error', reason='network'),
    Case('reset-in-head', 'reset in the head', resets(HEAD), verdict='error', reason='network'),
    Case('reset-in-body', 'reset in the body', resets(page('/good')[:-40]),
         verdict='error', reason='network'),
    Case('flaky', 'two resets, then a page', [resets(), resets(), page()]),
    external('refused', 'nobody listens', None, 'error', 'network', words='refused',
             links=('http://127.0.0.1:1/', '/good'), target='http://127.0.0.1:1/'),
    external('never-accepted', 'a connection that is never made', None, 'timeout', 'no-progress',
             options=HASTY, other='full'),
    external('no-host', 'the name of no host', None, 'error', 'network',
             words='resolve|no such host|not known|not found', seconds=20,
             links=('http://nowhere.invalid/', '/good'), target='http://nowhere.invalid/'),

    # ---- heads ---------------------------------------------------------------------------------
    Case('many-headers', 'five hundred headers are odd, and no error',
         response(b'', headers=[f'X-{n}: y' for n in range(500)])),
    Case('header-flood', 'ten thousand headers of a kilobyte',
         response(b'', headers=[f'X-{n}: {"y" * 1000}' for n in range(10000)]),
         verdict='error', reason='protocol', words='header'),
    Case('huge-header', 'a header of a megabyte', response(b'', headers=['X: ' + 'y' * MIB]),
         verdict='error', reason='protocol', words='header'),
    Case('endless-headers', 'headers without end', repeats(HEAD, b'X-Y: zzzzzzzz\r\n' * 1000),
         verdict='error', reason='protocol', words='header'),
    Case('endless-header', 'one header without end', repeats(HEAD + b'X-Y: ', b'z' * 65536),
         verdict='error', reason='protocol', words='header'),
    Case('nul-in-header', 'a NUL in a header', sends(HEAD + b'X-Y: a\0b\r\n\r\n'),
         verdict='error', reason='protocol'),
    Case('early-hints', 'answers before the answer',
         sends(b'HTTP/1.1 103 Early Hints\r\n\r\n' * 50 + page('/good'))),
    Case('endless-hints', 'answers before the answer without end',
         repeats(b'', b'HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n' * 10, 0.02),
         LIMITED, ('timeout', 'error'), ('max-time', 'protocol'),
         exit=BROKEN),
    Case('http-0.9', 'a page without a head', sends(b'<!DOCTYPE html><p>so it was in 1991'),
         verdict='error', reason='protocol'),
    Case('status-99', 'a status below 100', response(status='99 Odd'),
         verdict='error', reason='protocol'),
    Case('status-1000', 'a status of four digits', response(status='1000 Odd'),
         verdict='error', reason='protocol'),
    Case('status-words', 'a status that is no number', response(status='OK'),
         verdict='error', reason='protocol'),
    Case('http-9', 'a version that nobody knows', sends(b'HTTP/9.9 200 OK\r\n\r\n'),
         verdict='error', reason='protocol'),
    Case('ssh', 'another protocol', sends(b'SSH-2.0-OpenSSH_9.2\r\n\r\n'),
         verdict='error', reason='protocol'),
    Case('204', 'no content', response(status=204, content_type=None, length=False)),
    Case('206', 'a part, though the whole was asked for', page('/good', status=206)),
    Case('300', 'choices are no redirect, and no failure', page('/good', status=300), status=300),
    Case('404-accepted', 'a status that the user takes for well', NOT_FOUND, ('-a', '200..299,404')),
    Case('no-type', 'a page of no type that looks like HTML is searched', page('/good', content_type=None),
         searched=True),
    Case('no-type-binary', 'what looks like nothing is not, nor is it read for long',
         repeats(b'HTTP/1.1 200 OK\r\n\r\n', b'\0<a href=/never>' * 4096), searched=False),
    Case('no-type-by-bytes', 'it comes a byte at a time', drips(b'HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n<p><a href=/good>', 0.01),
         searched=True),

    # ---- lengths -------------------------------------------------------------------------------
    Case('chunk-words', 'a chunk whose size is no number',
         sends(HEAD + b'Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n'),
         verdict='error', reason='protocol'),
    Case('chunk-overflow', 'a chunk whose size fits no number',
         sends(HEAD + b'Transfer-Encoding: chunked\r\n\r\n' + b'F' * 17 + b'\r\nabc\r\n0\r\n\r\n'),
         verdict='error', reason='protocol'),
    Case('chunk-negative', 'a chunk whose size is negative',
         sends(HEAD + b'Transfer-Encoding: chunked\r\n\r\n-5\r\nabcde\r\n0\r\n\r\n'),
         verdict='error', reason='protocol'),
    Case('chunk-cut', 'the end of the connection instead of the last chunk: the connection broke',
         sends(HEAD + b'Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n'),
         verdict='error', reason='network'),
    Case('chunk-endless', 'chunks without end: as a page without end',
         repeats(HEAD + b'Transfer-Encoding: chunked\r\n\r\n', b'4000\r\n' + b'y' * 16384 + b'\r\n'),
         searched=True, words='only in part'),
    Case('length-too-long', 'less than was promised: the connection broke',
         sends(HEAD + b'Content-Length: 1000\r\n\r\n<p>'), verdict='error', reason='network'),
    Case('length-too-short', 'more than was promised is no answer to anything; the promise counts',
         sends(HEAD + b'Content-Length: 4\r\n\r\n<p>x<a href=/never>', close=False),
         check=lambda result: equal('/never' in result.site.paths(), False)),
    Case('length-twice', 'two lengths that differ: no way to know where the page ends (RFC 9112, 6.3)',
         sends(HEAD + b'Content-Length: 4\r\nContent-Length: 5\r\n\r\n<p>xy'),
         verdict='error', reason='protocol', words='length'),
    Case('length-list', 'the same in one header', sends(HEAD + b'Content-Length: 4, 5\r\n\r\n<p>xy'),
         verdict='error', reason='protocol', words='length'),
    Case('length-negative', 'a length below zero', sends(HEAD + b'Content-Length: -5\r\n\r\n<p>'),
         verdict='error', reason='protocol', words='length'),
    Case('length-words', 'a length that is no number', sends(HEAD + b'Content-Length: five\r\n\r\n<p>'),
         verdict='error', reason='protocol', words='length'),
    Case('two-answers', 'a second answer that nobody asked for is not that to the next request',
         sends(page('/good') + html('', status=404), close=False)),

    # ---- content encodings -----------------------------------------------------------------------
    Case('gzip', 'a page that is packed', encoded(gzip.compress(b'<p id=f><a href=/good>x</a>'), 'gzip'),
         links=('/x#f', '/good'), fragment='f', searched=True),
    Case('gzip-bomb', '200 KB that become 200 MB: the beginning is searched', bomb(200 * MIB),
         searched=True, words='only in part'),
    Case('gzip-bomb-twice', 'packed twice', bomb(500 * MIB, 2), searched=True, words='only in part'),
    Case('gzip-cut', 'half of what was packed: there, as in browsers, as far as it goes',
         encoded(gzip.compress(bytes(range(256)) * 99)[:200], 'gzip')),
    Case('gzip-noise', 'no gzip at all', encoded(b'<p>not packed at all, whatever they say', 'gzip'),
         verdict='error', reason='protocol'),
    Case('deflate-noise', 'no deflate at all', encoded(b'\xff\xff\xff not packed at all', 'deflate'),
         verdict='error', reason='protocol'),
    Case('gzip-a-hundred-times', 'a hundred layers are promised', encoded(b'y', ', '.join(['gzip'] * 100)),
         verdict='error', reason='protocol'),
    Case('unknown-encoding', 'an encoding that nobody knows: the page is taken as it is, as in browsers',
         encoded(b'<a href=/good?1>x</a>', 'utf-8'), searched=True, answers={'/good?1': page()},
         check=lambda result: equal(result.site.paths().count('/good?1'), 1)),
    Case('gzip-and-more', 'what follows the end of what was packed does not count',
         encoded(gzip.compress(b'<a href=/good?1>x</a>') + bytes(300000), 'gzip'), searched=True, answers={'/good?1': page()},
         check=lambda result: equal(result.site.paths().count('/good?1'), 1)),

    # ---- redirects -----------------------------------------------------------------------------
    Case('circle-1', 'a redirect to itself', redirect('/x'), verdict='broken', reason='redirect-circle',
         words='circle', check=few_requests(5)),
    Case('circle-2', 'two that point at each other', redirect('/y'), verdict='broken',
         reason='redirect-circle', words='circle', answers={'/y': redirect('/x')}),
    Case('circle-3', 'three', redirect('/y'), verdict='broken', reason='redirect-circle',
         words='circle', answers={'/y': redirect('/z'), '/z': redirect('/x')}),
    Case('circle-of-cookies', 'a redirect to itself until the cookie comes back, which is not sent',
         with_cookie('/x'), verdict='broken', reason='redirect-circle', words='cookie', check=few_requests(5)),
    Case('circle-of-cookies-kept', 'the same with --cookies', if_cookie(page('/good'), '/x'), ('--cookies',),
         searched=True, check=few_requests(5)),
    Case('circle-of-cookies-for-ever', 'the cookie comes back, and the circle is one', with_cookie('/x'),
         ('--cookies',), verdict='broken', reason='redirect-circle', words='circle', check=few_requests(5)),
    Case('circle-without-cookies', '--cookies, and none is set: it is asked once', redirect('/x'), ('--cookies',),
         verdict='broken', reason='redirect-circle', check=few_requests(4)),
    Case('circle-by-a-login', 'the cookie is set where the first leads, and back',
         if_header('cookie', 'a=b', page('/good'), redirect('/y')), ('--cookies',), searched=True,
         answers={'/y': with_cookie('/x')}, also=(('{site}/y', None, 'redirect', 'temporary'),),
         links=('/x', '/y', '/good'), check=few_requests(8)),
    Case('circle-by-a-check', 'the first sets it, and leads where it is looked at', if_cookie(page('/good'), '/y'),
         ('--cookies',), searched=True, answers={'/y': redirect('/x')}, check=few_requests(6)),
    Case('circle-that-opens-later', 'with the cookie, the second leads out of it', with_cookie('/y'), ('--cookies',),
         verdict='redirect', reason='temporary', answers={'/y': [redirect('/x'), page()]}),
    Case('circle-of-the-start', 'the start is behind a cookie', page(), ('--cookies',),
         index=if_cookie(page('/x', '/good'), '/')),
    external('circle-of-cookies-elsewhere', 'a browser may well get there', with_cookie('/y'), 'blocked', 'challenge',
             answers={'/y': redirect('/x')}, words='cookie'),
    external('circle-of-cookies-elsewhere-kept', 'the same with --cookies',
             if_header('cookie', 'a=b', page(), redirect('/y')), options=('--cookies',),
             answers={'/y': with_cookie('/x')}),
    external('circle-elsewhere', 'without a cookie, a circle is one', redirect('/x'), 'broken', 'redirect-circle'),
    Case('chain', 'more redirects than --max-redirect', redirect('/0'), ('--max-redirect', '5'),
         'broken', 'redirect-limit', 'redirects', answers={f'/{n}': redirect(f'/{n + 1}') for n in range(30)},
         check=few_requests(15)),
    Case('chain-endless', 'redirects without end, each to a new place',
         lambda connection, request: connection.sendall(redirect('/r/1')),
         verdict='broken', reason='redirect-limit', words='redirects',
         otherwise=lambda connection, request: connection.sendall(
             redirect(f'/r/{int(request.path[3:]) + 1}') if request.path[:3] == '/r/' else NOT_FOUND),
         check=few_requests(30)),
    *(Case(f'redirect-to-{scheme}', f'a redirect to {scheme}:', redirect(location), verdict='broken',
           reason='redirect-scheme', words=scheme)
      for scheme, location in (('mailto', 'mailto:x@example.org'), ('file', 'file:///etc/passwd'),
                               ('ftp', 'ftp://127.0.0.1:1/x'), ('javascript', 'javascript:alert(1)'),
                               ('data', 'data:text/html,x'))),
    Case('redirect-without-location', 'a redirect to nowhere', response(status=302), verdict='broken',
         reason='redirect-nowhere', words='nowhere|location'),
    Case('redirect-to-no-url', 'a Location that is no URL leads nowhere', redirect('http://['),
         verdict='broken', reason='redirect-nowhere'),
    Case('redirect-with-body', 'a redirect with an endless body is a redirect',
         repeats(b'HTTP/1.1 302 Found\r\nLocation: /good\r\nContent-Type: text/html\r\n\r\n', b'y' * 65536),
         verdict='redirect', reason='temporary'),
    Case('redirect-links', 'the body of a redirect is not searched',
         page('/never', status=301, headers=['Location: /good']), verdict='redirect', reason='permanent',
         check=lambda result: equal('/never' in result.site.paths(), False)),
    Case('redirect-not-ascii', 'a Location in UTF-8 is encoded as in a link', redirect('/ä'),
         verdict='redirect', reason='temporary', answers={'/%C3%A4': page()}),
    Case('redirect-to-gone', 'a redirect to what is not there is broken', redirect('/gone'),
         verdict='broken', reason='status', words='404'),
    Case('redirect-long', 'a redirect to a URL that is too long to be followed', redirect('/' + LONG),
         verdict='skipped', reason='length'),
    Case('redirect-private', 'a redirect to a private address',
         redirect('http://10.1.2.3/'), ('--exclude-private',), 'skipped', 'private'),
    external('private', 'private addresses, however written', None, 'skipped', 'private',
             options=('--exclude-private',), target='http://10.0.0.1/',
             links=('http://10.0.0.1/', 'http://192.168.1.1/', 'http://172.16.0.1/', 'http://[::1]/',
                    'http://169.254.169.254/', 'http://127.1:{port}/', 'http://0x7f.2/',
                    'http://localhost:{port}/', 'http://[fd00::1]/', 'http://[::ffff:10.0.0.1]/', '/good'),
             also=tuple((url, None, 'skipped', 'private') for url in (
                 'http://192.168.1.1/', 'http://172.16.0.1/', 'http://[::1]/', 'http://169.254.169.254/',
                 'http://127.0.0.1:{port}/', 'http://127.0.0.2/', 'http://localhost:{port}/',
                 'http://[fd00::1]/', 'http://[::ffff:a00:1]/')),
             check=never_asked),

    # ---- TLS -----------------------------------------------------------------------------------
    Case('tls-garbage', 'an alert of TLS where HTTP is spoken', sends(b'\x15\x03\x03\x00\x02\x02\x28' * 5),
         verdict='error', reason='protocol'),
    external('https-on-http', 'https to a server that speaks http', page(), 'error', 'tls',
             links=('https://127.0.0.1:{port}/x', '/good'), target='https://127.0.0.1:{port}/x'),
    external('self-signed', 'a certificate that nobody has signed', page(), 'error', 'tls',
             words='certificate', other='tls'),
    external('self-signed-insecure', 'the same with -k', page(), other='tls', options=('-k',)),

    external('tls-hangs', 'a server that never says hello', None, 'timeout', 'no-progress', options=HASTY,
             links=('https://127.0.0.1:{port}/x', '/good'), target='https://127.0.0.1:{port}/x',
             other='silent'),

    # ---- encodings -----------------------------------------------------------------------------
    Case('charset-header-wins', 'the header says UTF-8, the meta KOI8-R',
         html('<meta charset=koi8-r><a href="/ä">x</a>', content_type='text/html; charset=utf-8'),
         answers={'/%C3%A4': page()}, also=(('{site}/%C3%A4', None, 'ok', None),)),
    Case('utf-16-without-mark', 'UTF-16 by the header alone',
         response('<a href="/ä">x</a>'.encode('utf-16-le'), content_type='text/html; charset=utf-16le'),
         answers={'/%C3%A4': page()}, also=(('{site}/%C3%A4', None, 'ok', None),)),
    Case('utf-16-unknown', 'UTF-16 that nothing tells of is read as something else, without harm',
         response('<a href="/never">x</a>'.encode('utf-16-le')), searched=True),
    Case('utf-16-half', 'half a character at the end', searched=True,
         answer=response('\ufeff<a href="/good">😀'.encode('utf-16-le')[:-1])),
    Case('charset-unknown', 'a label that nobody knows',
         html('<a href="/ä">x</a>', content_type='text/html; charset=klingon'),
         answers={'/%C3%A4': page()}, also=(('{site}/%C3%A4', None, 'ok', None),)),
    Case('charset-long', 'a label of ten thousand letters', searched=True,
         answer=html('x', content_type='text/html; charset=' + 'k' * 10000)),
    Case('utf-7', 'an encoding that browsers refuse', searched=True,
         answer=html('+ADw-a href=/never+AD4-', content_type='text/html; charset=utf-7'),
         check=lambda result: equal('/never' in result.site.paths(), False)),

    # ---- pages ---------------------------------------------------------------------------------
    Case('long-attribute', 'a link of ten megabytes is too long to be followed',
         html(f'<a href="/{"y" * (10 * MIB)}">x</a><a href=/good>x</a>'), searched=True,
         check=some_are('skipped', 'length')),
    Case('million-links', 'a million links to as many places', html(''.join(
        f'<a href={n}>' for n in range(1000000))), ('--max-pages', '3'), seconds=20, jsonl=False,
         urls=1000000, open_links=1000000),
    Case('million-times', 'a million links to one place', html('<a href=x>' * 1000000), seconds=20,
         jsonl=False, open_links=1000000),
    Case('hundred-thousand-times', 'a hundred thousand links to one place are as many links, and one request',
         html('<a href=x>\n' * 100000), open_links=100000,
         check=lambda result: (equal(result.site.paths().count('/x'), 1),
                               equal(sum(r['text'] == 'x' for r in result.of('link')), 100000))),
    Case('attributes', '200,000 attributes', html(
        '<a ' + ' '.join(f'a{n}=b' for n in range(200000)) + ' href=/good>x</a>'), searched=True),
    Case('nested', '100,000 nested tags', html('<div>' * 100000 + '<a href=/good>x</a>'), searched=True),
    Case('nested-svg', 'the same in SVG', html('<svg>' + '<g>' * 100000 + '<a href=/good>x</a>'), searched=True),
    Case('nested-templates', 'the same of templates', html('<template>' * 100000 + '<a href=/never>'), searched=True),
    Case('formatting', 'what makes a parser copy elements again and again',
         html('<p>' + '<b><i><a href=/good>' * 2000 + '</p><p>' * 2000), searched=True),
    Case('ids', 'a hundred thousand ids', html(''.join(f'<p id=i{n}>' for n in range(100000))),
         links=('/x#i99999', '/x#i100000', '/good'), fragment='i99999', searched=True, exit=BROKEN,
         also=(('{site}/x', 'i100000', 'fragment', 'no-such-id'),)),
    Case('srcset', 'a srcset of a hundred thousand images',
         html('<img srcset="' + ', '.join(['/good 1x'] * 100000) + '">'), searched=True),
    Case('refresh-to-itself', 'a page that reloads itself',
         html('<meta http-equiv=refresh content="0">', headers=['Refresh: 0']), searched=True,
         check=few_requests(5)),
    Case('long-link', 'a link that is too long to be followed', links=('/' + LONG, '/x', '/good'),
         answer=page(), target='{site}/' + LONG, verdict='skipped', reason='length'),
    Case('long-link-allowed', 'the same with a higher limit', links=('/' + LONG, '/x', '/good'),
         answer=page(), target='{site}/' + LONG, answers={'/' + LONG: page()},
         options=('--max-url-length', '4000')),
    Case('file-link', 'a link to a file from a site', page('file:///etc/passwd'),
         also=(('file:///etc/passwd', None, 'skipped', 'scheme'),)),
    Case('password', 'a password in a URL is never told', page(),
         ('-v',), links=('http://user:s3cret@127.0.0.1:{port}/x', '/y', '/good'), target='{site}/good',
         answers={'/y': redirect('http://user:s3cret@127.0.0.1:1/')}, exit=BROKEN, check=masked),

    # ---- traps ---------------------------------------------------------------------------------
    Case('a-for-ever', '<a href="a/"> for ever', otherwise=every_path(lambda path: ['a/']),
         answer=page('a/'), links=('/x/', '/good'), target='{site}/x/', urls=100,
         check=some_are('skipped', 'trap-repeat', pages=30)),
    Case('deepdir', '/deepdir/a/a/a for ever, and a way back', otherwise=every_path(lambda path: ['a/', '../', '/good']),
         links=('/deepdir/', '/good'), target='{site}/deepdir/',
         check=some_are('skipped', 'trap-repeat', pages=30)),
    Case('two-in-turn', 'a/b/a/b/ for ever', links=('/t/', '/good'), target='{site}/t/',
         otherwise=every_path(lambda path: ['b/' if path.endswith('a/') else 'a/']),
         check=some_are('skipped', 'trap-repeat', pages=40)),
    Case('deep-for-ever', 'directories without end, each new: the URLs become too long',
         links=('/t/', '/good'), target='{site}/t/', urls=1000, seconds=20,
         otherwise=every_path(lambda path: [f'{len(path)}/']), check=some_are('skipped', 'length', pages=800)),
    Case('no-trap', 'the rule can be switched off', links=('/t/', '/good'), target='{site}/t/',
         otherwise=every_path(lambda path: ['a/'] if len(path) < 100 else []), options=('--no-trap', 'repeat'),
         check=lambda result: true(len(result.site.requests) > 45, 'it was skipped all the same')),
    Case('growing-query', 'a query that grows for ever', links=('/t?q', '/good'), target='{site}/t?q', urls=1000,
         otherwise=every_path(lambda path: [path + '&amp;morequery']), check=some_are('skipped', 'length', pages=400)),
    Case('calendar', 'a calendar without end', every_path(next_days), links=('/x?date=2026-01-15', '/good'),
         otherwise=every_path(next_days), target='{site}/x?date=2026-01-15', seconds=20, urls=2000,
         check=some_are('skipped', 'trap-calendar', pages=1500)),
    Case('sessions', 'a new session id in each link', links=('/x/list', '/x/item', '/good'),
         otherwise=every_path(sessions()), target='{site}/x/list',
         check=some_are('skipped', 'trap-session', 2, pages=12)),

    # ---- who may see it --------------------------------------------------------------------------
    Case('cookie', 'a page for who sends the cookie back', if_header('cookie', 'a=b', page(), html('', status=403)),
         links=('/x', '/good'), verdict='broken', reason='status', words='403', status=403,
         index=page('/x', '/good', headers=['Set-Cookie: a=b'])),
    Case('cookie-kept', 'the same with --cookies', if_header('cookie', 'a=b', page(), html('', status=403)),
         ('--cookies',), index=page('/x', '/good', headers=['Set-Cookie: a=b'])),
    Case('cookie-given', 'the same with -b', if_header('cookie', 'a=b', page(), html('', status=403)),
         ('-b', 'a=b')),
    Case('cookie-given-and-kept', 'that of -b goes along with those that the server sets',
         if_header('cookie', 'c=d; a=b', page(), html('', status=403)), ('-b', 'a=b', '--cookies'),
         index=page('/x', '/good', headers=['Set-Cookie: c=d'])),
    Case('cookie-header-and-kept', 'the same of -H, and of one name the newer counts',
         if_header('cookie', 'c=d; a=b', page(), html('', status=403)), ('-H', 'cookie: c=old; a=b', '--cookies'),
         index=page('/x', '/good', headers=['Set-Cookie: c=d'])),
    Case('401', 'a page for who has a password', verdict='broken', reason='status', words='401', status=401,
         answer=html('', status=401, headers=['WWW-Authenticate: Basic realm=x'])),
    Case('401-with-password', 'the same with the password', options=('-u', 'user:s3cret', '-v'), check=masked,
         answer=if_header('authorization', 'Basic dXNlcjpzM2NyZXQ=', page(), html('', status=401))),
    Case('403', 'forbidden, on the site: broken', html('', status=403), verdict='broken', reason='status',
         words='403 Forbidden', status=403),
    *(external(f'{status}-elsewhere', 'a human may well get there', html('', status=status), 'blocked',
               'status', words=str(status), status=status) for status in (401, 403, 407, 451, 999)),
    Case('999', 'the same status on the site', html('', status=999), verdict='broken', reason='status',
         words='999', status=999),
    external('challenge', 'a question whether one is human', html('Just a moment...', status=403, headers=[
        'cf-mitigated: challenge', 'Server: cloudflare']), 'blocked', 'challenge', status=403),
    Case('challenge-on-site', 'the same on the site', html('', status=403, headers=['cf-mitigated: challenge']),
         verdict='broken', reason='status', status=403),
    external('404-elsewhere', 'not there', NOT_FOUND, 'broken', 'status', words='404 Not Found', status=404,
             check=lambda result: equal(result.other.paths(), ['/x', '/x'])),

    # ---- later ---------------------------------------------------------------------------------
    Case('429', 'too many requests for ever', retry_after('1', 429), verdict='broken', reason='status',
         words='429', status=429, seconds=20, check=lambda result: true(
             2 < result.site.paths().count('/x') < 30, 'it is not asked again')),
    external('429-elsewhere', 'the same elsewhere', retry_after('1', 429), 'blocked', 'status', words='429',
             status=429),
    Case('503-seconds', 'unavailable for ever', retry_after('1'), verdict='broken', reason='status', words='503',
         status=503, check=lambda result: true(
             2 < result.site.paths().count('/x') < 30, 'it is not asked again')),
    Case('503-date', 'until a date', in_a_second, verdict='broken', reason='status', words='503', status=503),
    Case('503-nonsense', 'until nonsense', retry_after('soon'), verdict='broken', reason='status', words='503',
         status=503),
    Case('503-negative', 'until the day before yesterday', retry_after('-172800'), verdict='broken',
         reason='status', words='503', status=503),
    Case('503-year', 'for a year: not waited for, and not asked again', retry_after('31536000'), ('--timeout', '5'),
         'broken', 'status', '503', status=503,
         check=lambda result: equal(result.site.paths().count('/x'), 1)),
    Case('503-overflow', 'for longer than any clock runs', retry_after('9' * 40), verdict='broken', reason='status',
         words='503', status=503),
    Case('503-then-well', 'for a second', [retry_after('1'), page()]),
    Case('500-then-well', 'a server that stumbles once', [html('', status=500), page()]),

    # ---- robots.txt ----------------------------------------------------------------------------
    Case('robots-all', 'all is forbidden: there is nothing to crawl, and the user is told why',
         page(), verdict='skipped', reason='robots', exit=NOTHING, target='{site}/',
         links=(), answers={'/robots.txt': FORBID_ALL},
         check=lambda result: (equal(result.site.paths(), []),
                               true('robots' in result.err + result.out, 'it does not tell of robots.txt'))),
    Case('robots-some', 'some is forbidden', page(), verdict='skipped', reason='robots',
         answers={'/robots.txt': response('User-agent: *\nDisallow: /x\n', content_type='text/plain')},
         check=lambda result: equal('/x' in result.site.paths(), False)),
    Case('robots-us', 'coil-crawl is forbidden by its name', page(), verdict='skipped', reason='robots',
         answers={'/robots.txt': response(
             'User-agent: *\nAllow: /\nUser-agent: coil-crawl\nDisallow: /x\n', content_type='text/plain')}),
    Case('robots-ignored', 'the user knows better', page(), ('--no-robots',), answers={'/robots.txt': FORBID_ALL}),
    Case('robots-403', 'a robots.txt that is not to be had forbids nothing', page(),
         answers={'/robots.txt': html('', status=403)}),
    Case('robots-500', 'a robots.txt that fails forbids all (RFC 9309, 2.3.1.4)', page(), ONCE, 'error', 'status',
         words='500', status=500, exit=NOTHING, target='{site}/', links=(),
         answers={'/robots.txt': html('', status=500)}),
    Case('robots-hangs', 'no answer is one that fails', page(), HASTY, 'timeout', 'no-progress', exit=NOTHING,
         target='{site}/', links=(), answers={'/robots.txt': hangs()}),
    Case('robots-five-redirects', 'five redirects are followed', page(), verdict='skipped', reason='robots',
         answers={'/robots.txt': redirect('/r1'), **{f'/r{n}': redirect(f'/r{n + 1}') for n in range(1, 5)},
                  '/r5': response('User-agent: *\nDisallow: /x\n', content_type='text/plain')}),
    Case('robots-six-redirects', 'six are too many: there is none', page(),
         answers={'/robots.txt': redirect('/r1'), **{f'/r{n}': redirect(f'/r{n + 1}') for n in range(1, 6)},
                  '/r6': FORBID_ALL}),
    Case('robots-circle', 'a circle: there is none', page(), answers={'/robots.txt': redirect('/robots.txt')}),
    Case('robots-long', 'ten megabytes, of which the first 500 KiB count', page(), verdict='skipped',
         reason='robots', links=('/x', '/y', '/good'), also=(('{site}/y', None, 'ok', None),),
         answers={'/y': page(), '/robots.txt': response(
             'User-agent: *\nDisallow: /x\n' + '# nothing\n' * MIB + 'Disallow: /y\n', content_type='text/plain')}),
    Case('robots-cut', 'a line that goes on beyond 500 KiB is dropped: half of it forbids more', page(),
         answers={'/robots.txt': response(
             b'User-agent: *\n'.ljust(500 * 1024 - len('\nDisallow: /'), b'#') + b'\nDisallow: /private/\n',
             content_type='text/plain')}),
    Case('robots-endless', 'a robots.txt without end', page(), verdict='skipped', reason='robots',
         answers={'/robots.txt': repeats(
             b'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /x\n', b'# y\n' * 9999)}),
    Case('robots-noise', 'no robots.txt at all', page(), answers={'/robots.txt': response(bytes(range(256)) * 999)}),
    Case('robots-delay', 'on loopback a Crawl-delay is dropped; its rules are not', page(), verdict='skipped',
         reason='robots', answers={'/robots.txt': response(
             'User-agent: *\nCrawl-delay: 60\nDisallow: /x\n', content_type='text/plain')}),
    external('robots-elsewhere', 'a single link elsewhere is no crawl: its robots.txt is not asked', page(),
             answers={'/y': page()},
             check=lambda result: equal([r.path for r in result.other.requests], ['/x'])),

    # ---- links to other sites --------------------------------------------------------------------
    external('head', 'HEAD is enough', page(), check=asked(None, '/x')),
    external('head-once', 'a target is asked for once, whoever links to it', page(), links=(
        '{other}/x', '{other}/x', '/y', '/good'), check=asked(None, '/x'),
        index=None, answers={'/y': page('/good')}),
    *(external(f'head-{status}', f'{status} to HEAD, 200 to GET', by_method(html('', status=status), page()),
               check=lambda result: equal([r.method for r in result.other.requests], ['HEAD', 'GET']))
      for status in (400, 403, 404, 405, 501)),
    external('head-hangs', 'no answer to HEAD', by_method(hangs(), page()), options=('--timeout', '5')),
    external('head-closes', 'HEAD ends the connection', by_method(closes, page())),
    external('head-with-body', 'a body that HEAD must not have', by_method(sends(page(), close=False), page())),
    external('get-endless', 'GET is cut off after the head',
             by_method(html('', status=405), repeats(HEAD + b'\r\n', b'y' * 65536)), seconds=5),
    external('get-mode', 'GET at once', page(), options=('--external', 'get'), check=asked('HEAD')),
    external('skip-mode', 'not at all', page(), 'skipped', 'external', options=('--external', 'skip'),
             check=never_asked),
    external('fragment-elsewhere', 'an id elsewhere is not looked for', page(), 'unchecked', 'external-fragment',
             links=('{other}/x#f', '/good'), fragment='f'),
    external('fragment-elsewhere-all', 'but with --fragments all', html('<p id=f>'), options=('--fragments', 'all'),
             links=('{other}/x#f', '{other}/x#g', '/good'), fragment='f', exit=BROKEN,
             also=(('{other}/x', 'g', 'fragment', 'no-such-id'),)),
    external('redirect-elsewhere', 'a redirect elsewhere', redirect('/good'), 'redirect', 'temporary'),
    external('circle-elsewhere', 'a circle elsewhere', redirect('/x'), 'broken', 'redirect-circle', words='circle'),
    external('not-followed', 'pages elsewhere are not searched', page('/never'),
             check=lambda result: equal('/never' in result.other.paths(), False)),
]
