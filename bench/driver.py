"""driver - functions that the scripts bench/PART/run share.

A driver builds coil and its peers and measures them in rounds. In each round the programs run one after the other,
so a disturbance of the machine affects all of them alike. A driver prints medians on stdout, one per line:

    PEER ROW VALUE UNIT        (coil-epoll echo64_cpu 5.2 us)

Other messages, for example about peers that could not be run, go to stderr. Drivers read these environment variables:

    `RUNS`: the number of rounds (default: 5).
    `PEERS`: the peers to measure (default: all).
    `BUILD`: coil's build directory, below the root (default: build).
"""

import os
import pathlib
import resource
import shlex
import shutil
import signal
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
RUNS = max(1, int(os.environ.get("RUNS") or 5))
SERVER_CPU, LOAD_CPU = 0, 1
CRATES = pathlib.Path("/usr/share/cargo/registry")  # Debian's crates: nothing is downloaded
PYTHON = "/usr/bin/python3"  # Debian's Python, for which Debian has uvloop and aiohttp


def say(text):
    print(text, file=sys.stderr, flush=True)


def numbers(name, default):
    """Read a list of numbers from the environment."""
    return [int(n) for n in os.environ.get(name, default).split(",")]


def pin(cpu):
    """Pin this process to processor number `cpu` (0 is the first) of those that it may use, if there are that many."""
    allowed = sorted(os.sched_getaffinity(0))
    if cpu < len(allowed):
        os.sched_setaffinity(0, {allowed[cpu]})


def allow_descriptors():
    """Raise the limit of descriptors as far as the system allows. Returns the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 30


def end_with_children():
    """On SIGTERM, raise an exception, so that the driver ends its child processes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def children_cpu():
    """Return the processor time, in seconds, of all children that have exited and were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# ---- building: each returns the command, or None --------------------------------------

def run_quietly(command, **more):
    if shutil.which(command[0]) is None:
        say(f"{command[0]} is not installed")
        return False
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **more)
    if done.returncode != 0:
        say(done.stdout.rstrip()[-600:])
    return done.returncode == 0


def out(part):
    """Return the folder for the programs of bench/PART."""
    folder = BUILD / "bench" / part
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def compile_c(part, name, *more):
    program = str(out(part) / name)
    return run_quietly(["cc", "-O2", "-g", "-D_GNU_SOURCE",
                        str(ROOT / "bench" / part / f"{name}.c"), "-o", program,
                        *more]) and [program]


def coil_flags():
    """Return the options that link coil statically, with the libraries that this build found."""
    found = subprocess.run(
        ["pkg-config", "--static", "--libs", "coil"], text=True, check=True,
        stdout=subprocess.PIPE,
        env=dict(os.environ, PKG_CONFIG_PATH=str(BUILD / "meson-uninstalled"))).stdout
    others = [flag for flag in shlex.split(found)
              if flag != "-lcoil" and not flag.endswith("libcoil.so")]
    return [f"-I{ROOT}/include", f"{BUILD}/src/libcoil.a", *others]


def build_coil(part, name):
    """Compile a program in bench/PART that uses coil."""
    return run_quietly([f"{ROOT}/scripts/build", str(BUILD)], cwd=ROOT) and compile_c(
        part, name, *coil_flags())


def build_coil_http(part, name):
    """Like build_coil(), with libcoil-http, which needs libcurl."""
    if not run_quietly([f"{ROOT}/scripts/build", str(BUILD)], cwd=ROOT):
        return None
    includes, *libraries = coil_flags()  # reads a file that the build writes
    return compile_c(part, name, includes, f"{BUILD}/http/libcoil-http.a", *libraries, "-lcurl")


def build_go(part, name, **environment):
    program = str(out(part) / name)
    environment = dict(os.environ, GO111MODULE="off", GOFLAGS="", **environment)
    return run_quietly(["go", "build", "-o", program,
                        str(ROOT / "bench" / part / f"{name}.go")],
                       env=environment) and [program]


def build_tokio(part, name):
    """Compile a program in bench/PART that uses tokio, with Debian's cargo and crates."""
    if not list(CRATES.glob("tokio-1*")):
        say("librust-tokio-dev is not installed")
        return None
    package = out(part) / "tokio"
    (package / ".cargo").mkdir(parents=True, exist_ok=True)
    (package / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n\n'
        f'[[bin]]\nname = "{name}"\npath = "{ROOT}/bench/{part}/{name}.rs"\n\n'
        '[dependencies]\ntokio = { version = "1", features = '
        '["rt", "rt-multi-thread", "net", "io-util", "macros", "sync"] }\n'
        'libc = "0.2"\n\n[profile.release]\nlto = true\n')
    (package / ".cargo" / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "debian"\n\n'
        f'[source.debian]\ndirectory = "{CRATES}"\n')
    return run_quietly(
        ["/usr/bin/cargo", "build", "--release", "--offline", "--quiet"], cwd=package,
        env=dict(os.environ, PATH="/usr/bin:/bin")) and [
            f"{package}/target/release/{name}"]


def python(part, name, *arguments, needs="asyncio"):
    """Return the command of a script in bench/PART, if the module that it needs is installed."""
    interpreter = PYTHON if os.access(PYTHON, os.X_OK) else "python3"
    if not run_quietly([interpreter, "-c", f"import {needs}"]):
        return None
    return [interpreter, str(ROOT / "bench" / part / f"{name}.py"), *arguments]


# ---- measuring -----------------------------------------------------------------------

def chosen(peers, always):
    """Return the names of the peers to measure: those in `always` and in PEERS (all peers if PEERS is empty). PEERS may
    contain peers of other drivers."""
    asked = os.environ.get("PEERS", "").replace(",", " ").split()
    return [name for name in peers if not asked or name in asked or name in always]


def commands(peers, always):
    """Return {name: its command and environment} for the peers that can be run. `peers` maps a name
    to a function that builds its command, and an environment."""
    usable = {}
    for name in chosen(peers, always):
        build, environment = peers[name]
        command = build()
        if command:
            usable[name] = (command, environment)
        else:
            say(f"{name}: cannot be run: see above")
    return usable


def rounds(usable, measure, what, picture, most=RUNS):
    """Measure each peer `most` times, or RUNS times if that is fewer. Returns {name: [figures or None, ...]}. `picture`
    formats the figures for the progress output."""
    results = {name: [] for name in usable}
    for number in range(min(RUNS, most)):
        for name, it in usable.items():
            figures = measure(it)
            results[name].append(figures)
            if figures:
                say(f"{what}, run {number + 1}: {name:17}" + picture % tuple(figures))
    return results


def report(results, rows):
    """Print the medians; `rows` has the name and unit of each figure. A peer that failed in most
    rounds is reported as failed."""
    for name, runs in results.items():
        rounds_made = len(runs)
        runs = [run for run in runs if run]
        if not runs or 2 * len(runs) < rounds_made:
            say(f"{name}: failed: {rows[0][0]}")
            continue
        for (row, unit), values in zip(rows, zip(*runs)):
            print(f"{name} {row} {statistics.median(values):g} {unit}")
    sys.stdout.flush()


def report_ratio(results, ours, floor, figure, row):
    """Print the median of the rounds' ratios: the figure of `ours` divided by that of `floor`."""
    pairs = [a[figure] / b[figure]
             for a, b in zip(results.get(ours, []), results.get(floor, [])) if a and b]
    if pairs:
        print(f"{ours} {row} {statistics.median(pairs):.3f} x", flush=True)
