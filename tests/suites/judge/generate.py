"""Generate random programs. A seed and a number determine a program.

A program uses only some of the families of instructions below, so that its instructions interact. Times are small
integers, so that many events occur at the same instant. Some random instructions are replaced by scenes, which are
short sequences that reach corner cases of order: for example, they cancel a task that was just woken or has not begun,
or cancel a task twice, or exactly at a deadline. In most programs, the last task only sets and releases objects that
other tasks wait for, and cancels tasks. In some programs, several tasks contend for one object.

Rules that keep both sides comparable:

- A task awaits and gathers only tasks with a higher number, and its children in groups also have higher numbers. If
  tasks awaited each other in a cycle, cancelling one of them would recurse until Python's stack overflowed. A child
  that awaited the owner of its group would never end.

- A `finally` does not wait. In C, waits fail until a cancellation is caught, so waits in a `finally` would fail. In
  Python they would succeed, because a cancellation is delivered only once. A `cleanup` may wait: in C it marks the
  cancellation as caught, but still returns its rc.
"""

import random

from program import BLOCKS, Node, parse, to_text

ERRORS = ["EIO", "EPROTO", "ENOENT", "EPIPE"]

# the instructions of each family, with their weights
FAMILIES = {
    "time": {"sleep": 6, "yield": 4, "soon": 1, "later": 1, "at": 1, "unschedule": 1},
    "futures": {"await": 5, "set": 4, "break": 2, "callback": 2, "uncallback": 1,
                "shield": 2},
    "variables": {"bind": 3, "setvar": 3, "getvar": 2, "soon": 1, "callback": 1},
    "cancel": {"cancel": 5, "uncancel": 1, "cancelling": 1, "fail": 1, "tasks": 0.5},
    "parking": {"park": 4, "unpark": 4},
    "many": {"gather": 3, "gather_all": 2, "wait": 3, "wait_for": 3, "as_completed": 3,
             "race": 1},
    "locks": {"hold": 4, "acquire": 1, "release": 1},
    "events": {"ewait": 3, "eset": 2, "eclear": 1},
    "conditions": {"cwait": 4, "cwait_for": 1, "eset": 0.5, "notify": 3, "acquire": 2,
                   "release": 2, "hold": 2},
    "barriers": {"bwait": 7, "breset": 1, "babort": 0.5, "bstate": 1},
    "queues": {"put": 4, "get": 5, "put_nowait": 1, "get_nowait": 1, "task_done": 2,
               "join": 1, "shutdown": 1},
    "groups": {"group": 6, "child": 3, "fail": 1, "gcancel": 1},
    "scopes": {"scope": 5, "scope_at": 1, "reschedule": 1},
}  # fmt: skip

STRUCTURES = ["groups", "scopes", "cancel", "many"]
DEEPEST = 4  # nested blocks

OTHERS = sorted(set(FAMILIES) - set(STRUCTURES))

LOCKABLE = "lllssu"  # locks, semaphores, bounded semaphores
UNDER_LOCK = {"cwait", "cwait_for", "notify"}

