"""Compare coil-crawl's JSONL with verdicts.mjs: the same links, verdicts, pages and redirects.

The records are compared as multisets: a link that occurs twice counts twice, but the order does not matter, because it
depends on the network.

    verdicts.py BUILD [FOLDER...]   the part of tests/suites/crawl-sets/run --all, or the sites in these
                                    folders instead; parse5 is in BUILD/crawl-sets
"""

import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SHOWN = 10

# Options of a crawl: --max-depth, --external (outside.py answers for other sites), and --fragments.
SKIPPED, TWO_DEEP = ('Infinity', 'skip', 'site'), ('2', 'skip', 'site')
CHECKED, SEARCHED = ('Infinity', 'head', 'site'), ('Infinity', 'head', 'all')
# Each site has a name, a folder, options, and the minimum numbers of pages, links and verdicts.
SITES = [
    ('everything', HERE / 'everything', SKIPPED, (300, 860, 520)),
    ('everything, 2 deep', HERE / 'everything', TWO_DEEP, (240, 820, 520)),
    ('everything, and links that leave it', HERE / 'everything', CHECKED, (300, 860, 520)),
    ('everything, and their fragments', HERE / 'everything', SEARCHED, (300, 860, 520)),
    ('sqlite3-doc', '/usr/share/doc/sqlite3', CHECKED, (1200, 50000, 11000)),
    ('git-doc', '/usr/share/doc/git-doc', CHECKED, (210, 3500, 550)),
    ('postgresql-doc-15', '/usr/share/doc/postgresql-doc-15/html', CHECKED, (1100, 28000, 4500)),
    ('cmake-doc', '/usr/share/doc/cmake-data/html', CHECKED, (3600, 105000, 21000)),
]
# The minimum numbers for checks of a whole folder without a server.
FILES = {
    'everything': (59, 610, 500),
    'sqlite3-doc': (750, 75000, 11500),
    'git-doc': (230, 3600, 600),
    'postgresql-doc-15': (1100, 28000, 4500),
    'cmake-doc': (1850, 105000, 21000),
}

# To save time, CI skips the largest package. Each other package is checked either with or without a server.
RARELY_SERVED = {'cmake-doc', 'postgresql-doc-15'}
RARELY_WITHOUT_A_SERVER = {'cmake-doc', 'git-doc', 'sqlite3-doc'}

# The members of each record, as described in docs/design/checker.md.
MEMBERS = {
    'start': ['type', 'schema', 'version', 'urls', 'time'],
    'page': ['type', 'url', 'status', 'content_type', 'encoding', 'size', 'depth', 'tries',
             'links', 'searched'],
    'answer': ['type', 'url', 'status', 'at', 'seconds', 'bytes', 'tries'],
    'link': ['type', 'page', 'text', 'line', 'column', 'element', 'attribute', 'target',
             'fragment'],
    'redirect': ['type', 'url', 'status', 'location', 'target'],
    'verdict': ['type', 'target', 'fragment', 'verdict', 'reason', 'status', 'message'],
    'summary': ['type', 'urls', 'pages', 'links', 'targets', 'verdicts', 'verdict_urls', 'verdict_links',
                'bytes', 'seconds', 'exit'],
}
COMPARED = {
    'page': ['url', 'status', 'links', 'searched'],
    'link': MEMBERS['link'][1:],
    'redirect': MEMBERS['redirect'][1:],
    'verdict': ['target', 'fragment', 'verdict', 'reason', 'status'],
}
FAILING = {'broken', 'fragment', 'error', 'timeout'}


