"""Convert a program of the judge to a scenario for tests/suites/asyncio, in three files of its own.

The files are NAME.py, NAME.c and NAME.trace.

    python3 tests/suites/judge/pair.py PROGRAM.txt DIR NAME SENTENCE...

A block of the program becomes a block in Python and a function in C. A failure becomes an exception in Python and a
return value in C. The files use tests/suites/asyncio/judged.py and judged.[ch]. Instructions on objects that do not
exist are omitted.
"""

import os
import subprocess
import sys

import interpreter
import program
from shrink import drop_unused

ASYNCIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../asyncio")
COLUMNS = 90


# ---- words -------------------------------------------------------------------------------


def is_task(name):
    return name[0] == "t"


def py_future(name):
    return f"{name}.task" if is_task(name) else name


def c_future(name):
    return f"future_of(&{name})" if is_task(name) else name


def py_seconds(ticks):
    return "None" if ticks == "never" else ticks


def c_deadline(ticks):
    return "COIL_NEVER" if ticks == "never" else f"coil_in(COIL_SEC({ticks}))"


def c_several(names):
    if not names:
        return "0, NULL"
    return f"{len(names)}, (coil_future *[]){{{', '.join(map(c_future, names))}}}"


def c_works(names):
    if not names:
        return "0, NULL"
    works = ", ".join("&" + name for name in names)
    return f"{len(names)}, (struct judged_task *[]){{{works}}}"


def c_lock(name, verb):
    kind = {"l": "lock", "s": "semaphore", "u": "bounded_semaphore"}[name[0]]
    return f"coil_{kind}_{verb}(&{name})"


# ---- instructions: (in Python, in C) -----------------------------------------------------

# Instructions that do not wait, each as a callable and its arguments in Python, and as a call in C.
NOW = {
    "spawn": (lambda t: f"{t}.start", lambda t: f"start_task(&{t}, NULL)"),
    "child": (lambda t, g: f"{t}.start, {g}", lambda t, g: f"start_task(&{t}, &{g})"),
    "eager": (lambda t: f"{t}.start_eagerly", lambda t: f"start_eagerly(&{t}, NULL)"),
    "eager_child": (lambda t, g: f"{t}.start_eagerly, {g}",
                    lambda t, g: f"start_eagerly(&{t}, &{g})"),
    "gcancel": (lambda g: f"{g}.cancel", lambda g: f"group_cancel(&{g})"),
    "setvar": (lambda v, n: f"set_variable, {v}, {n}", lambda v, n: f"set(&{v}, {n})"),
    "getvar": (lambda v: f"{v}.get", lambda v: f"value_of(&{v})"),
    "set": (lambda f, v: f"{f}.set_result, {v}",
            lambda f, v: f"coil_future_set({f}, {v}, NULL, NULL)"),
    "break": (lambda f, e: f'{f}.set_exception, Failure("{e}")',
              lambda f, e: f"coil_future_set({f}, -{e}, NULL, NULL)"),
    "cancel": (lambda x: f"{x}.cancel",
               lambda x: f"cancel(&{x})" if is_task(x) else f"coil_future_cancel({x}, NULL)"),
    "uncancel": (lambda: "asyncio.current_task().uncancel", lambda: "coil_uncancel()"),
    "cancelling": (lambda: "asyncio.current_task().cancelling",
                   lambda: "coil_task_cancelling(coil_task_current())"),
    "unpark": (lambda t, v: f"{t}.unpark, {v}", lambda t, v: f"unpark(&{t}, {v})"),
    "soon": (lambda m: f"call_soon, {m}", lambda m: f"call_soon({m})"),
    "later": (lambda s, m: f"call_later, {s}, {m}", lambda s, m: f"call_later({s}, {m})"),
    "at": (lambda s, m: f"call_at, {s}, {m}", lambda s, m: f"call_at({s}, {m})"),
    "unschedule": (lambda m: f"cancel_call, {m}", lambda m: f"cancel_call({m})"),
    "release": (lambda x: f"release, {x}", lambda x: c_lock(x, "release")),
    "eset": (lambda e: f"{e}.set", lambda e: f"coil_event_set(&{e})"),
    "eclear": (lambda e: f"{e}.clear", lambda e: f"coil_event_clear(&{e})"),
    "notify": (lambda c, n: f"notify, {c}, {'None' if n == 'all' else n}",
               lambda c, n: f"coil_condition_notify_all(&{c})" if n == "all"
               else f"coil_condition_notify(&{c}, {n})"),
    "bstate": (lambda b: f"barrier_state, {b}", lambda b: f"barrier_state(&{b})"),
    "put_nowait": (lambda q, v: f"{q}.put_nowait, {v}", lambda q, v: f"put_nowait(&{q}, {v})"),
    "get_nowait": (lambda q: f"{q}.get_nowait", lambda q: f"get_nowait(&{q})"),
    "task_done": (lambda q: f"task_done, {q}", lambda q: f"coil_queue_task_done(&{q})"),
    "shutdown": (lambda q, how: f"{q}.shutdown, {how == 'now'}",
                 lambda q, how: f"coil_queue_shutdown(&{q}, {str(how == 'now').lower()})"),
}  # fmt: skip

