"""measure.py - measures the claims in docs/claims.md. There is one function for each claim, which returns its tables.

A table is {"key", "title", "unit", "columns", "rows", "notes"}, and a row is {"name", "cells", "runs"}. A cell is the
median of its runs. If nothing was measured, the cell is None, and a note gives the reason. Each round measures every
peer, and every other round measures them in reverse order. If peers are compared by one of the columns, each row has
"times_coil", the median of the rounds' ratios to coil's tasks in that column.
"""

import contextlib
import random
import statistics
import subprocess

import driver
import machine
import peers
from pair import Pair, end, start
from peers import COIL, PYTHON, PYTHON_THREADS, THREADS, figures, rows_of

LOOPS = "coil, 2 loops"
APART = "C, threads, 2 processors"
IN_LINE = "one after the other"
VIRTUAL = "coil, virtual clock"

FULL = {
    "rounds": 5,
    "memory": (1000, 10000, 100000, 1000000),
    "ceiling": 10 ** 7,
    "times": {COIL: 1000000, THREADS: 100000, APART: 100000, PYTHON: 100000,
              PYTHON_THREADS: 50000},
    "depths": (1, 10, 100, 1000),
    "sleeper_rounds": 3,
    "pages": 600, "answer_ms": 5, "crawl_rounds": 3,
    "workers": (1, 2, 5, 10, 20, 50, 100),
    "idle": (0, 1000, 10000, 100000), "idle_rounds": 3, "active": 100, "idle_seconds": 1,
    "busy_slices": 30, "busy_seconds": 0.3,
    "steps": {COIL: 50000000, PYTHON: 500000},
}
QUICK = FULL | {
    "rounds": 1,
    "memory": (1000,),
    "ceiling": 300,
    "times": dict.fromkeys(FULL["times"], 2000),
    "depths": (1, 100),
    "sleeper_rounds": 1,
    "pages": 100, "answer_ms": 1, "crawl_rounds": 1, "workers": (1, 10),
    "idle": (0, 200), "idle_rounds": 1, "active": 10, "idle_seconds": 0.1,
    "busy_slices": 1, "busy_seconds": 0.1,
    "steps": {COIL: 1000000, PYTHON: 10000},
}


def number(n):
    return f"{n:,}"


def call(peer, row, *arguments):
    """Run a peer's program for a row, and return its figures. For CPython, the same program measures tasks and
    threads."""
    kind = {PYTHON: "-tasks", PYTHON_THREADS: "-threads"}.get(peer, "")
    return figures(rows_of(peer), row + kind, *arguments)


def alternate(names, once, rounds, progress):
    """Call once(name) for each name in each round. Return {name: [result, ...]}, without the calls that failed."""
    results = {name: [] for name in names}
    for round_ in range(rounds):
        for name in list(names) if round_ % 2 == 0 else reversed(list(names)):
            progress.step(f"{name}, round {round_ + 1} of {rounds}")
            found = once(name)
            if found:
                results[name].append(found)
    return results


def values(runs, figure):
    """Return the values of this figure from all runs that measured it."""
    return [run[figure] for run in runs if figure in run]


def median(numbers):
    return statistics.median(numbers) if numbers else None


def row(name, cells_runs, **more):
    return {"name": name, "cells": [median(runs) for runs in cells_runs],
            "runs": cells_runs, **more}


def table(key, title, unit, columns, rows, notes=(), compare=None):
    found = {"key": key, "title": title, "unit": unit, "columns": list(columns),
             "rows": rows, "notes": list(notes)}
    if compare is not None:
        found["compared"] = found["columns"][compare]
        coil = next(one for one in rows if one["name"] == COIL)["runs"][compare]
        for one in rows:
            one["times_coil"] = median([theirs / ours for theirs, ours
                                        in zip(one["runs"][compare], coil)])
    return found


# ---- memory ----------------------------------------------------------------------------

MEMORY_PEERS = (COIL, THREADS, PYTHON, PYTHON_THREADS)


