#!/usr/bin/env python3
"""foreign.py BUILD [NAME...] - test third-party libraries in 20 tasks of one thread. foreign.py --update BUILD -
update the table in docs/manual/libraries.md.

For each library that is installed, start a server in a temporary folder and run tests/suites/posix/foreign/NAME
against it. Libraries that are not installed are skipped with a message. Each program prints its row of the manual's
table. If the row mentions an option of the library, the manual must describe the option. Ends with `N passed, N
failed`.
"""

import contextlib
import io
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import ldap
import libraries
import mariadb
import mongodb
from libraries import Skip

PATH = os.environ['PATH'] + ':/usr/sbin:/sbin'


def find(program):
    found = shutil.which(program, path=PATH)
    if found is None:
        raise Skip(f'{program} is not installed')
    return found


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as listener:
        return listener.getsockname()[1]


def wait_for_port(port, process, log):
    for _ in range(600):
        with contextlib.suppress(OSError), \
                socket.create_connection(('127.0.0.1', port)):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f'{log}: the server did not start: ' + log.read_text())


@contextlib.contextmanager
def listening(command, folder, stop=signal.SIGTERM, port=None, **options):
    log = folder / 'server.log'
    with libraries.server(command, stop, log, **options) as process:
        wait_for_port(port, process, log)
        yield {'FOREIGN_SERVER': str(port)}


