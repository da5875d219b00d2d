"""machine.py - the resources that the machine can spare: threads, memory, descriptors.

At least a tenth of each resource that other programs share, and at least RESERVE threads, remain free. This process may
reach a limit that applies only to it, because that does not affect other programs.
"""

import os
import pathlib
import platform
import resource

RESERVE = 2000             # threads that are left to other programs
THREAD_BYTES = 64 << 10    # more than a thread takes, including the kernel's part
DESCRIPTORS_SPARE = 256


def read_number(path):
    """Return the number in a file; None if the file does not exist, or contains "max" instead of a number."""
    try:
        return int(pathlib.Path(path).read_text())
    except (OSError, ValueError):
        return None


def control_groups(controller):
    """Return the folders of this process's control group and of its parents, for cgroup v1 or v2."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", controller):
            continue
        for top in ("/sys/fs/cgroup", f"/sys/fs/cgroup/{controller}"):
            folder = pathlib.Path(top + path)
            yield from [folder, *list(folder.parents)[:-3]]


def left_in_groups(controller, limits, used):
    """Return how much these control groups still allow: the smallest difference between a limit and its use; None if
    there is no limit."""
    left = []
    for folder in control_groups(controller):
        for limit, use in zip(limits, used):
            most, now = read_number(folder / limit), read_number(folder / use)
            if most is not None and now is not None:
                left.append(most - now)
    return min(left, default=None)


def memory_left():
    """Return the available memory in bytes, as limited by the machine and by control groups."""
    info = pathlib.Path("/proc/meminfo").read_text().split()
    left = int(info[info.index("MemAvailable:") + 1]) << 10
    grouped = left_in_groups("memory", ("memory.max", "memory.limit_in_bytes"),
                             ("memory.current", "memory.usage_in_bytes"))
    return left if grouped is None else min(left, grouped)


def thread_limits():
    """Return {name of a limit: (how many threads the limit still allows, whether other programs share it)}."""
    running = int(pathlib.Path("/proc/loadavg").read_text().split()[3].split("/")[1])
    _, mine = resource.getrlimit(resource.RLIMIT_NPROC)
    limits = {
        "kernel.pid_max": (read_number("/proc/sys/kernel/pid_max"), running, True),
        "kernel.threads-max": (read_number("/proc/sys/kernel/threads-max"), running, True),
        # A thread needs two memory mappings: its stack and its guard.
        "vm.max_map_count": ((read_number("/proc/sys/vm/max_map_count") or 65530) // 2, 0,
                             False),
        "pids.max": (left_in_groups("pids", ("pids.max",), ("pids.current",)), 0, True),
        "memory": (memory_left() // 4 // THREAD_BYTES, 0, False),
    }
    if os.geteuid() != 0 and mine != resource.RLIM_INFINITY:
        limits["ulimit -u"] = (mine, running, True)
    return {name: (most - used, shared) for name, (most, used, shared) in limits.items()
            if most is not None}


def thread_room(own_limits=True):
    """Return how many threads may be started, and the name of the limit that sets this number."""
    room = {name: left - max(RESERVE, left // 10) if shared else left
            for name, (left, shared) in thread_limits().items()
            if own_limits or name != "vm.max_map_count"}
    limit = min(room, key=room.get)
    return max(0, room[limit]), limit


def allow_descriptors():
    """Raise the limit of descriptors as far as the system allows, for this process and its
    children. Returns the number of connections for which the limit suffices."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = read_number("/proc/sys/fs/nr_open") or hard
    for wanted in (most, hard):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
            break
        except (OSError, ValueError):  # only root may raise it further
            continue
    return descriptor_limit() - DESCRIPTORS_SPARE


def descriptor_limit():
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def memory_of(pid):
    """Return a process's memory in bytes: resident, page tables, and its threads' kernel stacks."""
    total = 0
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        words = line.split()
        if words[0] in ("VmRSS:", "VmPTE:"):
            total += int(words[1]) << 10
        elif words[0] == "Threads:":
            total += int(words[1]) * 16384
    return total


def description():
    return (f"{os.cpu_count()} processors, {memory_total() / 2**30:.0f} GiB, "
            f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}")


def memory_total():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
