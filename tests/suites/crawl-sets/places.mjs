// places.mjs - converts offsets to lines and columns.

// Return a function that converts offsets to [line, column], quickly if offsets increase.
// Columns count characters.
export function placer(text) {
  let at = 0, line = 1, column = 1;
  return (offset) => {
    if (offset < at) {
      [at, line, column] = [0, 1, 1];
    }
    for (; at < offset; at++) {
      const c = text[at];
      if (c === '\n' || (c === '\r' && text[at + 1] !== '\n')) {
        line++;
        column = 1;
      } else if (c !== '\r' && !(c >= '\udc00' && c <= '\udfff')) {
        column++;
      }
    }
    return [line, column];
  };
}