def quietly(*command, **options):
    subprocess.run([str(c) for c in command], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


@contextlib.contextmanager
def mariadb_protocol(_folder):
    with mariadb.listening() as port:
        yield {'FOREIGN_SERVER': str(port)}


@contextlib.contextmanager
def ldap_protocol(_folder):
    with ldap.listening() as port:
        yield {'FOREIGN_SERVER': str(port)}


@contextlib.contextmanager
def mongodb_protocol(_folder):
    with mongodb.listening() as port:
        yield {'FOREIGN_SERVER': str(port)}


@contextlib.contextmanager
def kerberos(folder):
    """Run a key distribution centre with the realm TEST, a user and a service."""
    kdc, util, admin = find('krb5kdc'), find('kdb5_util'), find('kadmin.local')
    port = free_port()
    (folder / 'kdc.conf').write_text(
        f'[kdcdefaults]\n kdc_listen = ""\n kdc_tcp_listen = 127.0.0.1:{port}\n'
        f'[realms]\n TEST = {{\n  database_name = {folder}/principal\n'
        f'  key_stash_file = {folder}/stash\n }}\n')
    (folder / 'krb5.conf').write_text(
        '[libdefaults]\n default_realm = TEST\n udp_preference_limit = 1\n'
        ' dns_lookup_kdc = false\n dns_canonicalize_hostname = false\n rdns = false\n'
        '[domain_realm]\n localhost = TEST\n')
    environment = dict(os.environ, KRB5_CONFIG=str(folder / 'krb5.conf'),
                       KRB5_KDC_PROFILE=str(folder / 'kdc.conf'))
    quietly(util, 'create', '-s', '-r', 'TEST', '-P', 'master', env=environment)
    for query in 'addprinc -pw secret user', 'addprinc -randkey service/localhost', \
            f'ktadd -k {folder}/keytab service/localhost':
        quietly(admin, '-r', 'TEST', '-q', query, env=environment)
    with listening([kdc, '-n', '-r', 'TEST', '-P', folder / 'pid'], folder, port=port,
                   env=environment) as found:
        yield {**found, 'KRB5_CONFIG': str(folder / 'krb5.conf'), 'KRB5CCNAME': 'MEMORY:',
               'KRB5_KTNAME': str(folder / 'keytab')}


@contextlib.contextmanager
def slapd(folder):
    """Run OpenLDAP's server, with a user who may log in with SASL."""
    program, add = find('slapd'), find('slapadd')
    port = free_port()
    (folder / 'data').mkdir()
    (folder / 'slapd.conf').write_text(
        'include /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\n'
        f'moduleload back_mdb\npidfile {folder}/pid\nsasl-host localhost\n'
        'sasl-auxprops slapd\nsasl-secprops none\n'
        'authz-regexp uid=([^,]*),cn=.*,cn=auth cn=$1,dc=test\n'
        f'database mdb\nsuffix dc=test\ndirectory {folder}/data\n')
    (folder / 'entries').write_text(
        'dn: dc=test\nobjectClass: dcObject\nobjectClass: organization\ndc: test\no: test\n\n'
        'dn: cn=user,dc=test\nobjectClass: person\ncn: user\nsn: user\n'
        'userPassword: secret\n')
    quietly(add, '-f', folder / 'slapd.conf', '-l', folder / 'entries')
    with listening([program, '-d', '0', '-f', folder / 'slapd.conf', '-h',
                    f'ldap://127.0.0.1:{port}'], folder, port=port) as found:
        yield found


@contextlib.contextmanager
def sshd(folder):
    server, keygen = find('sshd'), find('ssh-keygen')
    for name in 'host_key', 'key':
        quietly(keygen, '-q', '-t', 'ecdsa', '-m', 'PEM', '-N', '', '-f', folder / name)
    shutil.copy(folder / 'key.pub', folder / 'authorized')
    if os.geteuid() == 0:
        pathlib.Path('/run/sshd').mkdir(exist_ok=True)
    port = free_port()
    (folder / 'config').write_text(
        f'Port {port}\nListenAddress 127.0.0.1\nHostKey "{folder}/host_key"\n'
        f'AuthorizedKeysFile "{folder}/authorized"\nPidFile none\nStrictModes no\n'
        'UsePAM no\nPermitRootLogin yes\nMaxStartups 100\nLoginGraceTime 200\n'
        f'SetEnv "HOME={folder}"\n')  # the user's .bashrc may take seconds
    with listening([server, '-D', '-e', '-f', folder / 'config'], folder,
                   port=port) as environment:
        yield {**environment, 'SSH_USER': pwd.getpwuid(os.geteuid()).pw_name,
               'SSH_KEY': str(folder / 'key')}


@contextlib.contextmanager
def git(folder):
    program = find('git')
    repository = folder / 'repository'
    who = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@localhost']
    environment = {k: v for k, v in os.environ.items() if not k.startswith('GIT_')}
    environment |= {'GIT_CONFIG_GLOBAL': '/dev/null', 'HOME': str(folder)}
    quietly(program, 'init', '-q', repository, env=environment)
    (repository / 'file').write_bytes(os.urandom(300000))
    quietly(program, 'add', 'file', cwd=repository, env=environment)
    quietly(program, *who, 'commit', '-q', '-m', 'one', cwd=repository, env=environment)
    port = free_port()
    command = [program, 'daemon', f'--base-path={folder}', '--export-all',
               '--listen=127.0.0.1', f'--port={port}', '--max-connections=100']
    with listening(command, folder, port=port, env=environment) as found:
        yield {**found, 'FOREIGN_FOLDER': str(folder), 'HOME': str(folder)}


@contextlib.contextmanager
def slow_http(folder):
    with libraries.slow_http(folder) as found:
        yield {'FOREIGN_SERVER': found['HTTP_SERVER'].rsplit(':', 1)[1].rstrip('/')}


@contextlib.contextmanager
def lua(folder):
    if not list(pathlib.Path('/usr').glob('lib/*/lua/5.4/socket/core.so')):
        raise Skip('luasocket is not installed')
    with slow_http(folder) as found:
        yield found


@contextlib.contextmanager
def nothing(folder):
    yield {'FOREIGN_FOLDER': str(folder)}


SERVERS = {'libldap': ldap_protocol, 'libmariadb': mariadb_protocol, 'libssh2': sshd, 'libgit2': git, 'lua': lua,
           'sqlite': nothing, 'zeromq': nothing, 'python': nothing, 'glib': nothing, 'gio': slow_http, 'libxml2': slow_http,
           'tcl': slow_http, 'rust': nothing, 'channel': nothing, 'guile': slow_http,
           'ruby': nothing, 'liburing': nothing, 'magick': nothing, 'mongoc': mongodb_protocol,
           'gssapi': kerberos, 'sasl': slapd, 'nss': nothing}


MANUAL = pathlib.Path(__file__).resolve().parents[3] / 'docs' / 'manual' / 'libraries.md'
HEAD = '| library | version | in tasks | stack | tested |\n|---|---|---|---|---|\n'
ROW = re.compile(r'^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| (\d+ KiB) \| ([^|]+) \|$', re.M)


def is_in_manual(row):
    """Return true if the manual has this row. The version and the stack size are not compared, because they differ
    between machines."""
    library, _, how, _, tested = row
    known = {(r[0], r[2], r[4]) for r in ROW.findall(MANUAL.read_text())}
    if (library, how, tested) in known:
        return True
    print(f'{MANUAL.name} lacks {library}: run tests/suites/posix/foreign.py --update BUILD')
    return False


def update(build):
    """Write the rows that the programs have printed to the manual. The row of a library that is not installed remains
    unchanged."""
    text = MANUAL.read_text()
    start = text.index(HEAD) + len(HEAD)
    end = text.index('\n\n', start) + 1
    rows = {row[0]: row for row in ROW.findall(text[start:end])}
    for script in 'libraries.py', 'foreign.py':
        done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name(script), build],
                              stdout=subprocess.PIPE, text=True)
        rows |= {row[0]: row for row in ROW.findall(done.stdout)}
    made = ''.join('| ' + ' | '.join(rows[name]) + ' |\n'
                   for name in sorted(rows, key=str.casefold))
    MANUAL.write_text(text[:start] + made + text[end:])
    return 0


def test(name, program):
    if not program.exists():
        raise Skip(f'{name} is not installed, or was not when coil was built')
    with tempfile.TemporaryDirectory() as folder:
        with SERVERS[name](pathlib.Path(folder)) as environment:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                environment |= {'LD_LIBRARY_PATH': str(program.parent)}  # the module of nss
                counts = libraries.run(name, [program], dict(os.environ, **environment))
            print(printed.getvalue(), end='')
            rows = ROW.findall(printed.getvalue())
            missing = sum(not is_in_manual(row) for row in rows)
            return counts[0] + len(rows) - missing, counts[1] + missing


def main():
    if sys.argv[1:2] == ['--update']:
        return update(sys.argv[2])
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'build').resolve()
    names = sys.argv[2:] or SERVERS
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    passed = failed = skipped = 0
    for name in names:
        try:
            counts = test(name, build / 'tests' / 'suites' / 'posix' / f'posix-foreign-{name}')
            passed += counts[0]
            failed += counts[1]
        except Skip as reason:
            skipped += 1
            print(f'left out: {reason}')
    print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' * (skipped > 0)))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