# Instructions whose functions are void in C. A semaphore's release is void too, but a lock's is not.
NOTHING = {"eset", "eclear", "shutdown"}

# Instructions that wait, each as an awaitable in Python, and as a call in C.
WAITS = {
    "sleep": (lambda s: f"asyncio.sleep({s})", lambda s: f"coil_sleep(COIL_SEC({s}))"),
    "yield": (lambda: "asyncio.sleep(0)", lambda: "coil_yield()"),
    "await": (py_future, lambda x: f"coil_await({c_future(x)})"),
    "shield": (lambda x: f"asyncio.shield({py_future(x)})",
               lambda x: f"coil_shield({c_future(x)})"),
    "wait_for": (lambda s, x: f"asyncio.wait_for({py_future(x)}, {py_seconds(s)})",
                 lambda s, x: f"coil_wait_for({c_future(x)}, {c_deadline(s)})"),
    "park": (None, lambda: "coil_park()"),
    "acquire": (lambda x: f"{x}.acquire()", lambda x: c_lock(x, "acquire")),
    "ewait": (lambda e: f"{e}.wait()", lambda e: f"coil_event_wait(&{e})"),
    "cwait": (lambda c: f"condition_wait({c})", lambda c: f"coil_condition_wait(&{c})"),
    "cwait_for": (lambda c, e: f"condition_wait_for({c}, {e})",
                  lambda c, e: f"wait_for_event(&{c}, &{e})"),
    "bwait": (lambda b: f"{b}.wait()", lambda b: f"coil_barrier_wait(&{b})"),
    "breset": (lambda b: f"{b}.reset()", lambda b: f"coil_barrier_reset(&{b})"),
    "babort": (lambda b: f"{b}.abort()", lambda b: f"coil_barrier_abort(&{b})"),
    "put": (lambda q, v: f"{q}.put({v})", lambda q, v: f"put(&{q}, {v})"),
    "get": (lambda q: f"{q}.get()", lambda q: f"get(&{q})"),
    "join": (lambda q: f"{q}.join()", lambda q: f"coil_queue_join(&{q})"),
}  # fmt: skip

MAY_GO_ON = {"cwait", "cwait_for"}  # the body continues after an EPERM

ABOUT_TASKS = {"spawn", "child", "eager", "eager_child", "cancel", "unpark", "await",
               "shield", "callback", "uncallback", "wait_for"}  # fmt: skip
OF_ONE = {"await", "shield", "callback", "uncallback", "wait_for"}  # these need an existing object

WAIT_MODES = {
    "all": ("asyncio.ALL_COMPLETED", "COIL_WAIT_ALL"),
    "first": ("asyncio.FIRST_COMPLETED", "COIL_WAIT_FIRST"),
    "exception": ("asyncio.FIRST_EXCEPTION", "COIL_WAIT_FIRST_EXCEPTION"),
}

