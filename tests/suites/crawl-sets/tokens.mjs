// tokens.mjs - prints the tokens of texts, found by parse5's tokenizer.
//
//     node tokens.mjs PARSE5_FOLDER < LINES
//
// The input and output formats are those of tests/suites/html5lib/tokens.c.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { Tokenizer, TokenizerMode } = await import(
  pathToFileURL(join(process.argv[2], 'node_modules/parse5/dist/index.js')));

// The tokenizer modes, in the order of enum html_content.
const modes = [TokenizerMode.DATA, TokenizerMode.RCDATA, TokenizerMode.RAWTEXT,
  TokenizerMode.SCRIPT_DATA, TokenizerMode.PLAINTEXT, TokenizerMode.CDATA_SECTION];

class Handler {
  tokens = [];

  onCharacter(token) {
    if (this.tokens.at(-1)?.[0] === 'Character') {
      this.tokens.at(-1)[1] += token.chars;
    } else {
      this.tokens.push(['Character', token.chars]);
    }
  }
  onNullCharacter(token) {
    this.onCharacter(token);
  }
  onWhitespaceCharacter(token) {
    this.onCharacter(token);
  }
  onComment(token) {
    this.tokens.push(['Comment', token.data]);
  }
  onDoctype(token) {
    this.tokens.push(
      ['DOCTYPE', token.name, token.publicId, token.systemId, !token.forceQuirks]);
  }
  onStartTag(token) {
    const attributes = Object.fromEntries(token.attrs.map(({ name, value }) => [name, value]));
    this.tokens.push(['StartTag', token.tagName, attributes,
      ...(token.selfClosing ? [true] : [])]);
  }
  onEndTag(token) {
    this.tokens.push(['EndTag', token.tagName]);
  }
  onEof() {}
}

for (const line of readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
  const [content, last, , text] = line.split(' ');
  const handler = new Handler();
  const tokenizer = new Tokenizer({}, handler);
  tokenizer.state = modes[content];
  tokenizer.lastStartTagName = last === '-' ? '' : last;
  tokenizer.write(Buffer.from(text, 'hex').toString('utf8'), true);
  console.log(JSON.stringify(handler.tokens));
}
