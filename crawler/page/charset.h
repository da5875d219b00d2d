/*
 * charset.h - pages that are not UTF-8.
 */
#ifndef CRAWLER_CHARSET_H
#define CRAWLER_CHARSET_H

#include "../base/text.h"

#include <iconv.h>
#include <stdbool.h>
#include <stddef.h>

#define CHARSET_BYTES 32

struct charset {
    char label
        [CHARSET_BYTES]; /* iconv(3)'s name; "" for UTF-8, and for what nobody knows */
    bool is_declared;    /* else it is UTF-8 unless that is not valid: Windows-1252 */
    size_t mark_bytes;   /* of the byte order mark, which is none of the text */
};

/* iconv(3)'s name for the encoding with this label, n bytes in any case; "" for UTF-8, and NULL
   for what browsers do not know. */
const char *charset_name(const char *label, size_t n);

/* So much of the beginning of a page settles what is declared. */
#define CHARSET_HEAD_BYTES 1024

/*
 * The encoding of an HTML page by its first bytes: by its byte order mark, else by the charset
 * parameter of `content_type` (which may be NULL), else by a <meta>, else by <?xml encoding="...">.
 * (WHATWG: encoding sniffing algorithm) 0 or -ENOMEM.
 */
int charset_of(struct charset *charset, const char *content_type, const char *html,
               size_t n);

/* The same of a style sheet: by its byte order mark, else by `content_type`, else by its @charset,
   else it is UTF-8. (CSS Syntax Level 3, section 3.2, without the encoding of who links to it) */
void charset_of_sheet(struct charset *charset, const char *content_type, const char *css,
                      size_t n);

bool charset_is_utf8(const struct charset *charset);

/* Is a text UTF-8, that comes in pieces? Begins as zeroes. */
struct charset_check {
    int pending;
    bool failed;
};

void charset_check_utf8(struct charset_check *check, const char *text, size_t n);

/* Takes a piece of UTF-8; what it returns below 0 ends the conversion. */
typedef int (*charset_take)(const char *text, size_t n, void *arg);

/* A text that comes in pieces, into UTF-8; what has no meaning becomes U+FFFD. */
struct charset_converter {
    iconv_t iconv;
    iconv_t
        back; /* out of UTF-8; (iconv_t)-1 where queries are UTF-8 all the same: UTF-16 */
    size_t unit;  /* bytes to leave out where there is no meaning */
    char left[8]; /* the beginning of a character */
    size_t left_n;
};

/* Fails with -ENOMEM, or -EINVAL for a charset that iconv(3) does not know. May read files:
   iconv(3) loads modules from disk. */
int charset_converter_open(struct charset_converter *converter,
                           const struct charset *charset);
int charset_convert(struct charset_converter *converter, const char *text, size_t n,
                    charset_take take, void *arg);
/* The text is at its end. */
int charset_convert_end(struct charset_converter *converter, charset_take take,
                        void *arg);
/*
 * Append a query of a page of this encoding, NULL for Windows-1252, as browsers ask for it: what is
 * beyond ASCII in the encoding's bytes, percent-encoded, and what that does not have by number,
 * "&#9731;". `s` is UTF-8. (WHATWG, URL: percent-encode after encoding)
 */
void charset_add_query(const struct charset_converter *converter, struct text *out,
                       const char *s, size_t n);
/* Another text of the same encoding begins. */
void charset_converter_reset(struct charset_converter *converter);
void charset_converter_close(struct charset_converter *converter);

#endif