OBJECTS = {
    "queue": ("asyncio.Queue({1})", "coil_queue", "COIL_QUEUE_INIT(sizeof(int), {1})"),
    "lifo": ("asyncio.LifoQueue({1})", "coil_queue", "COIL_QUEUE_INIT_LIFO(sizeof(int), {1})"),
    "priority": ("asyncio.PriorityQueue({1})", "coil_queue",
                 "COIL_QUEUE_INIT_PRIORITY(sizeof(int), {1}, compare_items)"),
    "lock": ("asyncio.Lock()", "coil_lock", "COIL_LOCK_INIT"),
    "semaphore": ("asyncio.Semaphore({1})", "coil_semaphore", "COIL_SEMAPHORE_INIT({1})"),
    "bounded": ("asyncio.BoundedSemaphore({1})", "coil_bounded_semaphore",
                "COIL_BOUNDED_SEMAPHORE_INIT({1})"),
    "event": ("asyncio.Event()", "coil_event", "COIL_EVENT_INIT"),
    "condition": ("asyncio.Condition({1})", "coil_condition", "COIL_CONDITION_INIT(&{1})"),
    "barrier": ("newer.Barrier({1})", "coil_barrier", "COIL_BARRIER_INIT({1})"),
}  # fmt: skip


class Pair:
    """The base class of both translations of a program."""

    def __init__(self, text, absent=()):
        nodes = drop_unused(program.parse(text))
        self.tasks = [node for node in nodes if node.verb == "task"]
        self.objects = [node for node in nodes if node.verb != "task"]
        self.futures = [node.args[0] for node in self.objects if node.verb == "future"]
        inside = [node for task in self.tasks for node in program.walk(task.body)]
        self.groups = [node.args[0] for node in inside if node.verb == "group"]
        self.absent = set(absent)  # "t0 await t1"

    def leaves_out(self, node, task, scopes):
        """Return true if the instruction is omitted, because its object does not exist or because the task would await
        itself."""
        if node.verb == "reschedule":
            return not scopes
        if node.verb == "gcancel":
            return node.args[0] not in self.groups
        about = node.args[1 if node.verb == "wait_for" else 0] if node.args else ""
        if node.verb not in ABOUT_TASKS or not is_task(about):
            return False
        known = [task.args[0] for task in self.tasks]
        return about not in known or (node.verb in OF_ONE and about == task)

    def others(self, names, task):
        """Return the names of those futures and tasks that the program contains, except the task itself."""
        known = self.futures + [task.args[0] for task in self.tasks]
        return [name for name in names if name in known and name != task]

    def guarded(self, what, node):
        return node.verb in OF_ONE and what in self.absent


# ---- Python ------------------------------------------------------------------------------


