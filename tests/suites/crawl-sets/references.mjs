// references.mjs - finds the links in a parse5 tree.

const attributes = {
  a: ['href'], area: ['href'], link: ['href', 'imagesrcset'], img: ['src', 'srcset'], script: ['src'],
  iframe: ['src'], frame: ['src'], video: ['src', 'poster'], audio: ['src'],
  source: ['src', 'srcset'], track: ['src'], embed: ['src'], object: ['data'],
  form: ['action'], input: ['src', 'formaction'], button: ['formaction'],
  body: ['background'], table: ['background'], td: ['background'], th: ['background'],
};

const SVG = 'http://www.w3.org/2000/svg';
const drawings = ['a', 'image', 'use']; // SVG elements whose href or xlink:href is a link

function isShadow(node) {
  return node.tagName === 'template' && ['open', 'closed'].includes(lower(node, 'shadowrootmode'));
}

// Yield all elements.
// Callers that look for ids exclude shadow trees, because ids in shadow trees do not belong to the page.
export function* elements(root, withShadows = true) {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    if (node.tagName !== undefined) {
      yield node;
    }
    const shadow = withShadows && isShadow(node) ? node.content.childNodes : [];
    stack.push(...[...shadow, ...(node.childNodes ?? [])].reverse());
  }
}

// Return the value of an attribute. The name includes the prefix, as in "xlink:href".
export function attribute(element, name) {
  return element.attrs.find(({ prefix, name: local }) => (prefix ? `${prefix}:${local}` : local) === name)?.value;
}

function lower(element, name) {
  return attribute(element, name)?.toLowerCase();
}

// Values of `rel` for which the URL need not identify a resource, or identifies one that accepts only POST.
export const NO_RESOURCE = ['type', 'profile', 'preconnect', 'dns-prefetch', 'pingback', 'webmention'];

function leadsToNone(rel) {
  const words = rel.split(/[\s,]+/).filter((word) => word !== '');
  return words.length > 0 && words.every((word) => NO_RESOURCE.includes(word));
}

function formOf(element) {
  let form = element.parentNode;
  while (form && form.tagName !== 'form') {
    form = form.parentNode;
  }
  return form;
}

// Return true if the button submits a form with GET.
function submitsByGet(element) {
  const form = formOf(element);
  const method = lower(element, 'formmethod') ?? (form && (lower(form, 'method') ?? ''));
  return method !== undefined && method !== null && !['post', 'dialog'].includes(method);
}

function leadsNowhere(element, name) {
  const type = lower(element, 'type');
  if (name === 'formaction') {
    const submits = element.tagName === 'button' ? !['button', 'reset'].includes(type)
      : ['submit', 'image'].includes(type);
    return !submits || !submitsByGet(element);
  }
  switch (element.tagName) {
    case 'link': return leadsToNone(lower(element, 'rel') ?? '');
    case 'form': return ['post', 'dialog'].includes(lower(element, 'method'));
    case 'input': return type !== 'image';
    default: return false;
  }
}

// Return the URLs of a srcset.
// Commas in parentheses belong to a descriptor (HTML standard: "parse a srcset attribute").
function candidates(srcset) {
  const candidate = /[\s,]*([^\s,]\S*?)(?:,+(?=\s|$)|\s+(?:\([^)]*(?:\)|$)|[^(,])*(?:,|$)|$)/g;
  return [...srcset.matchAll(candidate)].map((match) => match[1]);
}

// Return a list with the URL in the content of a meta refresh, or an empty list if it has none.
export function refresh(content) {
  const match = /^\s*[\d.]+(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/is
    .exec(content);
  const target = match?.[1] ?? match?.[2] ?? match?.[3];
  return target ? [target] : [];
}

// Yield the link of an SVG element.
// A reference to another element of the same page counts as a link only in an "a" element.
function* drawn(element) {
  const one = ['href', 'xlink:href'].find((name) => attribute(element, name) !== undefined);
  const value = one && attribute(element, one);
  if (one && (element.tagName === 'a' || (value !== '' && !/^[ \t\n\f\r]*#/.test(value)))) {
    yield [one, value];
  }
}

// Yield each reference as [attribute, reference].
export function* references(element) {
  if (element.namespaceURI === SVG && drawings.includes(element.tagName)) {
    yield* drawn(element);
    return;
  }
  if (element.tagName === 'meta' && lower(element, 'http-equiv') === 'refresh') {
    yield* refresh(attribute(element, 'content') ?? '').map((reference) => ['content', reference]);
  }
  for (const name of attributes[element.tagName] ?? []) {
    const value = attribute(element, name);
    if (value === undefined || leadsNowhere(element, name)) {
      continue;
    }
    if (name === 'srcset' || name === 'imagesrcset') {
      yield* candidates(value).map((reference) => [name, reference]);
    } else if (value !== '' || ['a', 'area'].includes(element.tagName)) {
      yield [name, value];
    }
  }
}

export function baseOf(all, page) {
  const base = all.find((element) =>
    element.tagName === 'base' && attribute(element, 'href') !== undefined);
  const href = base && attribute(base, 'href');
  return base && URL.canParse(href, page) ? new URL(href, page).href : page;
}