def refusal(peer, n):
    """Return the reason why n tasks or threads should not be tried; None if they may be tried."""
    if peer in (THREADS, PYTHON_THREADS):
        room, limit = machine.thread_room()
        return None if n <= room else f"{limit} leaves room for {number(room)}"
    left = machine.memory_left() // 2
    return None if n * 5000 <= left else f"{left >> 20:,} MiB are free for it"


def most_threads(config):
    """Return how many threads can be started, and the reason why no more can be started."""
    room, limit = machine.thread_room(own_limits=False)
    found = figures(rows_of(THREADS), "ceiling", max(1, min(room, config["ceiling"])))
    if found is None:
        return None, "no thread could be started"
    if found["error"]:
        return found["threads"], f"pthread_create() failed: {machine.thread_room()[1]}"
    if room >= config["ceiling"]:
        return found["threads"], "more threads were not tried"
    return found["threads"], f"the rest of {limit} is left to other programs"


def most(config, tried):
    """Return the table of the largest numbers of tasks and threads that existed at once. `tried` is {peer: the largest
    number of tasks}."""
    threads, ended = most_threads(config)
    counts = {COIL: tried[COIL], THREADS: threads, PYTHON: tried[PYTHON]}
    return table("most", "The largest number at once", "", ("number",),
                 [row(name, [[count] if count else []]) for name, count in counts.items()],
                 [f"{THREADS}: {ended}. More tasks than these were not tried."])


def memory(config, progress):
    cells = {peer: [] for peer in MEMORY_PEERS}
    tried, notes = dict.fromkeys(MEMORY_PEERS, 0), {}
    for n in config["memory"]:
        refused = {peer: refusal(peer, n) for peer in MEMORY_PEERS}
        those = [peer for peer in MEMORY_PEERS if refused[peer] is None]
        runs = alternate(those, lambda peer, n=n: call(peer, "memory", n),
                         config["rounds"] if n < 10 ** 6 else min(3, config["rounds"]),
                         progress)
        for peer in MEMORY_PEERS:
            cells[peer].append([(run["own"] + run.get("kernel", 0)) / 1024
                                for run in runs.get(peer, [])])
            if runs.get(peer):
                tried[peer] = n
            if refused[peer]:
                notes.setdefault(peer, f"{peer}, {number(n)} and more: {refused[peer]}.")
    progress.step("the most threads")
    return [table("memory", "Memory of one waiting task or thread", "KiB",
                  map(number, config["memory"]),
                  [row(peer, cells[peer]) for peer in MEMORY_PEERS], notes.values()),
            most(config, tried)]


# ---- switches --------------------------------------------------------------------------

def switch(config, progress):
    def once(name):
        times = config["times"][name]
        peer = THREADS if name == APART else name
        turns = call(peer, "turns", times, *(["apart"] if name == APART else []))
        yields = call(peer, "yield", times) if name not in (APART, PYTHON_THREADS) else {}
        if turns is None or yields is None:
            return None
        return ({f"turn_{key}": value for key, value in turns.items()}
                | {f"yield_{key}": value for key, value in yields.items()})

    runs = alternate(config["times"], once, config["rounds"], progress)
    keys = ("yield_cpu", "yield_wall", "turn_cpu", "turn_wall", "turn_kernel")
    return [table("switch", "Switching to another task or thread", "ns",
                  ("a yield, processor", "a yield, clock", "a turn, processor",
                   "a turn, clock", "kernel switches per turn"),
                  [row(name, [values(it, key) for key in keys])
                   for name, it in runs.items()], compare=keys.index("turn_cpu"))]


def depth(config, progress):
    def once(peer):
        found = {}
        for calls in config["depths"]:
            times = config["times"][peer] // (1 if peer == COIL else max(1, calls // 10))
            one = figures(rows_of(peer), "depth" if peer == COIL else "depth-tasks",
                          times, calls)
            if one:
                found[calls] = one["cpu"]
        return found

    runs = alternate((COIL, PYTHON), once, config["rounds"], progress)
    return [table("depth", "A yield, by the depth of calls", "ns of processor time",
                  map(number, config["depths"]),
                  [row(peer, [values(it, calls) for calls in config["depths"]])
                   for peer, it in runs.items()])]