class InPython(Pair):
    def text(self, head, name):
        lines = ["from judged import *", ""]
        for node in self.objects:
            if node.verb != "future":
                made = OBJECTS[node.verb][0].format(*node.args)
                lines.append(f"{node.args[0]} = {made}")
        lines += [f"{group} = Group()" for group in self.groups]
        for task in self.tasks:
            name = task.args[0]
            lines += ["", "", "@Task", f"async def {name}():"]
            lines += indent(self.block(task.body, name, []))
        return "\n".join(lines + ["", "", *self.scenario(head, name)]) + "\n"

    def scenario(self, head, name):
        yield from ["@scenario", f"async def {name}():", f'    """{head}"""']
        if self.futures:
            yield f"    global {', '.join(self.futures)}"
        for name in self.futures:
            yield f"    {name} = new_future()"
        tasks = ", ".join(task.args[0] for task in self.tasks)
        locks = ", ".join(node.args[0] for node in self.objects if node.verb == "lock")
        yield f"    await drive([{tasks}], [{locks}], [{', '.join(self.futures)}])"

    def block(self, nodes, task, scopes):
        lines = []
        for node in nodes:
            what = f"{task} {node.text}"
            if self.leaves_out(node, task, scopes):
                continue
            new = self.lines(node, what, task, scopes)
            if self.guarded(what, node):
                new = [f"if {node.args[-1]}.task:", *indent(new)]
            lines += new
        return lines or ["pass"]

    def lines(self, node, what, task, scopes):
        verb, args = node.verb, node.args
        if node.body is not None:
            return getattr(self, verb)(node, what, task, scopes)
        if verb == "park":
            return [f'await trace_step("{what}", {task}.park())']
        if verb in WAITS:
            return [f'await trace_step("{what}", {WAITS[verb][0](*args)})']
        if verb in NOW:
            return [f'trace_call("{what}", {NOW[verb][0](*args)})']
        if verb in ("callback", "uncallback"):
            call = "add_callback" if verb == "callback" else "remove_callback"
            return [f'trace_call("{what}", {call}, "{task} {args[0]}", {py_future(args[0])})']
        if verb == "reschedule":
            return [f'trace_call("{what}", reschedule, {scopes[-1]}, {py_seconds(args[0])})']
        if verb in ("gather", "gather_all"):
            words = [f'"{what}"', str(verb == "gather_all"), *self.others(args, task)]
            return [f"await gather({', '.join(words)})"]
        if verb == "wait":
            words = [f'"{what}"', WAIT_MODES[args[0]][0], py_seconds(args[1])]
            words += self.others(args[2:], task)
            return [f"await wait({', '.join(words)})"]
        if verb in ("as_completed", "race"):
            words = [f'"{what}"', py_seconds(args[0]), *self.others(args[1:], task)]
            return [f"await {verb}({', '.join(words)})"]
        return {
            "result": lambda: [f"{task}.result = {args[0]}"],
            "fail": lambda: [f'raise Failure("{args[0]}")'],
            "tasks": lambda: [f'trace("{what}: %s", living_tasks())'],
        }[verb]()

    def group(self, node, what, task, scopes):
        body = self.block(node.body, task, scopes)
        return [f'with traced_block("{what}"):', f"    async with {node.args[0]}:",
                *indent(body, 2)]  # fmt: skip

    def scope(self, node, what, task, scopes, call="asyncio.timeout"):
        name = f"scope{len(scopes) + 1}"
        body = self.block(node.body, task, [*scopes, name])
        made = f"Scope({call}({py_seconds(node.args[0])}))"
        return [f'with traced_block("{what}"):', f"    async with {made} as {name}:",
                *indent(body, 2)]  # fmt: skip

    def scope_at(self, node, what, task, scopes):
        return self.scope(node, what, task, scopes, "asyncio.timeout_at")

    def bind(self, node, what, task, scopes):
        return [f"with bind({', '.join(node.args)}):",
                *indent(self.block(node.body, task, scopes))]  # fmt: skip

    def hold(self, node, what, task, scopes):
        lock = node.args[0]
        return [f'await trace_step("{what}", {lock}.acquire())', "try:",
                *indent(self.block(node.body, task, scopes)), "finally:",
                f'    trace_call("{task} release {lock}", release, {lock})']  # fmt: skip

    def do_try(self, node, what, task, scopes):
        handler = indent(self.block(node.handler, task, scopes))
        body = ["try:", *indent(self.block(node.body, task, scopes))]
        if node.handler_words[0] != "except":
            return [*body, "finally:", *handler]
        cancelled = node.handler_words[1] == "cancelled"
        kind = "asyncio.CancelledError" if cancelled else "Exception"
        return [*body, f"except {kind} as error:",
                f'    trace("{task} caught %s", name_of(error))', *handler]  # fmt: skip


setattr(InPython, "try", InPython.do_try)


def indent(lines, depth=1):
    return ["    " * depth + line for line in lines]


# ---- C -----------------------------------------------------------------------------------


