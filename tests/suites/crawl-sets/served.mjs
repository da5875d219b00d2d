// served.mjs - computes the answers of a file server from the files alone.
//
// Like examples/httpd, the server redirects the URL of a folder without a slash, and sends the folder's index.html.
// A file `answers.json` in the folder changes the answers for some paths, as in serve.py:
//    {"/path": {"status": 302, "location": "/there", "type": "text/html", "file": "a.html",
//            "headers": [["Link", "</x>; rel=up"]]}}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const types = {
  '.html': 'text/html; charset=utf-8', '.htm': 'text/html; charset=utf-8',
  '.xml': 'application/xml', '.css': 'text/css',
};

export function readAnswers(site) {
  const file = join(site, 'answers.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

// Return the path in the file system, or null for a path that httpd refuses.
function fileOf(site, pathname) {
  let path;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return names.includes('..') || path.includes('\0') ? null : join(site, ...names);
}

function ofFile(path, type) {
  return { status: 200, type: type ?? types[extname(path).toLowerCase()] ?? '', path };
}

// Return the {status, type, path, location, headers} that answer a GET request.
export function answerTo(site, answers, url) {
  const { pathname } = new URL(url);
  const slash = pathname.endsWith('/');
  const special = answers[pathname];
  if (special !== undefined) {
    return special.file === undefined
      ? { type: '', ...special }
      : { ...ofFile(join(site, special.file), special.type), ...special };
  }
  if (/%(?![0-9a-f]{2})/i.test(pathname)) {
    return { status: 400, type: '' };
  }
  const path = fileOf(site, pathname);
  const info = path && statSync(path, { throwIfNoEntry: false });
  if (!info || (info.isFile() && slash)) {
    return { status: 404, type: '' };
  }
  if (!info.isDirectory()) {
    return ofFile(path);
  }
  if (!slash) {
    return { status: 301, type: '', location: pathname.replace(/^\/+/, '/') + '/' };
  }
  const index = join(path, 'index.html');
  return existsSync(index) ? ofFile(index) : { status: 404, type: '' };
}

// ---- without a server ---------------------------------------------------------------------------

export function rootUrl(site) {
  return pathToFileURL(resolve(site)).href + '/';
}

export function pagesBelow(site) {
  return readdirSync(site, { recursive: true })
    .filter((name) => /\.(html?|css)$/i.test(name))
    .map((name) => pathToFileURL(join(resolve(site), name)).href);
}

// `isOtherName` is true if the URL is not the file's own URL, for example that of its folder.
// A page's links are reported only under its own URL.
export function answerOfFile(url) {
  const path = fileURLToPath(url.replace(/\?.*/s, ''));
  const info = existsSync(path) && statSync(path);
  if (!info || (info.isFile() && path.endsWith('/'))) {
    return { status: 404, type: '' };
  }
  const index = join(path, 'index.html');
  const file = info.isDirectory() && existsSync(index) ? index : path;
  const isSheet = /\.css$/i.test(file);
  const isPage = isSheet || /\.html?$/i.test(file);
  const isOtherName = isPage && pathToFileURL(file).href !== url;
  return { ...ofFile(file, isSheet ? 'text/css' : isPage ? 'text/html' : ''), isOtherName };
}
