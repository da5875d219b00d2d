// page_links.mjs - prints the links of files, computed with parse5 and Node's URL class.
//
//     node page_links.mjs PARSE5_FOLDER < NAMES
//
// The output format is that of page_links.c:
// for each file a list of [element, attribute, reference, line, column, URL or null].

import { readFileSync } from 'node:fs';
import { loadParse5, readDocument, textOf } from './documents.mjs';

const parse = await loadParse5(process.argv[2]);

function resolve(reference, base) {
  if (!URL.canParse(reference, base)) {
    return null;
  }
  const url = new URL(reference, base);
  return ['http:', 'https:'].includes(url.protocol) ? url.href.replace(/#.*/s, '') : false;
}

function linksOf(text) {
  const { base, links } = readDocument(parse, text, 'http://host/page');
  return links
    .map((link) => [link.element, link.attribute, link.text, link.line, link.column,
      resolve(link.text, base)])
    .filter((link) => link[5] !== false);
}

for (const name of readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
  console.log(JSON.stringify(linksOf(textOf(readFileSync(name)))));
}
