// documents.mjs - parses a page with parse5, and returns its text, its ids, and its links with positions.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { placer } from './places.mjs';
import { NO_RESOURCE, attribute, baseOf, elements, references, refresh } from './references.mjs';
import { loadCssTree, urlsIn } from './stylesheets.mjs';

let csstree, LinkHeader;

export async function loadParse5(folder) {
  LinkHeader = createRequire(join(folder, 'x'))('http-link-header');
  csstree = await loadCssTree(folder);
  return (await import(pathToFileURL(join(folder, 'node_modules/parse5/dist/index.js')))).parse;
}

// Node decodes the bytes 0x80 to 0x9f as ISO 8859-1.
const windows1252 = {
  decode(bytes) {
    const upper = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d' +
      '\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d' +
      '\u017e\u0178';
    return bytes.toString('latin1').replace(/[\x80-\x9f]/g, (c) => upper[c.charCodeAt(0) - 0x80]);
  },
};

function decoder(label) {
  try {
    const found = new TextDecoder(label);
    return found.encoding === 'windows-1252' ? windows1252 : found;
  } catch {
    return null;
  }
}

function charsetOf(contentType) {
  const match = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(contentType ?? '');
  return match?.[1] ?? match?.[2];
}

// Decode a style sheet.
// Its encoding is declared by a byte order mark, the header or @charset.
// Without any of these, the encoding is UTF-8.
function textOfSheet(bytes, contentType) {
  const label = /^@charset "([^"]*)";/.exec(bytes.subarray(0, 1024).toString('latin1'))?.[1] ?? '';
  const found = markedText(bytes)
    ?? (decoder(charsetOf(contentType) ?? '')
      ?? decoder(/^utf-16/i.test(label) ? 'utf-8' : label))?.decode(bytes);
  return found ?? new TextDecoder('utf-8').decode(bytes);
}

// Decode a text that begins with a byte order mark. Returns null for other texts.
function markedText(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    return new TextDecoder('utf-16le').decode(bytes);
  }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    return new TextDecoder('utf-16be').decode(bytes);
  }
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return new TextDecoder('utf-8').decode(bytes);
  }
  return null;
}