class InC(Pair):
    def text(self, head, name):
        self.functions, self.statics, self.count = [], [], 0
        for task in self.tasks:
            body = self.block(task.body, task.args[0], [])
            self.function(f"{task.args[0]}_run", body)
        lines = ['#include "../judged.h"', "", *self.declarations(), ""]
        lines += self.functions
        return "\n".join(lines + [f"/* {head} */", f"SCENARIO({name})", *self.scenario()]) + "\n"

    def declarations(self):
        for node in self.objects:
            if node.verb == "future":
                yield f"static coil_future *{node.args[0]};"
            else:
                _, kind, made = OBJECTS[node.verb]
                yield f"static {kind} {node.args[0]} = {made.format(*node.args)};"
        for group in self.groups:
            yield f"static struct judged_group {group};"
        yield from self.statics
        for task in self.tasks:
            yield f"TASK({task.args[0]});"

    def scenario(self):
        locks = [f"&{node.args[0]}" for node in self.objects if node.verb == "lock"]
        queues = [node.args[0] for node in self.objects if "queue" in OBJECTS.get(node.verb, " ")[0].lower()]  # fmt: skip
        yield "{"
        tasks = ", ".join([f"&{task.args[0]}" for task in self.tasks] + ["NULL"])
        yield f"    struct judged_task *const tasks[] = {{{tasks}}};"
        yield f"    coil_lock *const locks[] = {{{', '.join([*locks, 'NULL'])}}};"
        yield "    int rc;"
        yield ""
        for name in self.futures:
            yield f"    {name} = new_future();"
            yield f"    if ({name} == NULL)"
            yield "        return -ENOMEM;"
        futures = ", ".join([*self.futures, "NULL"])
        yield f"    rc = drive(tasks, locks, (coil_future *[]){{{futures}}});"
        for name in queues:
            yield f"    coil_queue_finish(&{name});"
        yield "    return rc;"
        yield "}"

    def function(self, name, lines):
        uses_rc = any("rc = " in line or "rc;" in line for line in lines)
        self.functions += [f"static int {name}(void)", "{",
                           *(["    int rc;", ""] if uses_rc else []), *indent(lines)]  # fmt: skip
        if not lines or not lines[-1].startswith("return "):
            self.functions.append("    return 0;")
        self.functions += ["}", ""]

    def inner(self, nodes, task, kind, scopes):
        """Write a C function for a block. Returns the C code of a call of that function."""
        lines = self.block(nodes, task, scopes)
        self.count += 1
        name = f"{task}_{kind}_{self.count}"
        self.function(name, lines)
        return f"{name}()"

    def block(self, nodes, task, scopes):
        lines = []
        for node in nodes:
            what = f"{task} {node.text}"
            if self.leaves_out(node, task, scopes):
                continue
            new = self.lines(node, what, task, scopes)
            if self.guarded(what, node):
                new = [f"if ({c_future(node.args[-1])} != NULL) {{", *indent(new), "}"]
            lines += new
            if node.verb == "fail":
                break
        return lines

    @staticmethod
    def checked(call, but=""):
        return [f"rc = {call};", f"if (rc < 0{but})", "    return rc;"]

    def lines(self, node, what, task, scopes):
        verb, args = node.verb, node.args
        if node.body is not None:
            return getattr(self, verb)(node, what, task, scopes)
        if verb in WAITS:
            but = " && rc != -EPERM" if verb in MAY_GO_ON else ""
            return self.checked(f'trace_step("{what}", {WAITS[verb][1](*args)})', but)
        if verb in NOW:
            return self.now(what, NOW[verb][1](*args), self.has_no_outcome(verb, args))
        if verb in ("callback", "uncallback"):
            call = "add_callback" if verb == "callback" else "remove_callback"
            call = f'{call}("{task} {args[0]}", {c_future(args[0])})'
            return self.now(what, call)
        if verb == "reschedule":
            call = f"coil_scope_set_deadline(&{scopes[-1]}, {c_deadline(args[0])})"
            return self.now(what, call)
        if verb in ("gather", "gather_all"):
            flags = "COIL_GATHER_ALL" if verb == "gather_all" else "0"
            return self.checked(f'gather("{what}", {flags}, {c_several(self.others(args, task))})')
        if verb == "wait":
            mode, deadline = WAIT_MODES[args[0]][1], c_deadline(args[1])
            several = c_several(self.others(args[2:], task))
            call = f'wait_for("{what}", {mode}, {deadline}, {several})'
            return self.checked(call)
        if verb == "as_completed":
            several = c_several(self.others(args[1:], task))
            return self.checked(f'as_completed("{what}", {c_deadline(args[0])}, {several})')
        if verb == "race":
            several = c_works(self.others(args[1:], task))
            delay = "COIL_NEVER" if args[0] == "never" else f"COIL_SEC({args[0]})"
            return self.checked(f'race("{what}", {delay}, {several})')
        return {
            "result": lambda: [f"{task}.result = {args[0]};"],
            "fail": lambda: [f"return -{args[0]};"],
            "tasks": lambda: [f'trace("{what}: %s", living_tasks());'],
        }[verb]()

    @staticmethod
    def has_no_outcome(verb, args):
        return verb in NOTHING or (verb == "release" and args[0][0] == "s")

    @staticmethod
    def now(what, call, has_no_outcome=False):
        if has_no_outcome:
            return [f"{call};", f'trace_step("{what}", 0);']
        return [f'trace_step("{what}", {call});']

    def group(self, node, what, task, scopes):
        body = self.inner(node.body, task, "group", scopes)
        group = node.args[0]
        return [f"group_enter(&{group});",
                *self.checked(f'trace_step("{what}", group_exit(&{group}, {body}))')]  # fmt: skip

    def scope(self, node, what, task, scopes, deadline=None):
        name = f"{task}_scope{len(self.statics)}"
        self.statics.append(f"static coil_scope {name};")
        body = self.inner(node.body, task, "scope", [*scopes, name])
        deadline = deadline or c_deadline(node.args[0])
        return [*self.checked(f"coil_scope_enter(&{name}, {deadline})"),
                *self.checked(f'trace_step("{what}", scope_exit(&{name}, {body}))')]  # fmt: skip

    def scope_at(self, node, what, task, scopes):
        return self.scope(node, what, task, scopes, f"COIL_SEC({node.args[0]})")

    def bind(self, node, what, task, scopes):
        body = self.inner(node.body, task, "bind", scopes)
        variable, value = node.args
        return ["{", "    coil_var_token token;", "",
                f"    rc = coil_var_set(&{variable}, (void *){value}, &token);",
                "    if (rc < 0)", "        return rc;", f"    rc = {body};",
                f"    coil_var_reset(&{variable}, &token);", "}",
                "if (rc < 0)", "    return rc;"]  # fmt: skip

    def hold(self, node, what, task, scopes):
        body = self.inner(node.body, task, "hold", scopes)
        lock = node.args[0]
        release = self.now(f"{task} release {lock}", c_lock(lock, "release"), lock[0] == "s")
        return [*self.checked(f'trace_step("{what}", {c_lock(lock, "acquire")})'),
                f"rc = {body};", *release, "if (rc < 0)", "    return rc;"]  # fmt: skip

    def do_try(self, node, what, task, scopes):
        body = self.inner(node.body, task, "try", scopes)
        handler = self.inner(node.handler, task, node.handler_words[0], scopes)
        if node.handler_words[0] == "except":
            cancelled = node.handler_words[1] == "cancelled"
            which = "rc == -ECANCELED" if cancelled else "rc < 0 && rc != -ECANCELED"
            caught = ["    coil_cancel_caught();"] if cancelled else []
            return [f"rc = {body};", f"if ({which}) {{", *caught,
                    f'    trace("{task} caught %s", outcome(rc));', f"    rc = {handler};", "}",
                    "if (rc < 0)", "    return rc;"]  # fmt: skip
        caught = ["coil_cancel_caught();"] if node.handler_words[0] == "cleanup" else []
        return [f"rc = {body};", *caught, "{", f"    int cleanup = {handler};", "",
                "    rc = cleanup < 0 ? cleanup : rc;", "}",
                "if (rc < 0)", "    return rc;"]  # fmt: skip