# ---- sleepers --------------------------------------------------------------------------

def sleepers(config, progress):
    ways = {IN_LINE: (THREADS, "sleepers-in-line"), THREADS: (THREADS, "sleepers"),
            COIL: (COIL, "sleepers"), PYTHON: (PYTHON, "sleepers"),
            VIRTUAL: (COIL, "sleepers-virtual")}

    def once(name):
        peer, what = ways[name]
        found = call(peer, what)
        beside = call(peer, "beside") if name in (COIL, PYTHON) else {}
        if found is None or beside is None:
            return None
        return found | {f"beside_{key}": value for key, value in beside.items()}

    runs = alternate(ways, once, config["sleeper_rounds"], progress)
    rows = []
    for name, it in runs.items():
        cells = [[ns / 1e9 for ns in values(it, "wall")],
                 [ns / 1e9 for ns in values(it, "beside_wall")],
                 [n / 1e6 for n in values(it, "beside_bytes")]]
        rows.append(row(name, cells, naps=values(it, "naps"),
                        beside_naps=values(it, "beside_naps")))
    return [table("sleepers", "Five sleepers, five naps of 0.1 s each", "",
                  ("all five, s", "one with a reader, s", "read meanwhile, MB"), rows)]


# ---- a crawl ---------------------------------------------------------------------------

@contextlib.contextmanager
def slow_site(config):
    """Start the site, and yield its port."""
    server = start([peers.program("slow_site"), str(config["pages"]),
                    str(config["answer_ms"])], driver.LOAD_CPU, stdin=subprocess.DEVNULL)
    try:
        yield server.stdout.readline().strip()
    finally:
        end(server)


def crawl(config, progress):
    programs = {COIL: [peers.program("coil_crawl")], THREADS: [peers.program("thread_crawl")],
                PYTHON: peers.python_script("claims", "python_crawl")}

    def once(name):
        found = {}
        for workers in config["workers"]:
            it = figures(programs[name], port, workers, cpu=driver.SERVER_CPU)
            if it:
                found[workers] = it
        return found

    with slow_site(config) as port:
        runs = alternate(programs, once, config["crawl_rounds"], progress)
    rows = []
    for name, it in runs.items():
        each = [values(it, workers) for workers in config["workers"]]
        rows.append(row(name, [[one["pages"] / one["wall"] * 1e9 for one in of]
                               for of in each], crawls=each))
    rate = 1000 / config["answer_ms"]
    rows.append(row("waiting time alone", [[rate * workers]
                                            for workers in config["workers"]], bound=True))
    return [table("crawl", f"A crawl of {config['pages']} pages, each answered after "
                  f"{config['answer_ms']} ms, by number of workers", "pages a second",
                  map(number, config["workers"]), rows)]


# ---- echo servers ----------------------------------------------------------------------

def echo_servers():
    def asyncio(kind):
        return peers.python_script("echo", "python_echo", kind)

    return {COIL: [peers.program("coil_echo")], LOOPS: [peers.program("coil_loops_echo")],
            THREADS: [peers.program("thread_echo")], PYTHON: asyncio("streams"),
            PYTHON_THREADS: asyncio("threads")}


def hold_idle(port, count):
    """Start a process that holds this number of connections; return None if it cannot."""
    if not count:
        return None
    holder = start([peers.program("idle"), port, str(count)], driver.LOAD_CPU,
                   stdin=subprocess.PIPE)
    if holder.stdout.readline() == "ready\n":
        return holder
    end(holder)
    return None


def among_idle(command, count, config):
    """Measure a server with `count` idle connections: the memory of an idle connection, and the processor time of an
    echo on an active one."""
    pair = Pair("", (command, {}), config["active"], config["idle_seconds"])
    holder = None
    try:
        before = machine.memory_of(pair.server.pid)
        holder = hold_idle(pair.port, count)
        if not pair.works or (count and not holder):
            return None
        each = (machine.memory_of(pair.server.pid) - before) / count if count else 0
        figures_ = pair.slice()
        return {"each": each / 1024, "cpu": figures_[1]} if figures_ else None
    finally:
        if holder:
            end(holder)
        pair.end()