AT_ONCE = ["set", "break", "cancel", "uncancel", "cancelling", "eset", "put_nowait",
           "task_done", "release", "notify", "callback", "soon", "unpark", "tasks", "getvar"]  # fmt: skip


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.task_count = rng.choice([2, 3, 3, 4, 4, 5, 6, 8])
        self.budget = rng.randint(6, 40)
        self.unstarted = list(range(1, self.task_count))
        self.owners = []  # the tasks that own the groups, by group number
        self.marks = 0
        self.depth = 0
        chosen = rng.sample(STRUCTURES, rng.randint(1, 2))
        chosen += rng.sample(OTHERS, rng.randint(1, 2))
        self.caught = rng.random() * 0.7
        self.eager = rng.choice([0, 0, 0.2, 0.6])
        self.weights = {"sleep": 3, "yield": 3, "await": 1, "cancel": 1, "try": 5,
                        "scene": 2}  # fmt: skip
        self.contest = self.choose_contest() if rng.random() < 0.55 else None
        for family in chosen:
            for verb, weight in FAMILIES[family].items():
                self.weights[verb] = self.weights.get(verb, 0) + weight
        self.names = {
            "f": rng.randint(1, 3), "q": rng.randint(1, 2), "l": 1, "s": 1,
            "e": rng.randint(1, 2), "c": rng.randint(1, 2), "u": 1, "b": 1,
        }  # fmt: skip

    # ---- words ----------------------------------------------------------------------

    def ticks(self):
        return str(self.rng.choice([0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 9]))

    def thing(self, letter):
        return letter + str(self.rng.randrange(self.names[letter]))

    def awaited(self):
        """Choose a future, a task with a higher number than the current task, or (rarely) any task."""
        first = 0 if self.rng.random() < 0.01 else self.current + 1
        later = [i for i in range(first, self.task_count) if i != self.current]
        if later and self.rng.random() < 0.6:
            return f"t{self.rng.choice(later)}"
        return self.thing("f")

    def watched(self):
        """Choose any task or future, for an instruction that does not cancel the awaited object."""
        if self.rng.random() < 0.6:
            return f"t{self.rng.randrange(self.task_count)}"
        return self.thing("f")

    def several(self, choose, at_least):
        return [choose() for _ in range(self.rng.randint(at_least, 4))]

    def error(self):
        return self.rng.choice(ERRORS)

    def value(self):
        return str(self.rng.randint(0, 99))

    def mark(self):
        self.marks += 1
        return str(self.marks)

    def choose_contest(self):
        """Choose an instruction with which several tasks contend for one object, and the instruction that serves one
        waiter. Objects for which a lost wake-up is hardest to detect are listed twice."""
        return self.rng.choice([
            (["get", "q0"], ["put_nowait", "q0", "7"]),
            (["put", "q0", "8"], ["get_nowait", "q0"]),
            (["acquire", "l0"], ["release", "l0"]),
            (["acquire", "s0"], ["release", "s0"]),
            (["hold", "s0"], ["release", "s0"]),
            (["acquire", "s0"], ["release", "s0"]),
            (["acquire", "l0"], ["release", "l0"]),
            (["get", "q0"], ["put_nowait", "q0", "7"]),
            (["cwait", "c0"], ["notify", "c0", "1"]),
            (["ewait", "e0"], ["eset", "e0"]),
            (["acquire", "u0"], ["release", "u0"]),
            (["bwait", "b0"], ["bwait", "b0"]),
            (["bwait", "b0"], ["breset", "b0"]),
            (["cwait_for", "c0", "e0"], ["notify", "c0", "all"]),
        ])  # fmt: skip

    def in_lock(self, words):
        """Put an instruction on a condition inside a `hold` block for the condition's lock."""
        node = Node(words, [self.simple("sleep")] if words[0] == "hold" else None)
        return Node(["hold", "l0"], [node]) if words[0] in UNDER_LOCK else node

    # ---- instructions ---------------------------------------------------------------

    def simple(self, verb):
        rng = self.rng
        lockable = lambda: self.thing(rng.choice(LOCKABLE))  # noqa: E731
        words = {
            "sleep": lambda: [self.ticks()],
            "soon": lambda: [self.mark()],
            "later": lambda: [self.ticks(), self.mark()],
            "at": lambda: [self.ticks(), self.mark()],
            "unschedule": lambda: [str(rng.randint(1, max(1, self.marks)))],
            "unpark": lambda: [f"t{rng.randrange(self.task_count)}", self.value()],
            "await": lambda: [self.awaited()],
            "shield": lambda: [self.watched()],
            "set": lambda: [self.thing("f"), self.value()],
            "break": lambda: [self.thing("f"), self.error()],
            "callback": lambda: [self.watched()],
            "uncallback": lambda: [self.watched()],
            "cancel": lambda: [self.watched()],
            "fail": lambda: [self.error()],
            "gather": lambda: self.several(self.awaited, 0),
            "gather_all": lambda: self.several(self.awaited, 0),
            "wait": lambda: [rng.choice(["all", "first", "exception"]),
                             rng.choice(["never", self.ticks()]),
                             *dict.fromkeys(self.several(self.watched, 1))],
            "wait_for": lambda: [rng.choice(["never", self.ticks(), self.ticks()]),
                                 self.awaited()],
            "as_completed": lambda: [rng.choice(["never", "never", self.ticks()]),
                                     *dict.fromkeys(self.several(self.watched, 0))],
            "gcancel": lambda: [f"g{rng.randrange(max(1, len(self.owners)))}"],
            "setvar": lambda: [rng.choice(["v0", "v0", "v1"]), self.value()],
            "getvar": lambda: [rng.choice(["v0", "v0", "v1"])],
            "acquire": lambda: [lockable()],
            "release": lambda: [lockable()],
            "ewait": lambda: [self.thing("e")],
            "eset": lambda: [self.thing("e")],
            "eclear": lambda: [self.thing("e")],
            "cwait": lambda: [self.thing("c")],
            "cwait_for": lambda: [self.thing("c"), self.thing("e")],
            "bwait": lambda: [self.thing("b")],
            "breset": lambda: [self.thing("b")],
            "babort": lambda: [self.thing("b")],
            "bstate": lambda: [self.thing("b")],
            "notify": lambda: [self.thing("c"), rng.choice(["1", "2", "all"])],
            "put": lambda: [self.thing("q"), self.value()],
            "put_nowait": lambda: [self.thing("q"), self.value()],
            "get": lambda: [self.thing("q")],
            "get_nowait": lambda: [self.thing("q")],
            "task_done": lambda: [self.thing("q")],
            "join": lambda: [self.thing("q")],
            "shutdown": lambda: [self.thing("q"), rng.choice(["now", "later"])],
            "reschedule": lambda: [rng.choice(["never", self.ticks(), self.ticks()])],
        }  # fmt: skip
        return Node([verb, *words.get(verb, list)()])

    def instruction(self, verb, open_groups):
        if self.depth >= DEEPEST and verb in BLOCKS:
            verb = "yield"
        if verb in UNDER_LOCK and self.rng.random() < 0.85:
            return Node(["hold", "l0"], [self.simple(verb)])
        if verb == "try":
            return self.attempt(open_groups)
        if verb == "group":
            name = self.new_group()
            node = Node([verb, name], self.block(open_groups + [name], True))
            return self.catching([node]) if self.rng.random() < 0.5 else node
        if verb == "scope":
            ticks = "never" if self.rng.random() < 0.05 else self.ticks()
            return Node([verb, ticks], self.block(open_groups))
        if verb == "scope_at":
            return Node([verb, self.ticks()], self.block(open_groups))
        if verb == "hold":
            name = self.thing(self.rng.choice(LOCKABLE))
            return Node([verb, name], self.block(open_groups))
        if verb == "bind":
            words = [verb, self.rng.choice(["v0", "v0", "v1"]), self.value()]
            return Node(words, self.block(open_groups))
        if verb == "child":
            return self.start_task(open_groups)
        if verb == "race":
            return self.race()
        return self.simple(verb)

    def attempt(self, open_groups):
        kinds = ["except cancelled"] * 4 + ["except error"] * 4 + ["finally", "cleanup"]
        kind = self.rng.choice(kinds)
        body = self.block(open_groups)
        if kind == "finally":
            count = self.rng.randint(1, 2)
            handler = [self.simple(self.rng.choice(AT_ONCE)) for _ in range(count)]
        else:
            handler = self.block(open_groups, longest=2)
            if kind == "except cancelled" and self.rng.random() < 0.3:
                handler.insert(0, Node(["uncancel"]))
        return Node(["try"], body, kind.split(), handler)

    def catching(self, nodes):
        """Return a block that catches a cancellation or an error. The block's handler often waits."""
        kind = self.rng.choice(["except cancelled", "except error"])
        handler = self.block([], longest=2)
        if self.rng.random() < 0.6:
            handler.append(Node(self.waiting()))
        return Node(["try"], nodes, kind.split(), handler)

    def failing_when_cancelled(self, nodes, first=()):
        """Return a block that fails when it is cancelled, after it has run the instructions `first`."""
        return Node(["try"], nodes, ["except", "cancelled"],
                    [*first, Node(["fail", self.error()])])  # fmt: skip

    def start_task(self, open_groups):
        """Return an instruction that starts a task: usually in the innermost group, sometimes in another group or in
        none."""
        unstarted = [number for number in self.unstarted if number > self.current]
        if not unstarted:
            return self.simple("yield")
        number = unstarted[0]
        self.unstarted.remove(number)
        eager = self.rng.random() < self.eager
        if open_groups and self.rng.random() < 0.85:
            verb = "eager_child" if eager else "child"
            return Node([verb, f"t{number}", open_groups[-1]])
        others = [g for g, owner in enumerate(self.owners) if owner < number]
        if others and self.rng.random() < 0.3:
            return Node(["child", f"t{number}", f"g{self.rng.choice(others)}"])
        return Node(["eager" if eager else "spawn", f"t{number}"])

    def race(self):
        """Return a race between some tasks that have not been started."""
        unstarted = [number for number in self.unstarted if number > self.current]
        racers = unstarted[: self.rng.randint(1, 3)]
        if not racers:
            return self.simple("yield")
        for number in racers:
            self.unstarted.remove(number)
        delay = self.rng.choice(["never", *("011223")])
        return Node(["race", delay, *(f"t{number}" for number in racers)])

    def new_group(self):
        self.owners.append(self.current)
        return f"g{len(self.owners) - 1}"

    def block(self, open_groups, starts_tasks=False, longest=5):
        nodes = []
        self.depth += 1
        for _ in range(self.rng.randint(1, longest)):
            if self.unstarted and self.rng.random() < (0.6 if starts_tasks else 0.15):
                nodes.append(self.start_task(open_groups))
            if self.budget <= 0:
                break
            verb = self.rng.choices(list(self.weights), self.weights.values())[0]
            self.budget -= 1
            if verb == "scene":
                nodes += self.scene(open_groups)
            else:
                nodes.append(self.instruction(verb, open_groups))
        self.depth -= 1
        return nodes

    # ---- scenes ---------------------------------------------------------------------

    def scene(self, open_groups):
        """Return a scene: a few related instructions."""
        rng = self.rng
        other = f"t{rng.randrange(self.task_count)}"
        me, wait = f"t{self.current}", self.waiting()
        scenes = [
            lambda: [self.wake(), ["cancel", other]],
            lambda: [["cancel", other], self.wake()],
            lambda: [["cancel", other], ["cancel", other]],
            lambda: [["cancel", other], ["yield"], ["cancel", other]],
            lambda: [["cancel", me], wait],
            lambda: [["cancel", me], ["uncancel"], wait],
            lambda: [["cancel", me], self.wake(), ["result", self.value()]],
            lambda: [self.wake(), self.wake(), ["yield"]],
            lambda: [["sleep", self.ticks()], self.wake()],
            lambda: [["sleep", self.ticks()], ["cancel", other]],
        ]
        if "join" in self.weights:
            scenes += [lambda: self.queue_scene()] * 3
        if self.unstarted and rng.random() < 0.4:
            start = self.start_task(open_groups)
            return [start, Node(["cancel", start.words[1]])] if start.args else [start]
        if rng.random() < 0.25:
            return [self.deadline_scene(wait)]
        return [Node(words) for words in rng.choice(scenes)()]

    def queue_scene(self):
        """Return a scene with a queue: items are put, awaited with join(), or discarded by a shutdown."""
        queue = self.thing("q")
        put, join = ["put_nowait", queue, self.value()], ["join", queue]
        end = ["shutdown", queue, self.rng.choice(["now", "now", "later"])]
        return self.rng.choice([[put, join], [put, ["yield"], end], [end, join]])

    def waiting(self):
        """Return the words of an instruction that waits."""
        verbs = ["sleep", "yield", "await", "shield", "ewait", "get", "acquire", "gather",
                 "gather_all", "wait"]  # fmt: skip
        return self.simple(self.rng.choice(verbs)).words

    def wake(self):
        """Return the words of an instruction that may wake a waiting task."""
        verbs = ["set"] * 3 + ["break", "release"]
        for verb, family in (("eset", "ewait"), ("put_nowait", "get"), ("notify", "cwait")):
            verbs += [verb] * 3 if family in self.weights else []
        return self.simple(self.rng.choice(verbs)).words

    def deadline_scene(self, wait):
        """Return a scene in which the awaited event and the deadline occur at the same instant."""
        ticks = self.ticks()
        inner = [Node(["sleep", ticks])]
        if self.rng.random() < 0.5:
            inner = [Node(["scope", ticks], [Node(wait)])]
        if self.rng.random() < 0.3:
            inner.append(Node(["cancel", f"t{self.current}"]))
        return Node(["scope", ticks], inner)

    # ---- programs -------------------------------------------------------------------

    def task(self, number):
        self.current = number
        self.budget = max(self.budget, 4)
        nodes = self.first_task() if number == 0 else []
        nodes += self.block([], longest=6)
        if self.contest and self.rng.random() < 0.85:
            nodes.insert(self.rng.choice([0, 0, len(nodes)]), self.in_lock(self.contest[0]))
        if self.rng.random() < self.caught:
            nodes = [self.catching(nodes), *self.block([], longest=3)]
        if number > 0 and self.rng.random() < 0.1:
            nodes = [self.failing_when_cancelled(nodes)]
        if self.rng.random() < 0.3:
            nodes.insert(self.rng.randint(0, len(nodes)), Node(["result", self.value()]))
        return Node(["task", f"t{number}"], nodes)

    def first_task(self):
        """Return the beginning of the first task, which starts some other tasks, often in a group."""
        children = self.rng.randint(1, max(1, len(self.unstarted)))
        if "group" not in self.weights or self.rng.random() < 0.2:
            return [self.start_task([]) for _ in range(children) if self.unstarted]
        name = self.new_group()
        body = [self.start_task([name]) for _ in range(children) if self.unstarted]
        if self.unstarted and self.rng.random() < 0.3:
            body.append(self.failing_when_cancelled([Node(self.waiting())], [self.start_task([name])]))
        node = Node(["group", name], body + self.block([name], longest=3))
        return [self.catching([node]) if self.rng.random() < 0.6 else node]

    def waking_task(self, number):
        self.current = number
        nodes = []
        for _ in range(self.rng.randint(3, 10)):
            pause = ["yield"] if self.rng.random() < 0.4 else ["sleep", self.ticks()]
            nodes.append(Node(pause))
            if self.contest and self.rng.random() < 0.65:
                nodes += self.decide_contest()
                continue
            for _ in range(self.rng.choice([1, 1, 2])):
                cancels = self.rng.random() < 0.3
                nodes.append(self.simple("cancel") if cancels else self.give())
        return Node(["task", f"t{number}"], nodes)

    def give(self):
        return self.in_lock(self.wake())

    def decide_contest(self):
        """Return instructions that serve one waiter, and cancel that waiter or another one in the same step."""
        nodes = [self.in_lock(self.contest[1])]
        if self.rng.random() < 0.3:
            nodes *= 2
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            other = Node(["cancel", f"t{self.rng.randrange(self.task_count)}"])
            nodes.insert(self.rng.randint(0, len(nodes)), other)
        return nodes

    def declarations(self):
        """Declare every object. Objects that a program does not use are removed later."""
        rng = self.rng
        sizes = {
            "f": ("future", lambda: []),
            "q": (rng.choice(["queue", "queue", "queue", "lifo", "priority"]),
                  lambda: [str(rng.choice([0, 1, 1, 2]))]),
            "l": ("lock", lambda: []),
            "s": ("semaphore", lambda: [str(rng.choice([0, 0, 1, 2]))]),
            "u": ("bounded", lambda: [str(rng.choice([0, 1, 1, 2]))]),
            "b": ("barrier", lambda: [str(rng.choice([1, 2, 2, 2, 3]))]),
            "e": ("event", lambda: []),
            "c": ("condition", lambda: ["l0"]),
        }
        for letter, (kind, more) in sizes.items():
            for i in range(self.names[letter]):
                yield Node([kind, f"{letter}{i}", *more()])

    def program(self):
        nodes = list(self.declarations())
        gives = self.contest is not None or self.rng.random() < 0.7
        tasks = [self.task(i) for i in range(self.task_count - gives)]
        if gives:
            tasks.append(self.waking_task(self.task_count - 1))
        for number in self.unstarted:  # tasks that no other task starts
            tasks[0].body.insert(self.rng.randint(0, len(tasks[0].body)),
                                 Node(["spawn", f"t{number}"]))  # fmt: skip
        return nodes + tasks


def generate(seed, number):
    """Return the text of a program."""
    return to_text(Generator(random.Random(f"{seed}:{number}")).program())


if __name__ == "__main__":  # generate.py SEED NUMBER: print one program
    import sys

    text = generate(sys.argv[1], int(sys.argv[2]))
    assert to_text(parse(text)) == text
    print(text, end="")
