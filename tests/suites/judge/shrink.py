"""Reduce a program while its traces still differ."""

import program

DECLARATIONS = {"future", "queue", "lifo", "priority", "lock", "semaphore", "bounded",
                "event", "condition", "barrier"}  # fmt: skip


def with_parts(node, body, handler):
    return program.Node(node.words, body, node.handler_words, handler)


def smaller(nodes):
    """Yield copies of the program, each without one of its parts. Larger parts are removed first."""
    for i, node in enumerate(nodes):
        before, after = nodes[:i], nodes[i + 1 :]
        if node.verb in DECLARATIONS:
            continue
        if node.text != "task t0":
            yield before + after
        if node.body is None:
            continue
        if node.verb != "task":
            yield before + node.body + after
        for body in smaller(node.body):
            yield before + [with_parts(node, body, node.handler)] + after
        for handler in smaller(node.handler or []):
            yield before + [with_parts(node, node.body, handler)] + after


def drop_unused(nodes):
    """Remove the objects that no task uses."""
    tasks = [node for node in nodes if node.verb == "task"]
    used = {word for node in program.walk(tasks) for word in node.words}
    used |= {node.words[2] for node in nodes
             if node.verb == "condition" and node.words[1] in used}  # fmt: skip
    return [node for node in nodes if node.verb == "task" or node.words[1] in used]


def shrink(sides, text):
    """Make the program as small as possible by removing one part at a time. Candidates are tried in batches."""
    nodes = program.parse(text)
    while True:
        candidates = list(smaller(nodes))
        texts = {str(i): program.to_text(c) for i, c in enumerate(candidates)}
        if not texts:
            break
        verdicts = sides.run(texts)
        found = [name for name in texts if verdicts[name].differs]
        if not found:
            break
        nodes = candidates[int(min(found, key=lambda name: len(texts[name])))]
    lean = program.to_text(drop_unused(nodes))
    return lean if sides.run({"lean": lean})["lean"].differs else program.to_text(nodes)
