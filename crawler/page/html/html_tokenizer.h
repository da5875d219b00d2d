/*
 * html_tokenizer.h - HTML5's tokens, out of a page that comes in pieces.
 *
 *     html_tokenizer_init(&tokenizer, &sink, arg);
 *     while (... more of the page ...)
 *         rc = html_tokenizer_feed(&tokenizer, bytes, n);   // tells the sink
 *     rc = html_tokenizer_end(&tokenizer);
 *     html_tokenizer_finish(&tokenizer);
 *
 * Pieces may be of any size. Text is UTF-8, or any encoding that has ASCII's bytes for
 * ASCII's characters alone; what is not valid is passed through. A byte order mark is a
 * character like any other. What the sink does not ask for is skipped.
 * (WHATWG: HTML, 13.2.5 Tokenization, without its parse errors)
 *
 * Calls nothing of coil and touches nothing global: it can run anywhere.
 */
#ifndef CRAWLER_HTML_TOKENIZER_H
#define CRAWLER_HTML_TOKENIZER_H

#include "html_buffer.h"
#include "html_position.h"
#include "html_reference.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTML_NAME_BYTES 1024             /* of a name; what goes beyond it is cut off */
#define HTML_VALUE_BYTES ((size_t)65536) /* of the value of an attribute: the same */
#define HTML_DATA_BYTES ((size_t)65536)  /* of a comment, or a DOCTYPE */
#define HTML_WORD_BYTES 31               /* of a name that ends text: "script" */

#define HTML_SPACE " \t\n\f\r" /* what HTML takes for white space */

/* How the text behind a start tag is read. (13.2.5: the states of the same names) */
enum html_content {
    HTML_DATA,
    HTML_RCDATA,
    HTML_RAWTEXT,
    HTML_SCRIPT,
    HTML_PLAINTEXT,
    HTML_CDATA,
};

/* In lower case, with U+FFFD for NUL; a NUL follows it. It lasts for the call. */
struct html_name {
    const char *bytes;
    size_t n;
    uint64_t key; /* its last eight bytes, the last in the lowest: see html_name_key() */
};

/* The key of a name with one more byte. */
static inline uint64_t html_name_key(uint64_t key, char c)
{
    return key << 8 | (unsigned char)c;
}

/* A name that is being read. */
struct html_name_buffer {
    size_t n;
    uint64_t key;
    char bytes[HTML_NAME_BYTES + 1];
};

/* As written: html_decode() makes text of it. It lasts for the call. */
struct html_value {
    const char *bytes;
    size_t n;
    bool cut; /* it was longer than HTML_VALUE_BYTES */
    struct html_position
        place; /* of its first byte; without a value, of the name's end */
};

/* A text that is not there has NULL for its bytes. */
struct html_doctype {
    struct html_name name, public_id, system_id;
    bool force_quirks;
};

/*
 * What is told of a page. Any function may be NULL: then nobody wants that. Those that return
 * int end the page with anything below 0, which html_tokenizer_feed() returns.
 */
struct html_sink {
    /* A tag begins that has this name. True if the sink wants attributes of it. */
    bool (*tag)(const struct html_name *name, bool is_end, void *arg);
    /* True if the sink wants this attribute: asked for each but those of end tags. */
    bool (*wants)(const struct html_name *name, void *arg);
    /* An attribute of a start tag that was wanted; of several by one name the first. */
    int (*attribute)(const struct html_name *name, const struct html_value *value,
                     void *arg);
    /* The tag's '>'. If that never comes, neither does this call: there was no tag. */
    int (*tag_end)(const struct html_name *name, bool is_end, bool is_self_closing,
                   void *arg);
    /* Text, in pieces of any size, references decoded; while html_tokenizer.wants_text. */
    int (*text)(const char *bytes, size_t n, void *arg);
    int (*comment)(const char *bytes, size_t n, void *arg);
    int (*doctype)(const struct html_doctype *doctype, void *arg);
};

struct html_tokenizer {
    /* The sink may change these when told of the end of a tag, or of text. */
    bool wants_text;   /* true at first */
    bool allows_cdata; /* where a tag would be of SVG or MathML; false at first */
    bool marks_tags;   /* `tag_place` is wanted; false at first */
    struct html_position tag_place; /* of the '<' of the latest tag */
    /* The sink may change this when told that a tag begins. */
    bool marks_end;                 /* `end_place` is wanted; false at first */
    struct html_position end_place; /* of what follows the '>' of the latest tag */

    /* The rest is for the tokenizer's own files: html_states.h. */
    const struct html_sink *sink;
    void *arg;
    int rc;
    uint8_t state, content;
    uint8_t quote;   /* of the value being read */
    uint8_t phase;   /* of a comment, or a script */
    uint8_t dashes;  /* that came last in an escaped script, two at most */
    uint8_t matched; /* so many bytes agree with the word that is looked for */
    bool is_end, is_self_closing, wants_attributes, wants_value, after_cr;
    char held[HTML_WORD_BYTES + 4]; /* text, or else the beginning of a tag */
    uint8_t held_n;
    char last_start[HTML_WORD_BYTES + 1]; /* what ends `content`, if anything does */
    uint8_t last_start_n;
    struct html_name_buffer name, attribute;
    struct html_buffer value; /* of an attribute, a comment, a DOCTYPE */
    struct html_position value_place;
    struct html_names seen; /* attributes of this tag that were wanted */
    struct html_reference reference;
    struct html_counter counter; /* has counted up to: */
    const char *counted;
};

/* `sink` and `arg` must outlast it. */
void html_tokenizer_init(struct html_tokenizer *tokenizer, const struct html_sink *sink,
                         void *arg);

/* Free what it holds; zeroes are accepted. */
void html_tokenizer_finish(struct html_tokenizer *tokenizer);

/* Begin another page, with the memory of the last. */
void html_tokenizer_reset(struct html_tokenizer *tokenizer);

/*
 * Take the next piece. Fails with -ENOMEM, or as the sink says; and again with the same.
 */
int html_tokenizer_feed(struct html_tokenizer *tokenizer, const char *bytes, size_t n);

/* The page is at its end. Fails likewise. */
int html_tokenizer_end(struct html_tokenizer *tokenizer);

/*
 * How to go on behind the start tag whose end the sink is told of; `name` is what ends it.
 * Outside of that, how to begin.
 */
void html_tokenizer_set_content(struct html_tokenizer *tokenizer,
                                enum html_content content, const char *name);

#endif
