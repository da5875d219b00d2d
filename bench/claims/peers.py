"""peers.py - how the programs that measure the claims are built and run."""

import subprocess
import sys

import driver

COIL, THREADS = "coil, tasks", "C, threads"
PYTHON, PYTHON_THREADS = "CPython, tasks", "CPython, threads"

IN_C = {  # name: (its folder, whether it uses coil)
    "coil_claims": ("claims", True),
    "coil_crawl": ("claims", True),
    "coil_loops_echo": ("claims", True),
    "slow_site": ("claims", True),
    "coil_echo": ("echo", True),
    "thread_claims": ("claims", False),
    "thread_crawl": ("claims", False),
    "idle": ("claims", False),
    "thread_echo": ("echo", False),
    "load": ("echo", False),
}


def build():
    """Build all programs. A failed build prints its error and ends the run."""
    options = [] if driver.BUILD.exists() else ["--buildtype=release", "-Dtests=false"]
    subprocess.run([driver.ROOT / "scripts/build", driver.BUILD, *options],
                   cwd=driver.ROOT, check=True, stdout=sys.stderr)
    for name, (folder, on_coil) in IN_C.items():
        flags = ["-pthread"]
        if on_coil:
            flags = [f"{driver.BUILD}/src/testing/libcoil-testing.a", *driver.coil_flags()]
        if not driver.compile_c(folder, name, *flags):
            sys.exit(f"claims: {name} could not be built")


def program(name):
    folder, _ = IN_C[name]
    return str(driver.out(folder) / name)


def python_script(folder, name, *arguments):
    command = driver.python(folder, name, *arguments)
    if not command:
        sys.exit("claims: asyncio cannot be imported")
    return command


def python_version():
    return subprocess.run([*python_script("claims", "python_claims"), "version"], text=True,
                          check=True, stdout=subprocess.PIPE).stdout.strip()


def rows_of(peer):
    """Return the peer's command, without the row's name and arguments."""
    if peer == COIL:
        return [program("coil_claims")]
    if peer == THREADS:
        return [program("thread_claims")]
    return python_script("claims", "python_claims")


def figures(command, *arguments, cpu=None, seconds=120):
    """Run a program, and return its output as {name: value}; None if the program failed, which is reported. The program
    is pinned to processor `cpu`, unless that is None."""
    try:
        done = subprocess.run([*command, *map(str, arguments)], stdout=subprocess.PIPE,
                              text=True, timeout=seconds, check=False,
                              preexec_fn=None if cpu is None else lambda: driver.pin(cpu))
    except subprocess.TimeoutExpired:
        driver.say(f"claims: {command[0]} took longer than {seconds} s")
        return None
    lines = (line.split() for line in done.stdout.splitlines())
    found = {words[0]: float(words[1]) for words in lines if len(words) == 2}
    return found if found and done.returncode == 0 else None
