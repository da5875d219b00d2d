#!/usr/bin/env python3
"""outside.py BUILD - libcoil-posix seen from outside.

- It exports what its table says, and docs/manual/posix.md lists just that.
- libcoil never jumps to one of these functions instead of calling it: its calls are known
  by where they return to.
- Programs that have no task do the same with it preloaded as without: the same output,
  the same end.
Ends with `N passed, N failed`.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# They never wait, and may be jumped to.
HARMLESS = {'pthread_mutex_unlock', 'pthread_mutex_trylock', 'close', 'dup2', 'dup3',
            'fcntl', 'fcntl64'}

PYTHON = '''
import select, socket, subprocess, threading, time
def echo(s):
    while data := s.recv(100):
        s.sendall(data.upper())
    s.close()
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    echo(listener.accept()[0])
thread = threading.Thread(target=serve)
thread.start()
client = socket.create_connection(("localhost", listener.getsockname()[1]))
client.settimeout(20)
client.sendall(b"hello")
print(select.select([client], [], [], 20)[0] == [client], client.recv(100))
client.close()
thread.join()
print(subprocess.run(["sh", "-c", "read x; sleep 0.1; echo got $x; exit 3"], input=b"y\\n",
                     stdout=subprocess.PIPE))
condition = threading.Condition()
with condition:
    print(condition.wait(0.05))
time.sleep(0.01)
'''

PROGRAMS = {
    'a pipeline': 'seq 100000 | sort -R --random-source=/bin/sh | sort -n | tail -n 3',
    'dd': 'dd if=/dev/zero bs=1000 count=5000 2>/dev/null | wc -c',
    'time limits': 'timeout 0.1 sleep 20; echo $?; cat /nonexistent; echo $?',
    'a shell that waits': '(sleep 0.1; exit 4) & wait $!; echo $?; read -t 0.1 x <&1; echo',
    'locks': 'exec 9>"$TMP/lock"; flock 9; (flock -n 8 || echo taken) 8>"$TMP/lock"',
    'find and xargs': 'find /usr/include -name "std*.h" | sort | xargs -P 2 -n 5 cat | wc -l',
    'names': 'getent hosts localhost; getent ahosts 127.0.0.1',
    'python': f"python3 -c '{PYTHON}'",
    'curl': 'curl -sS --max-time 5 http://127.0.0.1:1/; echo $?; '
            'curl -sS "file:///etc/hostname"',
    'a killed program': 'exec 2>/dev/null; sh -c "kill -9 \\$\\$"; echo $?',
    'sqlite': 'python3 -c "import sqlite3; c = sqlite3.connect(\\"$TMP/db\\"); '
              'c.execute(\\"create table t (x)\\"); c.commit(); print(c)" | cut -c 1-10',
}


class Failure(Exception):
    pass


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def table():
    """The functions as interpose.h has them."""
    text = (ROOT / 'posix' / 'interpose.h').read_text()
    return set(re.findall(r'\bX\((\w+)\)', text.split('#define POSIX__FUNCTIONS')[1]))


def exports(library):
    names = {line.split()[-1] for line in
             run('nm', '-D', '--defined-only', library).splitlines()}
    wrong = names ^ (table() | {'coil_posix_active'})
    if wrong:
        raise Failure('exported or in the table, not both: ' + ' '.join(sorted(wrong)))


def manual():
    """Its table of functions: the first column, in code."""
    text = (ROOT / 'docs' / 'manual' / 'posix.md').read_text()
    rows = re.findall(r'^\| (`[^|]*`) \|', text, re.M)
    names = set(re.findall(r'`(\w+)`', ' '.join(rows)))
    ours = {name for name in table() if not name.startswith('__')}
    if names ^ ours:
        raise Failure('in the manual or in the table, not both: '
                      + ' '.join(sorted(names ^ ours)))


def no_jumps(libcoil):
    code = run('objdump', '-d', '--no-show-raw-insn', libcoil)
    jumps = re.findall(r'\b(?:jmp|b)\s+[0-9a-f]+ <(\w+)@plt>', code)
    found = set(jumps) & (table() - HARMLESS)
    if not re.search(r'\b(?:call|bl)\s+[0-9a-f]+ <recv@plt>', code):
        raise Failure('there is no call of recv() in it: this looks at nothing')
    if found:
        raise Failure('libcoil jumps to ' + ' '.join(sorted(found)))


def outcome(script, folder, library):
    environment = dict(os.environ, TMP=str(folder), LC_ALL='C')
    if library is not None:
        environment['LD_PRELOAD'] = str(library)
    done = subprocess.run(['bash', '-c', script], env=environment, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def same(script, library):
    outcomes = []
    for preloaded in None, library:
        with tempfile.TemporaryDirectory() as folder:
            returned, said = outcome(script, folder, preloaded)
            outcomes.append((returned, said.replace(folder, 'TMP')))
    if outcomes[0] != outcomes[1]:
        raise Failure(f'without: {outcomes[0]}\nwith: {outcomes[1]}')


def cases(build):
    library = build / 'posix' / 'libcoil-posix.so'
    yield 'exports', lambda: exports(library)
    yield 'manual', manual
    if shutil.which('objdump'):
        yield 'no jumps', lambda: no_jumps(build / 'src' / 'libcoil.so')
    for name, script in PROGRAMS.items():
        yield name, lambda s=script: same(s, library)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'build').resolve()
    passed = failed = 0
    for name, case in cases(build):
        try:
            case()
            passed += 1
        except (Failure, subprocess.SubprocessError) as failure:
            failed += 1
            print(f'FAIL {name}: {failure}')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
