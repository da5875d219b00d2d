"""Read and write traces: the output of scenario.py and coil-scenarios, and the files TOPIC.trace."""


def read(text):
    """Return the lines of each scenario by its name. The lines of a scenario follow the line `scenario NAME`. Lines
    before the first scenario are ignored."""
    traces, lines = {}, []
    for line in text.splitlines():
        if line.startswith("scenario "):
            lines = traces.setdefault(line[len("scenario ") :], [])
        else:
            lines.append(line)
    return traces


def read_file(path):
    """Read a trace file that was written with CPython, and return its traces as read() does. If there is no such file,
    return an empty dict."""
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
