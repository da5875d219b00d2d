// links.mjs - which URLs a site has and which of them are broken, by parse5 and Node's
// own URLs, from its files alone: no server, no network, nothing of coil's.
//
//     node links.mjs PARSE5_FOLDER SITE ORIGIN
//
// Prints {"urls": [...], "broken": [...]}. A folder without its slash leads to the one
// with it; a reference that is no URL is listed as it is written.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [parse5Folder, site, origin] = process.argv.slice(2);
const { parse } = await import(
  pathToFileURL(join(parse5Folder, 'node_modules/parse5/dist/index.js')));

const attributes = {
  a: ['href'], area: ['href'], link: ['href'], img: ['src', 'srcset'], script: ['src'],
  iframe: ['src'], frame: ['src'], video: ['src', 'poster'], audio: ['src'],
  source: ['src', 'srcset'], track: ['src'], embed: ['src'], object: ['data'],
  form: ['action'], input: ['src'],
};

function* elements(root) {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    if (node.tagName !== undefined) {
      yield node;
    }
    stack.push(...[...(node.childNodes ?? [])].reverse());
  }
}

function attribute(element, name) {
  return element.attrs.find((attr) => attr.name === name)?.value;
}

function lower(element, name) {
  return attribute(element, name)?.toLowerCase();
}

function leadsNowhere(element) {
  switch (element.tagName) {
    case 'link': return ['preconnect', 'dns-prefetch'].includes(lower(element, 'rel'));
    case 'form': return ['post', 'dialog'].includes(lower(element, 'method'));
    case 'input': return lower(element, 'type') !== 'image';
    default: return false;
  }
}

// Enough for candidates without parentheses.
function candidates(srcset) {
  return [...srcset.matchAll(/[\s,]*([^\s,]\S*?)(?:,+(?=\s|$)|\s+[^,]*(?:,|$)|$)/g)]
    .map((match) => match[1]);
}

function refresh(element) {
  if (lower(element, 'http-equiv') !== 'refresh') {
    return [];
  }
  const content = attribute(element, 'content') ?? '';
  const match = /^\s*[\d.]+(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/is
    .exec(content);
  const target = match?.[1] ?? match?.[2] ?? match?.[3];
  return target ? [target] : [];
}

function* references(element) {
  if (element.tagName === 'meta') {
    yield* refresh(element);
  }
  for (const name of attributes[element.tagName] ?? []) {
    const value = attribute(element, name);
    if (value === undefined || leadsNowhere(element)) {
      continue;
    }
    if (name === 'srcset') {
      yield* candidates(value);
    } else if (value !== '' || ['a', 'area'].includes(element.tagName)) {
      yield value;
    }
  }
}

function baseOf(all, page) {
  const base = all.find((element) =>
    element.tagName === 'base' && attribute(element, 'href') !== undefined);
  const href = base && attribute(base, 'href');
  return base && URL.canParse(href, page) ? new URL(href, page).href : page;
}

// What a page points at: absolute URLs of this site, and what is none.
function linksOf(html, page) {
  const all = [...elements(parse(html, { scriptingEnabled: false }))];
  const base = baseOf(all, page);
  return all.flatMap((element) => [...references(element)]).flatMap((reference) => {
    if (!URL.canParse(reference, base)) {
      return [reference];
    }
    const url = new URL(reference, base);
    return url.origin === origin ? [url.href.replace(/#.*/s, '')] : [];
  });
}

function fileOf(url) {
  try {
    const path = join(site, decodeURIComponent(new URL(url).pathname));
    return { path, isFolder: statSync(path).isDirectory() };
  } catch {
    return null;
  }
}

// What the visit of a URL leads to; null if there is nothing.
function visit(url) {
  const file = fileOf(url);
  if (file === null) {
    return null;
  }
  if (file.isFolder && !new URL(url).pathname.endsWith('/')) {
    return [new URL(url).pathname.replace(/.*\//, origin + '$&') + '/'];
  }
  const path = file.isFolder ? join(file.path, 'index.html') : file.path;
  try {
    const isHtml = /\.html?$/.test(path);
    const text = readFileSync(path, 'utf8');
    return isHtml ? linksOf(text, url) : [];
  } catch {
    return null;
  }
}

const urls = new Set([origin + '/']);
const broken = [];
for (const url of urls) {
  const links = visit(url);
  if (links === null) {
    broken.push(url);
  } else {
    links.forEach((link) => urls.add(link));
  }
}
console.log(JSON.stringify({ urls: [...urls], broken }));
