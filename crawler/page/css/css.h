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
 * The tokenizer finds the URLs in url(), with or without quotes, and in the strings of
 * @import and image-set(). Because it follows CSS Syntax Level 3, it ignores "url(" in a
 * comment, in a string, or at the end of a longer name. URLs in @namespace and @document
 * are ignored, because they only serve as names and patterns.
 *
 * The text must be in UTF-8, or in another encoding in which ASCII bytes always represent
 * ASCII characters. The text need not be valid CSS. Only the current URL is stored,
 * truncated to HTML_VALUE_BYTES. The functions do not use coil, and can run on any
 * thread.
 */
#ifndef CRAWLER_CSS_H
#define CRAWLER_CSS_H

#include "../html/html_buffer.h"
#include "../html/html_position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum css_kind { CSS_URL, CSS_IMPORT, CSS_IMAGE_SET, CSS_KINDS };

/* A nonempty URL that the tokenizer found. Valid only during the call of visit(). */
struct css_url {
    enum css_kind kind;
    const char *bytes; /* the URL as written, without quotes; see css_decode() */
    size_t n;
    bool cut;                   /* the URL was truncated to HTML_VALUE_BYTES */
    struct html_position place; /* place of the first byte */
};

/* Called for each URL. A negative return value stops the tokenizer: css_feed() and
   css_end() return that value. */
typedef int (*css_visit_function)(const struct css_url *url, void *arg);

#define CSS_NAME_BYTES 24 /* longer than every name that the tokenizer must recognize */

/*
 * The state of a tokenizer. The struct has many members, because a piece may end after
 * any byte of a style sheet. All members are private to css.c and css_numbers.c.
 */
struct css {
    css_visit_function visit;
    void *arg;
    int rc;
    uint8_t state;
    uint8_t after_escape; /* state to return to after an escape */
    uint8_t hex_n;
    uint32_t hex;      /* value of a hexadecimal escape in a name */
    uint8_t name_kind; /* the current name's enum css_name_kind */
    uint8_t name_n;    /* CSS_NAME_BYTES if the name is too long to be recognized */
    char name[CSS_NAME_BYTES];
    char mark;    /* the quote of a string, or the sign of an exponent */
    uint8_t kind; /* enum css_kind of the current value */
    bool reads_value;
    bool awaits_import; /* @import was just read, so the next string is a URL */
    bool is_import;     /* the current token is the URL of an @import */
    bool in_name_rule;  /* between @namespace or @document and ';' or '{' */
    uint32_t depth;     /* depth of parentheses */
    uint32_t image_set; /* depth of parentheses inside image-set(), or 0 */
    const char *value_at;
    /* part of the current value from earlier pieces */
    struct html_buffer value;
    struct html_position place;
    struct html_counter counter; /* the line and column of `counted` */
    const char *counted;
};

void css_init(struct css *css, css_visit_function visit, void *arg);

/* Free the tokenizer's memory. A zeroed struct is accepted. */
void css_finish(struct css *css);

/* Begin a new text. `place` is the line and column of its first byte. */
void css_begin(struct css *css, struct html_position place);

/*
 * Process the next piece. Fails with -ENOMEM, or with the negative return value of
 * visit(). After a failure, all calls return the same error.
 */
int css_feed(struct css *css, const char *text, size_t n);

/* End the text. An unfinished URL is passed to visit(), because browsers use it too. */
int css_end(struct css *css);

/*
 * Decode the escapes in n bytes of a URL. `out` must have space for 3 * n bytes. Returns
 * the length of the result.
 */
size_t css_decode(const char *bytes, size_t n, char *out);

#endif
