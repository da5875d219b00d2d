/* charset.h - find the encodings of pages, and convert pages that are not in UTF-8. */
#ifndef CRAWLER_CHARSET_H
#define CRAWLER_CHARSET_H

#include "../base/text.h"

#include <iconv.h>
#include <stdbool.h>
#include <stddef.h>

#define CHARSET_BYTES 32

struct charset {
    /* the name for iconv(3), or "" for UTF-8 and for unknown encodings */
    char label[CHARSET_BYTES];
    /* false: the page is UTF-8, or Windows-1252 if it is not valid UTF-8 */
    bool is_declared;
    /* length of the byte order mark in bytes; the mark is not part of the text */
    size_t mark_bytes;
};

/*
 * Return iconv(3)'s name for the encoding with this label of n bytes, in upper or lower
 * case. Returns "" for UTF-8, or NULL if browsers do not support the label.
 */
const char *charset_name(const char *label, size_t n);

/* A declaration of the encoding must be within the first CHARSET_HEAD_BYTES bytes. */
#define CHARSET_HEAD_BYTES 1024

/*
 * Find the encoding of an HTML page. The sources, in order of precedence, are the byte
 * order mark, the charset parameter of `content_type` (which may be NULL), <meta>, and
 * <?xml encoding="...">. (WHATWG: encoding sniffing algorithm) Returns 0 or -ENOMEM.
 */
int charset_of(struct charset *charset, const char *content_type, const char *html,
               size_t n);

/*
 * Find the encoding of a style sheet. The sources, in order of precedence, are the byte
 * order mark, `content_type` and @charset. The default is UTF-8. (CSS Syntax Level 3,
 * section 3.2, except that the encoding of the linking page is ignored)
 */
void charset_of_sheet(struct charset *charset, const char *content_type, const char *css,
                      size_t n);

bool charset_is_utf8(const struct charset *charset);

/* The state of a UTF-8 check of a text that arrives in pieces. Initialize with zeroes. */
struct charset_check {
    int pending;
    bool failed;
};

void charset_check_utf8(struct charset_check *check, const char *text, size_t n);

/* A callback that receives a piece of UTF-8. A negative return value ends the
   conversion. */
typedef int (*charset_take)(const char *text, size_t n, void *arg);

/* A converter to UTF-8, for a text that arrives in pieces. Invalid bytes become
   U+FFFD. */
struct charset_converter {
    iconv_t iconv;
    /* The conversion from UTF-8 to the encoding. For UTF-16 this is (iconv_t)-1, because
     * browsers send the queries of UTF-16 pages in UTF-8. */
    iconv_t back;
    size_t unit;  /* number of bytes to skip at an invalid sequence */
    char left[8]; /* the incomplete character at the end of the last piece */
    size_t left_n;
};

/*
 * Open a converter. Fails with -ENOMEM, or with -EINVAL if iconv(3) does not support the
 * charset. The function may read files, because iconv(3) loads modules from disk.
 */
int charset_converter_open(struct charset_converter *converter,
                           const struct charset *charset);
int charset_convert(struct charset_converter *converter, const char *text, size_t n,
                    charset_take take, void *arg);
/* End the text. An incomplete character at its end becomes U+FFFD. */
int charset_convert_end(struct charset_converter *converter, charset_take take,
                        void *arg);
/*
 * Append the query `s`, which is in UTF-8, as browsers send it for a page in this
 * encoding. If `converter` is NULL, the encoding is Windows-1252. Non-ASCII characters
 * are converted and percent-encoded. Characters that the encoding lacks become numeric
 * references such as "&#9731;". (WHATWG, URL: percent-encode after encoding)
 */
void charset_add_query(const struct charset_converter *converter, struct text *out,
                       const char *s, size_t n);
/* Prepare for another text in the same encoding. */
void charset_converter_reset(struct charset_converter *converter);
void charset_converter_close(struct charset_converter *converter);

#endif
