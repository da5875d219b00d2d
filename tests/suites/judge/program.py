"""The judge's programs: parses their text into a tree of instructions.

    queue q0 2                  an object that the program uses, with its size
    task t0                     the body of a task; t0 is spawned by the driver
      scope 5                   a block: a line that opens it, its body, `end`
        await f0
      end
      try                       a block with a handler, of one of three kinds
        sleep 3
      except cancelled
        yield
      end
    end

README.md lists every instruction. The C side (program.c) reads the same text.
"""

BLOCKS = {"task", "try", "group", "scope", "scope_at", "hold", "bind"}
HANDLERS = {"except", "finally", "cleanup"}


class Node:
    """An instruction: its words, and for a block its body and its handler."""

    def __init__(self, words, body=None, handler_words=None, handler=None):
        self.words = list(words)
        self.body = body
        self.handler_words = handler_words
        self.handler = handler
        self.text = " ".join(self.words)
        self.verb = self.words[0]
        self.args = self.words[1:]

    def lines(self, depth=0):
        pad = "  " * depth
        yield pad + self.text
        if self.body is None:
            return
        for node in self.body:
            yield from node.lines(depth + 1)
        if self.handler_words:
            yield pad + " ".join(self.handler_words)
            for node in self.handler:
                yield from node.lines(depth + 1)
        yield pad + "end"


def parse_block(lines):
    """Read nodes until the `end` or the handler that closes the block. Returns the nodes and the closing line."""
    nodes = []
    for words in lines:
        if words[0] == "end" or words[0] in HANDLERS:
            return nodes, words
        node = Node(words)
        if node.verb in BLOCKS:
            node.body, closing = parse_block(lines)
            if closing[0] in HANDLERS:
                node.handler_words = closing
                node.handler, closing = parse_block(lines)
        nodes.append(node)
    return nodes, ["end"]


def parse(text):
    lines = (line.split() for line in text.splitlines() if line.strip())
    return parse_block(lines)[0]


def to_text(nodes):
    return "".join(line + "\n" for node in nodes for line in node.lines())


def walk(nodes):
    """Yield every node of a program. A block comes before its contents."""
    for node in nodes:
        yield node
        yield from walk(node.body or [])
        yield from walk(node.handler or [])


def read_many(text):
    """Read a batch of programs, each after a line `program NAME`. Yields (name, text)."""
    name, lines = None, []
    for line in text.splitlines():
        if line.startswith("program "):
            if name is not None:
                yield name, "\n".join(lines)
            name, lines = line.split()[1], []
        else:
            lines.append(line)
    if name is not None:
        yield name, "\n".join(lines)
