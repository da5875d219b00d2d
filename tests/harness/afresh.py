"""Reset the signals, limits and standard streams that a test program in Python inherits from its parent process.
surroundings.c does this for tests in C.

A shell script starts background jobs with SIGINT and SIGQUIT ignored. Without a reset, every program that a test
starts would also ignore them.
"""

import os
import resource
import signal

USUAL = {resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_STACK: 8 << 20,
         resource.RLIMIT_MEMLOCK: 8 << 20, resource.RLIMIT_AS: resource.RLIM_INFINITY,
         resource.RLIMIT_DATA: resource.RLIM_INFINITY,
         resource.RLIMIT_FSIZE: resource.RLIM_INFINITY,
         resource.RLIMIT_NPROC: resource.RLIM_INFINITY,
         resource.RLIMIT_CPU: resource.RLIM_INFINITY}
PYTHONS_OWN = {signal.SIGPIPE, signal.SIGXFSZ}  # ignored by Python, but reset by subprocess


def enough(limit, wanted):
    """Return true if limit >= wanted, where RLIM_INFINITY, which is -1 in Python, counts as the highest number."""
    return limit == resource.RLIM_INFINITY or limit >= wanted != resource.RLIM_INFINITY


def begin():
    for signo in signal.valid_signals() - PYTHONS_OWN:
        if signal.getsignal(signo) == signal.SIG_IGN:
            signal.signal(signo, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    for kind, usual in USUAL.items():
        soft, hard = resource.getrlimit(kind)
        if not enough(soft, usual):
            resource.setrlimit(kind, (usual if enough(hard, usual) else hard, hard))
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)
    os.umask(0o022)
