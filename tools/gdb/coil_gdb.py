"""gdb commands for programs that use coil.

gdb loads this file together with libcoil.so. For a program that contains libcoil.a, load it with `source coil_gdb.py`.

    `info coil-tasks`: List the tasks with number, name, state and wait.
    `coil bt N` or `coil bt all`: Print the backtrace of a task, or of all tasks.
    `coil frame N`: Select a task's stack for up, down and info locals, until `coil frame off`.

Each loop numbers its own tasks. If there are several loops, `info coil-tasks` lists each task as LOOP.N, such as 2.3,
and the other commands accept this form, too.

The commands work for live processes and for core files, and need no debug data of coil. The commands do not change
registers: an unwinder inserts the task's stack above the current frame. docs/design/ps.md describes the table in the
program's memory from which the commands get the layout of coil's structs.
"""

import re
import struct

import gdb
import gdb.unwinder

# Keys of src/coro/outside_keys.h.
LOW, HIGH, SIZE_CLASS, STATE, CELL, IS_LIGHT, IS_STORED = 1, 2, 3, 4, 6, 7, 8
SP, NUMBER = 20, 23
LOOP_THREAD, LOOP_NUMBER, LOOP_SCHEDULER = 41, 42, 43
CURRENT, TASKS = 60, 61
NEXT = 70
CORO, LINK, STEP_LINK, LEAF, WAIT, FLAGS, IS_STARTED, FUTURE, NAME = 81, 83, 84, 85, 86, 87, 88, 91, 92
RC = 110
NAME_SHARED, NAME_NUMBER, SHARED_TEXT = 121, 122, 124
CLASS, WAIT_DONE, WHAT, WHAT_PATH, PATH_OFFSETS = 140, 143, 145, 147, 163

# For each architecture: the offsets of the registers that a switch saves from the saved stack pointer, the name of the
# stack pointer, and the size of the saved area.
SAVED = {
    'i386:x86-64': ({'r15': 8, 'r14': 16, 'r13': 24, 'r12': 32, 'rbx': 40, 'rbp': 48, 'rip': 56}, 'rsp', 64),
    'aarch64': ({**{f'x{19 + i}': 8 * i for i in range(11)}, 'pc': 88}, 'sp', 176),
}
PENDING = -115
TASKS_MAX = 1 << 24


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def number(address, size=8, signed=False):
    return int.from_bytes(read(address, size), 'little', signed=signed)


def text(address):
    if not address:
        return '?'
    found = b''
    while b'\0' not in found and len(found) < 64:
        found += read(address + len(found), 1)
    return found.split(b'\0')[0].decode('ascii', 'replace')


