/*
 * css.h - the URLs in a style sheet, out of a text that comes in pieces.
 *
 *     css_init(&css, visit, arg);
 *     css_begin(&css, (struct html_position){1, 1});
 *     while (rc == 0 && ... more of the text ...)
 *         rc = css_feed(&css, text, n);               // visits each URL as soon as it ends
 *     if (rc == 0)
 *         rc = css_end(&css);
 *     css_finish(&css);
 *
 * Tokens are those of CSS Syntax Level 3, so that a url( in a comment, in a string or at the end
 * of another name is none. Found are url(), quoted or not, the string of an @import, and the
 * strings of an image-set(). The names of @namespace and the patterns of @document are no URLs of
 * resources and are left out.
 *
 * Text is UTF-8, or another encoding that has ASCII's bytes for ASCII's characters alone. Any text
 * is accepted. Of it nothing is kept but the URL that is being read, HTML_VALUE_BYTES at most. Calls
 * nothing of coil, and can run on any thread.
 */
#ifndef CRAWLER_CSS_H
#define CRAWLER_CSS_H

#include "../html/html_buffer.h"
#include "../html/html_position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum css_kind { CSS_URL, CSS_IMPORT, CSS_IMAGE_SET, CSS_KINDS };

/* It lasts for the call, and is not empty. */
struct css_url {
    enum css_kind kind;
    const char *bytes; /* as written, without quotes: css_decode() makes text of it */
    size_t n;
    bool cut; /* it was longer than HTML_VALUE_BYTES: this is its beginning */
    struct html_position place; /* of its first byte */
};

/* Below 0 ends the text, and css_feed() and css_end() return it. */
typedef int (*css_visit_function)(const struct css_url *url, void *arg);

#define CSS_NAME_BYTES 24 /* more than any name that matters has */

struct css {
    /* All of it is for css.c. */
    css_visit_function visit;
    void *arg;
    int rc;
    uint8_t state;
    uint8_t after_escape; /* the state behind an escape */
    uint8_t hex_n;
    uint32_t hex;      /* of an escape in a name */
    uint8_t name_kind; /* of the name that is being read */
    uint8_t name_n;    /* CSS_NAME_BYTES: it is longer, and none that matters */
    char name[CSS_NAME_BYTES];
    char mark;    /* the quote of a string, or the sign of an exponent */
    uint8_t kind; /* enum css_kind, of the value */
    bool reads_value;
    bool awaits_import; /* behind @import: a string is a URL */
    bool is_import;     /* of the token that is being read */
    bool in_name_rule;  /* between @namespace or @document and its ';' or '{' */
    uint32_t depth;     /* of parentheses */
    uint32_t image_set; /* the depth in an image-set(); 0: there is none */
    const char *value_at;
    struct html_buffer value; /* what earlier pieces had of it */
    struct html_position place;
    struct html_counter counter; /* has counted up to: */
    const char *counted;
};

void css_init(struct css *css, css_visit_function visit, void *arg);

/* Zeroes are accepted. */
void css_finish(struct css *css);

/* Begin another text, whose first byte has that place. */
void css_begin(struct css *css, struct html_position place);

/* Fails with -ENOMEM, or as visit() says; and again with the same. */
int css_feed(struct css *css, const char *text, size_t n);

/* The text is at its end, and so is the URL that it may break off in. */
int css_end(struct css *css);

/* Decode the escapes of n bytes of a URL. `out` has room for 3 * n; returns the length. */
size_t css_decode(const char *bytes, size_t n, char *out);

#endif
