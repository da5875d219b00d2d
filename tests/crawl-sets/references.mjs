// references.mjs - what links, in a tree of parse5.

const attributes = {
  a: ['href'], area: ['href'], link: ['href'], img: ['src', 'srcset'], script: ['src'],
  iframe: ['src'], frame: ['src'], video: ['src', 'poster'], audio: ['src'],
  source: ['src', 'srcset'], track: ['src'], embed: ['src'], object: ['data'],
  form: ['action'], input: ['src'],
};

export function* elements(root) {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    if (node.tagName !== undefined) {
      yield node;
    }
    stack.push(...[...(node.childNodes ?? [])].reverse());
  }
}

export function attribute(element, name) {
  return element.attrs.find((attr) => attr.name === name)?.value;
}

function lower(element, name) {
  return attribute(element, name)?.toLowerCase();
}

// Relations that lead to no resource, or to one that is only posted to.
export const NO_RESOURCE = ['type', 'profile', 'preconnect', 'dns-prefetch', 'pingback', 'webmention'];

function leadsToNone(rel) {
  const words = rel.split(/[\s,]+/).filter((word) => word !== '');
  return words.length > 0 && words.every((word) => NO_RESOURCE.includes(word));
}

function leadsNowhere(element) {
  switch (element.tagName) {
    case 'link': return leadsToNone(lower(element, 'rel') ?? '');
    case 'form': return ['post', 'dialog'].includes(lower(element, 'method'));
    case 'input': return lower(element, 'type') !== 'image';
    default: return false;
  }
}

// The URLs of a srcset; commas in parentheses belong to a descriptor. (HTML: parse a srcset)
function candidates(srcset) {
  const candidate = /[\s,]*([^\s,]\S*?)(?:,+(?=\s|$)|\s+(?:\([^)]*(?:\)|$)|[^(,])*(?:,|$)|$)/g;
  return [...srcset.matchAll(candidate)].map((match) => match[1]);
}

// The URL in the content of a refresh, if there is one.
export function refresh(content) {
  const match = /^\s*[\d.]+(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/is
    .exec(content);
  const target = match?.[1] ?? match?.[2] ?? match?.[3];
  return target ? [target] : [];
}

// Each as [attribute, reference].
export function* references(element) {
  if (element.tagName === 'meta' && lower(element, 'http-equiv') === 'refresh') {
    yield* refresh(attribute(element, 'content') ?? '').map((reference) => ['content', reference]);
  }
  for (const name of attributes[element.tagName] ?? []) {
    const value = attribute(element, name);
    if (value === undefined || leadsNowhere(element)) {
      continue;
    }
    if (name === 'srcset') {
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
