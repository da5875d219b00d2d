// sitemaps.mjs - finds the URLs in sitemaps with npm's sax, and the sitemaps that a robots.txt names.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { placer } from './places.mjs';

let sax;

export function loadSax(folder) {
  sax = createRequire(join(folder, 'x'))('sax');
}

export function isSitemap(text) {
  return /^\ufeff?(?:\s|<\?[^]*?\?>|<!--[^]*?-->)*<(?:\w+:)?(?:urlset|sitemapindex)[\s>]/.test(text);
}

const local = (name) => name.replace(/.*:/, '');

// Return the URLs in the same form in which documents.mjs returns links.
export function readSitemap(text) {
  const place = placer(text);
  const links = [];
  const parser = sax.parser(true, { position: true });
  const add = (element, attribute, reference, offset) => {
    const [line, column] = place(offset);
    links.push({ element, attribute, text: reference, line, column });
  };
  let value = '', start = 0;
  parser.onopentag = ({ name, attributes }) => {
    [value, start] = ['', parser.position];
    const href = Object.entries(attributes).find(([key]) => local(key) === 'href')?.[1];
    if (local(name) === 'link' && href !== undefined) {
      add('link', 'href', href, parser.startTagPosition - 1);
    }
  };
  parser.ontext = (piece) => { value += piece; };
  parser.onclosetag = (name) => {
    if (local(name) === 'loc' && value.trim() !== '') {
      add('loc', null, value.trim(), start + /^\s*/.exec(text.slice(start))[0].length);
    }
  };
  parser.onerror = (error) => { throw error; };
  parser.write(text).close();
  return { links };
}

// Return the Sitemap lines of a robots.txt.
export function sitemapLines(text) {
  return text.split(/\r\n|\r|\n/).flatMap((line, i) => {
    const match = /^(\s*sitemap\s*:\s*)([^\s#]+)/i.exec(line);
    return match === null ? []
      : [{ element: null, attribute: 'Sitemap', text: match[2], line: i + 1, column: match[1].length + 1 }];
  });
}
