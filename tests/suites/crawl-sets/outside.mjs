// outside.mjs - computes the answers that outside.py sends on behalf of all other hosts.
//
// Both files compute the answer for a URL from a checksum of its host, port, path and query, except for there.example.
// An answer is either the {verdict, reason, status} of a target, or {status, location}.

const there = 'http://there.example';
const well = { verdict: 'ok', reason: null, status: 200 };
const status = (verdict, code) => ({ verdict, reason: 'status', status: code });
const network = { verdict: 'error', reason: 'network', status: null };

const kinds = [
  well, well, well,
  well, // the answer to HEAD is 405
  status('broken', 404), status('blocked', 403),
  { status: 301, location: there + '/ok/moved' }, { status: 302, location: there + '/gone' },
  well, // the server closes the connection after HEAD
  status('broken', 500), { verdict: 'blocked', reason: 'challenge', status: 403 },
  status('blocked', 429), status('blocked', 999),
  { status: 308, location: there + '/step' }, { status: 302, location: 'mailto:x@y' },
  well, // the answer to HEAD is 404
];

function kindOf(text) {
  let sum = 0;
  for (let i = 0; i < text.length; i++) {
    sum = (sum * 31 + text.charCodeAt(i)) % 65521;
  }
  return sum % kinds.length;
}

export function answerOutside(target) {
  const url = new URL(target);
  if (url.hostname === '127.0.0.1') {
    return network; // connections are refused
  }
  if (url.host !== 'there.example') {
    return kinds[kindOf(url.host + target.slice(target.indexOf('/', url.protocol.length + 2)))];
  }
  return url.pathname === '/step' ? { status: 302, location: '/ok/step' }
    : url.pathname.startsWith('/ok/') ? well : status('broken', 404);
}

// ids on each page that outside.py serves
export const idsOutside = new Set(['known']);