def idle_counts(config):
    """Return the numbers of connections that the limit of descriptors allows, and a note if it does not allow
    all of them."""
    room = machine.allow_descriptors() - config["active"]
    counts = [count for count in config["idle"] if count <= room]
    if len(counts) == len(config["idle"]):
        return counts, []
    counts += [count for count in [room // 1000 * 1000] if count > counts[-1]]
    return counts, [f"More than {number(counts[-1])}: this process may have "
                    f"{number(machine.descriptor_limit())} descriptors."]


def idle(config, progress):
    servers = {name: command for name, command in echo_servers().items()
               if name in (COIL, THREADS, PYTHON)}
    counts, notes = idle_counts(config)
    cells = {name: ([], []) for name in servers}
    for count in counts:
        refused = {THREADS: refusal(THREADS, count)}
        those = [name for name in servers if not refused.get(name)]
        runs = alternate(those, lambda name, count=count: among_idle(
            servers[name], count, config), config["idle_rounds"], progress)
        for name in servers:
            for cell, key in zip(cells[name], ("each", "cpu")):
                cell.append(values(runs.get(name, []), key))
            if refused.get(name):
                notes.append(f"{name}, {number(count)}: {refused[name]}.")
    return [table("idle_memory", "A server's memory per idle connection, by number of idle "
                  "connections", "KiB", map(number, counts[1:]),
                  [row(name, cells[name][0][1:]) for name in servers], notes),
            table("idle_cost", f"An echo on one of {config['active']} active connections, "
                  "by number of idle connections", "us of processor time", map(number, counts),
                  [row(name, cells[name][1]) for name in servers])]


def busy(config, progress):
    """Measure busy connections. The servers are not pinned, so threads may use both processors."""
    pairs, results = [], {}
    order = random.Random(8)
    try:
        for name, command in echo_servers().items():
            pairs.append(Pair(name, (command, {}), 8, config["busy_seconds"],
                              cpus=(None, None)))
            results[name] = []
        for slice_ in range(config["busy_slices"]):
            progress.step(f"slice {slice_ + 1} of {config['busy_slices']}")
            for pair in order.sample(pairs, len(pairs)):
                results[pair.name].append(pair.slice())
    finally:
        for pair in pairs:
            pair.end()
    rows = [row(name, [[run[i] for run in runs if run] for i in range(4)])
            for name, runs in results.items()]
    return [table("busy", "Eight busy connections", "", (
        "echoes a second", "processor, us each", "median, us", "99 %, us"), rows,
        compare=0)]


# ---- work for the processor ------------------------------------------------------------

def compute(config, progress):
    ways = {"coil, tasks": (COIL, "compute", ()),
            "coil, coil_blocking()": (COIL, "compute", ("threads",)),
            "C, threads": (THREADS, "compute", ()),
            "CPython, tasks": (PYTHON, "compute-tasks", ()),
            "CPython, threads": (PYTHON, "compute-threads", ()),
            "CPython, processes": (PYTHON, "compute-processes", ())}
    jobs = 4

    def once(name):
        peer, what, more = ways[name]
        steps = config["steps"][PYTHON if peer == PYTHON else COIL]
        return figures(rows_of(peer), what, steps, jobs, *more)

    runs = alternate(ways, once, config["rounds"], progress)
    return [table("compute", "Time of four computations at once, as a share of their time one "
                  "after the other", "", ("share",),
                  [row(name, [[run["together"] / run["alone"] for run in it]],
                       right=values(it, "right"))
                   for name, it in runs.items()])]


CLAIMS = {"memory": memory, "switch": switch, "depth": depth, "sleepers": sleepers,
          "crawl": crawl, "idle": idle, "busy": busy, "compute": compute}
