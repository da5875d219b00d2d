#!/usr/bin/env python3
"""outside.py BUILD - test libcoil-posix as installed programs use it.

- libcoil-posix exports the functions of its table, and docs/manual/posix.md contains that table.

- docs/manual/posix.md lists every cancellation point of POSIX, and its behaviour in a task.

- Every function in the table that may wait suspends the task, with the kind of wait that the table states. This must be
  true whether libcoil-posix is linked, preloaded, or used with libcoil.a, and even if the call is the last statement of
  a function.

- libcoil never calls one of these functions with a jump (a tail call), because libcoil-posix recognises libcoil's calls
  by their return address.

- A malloc() that locks mutexes does not suspend tasks.

- Calls by a library that was passed to coil_posix_exclude() do not suspend tasks.

- If tasks hang because libcoil-posix cannot interpose a lock, this is reported.

- A task that waits in Rust's thread::park() is reported, because all tasks of a thread share the state of this wait.

- Programs without tasks have the same output and exit status with and without libcoil-posix preloaded.

Ends with `N passed, N failed`.
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'harness'))
sys.dont_write_bytecode = True

import afresh  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
# In this file, a thread waits until another thread has initialised a static variable (sync/static_guard.c).
FUTEX_CALLS = ROOT / 'src/kernel/linux/thread.c'

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
    'curl': 'curl -sS --max-time 5 http://127.0.0.1:1/ 2>&1 | sed "s/after .* ms//"; '
            'echo ${PIPESTATUS[0]}; '
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


def table(part='FUNCTIONS'):
    """Read the functions in one part of posix/functions.h. The part FUNCTIONS lists the interposed functions."""
    text = (ROOT / 'posix' / 'functions.h').read_text()
    found = re.search(fr'#define POSIX__{part}\(X\)((?:.*\\\n)+.*\n)', text)[1]
    names = set(re.findall(r'\bX\((\w+)\)', found))
    return names.union(*map(table, re.findall(r'POSIX__(\w+)\(X\)', found)))


def exports(library):
    names = {line.split()[-1] for line in
             run('nm', '-D', '--defined-only', library).splitlines()}
    wrong = names ^ (table() | {'coil_posix_active', 'coil_posix_reached', 'coil_hooks_thread_keys',
                             'coil_hooks_thread_locals', 'coil_posix_exclude'})
    if wrong:
        raise Failure('either exported or in the table, but not both: ' + ' '.join(sorted(wrong)))
    if wrong := names & table('BLOCKING'):
        raise Failure('the table says that these block: ' + ' '.join(sorted(wrong)))


def manual():
    """The table in the manual must equal the one in posix/functions.h."""
    done = subprocess.run([ROOT / 'scripts' / 'posix-table', '--check'], text=True,
                          stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise Failure(done.stdout)


# The cancellation points of pthreads(7).
CANCELLATION_POINTS = """
    accept access aio_suspend asctime asctime_r catclose catgets catopen chmod chown
    clock_nanosleep close closedir closelog connect creat ctermid ctime ctime_r dbm_close
    dbm_delete dbm_fetch dbm_nextkey dbm_open dbm_store dlclose dlopen dprintf endgrent
    endhostent endnetent endprotoent endpwent endservent endutxent faccessat fchmod fchmodat
    fchown fchownat fclose fcntl fdatasync fflush fgetc fgetpos fgets fgetwc fgetws fmtmsg
    fopen fpathconf fprintf fputc fputs fputwc fputws fread freopen fscanf fseek fseeko
    fsetpos fstat fstatat fsync ftell ftello ftw futimens fwprintf fwrite fwscanf getaddrinfo
    getc getc_unlocked getchar getchar_unlocked getcwd getdate getdelim getgrent getgrgid
    getgrgid_r getgrnam getgrnam_r gethostbyaddr gethostbyname gethostent gethostid
    gethostname getline getlogin getlogin_r getmsg getnameinfo getnetbyaddr getnetbyname
    getnetent getopt getpmsg getprotobyname getprotobynumber getprotoent getpwent getpwnam
    getpwnam_r getpwuid getpwuid_r gets getservbyname getservbyport getservent getutxent
    getutxid getutxline getwc getwchar getwd glob iconv_close iconv_open ioctl link linkat
    lio_listio localtime localtime_r lockf lseek lstat mkdir mkdirat mkdtemp mkfifo mkfifoat
    mknod mknodat mkstemp mktime mq_receive mq_send mq_timedreceive mq_timedsend msgrcv msgsnd
    msync nanosleep nftw open openat opendir openlog pathconf pause pclose perror poll popen
    posix_fadvise posix_fallocate posix_madvise posix_openpt posix_spawn posix_spawnp
    posix_trace_clear posix_trace_close posix_trace_create posix_trace_create_withlog
    posix_trace_eventtypelist_getnext_id posix_trace_eventtypelist_rewind posix_trace_flush
    posix_trace_get_attr posix_trace_get_filter posix_trace_get_status
    posix_trace_getnext_event posix_trace_open posix_trace_rewind posix_trace_set_filter
    posix_trace_shutdown posix_trace_timedgetnext_event posix_typed_mem_open pread printf
    pselect psiginfo psignal pthread_cond_timedwait pthread_cond_wait pthread_join
    pthread_rwlock_rdlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock
    pthread_rwlock_wrlock pthread_testcancel putc putc_unlocked putchar putchar_unlocked
    putmsg putpmsg puts pututxline putwc putwchar pwrite read readdir readdir_r readlink
    readlinkat readv recv recvfrom recvmsg remove rename renameat rewind rewinddir scandir
    scanf seekdir select sem_timedwait sem_wait semop send sendmsg sendto setgrent sethostent
    setnetent setprotoent setpwent setservent setutxent sigpause sigsuspend sigtimedwait
    sigwait sigwaitinfo sleep stat strerror strerror_r strftime symlink symlinkat sync syslog
    system tcdrain tmpfile tmpnam ttyname ttyname_r tzset ungetc ungetwc unlink unlinkat
    usleep utime utimensat utimes vdprintf vfprintf vfwprintf vprintf vwprintf wait waitid
    waitpid wcsftime wordexp wprintf write writev wscanf