class Table:
    """The table in a module that contains coil."""

    def __init__(self, address):
        cookie, version, _, _, _, rows, end, loops, count, _ = struct.unpack('<8sII5QII', read(address, 64))
        if cookie != b'coil-ps\0':
            raise gdb.GdbError('the table of libcoil cannot be read')
        if version != 1:
            raise gdb.GdbError(f"libcoil's table has version {version}, and this script reads version 1")
        pairs = struct.iter_unpack('<HH', read(rows, (end - rows) // 4 * 4))
        self.rows = {key: value for key, value in pairs if key}
        self.loops = [loop for (loop,) in struct.iter_unpack('<Q', read(loops, 8 * min(count, 65536))) if loop]

    def __getitem__(self, key):
        return self.rows[key]


def find_tables():
    """Return the addresses of the tables of all modules that contain coil."""
    found = set()
    for option in '-all-objects', 'ALLOBJ':
        try:
            sections = gdb.execute(f'maintenance info sections {option} .note.coil', to_string=True)
        except gdb.error:
            continue
        for begin in re.findall(r'(0x[0-9a-f]+)->0x[0-9a-f]+ at [^\n]*\.note\.coil', sections):
            words = int(begin, 16) + 20
            try:
                found.add(words + number(words, 4, signed=True))
            except gdb.MemoryError:
                continue
    if not found:
        raise gdb.GdbError('no libcoil was found in this program, or one from before coil-ps')
    return sorted(found)


def tables():
    """Return the readable tables. Fails if there are none."""
    readable, error = [], None
    for address in find_tables():
        try:
            readable.append(Table(address))
        except (gdb.GdbError, gdb.MemoryError) as failure:
            error = failure
    if not readable:
        raise error
    return readable


class Loop:
    def __init__(self, table, address):
        self.table = table
        self.number = self.label = number(address + table[LOOP_NUMBER], 4)
        self.thread = number(address + table[LOOP_THREAD], 4)
        self.scheduler = number(address + table[LOOP_SCHEDULER])

    def tasks(self):
        """Yield the tasks that have not ended."""
        if not self.scheduler:
            return
        current = number(self.scheduler + self.table[CURRENT])
        head = self.scheduler + self.table[TASKS]
        link = number(head + self.table[NEXT])
        for _ in range(TASKS_MAX):
            if link in (0, head):
                break
            task = Task(self, link - self.table[LINK], current)
            if not task.has_ended():
                yield task
            link = number(link + self.table[NEXT])


def find_loops():
    """Return the loops of all copies of coil, each with a label of its own: its number. But each copy numbers its own
    loops. If two copies use the same number, the labels are the positions in the list."""
    loops = [Loop(table, address) for table in tables() for address in table.loops]
    if len({loop.number for loop in loops}) < len(loops):
        for position, loop in enumerate(loops, 1):
            loop.label = position
    return loops


class Task:
    def __init__(self, loop, address, current):
        self.loop, self.table, self.address, self.is_current = loop, loop.table, address, address == current
        self.number = number(address + self.table[CORO] + self.table[NUMBER], 4)

    def full_number(self):
        return f'{self.loop.label}.{self.number}'

    def member(self, key, size=8, signed=False):
        return number(self.address + self.table[key], size, signed)

    def has_ended(self):
        return number(self.address + self.table[FUTURE] + self.table[RC], 4, signed=True) != PENDING

    def is_started(self):
        return self.member(FLAGS, 1) & self.table[IS_STARTED] != 0

    def name(self):
        name = read(self.address + self.table[NAME], 16)
        if name[15] == self.table[NAME_SHARED]:
            return text(struct.unpack('<Q', name[:8])[0] + self.table[SHARED_TEXT])
        if name[15] == self.table[NAME_NUMBER]:
            return f'task-{int.from_bytes(name[8:15], "little")}'
        return name.split(b'\0')[0].decode('ascii', 'replace')

    def what(self, wait):
        kind = number(wait + self.table[CLASS])
        what = number(kind + self.table[WHAT])
        path = kind + self.table[WHAT_PATH]
        steps = number(path, 1)
        if what or not steps:
            return text(what)
        place = wait + number(path + self.table[PATH_OFFSETS], 2, signed=True)
        if steps > 1:
            place = number(place) + number(path + self.table[PATH_OFFSETS] + 2, 2, signed=True)
        return text(number(place))

    def state(self):
        wait = self.member(WAIT)
        if not self.is_started():
            return 'has not begun'
        if self.is_current:
            return 'runs'
        if wait and not number(wait + self.table[WAIT_DONE], 1):
            return f'waits: {self.what(wait)}'
        link = self.address + self.table[STEP_LINK]
        return 'is ready' if number(link + self.table[NEXT]) not in (0, link) else 'has started another'

    def sp(self):
        """Return the saved stack pointer of the task, or of its innermost generator; 0 if the task is running."""
        return number(self.member(LEAF) + self.table[SP])

    def stack(self):
        """Return the task's stack. If the stack belongs to a light task and is swapped out, return the copy of the
        stack."""
        table, leaf, sp = self.table, self.member(LEAF), self.sp()
        if IS_LIGHT not in table.rows or not number(leaf + table[SIZE_CLASS], 1) & table[IS_LIGHT] or (
                number(leaf + table[STATE], 1) != table[IS_STORED]):
            return Stack(sp)
        return Stack(sp, number(leaf + table[CELL]) - sp, number(leaf + table[LOW]), number(leaf + table[HIGH]))


def find_task(argument):
    """Return the task with this number: N or LOOP.N."""
    if not re.fullmatch(r'(\d+\.)?\d+', argument):
        raise gdb.GdbError('which task? give its number, as info coil-tasks lists it')
    found = [task for loop in find_loops() for task in loop.tasks() if argument in (str(task.number), task.full_number())]
    if not found:
        raise gdb.GdbError(f'there is no task {argument}')
    if len(found) > 1:
        names = ' or '.join(task.full_number() for task in found)
        raise gdb.GdbError(f'several loops have a task {argument}: give {names}')
    return found[0]


def find_suspended_task(argument):
    task = find_task(argument)
    if task.is_current or task.is_started() and not task.sp():
        raise gdb.GdbError(f'task {argument} runs: it is on the stack of its thread')
    if not task.is_started():
        raise gdb.GdbError(f'task {argument} {task.state()}')
    return task


class Stack:
    """A suspended stack: its stack pointer, and the distance to its copy if it is swapped out, else 0."""

    def __init__(self, sp, moved=0, low=0, high=0):
        self.sp, self.moved, self.low, self.high = sp + moved, moved, low, high

    def saved(self, name, offset):
        """Return a saved register. A pointer into the stack is converted to a pointer into its copy."""
        value = number(self.sp + offset)
        return value if name in ('rip', 'pc') else self.moved_pointer(value)

    def moved_pointer(self, value):
        """Convert a pointer into the stack to a pointer into its copy."""
        return value + self.moved if self.low <= value < self.high else value


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Unwinder(gdb.unwinder.Unwinder):
    """While a task is chosen, the frame above the current one is the innermost frame of the task.

    If the stack is swapped out, a frame pointer may point into the original stack. In that case the frame is inserted a
    second time, with a pointer into the copy."""

    def __init__(self):
        super().__init__('coil')
        self.chosen = None
        self.inserted = set()  # levels of frames that appear twice

    def choose(self, stack):
        self.chosen = stack
        self.inserted = set()
        gdb.invalidate_cached_frames()

    def __call__(self, pending):
        architecture = pending.architecture().name()
        if self.chosen is None or architecture not in SAVED:
            return None
        registers, sp_name, size = SAVED[architecture]
        pc_name, frame_name = ('rip', 'rbp') if 'rip' in registers else ('pc', 'x29')
        sp, pc = pending.read_register(sp_name), pending.read_register(pc_name)
        word = gdb.lookup_type('unsigned long')
        if pending.level() != 0:
            return self.move_frame(pending, registers, sp_name, frame_name, sp, pc)
        # Use the frame's own stack pointer, because gdb rejects a frame that is further inward than the frame below it.
        info = pending.create_unwind_info(FrameId(gdb.Value(self.chosen.sp).cast(word).cast(sp.type), pc))
        for name, offset in registers.items():
            value = gdb.Value(self.chosen.saved(name, offset)).cast(word)
            info.add_saved_register(name, value.cast(pc.type) if name == pc_name else value)
        info.add_saved_register(sp_name, gdb.Value(self.chosen.sp + size).cast(word).cast(sp.type))
        return info

    def move_frame(self, pending, registers, sp_name, frame_name, sp, pc):
        frame = pending.read_register(frame_name)
        moved = self.chosen.moved_pointer(int(frame))
        if moved == int(frame):
            return None
        self.inserted.add(pending.level())
        info = pending.create_unwind_info(FrameId(sp, pc))
        for name in registers:
            value = pending.read_register(name)
            info.add_saved_register(name, gdb.Value(moved).cast(value.type) if name == frame_name else value)
        info.add_saved_register(sp_name, sp)
        return info


UNWINDER = Unwinder()


def backtrace(task):
    """Print a task's frames: those above the current frame, without the frames that were inserted twice."""
    UNWINDER.choose(task.stack())
    try:
        lines = gdb.execute('backtrace', to_string=True).splitlines()
        inserted = UNWINDER.inserted
    finally:
        UNWINDER.choose(None)
    for line in lines[1:]:
        level = re.match(r'#(\d+)', line)
        if not level or int(level[1]) not in inserted:
            print(line)


class InfoTasks(gdb.Command):
    """List the tasks of coil: number, name, state and wait."""

    def __init__(self):
        super().__init__('info coil-tasks', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        loops = find_loops()
        for loop in loops:
            if len(loops) > 1:
                print(f'loop {loop.label} in thread {loop.thread}:')
            for task in loop.tasks():
                name = task.full_number() if len(loops) > 1 else task.number
                print(f'{name:>6}  {task.name():<16} {task.state()}')


class Coil(gdb.Command):
    """Commands for the tasks of coil: coil bt N|LOOP.N|all, coil frame N|LOOP.N|off."""

    def __init__(self):
        super().__init__('coil', gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class CoilBacktrace(gdb.Command):
    """Print the backtrace of a task, by its number, or of all tasks: coil bt N|LOOP.N|all."""

    def __init__(self):
        super().__init__('coil bt', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if argument != 'all':
            backtrace(find_suspended_task(argument))
            return
        loops = find_loops()
        for task in [task for loop in loops for task in loop.tasks()]:
            print(f'{task.full_number() if len(loops) > 1 else task.number}: {task.name()} {task.state()}')
            if task.is_started() and not task.is_current and task.sp():
                backtrace(task)


class CoilFrame(gdb.Command):
    """Select a task's stack for up, down and info locals: coil frame N|LOOP.N.

    coil frame off selects the thread's stack."""

    def __init__(self):
        super().__init__('coil frame', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if argument == 'off':
            UNWINDER.choose(None)
            gdb.execute('frame 0')
            return
        UNWINDER.choose(find_suspended_task(argument).stack())
        gdb.execute('frame 1')


gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)
InfoTasks()
Coil()
CoilBacktrace()
CoilFrame()