setattr(InC, "try", InC.do_try)


# ---- files -------------------------------------------------------------------------------


def laid_out(text):
    try:
        return subprocess.run(["clang-format", "--assume-filename=" + ASYNCIO + "/x.c"],
                              input=text, capture_output=True, text=True,
                              check=True).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return text


def trace_of(python, path):
    """Return CPython's output for the scenarios at this path, with their names."""
    command = [python, os.path.join(ASYNCIO, "scenario.py"), path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


def absent_in(traces):
    """Return the instructions whose objects did not exist when they ran, such as "t0 await t1"."""
    lines = [line for trace in traces for line in trace if line.endswith(": absent")]
    return {line.split(" ", 1)[1].removesuffix(": absent") for line in lines}


def write(directory, name, text, head, traces=()):
    """Write the three files, and return their path without a suffix. `traces` is the output of the program on both
    sides."""
    os.makedirs(directory, exist_ok=True)
    path, absent = os.path.join(directory, name), absent_in(traces)
    with open(path + ".py", "w") as file:
        file.write(InPython(text, absent).text(head, name))
    with open(path + ".c", "w") as file:
        file.write(laid_out(InC(text, absent).text(head, name)))
    python, version = interpreter.find("pair", (3, 13))
    lines = ["# CPython %d.%d.%d" % version, *trace_of(python, path + ".py")]
    with open(path + ".trace", "w") as file:
        file.write("".join(line + "\n" for line in lines))
    return path


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        write(sys.argv[2], sys.argv[3], file.read(), " ".join(sys.argv[4:]))
