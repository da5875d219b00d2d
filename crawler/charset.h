/*
 * charset.h - pages that are not UTF-8.
 */
#ifndef CRAWLER_CHARSET_H
#define CRAWLER_CHARSET_H

#include <stdbool.h>
#include <stddef.h>

#define CHARSET_BYTES 32

struct charset {
    char label[CHARSET_BYTES]; /* "" for UTF-8, and for what nobody knows */
};

/*
 * The encoding of an HTML page: by its byte order mark, else by the charset parameter of
 * `content_type` (which may be NULL), else by a <meta> among its first bytes, else
 * Windows-1252 if it is not valid UTF-8. (WHATWG: encoding sniffing algorithm)
 */
struct charset charset_of(const char *content_type, const char *html, size_t n);

bool charset_is_utf8(const struct charset *charset);

/*
 * Convert to UTF-8; what has no meaning becomes U+FFFD. *out is the caller's, for free().
 * Fails with -ENOMEM, or -EINVAL for a charset that iconv(3) does not know.
 */
int charset_convert(const struct charset *charset, const char *text, size_t n, char **out,
                    size_t *out_bytes);

#endif
