"""Filters that drop programs for which coil and asyncio differ on purpose.

Where possible, the generator avoids such differences (see generate.py). The filters drop programs with the remaining
differences. The run counts the programs that each filter drops, and fails if the filters drop too many.
"""

import older
import program

MOST_PERCENT = 2  # share of the programs, on a CPython of 3.13 or later

# If a task is cancelled in one of these instructions, the tasks that it awaits are cancelled too.
HANDED_ON = {"await", "gather", "gather_all", "wait_for", "race"}


def edges(nodes):
    """Yield pairs of tasks in which the first may pass its cancellation on to the second: a task and a task that it
    awaits, or the owner of a group and a child."""
    owners = {}
    for task in nodes:
        if task.verb == "task":
            inside = list(program.walk(task.body))
            owners |= {node.args[0]: task.args[0] for node in inside if node.verb == "group"}
    for task in nodes:
        for node in program.walk(task.body or []):
            if node.verb in HANDED_ON:
                yield from ((task.args[0], name) for name in node.args if name[0] == "t")
            elif node.verb == "child" and node.args[1] in owners:
                yield owners[node.args[1]], node.args[0]


def has_circle(nodes):
    waits_for = {}
    for task, other in edges(nodes):
        waits_for.setdefault(task, set()).add(other)
    while waits_for:  # remove tasks that wait for no task, as long as there are any
        free = {name for names in waits_for.values() for name in names} - set(waits_for)
        left = {task: names - free for task, names in waits_for.items()}
        left = {task: names for task, names in left.items() if names}
        if left == waits_for:
            return True
        waits_for = left
    return False


FILTERS = {
    "circle": (
        "tasks that may await each other in a cycle cannot be cancelled: coil reports this and "
        "aborts, Python overflows its stack or never ends",
        has_circle,
    ),
}


# Filters that apply only at run time. reference.py writes their names into the trace.
SEEN_IN_RUNS = {
    "race": "a staggered race that is cancelled, or that two tasks win: asyncio leaves the other "
    "tasks running, or fails with an assertion; coil waits for them, and the first winner counts",
}


def dropped_by(text, version):
    """Return the name of the filter that drops this program, or None."""
    if not older.comparable(text, version):
        return older.FILTER
    nodes = program.parse(text)
    return next((name for name, (_, drops) in FILTERS.items() if drops(nodes)), None)


def reason(name, version):
    if name == older.FILTER:
        return "Python %d.%d differs from 3.13 there" % version
    return f"{name}: {SEEN_IN_RUNS[name] if name in SEEN_IN_RUNS else FILTERS[name][0]}"
