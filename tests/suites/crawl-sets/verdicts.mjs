// verdicts.mjs - computes all links of a site with their verdicts, from its files alone.
// The program uses parse5 and Node's URL class, but no server, no network and no code of coil.
//
//     node verdicts.mjs PARSE5_FOLDER SITE ORIGIN [MAX_DEPTH [EXTERNAL [FRAGMENTS]]]
//
// ORIGIN "file:" means a crawl without a server, which starts at all pages in the folder.
//
// Writes lines of JSON:
//     ["page", url, status, number of links, searched]
//     ["link", page, text, line, column, element, attribute, target, fragment]
//     ["redirect", url, status, location, target]
//     ["verdict", target, fragment, verdict, reason, status]
// docs/design/checker.md describes the records.
// EXTERNAL is "head" if links to other sites are checked, and "skip" if not.
// With "head", outside.mjs computes the answers of other sites.
// FRAGMENTS is "all" if fragments are also checked on other sites.
// The status of a verdict is "any" if the verdict depends on several answers.
//
// The site must not have a chain of redirects that exceeds --max-redirect.
// How far coil-crawl follows such a chain depends on other links to URLs in the chain.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { linksOfHeaders, loadParse5, readDocument, readSheet, textOf } from './documents.mjs';
import { isSitemap, loadSax, readSitemap, sitemapLines } from './sitemaps.mjs';
import { answerOutside, idsOutside } from './outside.mjs';
import { answerOfFile, answerTo, pagesBelow, readAnswers, rootUrl } from './served.mjs';

const [parse5Folder, site, origin, depthArgument, external = 'skip', fragments = 'site'] =
  process.argv.slice(2);
const maxDepth = Number(depthArgument ?? Infinity);
const parse = await loadParse5(parse5Folder);
loadSax(parse5Folder);
const answers = readAnswers(site);
const isLocal = origin === 'file:';

const MAX_URL_LENGTH = 2048;
const HTML = /^(text\/html|application\/(xhtml\+xml|xml))\s*(;|$)/i;
const SHEET = /^text\/css\s*(;|$)/i;
const XML = /^(text|application)\/xml\s*(;|$)/i;

const write = (...record) => console.log(JSON.stringify(record));
const pages = new Map(); // URL -> {status, location, ids, depth, rule}
const levels = [[]]; // the URLs of each depth; some of them move to a lower depth later
const wanted = new Set(); // JSON of [target, fragment], or of [null, text] for an invalid URL

