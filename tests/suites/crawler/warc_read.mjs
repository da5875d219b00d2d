// warc_read.mjs - reads an archive with Webrecorder's warcio.
// Prints a line of JSON for each record, and then warcio's index.
//
//     node warc_read.mjs NODE_MODULES FILE

import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, file] = process.argv.slice(2);
const entry = createRequire(join(modules, 'x.js')).resolve('warcio');
const { WARCParser, CDXIndexer } = await import(pathToFileURL(entry.replace(/\.cjs$/, '.js')));

function print(object) {
  process.stdout.write(JSON.stringify(object) + '\n');
}

const parser = new WARCParser(createReadStream(file));
for await (const record of parser) {
  const payload = await record.readFully(true); // the body, unchunked and uncompressed
  print({
    type: record.warcType,
    url: record.warcTargetURI,
    id: record.warcHeader('WARC-Record-ID'),
    date: record.warcDate,
    version: record.warcHeaders.statusline,
    refersTo: record.warcHeader('WARC-Refers-To'),
    status: record.httpHeaders?.statusline ?? null,
    payload: Buffer.from(payload ?? []).toString('latin1'),
  });
}
for await (const line of new CDXIndexer({ format: 'cdxj' }).iterIndex(
  [{ reader: createReadStream(file), filename: basename(file) }])) {
  print({ line: Object.fromEntries(Object.entries(line).map(([k, v]) => [k, String(v)])) });
}
