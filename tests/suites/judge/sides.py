"""Run programs on the sides that are compared: on CPython's asyncio, and on coil in two ways.

coil runs every program twice: once with a poll in every turn, as in asyncio, and once with skipped polls, as in a loop
with a real clock (coil_loop_opts.skip_polls). Both traces must equal CPython's.
"""

import os
import subprocess

import program

HERE = os.path.dirname(os.path.abspath(__file__))
LEFT_OUT = "left out: "  # a line of the trace, with the name of a filter
DEATHS = 5  # give up a batch after so many crashes and timeouts


class Verdict:
    """The traces of one program on all sides."""

    def __init__(self, python, ways):
        self.corners = [line[2:] for line in python if line.startswith("# ")]
        self.python = [line for line in python if not line.startswith("# ")]
        self.left_out = next((line.removeprefix(LEFT_OUT) for line in self.python
                              if line.startswith(LEFT_OUT)), None)  # fmt: skip
        self.coil, self.way = ways[0], "coil"
        if ways[0] == self.python and ways[1] != self.python:
            self.coil, self.way = ways[1], "coil, skipping polls"

    @property
    def differs(self):
        died = any(line.startswith("died") for line in self.python)
        return self.python != self.coil and not self.left_out and not died

    @property
    def agrees(self):
        return self.python == self.coil and bool(self.python)


class Sides:
    """Run batches of programs on CPython and on coil."""

    def __init__(self, python, coil, directory):
        self.python = [python, os.path.join(HERE, "reference.py")]
        self.ways = [[coil], [coil, "--skip-polls"]]
        self.batch = os.path.join(directory, "batch")

    def run_side(self, command, texts):
        """Run the programs with this command, and return their traces by name. If the process dies, only the trace of
        its current program is lost."""
        traces, names = {}, list(texts)
        for _ in range(DEATHS):
            with open(self.batch, "w") as file:
                for name in names:
                    file.write(f"program {name}\n{texts[name]}")
            try:
                done = subprocess.run([*command, self.batch], capture_output=True,
                                      text=True, timeout=10 + len(names) / 4)  # fmt: skip
                out, end = done.stdout, done.returncode
                why = f"died: {end}\n{done.stderr}" if end else ""
            except subprocess.TimeoutExpired as expired:
                out, end = (expired.stdout or b"").decode(), "hangs"
                why = "hangs\n"
            got = {name: text.splitlines() for name, text in program.read_many(out)}
            traces.update(got)
            if not end:
                break
            last = list(got)[-1] if got else names[0]
            traces.setdefault(last, []).extend(why.splitlines()[:12])
            names = names[names.index(last) + 1 :]
            if not names:
                break
        return traces

    def run(self, texts, known=None):
        """Run the programs, and return the Verdict of each program by its name. `known` contains CPython's traces, or
        is None if CPython has not run the programs."""
        python = known if known is not None else self.run_side(self.python, texts)
        ways = [self.run_side(command, texts) for command in self.ways]
        return {name: Verdict(python.get(name, []), [way.get(name, []) for way in ways])
                for name in texts}  # fmt: skip