// Return the percent-decoded fragment without a text directive, or null without a fragment.
function fragmentOf(url) {
  const fragment = url.hash.replace(/^#/, '').replace(/:~:.*/s, '');
  return fragment === '' ? null : percentDecode(fragment);
}

function percentDecode(text) {
  const bytes = Buffer.from(text.replace(/%([0-9a-f]{2})/gi,
    (_, hex) => String.fromCharCode(parseInt(hex, 16))), 'latin1'); // `text` is ASCII
  return bytes.toString('utf8');
}

// Return true if the URL's scheme is probably a mistake.
function isMistyped({ href }) {
  const [scheme] = href.split(':', 1);
  return scheme.length === 1 || scheme === 'localhost' || /^[^:]*\.[^:]*:\d+([/?#]|$)/.test(href) ||
    (/^(?=.*t)(?=.*p)[htps]{3,}$/.test(scheme) && !['http', 'https', 'shttp'].includes(scheme));
}

// Return [target, fragment], or [null, null] for an invalid URL.
function targetOf(text, base) {
  const absolute = base.startsWith('file:') && /^[\0- ]*([/\\]{1,2})/.exec(text);
  if (absolute) { // "/x" is a path below the root folder, but "//host/x" is not
    if (!URL.canParse(text, 'https://root/')) {
      return [null, null];
    }
    const url = new URL(text, 'https://root/');
    const there = absolute[1].length > 1 ? url
      : new URL(rootUrl(site) + url.href.slice('https://root/'.length));
    return [there.href.replace(/#.*/s, ''), fragmentOf(there)];
  }
  if (!URL.canParse(text, base)) {
    return [null, null];
  }
  // A link to a file outside the checked folder gets a verdict of its own, for the target "file:/path".
  if (isLocal && /^[\0- ]*file:/i.test(text) && !new URL(text).href.startsWith(rootUrl(site))) {
    return ['file:' + new URL(text).href.replace(/[?#].*/s, '').slice('file://'.length), null];
  }
  // Node drops the empty query of a base URL.
  const isHere = /^[\0- ]*(#|$)/.test(text) && base.endsWith('?');
  const url = isHere ? new URL(base + text.trim()) : new URL(text, base);
  if (isMistyped(url)) {
    return [null, null];
  }
  return [url.href.replace(/#.*/s, ''), fragmentOf(url)];
}

// Return the reason why a URL is not fetched, or null if it is fetched.
function ruleAgainst(target) {
  const url = new URL(target);
  if (isLocal && url.protocol === 'file:') {
    return target.startsWith('file:///') ? null : 'outside';
  }
  if (!['http:', 'https:'].includes(url.protocol)) {
    return 'scheme';
  }
  if (target.length > MAX_URL_LENGTH) {
    return 'length';
  }
  return isOutside(target) && external === 'skip' ? 'external' : null;
}

function isOutside(target) {
  return isLocal ? !target.startsWith('file:') : new URL(target).origin !== origin;
}

// ---- the crawl: breadth first, so each depth is that of the shortest path ----------------------

function meet(target, fragment, depth) {
  wanted.add(JSON.stringify([target, fragment]));
  reach(target, depth);
}

// Add a target of a link or a redirect.
// A target gets a verdict only if a link points to it: meet() is called for each link.
function reach(target, depth) {
  const page = pages.get(target) ?? { rule: ruleAgainst(target), depth: Infinity };
  pages.set(target, page);
  if (page.rule === null && isOutside(target)) {
    lookOutside(target, page);
  } else if (depth < page.depth) {
    page.depth = depth;
    (levels[depth] ??= []).push(target);
  }
}

function readPage(url, page, answer) {
  const bytes = readFileSync(answer.path);
  if (SHEET.test(answer.type)) {
    return tellLinks(url, page, url, readSheet(bytes, answer.type));
  }
  if (XML.test(answer.type) && !isLocal && isSitemap(bytes.toString())) {
    return tellLinks(url, page, url, readSitemap(bytes.toString()).links);
  }
  const { base, links, ids } = readDocument(parse, textOf(bytes, answer.type), url);
  page.ids = ids;
  return tellLinks(url, page, base, links);
}

function tellLinks(url, page, base, links) {
  for (const link of links) {
    const [target, fragment] = targetOf(link.text, base);
    write('link', url, link.text, link.line, link.column, link.element, link.attribute, target,
      fragment);
    if (target === null) {
      wanted.add(JSON.stringify([null, link.text]));
    } else {
      meet(target, fragment, page.depth + 1);
    }
  }
  return links.length;
}

function follow(url, page) {
  const [target, fragment] = page.location === undefined
    ? [null, null] : targetOf(page.location, url);
  write('redirect', url, page.status, page.location ?? null, target);
  page.next = target === null ? null : [target, fragment];
  if (target !== null) {
    reach(target, page.depth);
  }
}

// Compute the answer for a target on another site, if that has not been done before.
function lookOutside(url, page) {
  if (page.answer === undefined) {
    page.answer = answerOutside(url);
    page.status = page.answer.status;
    page.location = page.answer.location;
    page.ids = fragments === 'all' && page.answer.verdict === 'ok' ? idsOutside : undefined;
    if (page.location !== undefined) {
      follow(url, page);
    }
  }
}

// Return the Content-Type of a response. If it has none, guess from the page's first tag (MIME Sniffing, 7.1).
function sniff(answer) {
  const tag = /^[\t\n\f\r ]*<(!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[ >]/i;
  return answer.type === '' && answer.path && tag.test(readFileSync(answer.path, 'latin1')) ? 'text/html' : answer.type;
}

function fetchPage(url, page) {
  const answer = isLocal ? answerOfFile(url) : answerTo(site, answers, url);
  answer.type = isLocal ? answer.type : sniff(answer);
  page.status = answer.status;
  page.location = answer.location;
  const isRedirect = [301, 302, 303, 307, 308].includes(page.status);
  const searched = page.status >= 200 && page.status < 300 &&
    (HTML.test(answer.type) || SHEET.test(answer.type));
  if (answer.isOtherName) { // links are reported only under the file's own URL
    if (!SHEET.test(answer.type)) {
      page.ids = readDocument(parse, textOf(readFileSync(answer.path)), url).ids;
    }
    return;
  }
  const isWell = page.status >= 200 && page.status < 300;
  const links = (isWell ? tellLinks(url, page, url, [...linksOfHeaders(answer.headers ?? [])]) : 0) +
    (searched ? readPage(url, page, answer) : 0);
  if (isRedirect) {
    follow(url, page);
  }
  if (!isLocal) {
    write('page', url, page.status, links, searched);
  } else if (searched) {
    write('page', url, null, links, true);
  }
}

// ---- verdicts -----------------------------------------------------------------------------------

// Return [verdict, reason, status] of a page that does not redirect.
function ofPage(page, fragment) {
  if (page.rule === 'outside') {
    return ['broken', 'outside', null];
  }
  if (page.rule !== null) {
    return ['skipped', page.rule, null];
  }
  if (page.answer !== undefined && page.answer.verdict !== 'ok') {
    return [page.answer.verdict, page.answer.reason, page.answer.status];
  }
  if (page.status >= 400) {
    return isLocal ? ['broken', 'no-such-file', null] : ['broken', 'status', page.status];
  }
  if (fragment === null || fragment.toLowerCase() === 'top') {
    return ['ok', null, isLocal ? null : page.status];
  }
  if (page.ids === undefined) {
    return ['unchecked', page.answer ? 'external-fragment' : 'not-searched', isLocal ? null : page.status];
  }
  const status = isLocal ? null : page.status;
  if (page.ids.has(fragment) || page.ids.has('user-content-' + fragment)) {
    return ['ok', null, status];
  }
  return /^[/!]/.test(fragment) ? ['unchecked', 'route', status] : ['fragment', 'no-such-id', status];
}

// Return [verdict, reason, status] of a page that redirects.
function ofChain(target, fragment) {
  const { status } = pages.get(target);
  const seen = new Set();
  let isOfLocation = false; // true if the fragment is from a Location header
  let page = pages.get(target);
  for (let at = target; page.next !== undefined; page = pages.get(at)) {
    if (page.next === null) {
      return ['broken', 'redirect-nowhere', 'any'];
    }
    if (seen.has(at)) {
      return ['broken', 'redirect-circle', 'any'];
    }
    seen.add(at);
    at = page.next[0];
    isOfLocation ||= page.next[1] !== null;
    fragment = page.next[1] ?? fragment;
  }
  if (page.rule === 'scheme') {
    return ['broken', 'redirect-scheme', 'any'];
  }
  const [verdict, reason] = ofPage(page, fragment);
  if (verdict !== 'ok' && !(isOfLocation && verdict === 'unchecked')) {
    return [verdict, reason, 'any'];
  }
  const isPermanent = [301, 308].includes(status);
  return ['redirect', seen.size > 1 ? 'chain' : isPermanent ? 'permanent' : 'temporary', 'any'];
}

// The crawl also starts at robots.txt. The links of robots.txt are the sitemaps that it names.
function readRobots() {
  const file = join(site, 'robots.txt');
  if (!isLocal && existsSync(file)) {
    const robots = origin + '/robots.txt';
    tellLinks(robots, { depth: 0 }, robots, sitemapLines(readFileSync(file, 'utf8')));
  }
}

const starts = isLocal ? pagesBelow(site) : [origin + '/'];
starts.forEach((start) => meet(start, null, 0));
readRobots();
for (let depth = 0; depth <= maxDepth && levels[depth] !== undefined; depth++) {
  for (const url of levels[depth]) { // redirects add targets to this level
    const page = pages.get(url);
    if (page.rule === null && page.status === undefined) {
      fetchPage(url, page);
    }
  }
}
for (const page of pages.values()) {
  page.rule ??= page.status === undefined ? 'depth' : null;
}
for (const [target, fragment] of [...wanted].map((key) => JSON.parse(key))) {
  const page = pages.get(target);
  const verdict = target === null ? ['broken', 'not-a-url', null]
    : page.next !== undefined ? ofChain(target, fragment) : ofPage(page, fragment);
  write('verdict', target ?? fragment, target === null ? null : fragment, ...verdict);
}
