// node_dump.mjs - runs Node's URL parser.
// Input and output have the formats of url_dump.c.

import { createInterface } from 'node:readline';

const parts = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname',
  'port', 'pathname', 'search', 'hash'];

function dump(line) {
  const [base, input] = line.split(' ').map((hex) =>
    hex === '-' ? undefined : Buffer.from(hex, 'hex').toString());
  try {
    const url = new URL(input, base);
    return parts.map((part) => url[part]).join('\t');
  } catch {
    return 'failure';
  }
}

const out = [];
for await (const line of createInterface({ input: process.stdin })) {
  out.push(dump(line));
}
process.stdout.write(out.join('\n') + '\n');
