// stylesheets.mjs - prints the URLs of style sheets, found by css-tree's tokenizer.
//
//     node stylesheets.mjs CSS_TREE_FOLDER < LINES
//
// Reads one style sheet per line, in hexadecimal digits.
// For each style sheet, writes a list of [kind, text, line, column], like css_urls.c.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { placer } from './places.mjs';

export async function loadCssTree(folder) {
  return import(pathToFileURL(join(folder, 'node_modules/css-tree/dist/csstree.esm.js')));
}

function tokensOf(csstree, text) {
  const tokens = [];
  csstree.tokenize(text, (type, start, end) => tokens.push({ type, start, end }));
  const { WhiteSpace, Comment } = csstree.tokenTypes;
  return tokens.filter(({ type }) => type !== WhiteSpace && type !== Comment);
}

// A newline after a backslash is not part of the string. css-tree counts CR LF as two newlines.
function decodeString(csstree, raw) {
  return csstree.string.decode(raw.replace(/\r\n/g, '\n'));
}

const NAME_RULES = ['namespace', 'document', '-moz-document'];
const IMAGE_SETS = ['image-set', '-webkit-image-set'];

// Yield each URL as {kind, text, offset}, except empty URLs.
export function* urlsIn(csstree, text) {
  const types = csstree.tokenTypes;
  const tokens = tokensOf(csstree, text);
  let depth = 0, imageSet = 0, awaitsImport = false, inNameRule = false, ofUrl = null;
  for (const [i, { type, start, end }] of tokens.entries()) {
    const raw = text.slice(start, end);
    const kind = awaitsImport ? '@import' : type === types.String && tokens[i] !== ofUrl ? 'image-set()' : 'url()';
    const isImport = awaitsImport;
    awaitsImport = false;
    switch (type) {
      case types.AtKeyword: {
        const name = csstree.ident.decode(raw.slice(1)).toLowerCase();
        awaitsImport = name === 'import';
        inNameRule = NAME_RULES.includes(name);
        break;
      }
      case types.Url: {
        const offset = start + /^[^(]*\([ \t\r\n\f]*/.exec(raw)[0].length;
        const decoded = csstree.url.decode('url(' + text.slice(offset, end));
        if (decoded !== '' && !inNameRule) {
          yield { kind, text: decoded, offset };
        }
        break;
      }
      case types.Function: {
        const name = csstree.ident.decode(raw.slice(0, -1)).toLowerCase();
        depth++;
        if (name === 'url') {
          ofUrl = tokens[i + 1]?.type === types.String ? tokens[i + 1] : null;
          if (ofUrl !== null) {
            ofUrl.kind = kind;
          }
        } else if (IMAGE_SETS.includes(name)) {
          imageSet = depth;
        }
        break;
      }
      case types.String: {
        const isUrl = tokens[i] === ofUrl || isImport || (imageSet > 0 && imageSet === depth);
        const decoded = isUrl && !inNameRule ? decodeString(csstree, raw) : '';
        if (decoded !== '') {
          yield { kind: tokens[i].kind ?? kind, text: decoded, offset: start + 1 };
        }
        break;
      }
      case types.LeftParenthesis:
        depth++;
        break;
      case types.RightParenthesis:
        imageSet = imageSet === depth ? 0 : imageSet;
        depth = Math.max(0, depth - 1);
        break;
      case types.Semicolon: case types.LeftCurlyBracket: case types.RightCurlyBracket:
        inNameRule = false;
        break;
      default:
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const csstree = await loadCssTree(process.argv[2]);
  for (const line of readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
    const text = Buffer.from(line, 'hex').toString('utf8');
    const place = placer(text);
    console.log(JSON.stringify([...urlsIn(csstree, text)]
      .map((url) => [url.kind, url.text, ...place(url.offset)])));
  }
}
