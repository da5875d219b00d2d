/*
 * charset.h - find the encoding of a page, and convert the page to UTF-8.
 */
#ifndef CRAWLER_CHARSET_H
#define CRAWLER_CHARSET_H

#include "../base/text.h"

#include <iconv.h>
#include <stdbool.h>
#include <stddef.h>

#define CHARSET_BYTES 32

struct charset {
    /* the name that iconv(3) uses, or "" for UTF-8 and unknown encodings */
    char label[CHARSET_BYTES];
    /* false: the page is UTF-8, or Windows-1252 if it is not valid UTF-8 */
    bool is_declared;
    /* length of the byte order mark in bytes; the mark is not part of the text */
    size_t mark_bytes;
};

/*
 * Return the name that iconv(3) uses for the encoding with this label of n bytes, in
 * upper or lower case. Returns "" for UTF-8, or NULL if browsers do not support the
 * label.
 */
const char *charset_name(const char *label, size_t n);

/* A page must declare its encoding within the first CHARSET_HEAD_BYTES bytes. */
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
 * section 3.2, but without the encoding of the linking page)
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

/* Receives a piece of converted text. A negative return value ends the conversion. */
typedef int (*charset_take)(const char *text, size_t n, void *arg);

/* Converts a text that arrives in pieces to UTF-8. Invalid bytes become U+FFFD. */
struct charset_converter {
    iconv_t iconv;
    /*
     * Converts queries from UTF-8 to the encoding of the page. (iconv_t)-1 for UTF-16,
     * because browsers send the queries of UTF-16 pages in UTF-8.
     */
    iconv_t back;
    size_t unit;  /* number of bytes to skip where the text is invalid */
    char left[8]; /* incomplete character at the end of the last piece */
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
 * Append the UTF-8 query `s` as a browser sends it from a page in the encoding of the
 * converter, or in Windows-1252 if `converter` is NULL. Non-ASCII characters are
 * converted and percent-encoded. Characters that do not exist in the encoding become
 * numeric references such as "&#9731;". (WHATWG, URL: percent-encode after encoding)
 */
void charset_add_query(const struct charset_converter *converter, struct text *out,
                       const char *s, size_t n);
/* Prepare for another text in the same encoding. */
void charset_converter_reset(struct charset_converter *converter);
void charset_converter_close(struct charset_converter *converter);

#endif