// Decode a page.
// Its encoding is declared by a byte order mark, the header, a meta element or an XML declaration.
// Without any of these, the page is UTF-8 if it is valid UTF-8, and windows-1252 otherwise.
export function textOf(bytes, contentType) {
  const marked = markedText(bytes);
  if (marked !== null) {
    return marked;
  }
  const ofHeader = decoder(charsetOf(contentType) ?? '');
  if (ofHeader !== null) {
    return ofHeader.decode(bytes);
  }
  const head = bytes.subarray(0, 1024).toString('latin1').replace(/<!--[^]*?-->/g, '');
  const label = /<meta[^>]*?charset\s*=\s*["']?([^"'\s/>;]+)/i.exec(head)?.[1] ?? '';
  const ofMeta = decoder(/^utf-16/i.test(label) ? 'utf-8' : label);
  if (ofMeta !== null) {
    return ofMeta.decode(bytes);
  }
  const ofXml = decoder(/^<\?xml[^>]*?encoding\s*=\s*["']([^"'>]+)["']/.exec(head)?.[1] ?? '');
  if (ofXml !== null) {
    return ofXml.decode(bytes);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return windows1252.decode(bytes);
  }
}

// Return the offset of an attribute's value, or the end of its name if there is no value.
function valueAt(text, start) {
  const match = /[^][^\s/>=]*(?:\s*=\s*["']?)?/y;
  match.lastIndex = start;
  match.test(text);
  return match.lastIndex;
}

// Yield the links of a style sheet, except links to fragments of the document that contains it.
// `whole` is the text of that document.
function* linksOfSheet(element, css, whole, offset) {
  const place = placer(whole);
  for (const url of urlsIn(csstree, css)) {
    if (!/^[ \t\n\f\r]*#/.test(url.text)) {
      const [line, column] = place(offset + url.offset);
      yield { element, attribute: url.kind, text: url.text, line, column };
    }
  }
}

export function readSheet(bytes, contentType) {
  const css = textOfSheet(bytes, contentType);
  return [...linksOfSheet(null, css, css, 0)];
}

const HTML = 'http://www.w3.org/1999/xhtml';

function isSheet(element) {
  return element.tagName === 'style' && element.namespaceURI === HTML &&
    ['', 'text/css'].includes((attribute(element, 'type') ?? '').toLowerCase());
}

// Yield the links in a <style> element or a style attribute.
// All links of a style attribute have the attribute's position.
function* linksOfStyles(element, text, place, seen) {
  const content = element.childNodes[0]?.sourceCodeLocation;
  if (isSheet(element) && content && !seen.has(content.startOffset)) {
    seen.add(content.startOffset);
    yield* linksOfSheet('style', text.slice(content.startOffset, content.endOffset), text,
      content.startOffset);
  }
  const start = element.sourceCodeLocation?.attrs?.style?.startOffset;
  if (start !== undefined && !seen.has(start)) {
    seen.add(start);
    const [line, column] = place(valueAt(text, start));
    for (const link of linksOfSheet(element.tagName.toLowerCase(), attribute(element, 'style'), '', 0)) {
      yield { ...link, attribute: 'style', line, column };
    }
  }
}

// Yield the links of the document in an iframe's srcdoc.
// These links have the position of the attribute.
function* linksOfSrcdoc(parse, element, text, place, seen) {
  const start = element.sourceCodeLocation?.attrs?.srcdoc?.startOffset;
  if (element.tagName !== 'iframe' || start === undefined || seen.has(start)) {
    return;
  }
  seen.add(start);
  const [line, column] = place(valueAt(text, start));
  for (const link of readDocument(parse, attribute(element, 'srcdoc'), 'about:srcdoc').links) {
    yield { ...link, line, column };
  }
}

function* linksOf(parse, all, text) {
  const place = placer(text);
  const seen = new Set(); // parse5 copies some elements, but each link counts only once
  for (const element of all) {
    yield* linksOfStyles(element, text, place, seen);
    yield* linksOfSrcdoc(parse, element, text, place, seen);
    for (const name of new Set([...references(element)].map(([name]) => name))) {
      const start = element.sourceCodeLocation?.attrs?.[name]?.startOffset;
      if (start === undefined || seen.has(start)) {
        continue;
      }
      seen.add(start);
      const [line, column] = place(valueAt(text, start));
      for (const [of, reference] of references(element)) {
        if (of === name) {
          yield { element: element.tagName, attribute: name, text: reference, line, column };
        }
      }
    }
  }
}

// Yield the links in Link and Refresh headers.
// Link headers are parsed by npm's http-link-header.
// Each header is a pair of name and value.
export function* linksOfHeaders(headers) {
  const place = { element: null, line: null, column: null };
  for (const [name, value] of headers) {
    if (name.toLowerCase() === 'link') {
      const leads = new Map();
      for (const { uri, rel } of LinkHeader.parse(value).refs) {
        leads.set(uri, leads.get(uri) || !(rel === undefined || NO_RESOURCE.includes(rel)));
      }
      for (const uri of [...leads].filter(([, leads]) => leads).map(([uri]) => uri)) {
        yield { ...place, attribute: 'Link', text: uri };
      }
    } else if (name.toLowerCase() === 'refresh') {
      yield* refresh(value).map((text) => ({ ...place, attribute: 'Refresh', text }));
    }
  }
}

// Return the ids to which a fragment can refer (HTML standard: "the indicated part of the document").
function idsOf(all) {
  const ids = new Set();
  for (const element of all) {
    ids.add(attribute(element, 'id'));
    if (element.tagName === 'a') {
      ids.add(attribute(element, 'name'));
    }
  }
  ids.delete(undefined);
  ids.delete('');
  return ids;
}

// Return {base, links, ids} of the page at `url`.
export function readDocument(parse, text, url) {
  const root = parse(text, { scriptingEnabled: false, sourceCodeLocationInfo: true });
  const all = [...elements(root)];
  return { base: baseOf(all, url), links: [...linksOf(parse, all, text)], ids: idsOf([...elements(root, false)]) };
}
