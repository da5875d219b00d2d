"""pair.py - an echo server and its load generator (load.c), which can run for one slice at a
time."""

import os
import subprocess

import driver


def start(command, cpu, **more):
    """Start a process, pinned to processor `cpu` unless that is None."""
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True,
        preexec_fn=None if cpu is None else lambda: driver.pin(cpu), **more)


def end(process):
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


class Pair:
    """`server` is the server's command and environment. A server that prints no port has failed, and gets no load
    generator. `load` is the command of another load generator with the arguments of load.c. `more` are arguments of
    Popen() for the server."""

    def __init__(self, name, server, connections, seconds,
                 cpus=(driver.SERVER_CPU, driver.LOAD_CPU), load=None, **more):
        command, environment = server
        self.name = name
        self.server = start(command, cpus[0], stdin=subprocess.DEVNULL,
                            env=dict(os.environ, **environment), **more)
        self.port = self.server.stdout.readline().strip()
        self.load = start([*(load or [driver.out("echo") / "load"]), str(connections),
                           str(round(seconds * 1000)), self.port, str(self.server.pid)],
                          cpus[1], stdin=subprocess.PIPE)
        self.works = self.load.stdout.readline() == "ready\n"

    def slice(self):
        """Return the load generator's figures; None if it has failed, which it reports itself."""
        if not self.works:
            return None
        try:
            os.write(self.load.stdin.fileno(), b"\n")
        except BrokenPipeError:  # the load failed after its last figures
            pass
        figures = [float(word) for word in self.load.stdout.readline().split()]
        self.works = bool(figures)
        return figures or None

    def end(self):
        end(self.load)
        end(self.server)
