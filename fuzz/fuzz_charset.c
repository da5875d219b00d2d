/*
 * fuzz_charset.c - checks that pages in any encoding are converted to valid UTF-8.
 *
 * If the first byte of the input is odd, half of it is the length of the Content-Type
 * that follows. The rest is the page.
 */
#include "fuzz.h"

#include "../crawler/page/charset.h"

#include <errno.h>

struct converted {
    char *bytes;
    size_t n;
};

static int take(const char *bytes, size_t n, void *arg)
{
    struct converted *text = arg;

    text->bytes = realloc(text->bytes, text->n + n);
    CLAIM(text->bytes != NULL);
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
    return 0;
}

/* Convert the page in pieces. Returns false for an unknown charset. */
static bool convert(const struct charset *charset, const uint8_t *html, size_t n,
                    size_t piece, struct converted *text)
{
    struct charset_converter converter;
    int rc = charset_converter_open(&converter, charset);

    CLAIM(rc == 0 || rc == -EINVAL || rc == -ENOMEM);
    if (rc < 0)
        return false;
    for (size_t at = 0; at < n; at += piece) {
        size_t part = n - at < piece ? n - at : piece;
        uint8_t *block = fuzz_bytes(html + at, part);
        CLAIM(charset_convert(&converter, (char *)block, part, take, text) == 0);
        free(block);
    }
    CLAIM(charset_convert_end(&converter, take, text) == 0);
    charset_converter_close(&converter);
    return true;
}

/* Check that the converted text is valid, and does not depend on the pieces. */
static void check(const struct charset *charset, const uint8_t *html, size_t n)
{
    struct converted whole = {NULL, 0}, bytes = {NULL, 0};
    struct charset_check check = {0, false};

    if (charset_is_utf8(charset) || !convert(charset, html, n, n + 1, &whole))
        return;
    convert(charset, html, n, 1, &bytes);
    CLAIM(whole.n == bytes.n);
    CLAIM(whole.n == 0 || memcmp(whole.bytes, bytes.bytes, whole.n) == 0);
    charset_check_utf8(&check, whole.bytes, whole.n);
    CLAIM(!check.failed && check.pending == 0);
    free(whole.bytes);
    free(bytes.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    uint8_t first = fuzz_byte(&in);
    size_t n = first / 2 < in.left ? first / 2 : in.left;
    char *type = first % 2 == 1 ? fuzz_text(in.at, n) : NULL;
    struct charset charset;
    uint8_t *html;

    if (type != NULL) {
        in.at += n;
        in.left -= n;
    }
    html = fuzz_bytes(in.at, in.left);
    CLAIM(charset_of(&charset, type, (char *)html, in.left) == 0);
    CLAIM(memchr(charset.label, '\0', sizeof charset.label) != NULL);
    CLAIM(charset.mark_bytes <= in.left);
    check(&charset, html, in.left);
    free(html);
    free(type);
    return 0;
}