class Crawl:
    """Run coil-crawl, and store its exit status and the records that it writes as lines of JSON."""

    def __init__(self, build, url, *options, proxy=None):
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith('_proxy')}
        if proxy is not None:
            environment |= {'http_proxy': proxy, 'https_proxy': proxy, 'no_proxy': '127.0.0.1'}
        with tempfile.TemporaryDirectory() as folder:
            jsonl = pathlib.Path(folder) / 'crawl.jsonl'
            self.status = subprocess.run(
                [build / 'crawler/coil-crawl', '--no-config', '-f', f'jsonl:{jsonl}', *options, url],
                stdout=subprocess.DEVNULL, timeout=300, env=environment).returncode
            if not jsonl.exists():
                raise RuntimeError(f'coil-crawl exited with {self.status} and wrote no JSONL')
            # splitlines() would split at U+2028, which may occur in a string.
            self.records = [json.loads(line)
                            for line in jsonl.read_text('utf-8').split('\n')[:-1]]
        self.by_type = collections.defaultdict(list)
        for record in self.records:
            self.by_type[record['type']].append(record)


def mistakes_of_form(crawl):
    """Yield a message for each record with wrong members, and for each contradiction between the summary and the
    records."""
    if not crawl.records:
        yield 'there are no records'
        return
    for record in crawl.records:
        if sorted(record) != sorted(MEMBERS[record['type']]):
            yield f'a record with unexpected members: {record}'
    if [record['type'] for record in crawl.records].count('start') != 1 or \
            crawl.records[0]['type'] != 'start':
        yield 'the first record must be the only start record'
    summary = crawl.records[-1]
    if summary['type'] != 'summary' or len(crawl.by_type['summary']) != 1:
        yield 'the last record must be the only summary'
        return
    verdicts = collections.Counter(record['verdict'] for record in crawl.by_type['verdict'])
    counts = {verdict: n for verdict, n in summary['verdicts'].items() if n > 0}
    if counts != dict(verdicts):
        yield f'verdicts {dict(verdicts)}, and the summary says {counts}'
    if summary['links'] != len(crawl.by_type['link']):
        yield f'{len(crawl.by_type["link"])} links, and the summary says {summary["links"]}'
    if summary['exit'] != crawl.status:
        yield f'exit status {crawl.status}, and the summary says {summary["exit"]}'
    if crawl.status != (2 if FAILING & set(verdicts) else 0):
        yield f'exit status {crawl.status} with {dict(verdicts)}'


def row(record, members):
    return tuple(record[member] for member in members)


def target_of(link):
    """Return the key under which the link's verdict is stored. For an invalid URL, the key is the text as written."""
    return (link['text'], None) if link['target'] is None else \
        (link['target'], link['fragment'])


def difference(what, ours, theirs):
    """Print some of the records that only one side has. Returns the number of all such records."""
    for name, only in (('coil-crawl', ours - theirs), ('the oracle', theirs - ours)):
        for each, n in list(sorted(only.items(), key=repr))[:SHOWN]:
            print(f'  {what}: only {name} has {each}' + (f', {n} times' if n > 1 else ''))
        if len(only) > SHOWN:
            print(f'  {what}: and {len(only) - SHOWN} more only {name} has')
    return sum(((ours - theirs) + (theirs - ours)).values())


def multiset(records):
    return collections.Counter(row(record, COMPARED[record['type']]) for record in records)


def joined(links, verdicts):
    """Return each link with the verdict of its target."""
    known = {(target, fragment): (verdict, reason)
             for target, fragment, verdict, reason, _ in verdicts}
    return collections.Counter(
        (*row(link, COMPARED['link']), *known.get(target_of(link), ('none', None)))
        for link in links)


def oracle(parse5, site, origin, *options):
    """Return the expected records by type, as dictionaries."""
    done = subprocess.run(['node', HERE / 'verdicts.mjs', parse5, site, origin, *options],
                          check=True, stdout=subprocess.PIPE, timeout=300, encoding='utf-8')
    result = collections.defaultdict(list)
    for line in done.stdout.split('\n')[:-1]:
        kind, *values = json.loads(line)
        result[kind].append({'type': kind, **dict(zip(COMPARED[kind], values, strict=True))})
    return result


