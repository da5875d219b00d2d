"""expat parses a document that arrives slowly, and its handlers await.

parse() is an ordinary function. The function awaits each piece of the document. In the middle of a
piece, expat calls start_element(), which awaits the file that an <include> names.
"""

import asyncio
import xml.parsers.expat

import coil
import loops

FILES = {'intro.txt': 'Once upon a time', 'end.txt': 'happily ever after'}
DOCUMENT = b'<book><include href="intro.txt"/><p>they lived</p><include href="end.txt"/></book>'


async def read_file(name):
    await asyncio.sleep(0.01)
    return FILES[name]


async def send_slowly(reader):
    for i in range(0, len(DOCUMENT), 16):
        reader.feed_data(DOCUMENT[i:i + 16])
        await asyncio.sleep(0.001)
    reader.feed_eof()


def parse(reader):
    words = []

    def start_element(name, attributes):
        if name == 'include':
            words.append(coil.await_(read_file(attributes['href'])))

    parser = xml.parsers.expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start_element
    parser.CharacterDataHandler = words.append
    while piece := coil.await_(reader.read(1000)):
        parser.Parse(piece)
    parser.Parse(b'', True)
    return ' '.join(words)


async def main():
    reader = asyncio.StreamReader()
    sending = asyncio.create_task(send_slowly(reader))
    print(await coil.run(parse, reader))
    await sending


loops.run(main())