""".split()


def cancellation_points(library):
    """The manual must list every cancellation point. libcoil-posix must export the cancellation points that the manual
    lists as suspending, and no others."""
    text = (ROOT / 'docs' / 'manual' / 'posix.md').read_text()
    text = text[text.index('<!-- cancellation points -->'):]
    rows = dict(re.findall(r'^\| ([\w, ]+) \| (`.*`) \|$', text.split('\n\n')[0], re.M))
    rows = {how: re.findall(r'`(\w+)`', names) for how, names in rows.items()}
    listed = sorted(sum(rows.values(), []))
    if listed != sorted(CANCELLATION_POINTS):
        raise Failure('not once in both: ' + ' '.join(
            sorted(set(listed) ^ set(CANCELLATION_POINTS))))
    exported = {line.split()[-1].removeprefix('__xpg_') for line in
                run('nm', '-D', '--defined-only', library).splitlines()}
    suspending = set(rows['suspends'])
    if wrong := suspending - exported | (exported & set(listed)) - suspending:
        raise Failure('either exported or listed as suspending, but not both: ' + ' '.join(sorted(wrong)))
    blocking = set(rows['blocks the thread, if it has to wait'])
    if wrong := blocking ^ (table('BLOCKING') & set(listed)):
        raise Failure('either in BLOCKING or listed as blocking, but not both: ' + ' '.join(sorted(wrong)))


def all_calls():
    """calls.h must call each function that may wait, in the list for the kind of wait that posix/functions.h states."""
    text = (ROOT / 'tests' / 'suites' / 'posix' / 'outside' / 'calls.h').read_text()
    called = {}
    for name, body in re.findall(r'#define CALLS_(\w+)\(X\)((?:.*\\\n)*.*\n)', text):
        called.setdefault(name, set()).update(re.findall(r'\bX\((\w+),', body))
    for part, names in (('SUSPENDING', called['THAT_SUSPEND'] | called['OF_C23']),
                        ('ON_LANES', called['ON_LANES'] | called['FOR_ONCE']),
                        ('AT_INTERVALS', called['AT_INTERVALS'])):
        if wrong := names ^ table(part):
            raise Failure(f'either in calls.h or in {part}, but not both: ' + ' '.join(sorted(wrong)))


def own_calls(libcoil):
    """libcoil may call the functions of the table only through src/base/own.h, with one exception: in FUTEX_CALLS,
    syscall() waits for a futex outside tasks."""
    code = run('objdump', '-d', '--no-show-raw-insn', libcoil)
    inside, own, found = '', set(), set()
    for line in code.splitlines():
        if start := re.match(r'[0-9a-f]+ <([\w.]+)(?:@plt)?>:', line):
            inside = start[1]
        called = re.search(r'\b(?:call|jmp|bl|b)\s+[0-9a-f]+ <(\w+)@plt>', line)
        if called is None or called[1] not in table() - {'syscall'}:
            continue
        if inside == 'coil__own_' + called[1]:
            own.add(called[1])
        else:
            found.add(f'{called[1]} in {inside}')
    if 'recv' not in own:
        raise Failure('libcoil contains no call of recv(), so this test checks nothing')
    if calls := [path.name for path in (ROOT / 'src').rglob('*.[ch]')
                 if 'syscall(SYS_futex' in path.read_text() and path != FUTEX_CALLS]:
        raise Failure('calls of SYS_futex in ' + ' '.join(calls))
    if found:
        raise Failure('src/base/own.h lacks ' + ', '.join(sorted(found)))


def own_addresses(libcoil):
    """libcoil must not store addresses of interposed functions, because calls through pointers would not be
    recognised."""
    relocations = run('readelf', '-rW', libcoil)
    kept = re.findall(r' R_\w+_(?:64|ABS64|GLOB_DAT) +\w+ +(\w+)@', relocations)
    if 'stderr' not in kept:
        raise Failure('libcoil contains no address of stderr, so this test checks nothing')
    if found := table() & set(kept):
        raise Failure('libcoil stores the addresses of ' + ', '.join(sorted(found)))


def libraries(build, static):
    """Return the flags that link a program with the shared libcoil or with libcoil.a."""
    path = str(build / 'meson-uninstalled')
    flags = subprocess.run(['pkg-config', '--libs', 'coil', *['--static'] * static],
                           env=dict(os.environ, PKG_CONFIG_PATH=path), check=True,
                           text=True, stdout=subprocess.PIPE).stdout
    flags = shlex.split(flags)
    if static:
        flags[flags.index('-lcoil')] = str(build / 'src' / 'libcoil.a')
    return flags


def compile_outside(build, folder, name, flags, static, preloaded=False):
    """Compile a program of tests/suites/posix/outside, with the shared or the static libcoil."""
    program = pathlib.Path(folder) / 'program'
    compiler = [os.environ.get('CC', 'cc')]
    if name.endswith('.cpp'):
        compiler = [os.environ.get('CXX', 'c++'), '-std=c++17']
    posix = ['-DPRELOADED'] if preloaded else [
        '-L', build / 'posix', '-Wl,--no-as-needed', '-lcoil-posix']
    run(*compiler, *flags, '-g', '-Wall', '-Wextra',
        ROOT / 'tests' / 'suites' / 'posix' / 'outside' / name, '-o', program,
        '-I', ROOT / 'include', *posix, *libraries(build, static), '-pthread', '-lresolv',
        f'-Wl,-rpath,{build}/src:{build}/posix')
    return program


def tails(build, name, flags, static):
    with tempfile.TemporaryDirectory() as folder:
        program = compile_outside(build, folder, name, flags, static)
        done = subprocess.run([program], timeout=600, text=True, stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0 or 'not active' in done.stdout:
            raise Failure(done.stdout)


def preloaded_calls(build):
    with tempfile.TemporaryDirectory() as folder:
        program = compile_outside(build, folder, 'calls.c', ['-O2'], False, preloaded=True)
        environment = dict(os.environ, LD_PRELOAD='libcoil-posix.so',
                           LD_LIBRARY_PATH=str(build / 'posix'))
        done = subprocess.run([program], timeout=600, text=True, stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, env=environment)
        if done.returncode != 0:
            raise Failure(done.stdout)


def active(build):
    """Test coil_posix_active() in a plugin, in a program with a static libcoil, and in other combinations."""
    with tempfile.TemporaryDirectory() as folder:
        plugin = pathlib.Path(folder) / 'plugin.so'
        run('cc', '-shared', '-fPIC', '-O2', '-DPLUGIN', '-I', ROOT / 'include',
            ROOT / 'tests' / 'suites' / 'posix' / 'outside' / 'active.c', '-o', plugin)
        for static in False, True:
            for flags in ['-O2'], ['-O2', '-fno-pie', '-no-pie']:
                program = compile_outside(build, folder, 'active.c', flags, static)
                printed = run(program, plugin)
                if printed != 'program 1, plugin 1, bound deeply 0\n':
                    raise Failure(f'{flags} {static}: {printed}')


def allocators(build):
    """Tasks and a thread allocate memory with this test's library, and with jemalloc if it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        run('cc', '-shared', '-fPIC', '-O2', '-fno-builtin',
            ROOT / 'tests' / 'suites' / 'posix' / 'outside' / 'allocator.c', '-o',
            pathlib.Path(folder) / 'liballocator.so')
        for flags in [], ['-fno-pie', '-no-pie']:
            program = compile_outside(build, folder, 'allocator.c',
                                      ['-O2', '-DPROGRAM', *flags], False)
            for allocator in 'liballocator.so', 'libjemalloc.so.2':
                done = subprocess.run([program], timeout=60, text=True,
                                      env=dict(os.environ, LD_PRELOAD=allocator,
                                               LD_LIBRARY_PATH=folder,
                                               MALLOC_CONF='narenas:1,tcache:false'),
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                if done.returncode != 0 or done.stdout != 'all allocated\n':
                    raise Failure(f'{allocator}, {flags}: {done}')


def exclusion(build):
    """Calls by a library that was passed to coil_posix_exclude() block the thread. At most eight libraries can be
    excluded."""
    source = ROOT / 'tests' / 'suites' / 'posix' / 'outside' / 'exclude.c'
    with tempfile.TemporaryDirectory() as folder:
        copies = [pathlib.Path(folder) / f'lib{i}.so' for i in range(9)]
        run('cc', '-shared', '-fPIC', '-O2', source, '-o', copies[0])
        for copy in copies[1:]:
            shutil.copy(copies[0], copy)
        program = compile_outside(build, folder, 'exclude.c', ['-O2', '-DPROGRAM', '-Wl,--no-as-needed', copies[0]], False)
        done = subprocess.run([program, *copies[1:]], timeout=60, text=True, stdout=subprocess.PIPE)
    if done.returncode != 0 or done.stdout != 'excluded\n':
        raise Failure(done)


def stall(build):
    """If a lock hangs all tasks, the program aborts with a message that names the waiting library."""
    with tempfile.TemporaryDirectory() as folder:
        program = compile_outside(build, folder, 'openmp.c', ['-O2', '-fopenmp'], False)
        done = subprocess.run([program], timeout=60, text=True, stderr=subprocess.PIPE)
    if done.returncode != -signal.SIGABRT or 'in libgomp' not in done.stderr or \
            'docs/manual/posix.md' not in done.stderr:
        raise Failure(done)


def parks(build):
    """A task that waits in thread::park() is reported once."""
    with tempfile.TemporaryDirectory() as folder:
        program = compile_outside(build, folder, 'park.c', ['-O2'], False)
        done = subprocess.run([program], timeout=60, text=True, stderr=subprocess.PIPE)
    if done.returncode != 0 or done.stderr.count('\n') != 1 or \
            'thread::park() in program' not in done.stderr or \
            'docs/manual/posix.md' not in done.stderr:
        raise Failure(done)


def outcome(script, folder, library):
    environment = dict(os.environ, TMP=str(folder), LC_ALL='C')
    if library is not None:
        # LD_PRELOAD is split at spaces, so use a file name without a folder.
        environment.update(LD_PRELOAD=library.name, LD_LIBRARY_PATH=str(library.parent))
    done = subprocess.run(['bash', '-c', script], env=environment, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def same(script, library):
    outcomes = []
    for preloaded in None, library:
        with tempfile.TemporaryDirectory() as folder:
            returned, printed = outcome(script, folder, preloaded)
            outcomes.append((returned, printed.replace(folder, 'TMP')))
    if outcomes[0] != outcomes[1]:
        raise Failure(f'without: {outcomes[0]}\nwith: {outcomes[1]}')


def cases(build):
    library = build / 'posix' / 'libcoil-posix.so'
    yield 'exports', lambda: exports(library)
    yield 'manual', manual
    yield 'cancellation points', lambda: cancellation_points(library)
    yield 'all calls', all_calls
    if shutil.which('objdump'):
        yield 'own calls', lambda: own_calls(build / 'src' / 'libcoil.so')
        yield 'own addresses', lambda: own_addresses(build / 'src' / 'libcoil.so')
    for static in False, True:
        title = 'calls.c' + ' libcoil.a' * static
        yield title, lambda s=static: tails(build, 'calls.c', ['-O2'], s)
    yield 'calls.c preloaded', lambda: preloaded_calls(build)
    for static in False, True:
        for flags in ['-O2'], ['-O2', '-flto']:
            title = ' '.join(['tails.c', *flags, *['libcoil.a'] * static])
            yield title, lambda f=flags, s=static: tails(build, 'tails.c', f, s)
    if shutil.which(os.environ.get('CXX', 'c++')):
        yield 'tails_cxx.cpp', lambda: tails(build, 'tails_cxx.cpp', ['-O2'], False)
    yield 'active', lambda: active(build)
    if os.access('/proc/self/syscall', os.R_OK):
        yield 'stall', lambda: stall(build)
    yield 'parks', lambda: parks(build)
    yield 'allocators', lambda: allocators(build)
    yield 'exclusion', lambda: exclusion(build)
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
    afresh.begin()
    sys.exit(main())
