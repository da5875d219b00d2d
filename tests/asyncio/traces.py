"""Traces as text: what scenario.py and coil-scenarios print, and what TOPIC.trace holds."""


def read(text):
    """Lines by scenario, from `scenario NAME` to the next; what comes before is left out."""
    traces, lines = {}, []
    for line in text.splitlines():
        if line.startswith("scenario "):
            lines = traces.setdefault(line[len("scenario ") :], [])
        else:
            lines.append(line)
    return traces


def read_file(path):
    """The same of a file that CPython wrote; without one, nothing."""
    try:
        with open(path) as file:
            text = file.read()
    except OSError:
        return {}
    return read(text) if text.startswith("# CPython ") else {}


def write_file(path, version, traces):
    lines = [f"# CPython {'.'.join(map(str, version))}"]
    for name, trace in traces.items():
        lines += [f"scenario {name}", *trace]
    with open(path, "w") as file:
        file.write("".join(line + "\n" for line in lines))
