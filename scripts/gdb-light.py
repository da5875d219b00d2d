"""Show light tasks in gdb: source this file for a program that was built with coil's debug data.

    `coil-light`: List the light tasks of all threads, and where their stacks are.
    `coil-light back TASK`: Restore a task's stack in a live process. Select the task's thread first.
    `coil-light core NEW`: Write a copy of the core file, in which all stacks are restored.

TASK is an address that coil-light without arguments prints. A swapped-out stack is stored in a cell,
which contains the highest bytes of the stack unchanged. See docs/design/light-tasks.md.
"""

import re
import shutil
import struct

import gdb

STATES = ("free", "not begun", "resident", "away", "resident")
AWAY = 3


def table():
    symbol = gdb.lookup_static_symbol("first_entries")
    if symbol is None:
        raise gdb.GdbError("no debug data of coil's src/coro/light.c")
    return symbol.value()


def slabs():
    """Yield the slabs of all threads."""
    entries = table()
    while True:
        array = entries["entries"]
        low, high = array.type.range()
        for i in range(low, high + 1):
            slab = array[i]["slab"]
            if int(slab) != 0:
                yield slab.dereference()
        if int(entries["next"]) == 0:
            return
        entries = entries["next"].dereference()


def records():
    for slab in slabs():
        for i in range(int(slab["fresh"])):
            yield slab["records"][i]


def task_of(record):
    task = gdb.lookup_type("struct coil_task").pointer()
    return record["block"].address.cast(task)


def stored(record):
    """Return the address at which the stored bytes belong in the stack, the address at which they are stored, and their
    number."""
    stack = task_of(record).dereference()["coro"]["stack"]
    count = int(stack["stored_steps"]) * 16
    size = 1 << (int(stack["size_class"]) & 31)
    page = int(gdb.parse_and_eval("coil__slot_page_bytes"))
    slab = stack["light_slab"]
    slot, step = int(slab["slots"]), int(slab["slot_bytes"])
    slot += (int(stack["low"]) - slot) // step * step
    top = int(stack["low"]) + size - slot // page % 16 * 64
    return top - count, int(stack["cell"]), count


def name_of(task):
    text = bytes(int(task["name"]["text"][i]) & 255 for i in range(16))
    if text[15] == 1:
        return task["name"]["shared"]["text"].string()
    if text[15] == 2:  # a number that is not yet formatted as a name
        return f"task-{int.from_bytes(text[8:15], 'little')}"
    return text.split(b"\0")[0].decode("utf-8", "replace")


def show():
    for record in records():
        task = task_of(record)
        state = int(task["coro"]["stack"]["state"])
        if state == 0:
            continue
        line = f"{int(task):#x}  {name_of(task):16} {STATES[state]}"
        if state == AWAY:
            to, cell, count = stored(record)
            line += f", {count} bytes of {to:#x} at {cell:#x}"
        print(line)


def segments(path):
    """Yield the address, offset and length of each memory segment in a 64-bit ELF core file."""
    with open(path, "rb") as core:
        head = core.read(64)
        at, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        if count == 0xffff:  # for larger counts, the first section has the number
            core.seek(struct.unpack_from("<Q", head, 40)[0])
            count = struct.unpack_from("<I", core.read(64), 44)[0]
        core.seek(at)
        for _ in range(count):
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", core.read(size))
            if kind == 1:
                yield address, offset, length


def write_core(new):
    found = re.search(r"core dump file:\s*`([^']+)'", gdb.execute("info files", to_string=True))
    if found is None:
        raise gdb.GdbError("no core file is open")
    old = found.group(1)
    parts = list(segments(old))
    shutil.copyfile(old, new)
    back = 0
    with open(new, "r+b") as core:
        for record in records():
            if int(task_of(record)["coro"]["stack"]["state"]) != AWAY:
                continue
            to, cell, count = stored(record)
            for address, offset, length in parts:
                if address <= to and to + count <= address + length:
                    core.seek(offset + to - address)
                    core.write(gdb.selected_inferior().read_memory(cell, count))
                    back += 1
    print(f"{back} stacks are back in {new}")


class CoilLight(gdb.Command):
    __doc__ = __doc__

    def __init__(self):
        super().__init__("coil-light", gdb.COMMAND_STACK)

    def invoke(self, text, from_tty):
        words = gdb.string_to_argv(text)
        if not words:
            show()
        elif words[0] == "back" and len(words) == 2:
            gdb.parse_and_eval(f"coil__task_swap_in((struct coil_task *){words[1]})")
        elif words[0] == "core" and len(words) == 2:
            write_core(words[1])
        else:
            raise gdb.GdbError("coil-light, coil-light back TASK, coil-light core NEW")


CoilLight()
