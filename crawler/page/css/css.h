/*
 * css.h - find the URLs in a style sheet that arrives in pieces.
 *
 *     css_init(&css, visit, arg);
 *     css_begin(&css, (struct html_position){1, 1});
 *     while (rc == 0 && ... more of the text ...)
 *         rc = css_feed(&css, text, n);     // visits each URL as soon as it is complete
 *     if (rc == 0)
 *         rc = css_end(&css);
 *     css_finish(&css);
 *
 * The tokens are those of CSS Syntax Level 3. So "url(" is ignored in a comment, in a
 * string, or at the end of another name. The tokenizer finds the URLs in url(), with or
 * without quotes, and the strings of @import and image-set(). The names in @namespace and
 * the patterns in @document are not URLs of resources, and are ignored.
 *
 * The text is UTF-8, or another encoding in which the bytes of ASCII always mean ASCII
 * characters. Any text is accepted. Only the current URL is stored, at most
 * HTML_VALUE_BYTES of it. The functions do not use coil, and can run on any thread.
 */
#ifndef CRAWLER_CSS_H
#define CRAWLER_CSS_H

#include "../html/html_buffer.h"
#include "../html/html_position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum css_kind { CSS_URL, CSS_IMPORT, CSS_IMAGE_SET, CSS_KINDS };

/* Valid during the call, and not empty. */
struct css_url {
    enum css_kind kind;
    const char *bytes; /* as written, without quotes; see css_decode() */
    size_t n;
    bool cut; /* shortened, because it is longer than HTML_VALUE_BYTES */
    struct html_position place; /* of the first byte */
};

/* A negative return value ends the text. css_feed() and css_end() return it. */
typedef int (*css_visit_function)(const struct css_url *url, void *arg);

#define CSS_NAME_BYTES 24 /* longer than all names that matter */

struct css {
    /* All members are private to css.c. */
    css_visit_function visit;
    void *arg;
    int rc;
    uint8_t state;
    uint8_t after_escape; /* the state to return to after an escape */
    uint8_t hex_n;
    uint32_t hex;      /* the value of an escape in a name */
    uint8_t name_kind; /* of the current name */
    uint8_t name_n;    /* CSS_NAME_BYTES: the name is too long to matter */
    char name[CSS_NAME_BYTES];
    char mark;    /* the quote of a string, or the sign of an exponent */
    uint8_t kind; /* enum css_kind of the value */
    bool reads_value;
    bool awaits_import; /* after @import, where a string is a URL */
    bool is_import;     /* the current token is the URL of an @import */
    bool in_name_rule;  /* between @namespace or @document and ';' or '{' */
    uint32_t depth;     /* of parentheses */
    uint32_t image_set; /* the depth inside image-set(); 0: not inside */
    const char *value_at;
    struct html_buffer value; /* the part of the value from earlier pieces */
    struct html_position place;
    struct html_counter counter; /* the place of `counted` */
    const char *counted;
};

void css_init(struct css *css, css_visit_function visit, void *arg);

/* A struct of zeroes is allowed. */
void css_finish(struct css *css);

/* Begin a new text. `place` is the place of its first byte. */
void css_begin(struct css *css, struct html_position place);

/*
 * Fails with -ENOMEM, or the return value of visit(). All later calls return the same
 * error.
 */
int css_feed(struct css *css, const char *text, size_t n);

/* Call this at the end of the text. An unfinished URL ends here. */
int css_end(struct css *css);

/*
 * Decode the escapes in n bytes of a URL. `out` needs room for 3 * n. Returns the length.
 */
size_t css_decode(const char *bytes, size_t n, char *out);

#endif