def take_any(verdicts, theirs):
    """Return coil-crawl's verdicts, with the status "any" where verdicts.mjs has the status "any"."""
    is_open = {(record['target'], record['fragment']) for record in theirs
               if record['status'] == 'any'}
    return [{**record, 'status': 'any'}
            if (record['target'], record['fragment']) in is_open else record
            for record in verdicts]


def compare(crawl, theirs):
    """Print the first differences of each kind. Returns the number of all differences."""
    ours = {**crawl.by_type,
            'verdict': take_any(crawl.by_type['verdict'], theirs['verdict'])}
    mistakes = list(mistakes_of_form(crawl))
    for mistake in mistakes[:SHOWN]:
        print(f'  {mistake}')
    differences = len(mistakes)
    for kind in ('page', 'redirect', 'verdict'):
        differences += difference(kind, multiset(ours.get(kind, [])), multiset(theirs[kind]))
    differences += difference(
        'link', joined(ours.get('link', []), multiset(ours['verdict'])),
        joined(theirs['link'], multiset(theirs['verdict'])))
    return differences


def print_result(name, crawl, differences, floors):
    """Print the result. Returns true if nothing differs and enough records were compared."""
    counts = [len(crawl.by_type[kind]) for kind in ('page', 'link', 'verdict')]
    print('%s: %d pages, %d links, %d verdicts compared, %d differences' %
          (name, *counts, differences))
    enough = all(n >= floor for n, floor in zip(counts, floors, strict=True))
    if not enough:
        print(f'{name}: expected at least {floors}')
    return enough and differences == 0


def server_of(build, site):
    if (site / 'answers.json').exists():
        return [sys.executable, HERE / 'serve.py', site]
    return [build / 'examples/httpd', site]


@contextlib.contextmanager
def serving(command):
    """Start the server. Yields its origin."""
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as server:
        try:
            yield 'http://' + server.stdout.readline().removeprefix('listening on ').strip()
        finally:
            server.terminate()


def options_of(how):
    depth, external, fragments = how
    return ['--external', external, '--fragments', fragments, '--max-tries', '1', '-k',
            *(['--max-depth', depth] if depth != 'Infinity' else [])]


def check_site(build, parse5, name, site, how, floors):
    """Return true if links, verdicts, pages and redirects agree and there are enough of them."""
    with serving(server_of(build, site)) as origin, \
            serving([sys.executable, HERE / 'outside.py']) as proxy:
        crawl = Crawl(build, origin + '/', *options_of(how), proxy=proxy)
    theirs = oracle(parse5, site, origin, *how)
    differences = compare(crawl, theirs)
    return print_result(name, crawl, differences, floors)


def check_files(build, parse5, name, site, floors):
    """Check all pages in the folder without a server, and return true if the results are as expected."""
    crawl = Crawl(build, site, '--external', 'skip')
    differences = compare(crawl, oracle(parse5, site, 'file:'))
    return print_result(name + ', without a server', crawl, differences, floors)


def check_sites(build, parse5, everything=True):
    """Check all sites. Returns the list of results, and the number of missing sites.

    If `everything` is false, checks that take too long for CI are skipped.
    """
    sites = [(name, pathlib.Path(site), *rest) for name, site, *rest in SITES]
    there = [site for site in sites if (site[1] / 'index.html').exists()]
    for name, *_ in [site for site in sites if site not in there]:
        print(f'skipped: {name} is not installed')
    results = [check_site(build, parse5, *site) for site in there
               if everything or site[0] not in RARELY_SERVED]
    results += [check_files(build, parse5, name, site, FILES[name])
                for name, site, *_ in there
                if name in FILES and (everything or name not in RARELY_WITHOUT_A_SERVER)]
    return results, len(sites) - len(there)


def main(build, *folders):
    build = pathlib.Path(build).resolve()
    parse5 = build / 'crawl-sets'
    if not folders:
        return all(check_sites(build, parse5)[0])
    return all([check_site(build, parse5, folder, pathlib.Path(folder), SKIPPED, (1, 0, 1))
                for folder in folders])


if __name__ == '__main__':
    sys.exit(not main(*sys.argv[1:]))
