/*
 * html_tokenizer.h - split a page that arrives in pieces into the tokens of HTML5.
 *
 *     html_tokenizer_init(&tokenizer, &sink, arg);
 *     while (... more of the page ...)
 *         rc = html_tokenizer_feed(&tokenizer, bytes, n);   // calls the sink
 *     rc = html_tokenizer_end(&tokenizer);
 *     html_tokenizer_finish(&tokenizer);
 *
 * Pieces can have any size. The text must be in UTF-8, or in an encoding in which ASCII
 * bytes always represent ASCII characters. Invalid bytes are passed through. A byte order
 * mark is treated like any other character. Tokens that the sink does not want are
 * skipped. (WHATWG: HTML, 13.2.5 Tokenization, without its parse errors)
 *
 * The functions do not use coil and have no global state, so they can run on any thread.
 */
#ifndef CRAWLER_HTML_TOKENIZER_H
#define CRAWLER_HTML_TOKENIZER_H

#include "html_buffer.h"
#include "html_position.h"
#include "html_reference.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTML_NAME_BYTES 1024             /* longer names are truncated */
#define HTML_VALUE_BYTES ((size_t)65536) /* longer attribute values are truncated */
#define HTML_DATA_BYTES ((size_t)65536)  /* longer comments and DOCTYPEs are truncated */
/* longest name of an end tag that html_tokenizer_set_content() accepts */
#define HTML_WORD_BYTES 31

#define HTML_SPACE " \t\n\f\r" /* the white space characters of HTML */

/* How to read the text after a start tag. (13.2.5 has states with these names) */
enum html_content {
    HTML_DATA,
    HTML_RCDATA,
    HTML_RAWTEXT,
    HTML_SCRIPT,
    HTML_PLAINTEXT,
    HTML_CDATA,
};

/*
 * A name in lower case, NUL-terminated. Each NUL in the name is replaced with U+FFFD.
 * Valid only during the call.
 */
struct html_name {
    const char *bytes;
    size_t n;
    /* The last eight bytes of the name. The last one is the lowest byte of the key. */
    uint64_t key;
};

/* Return the key of a name after appending a byte. */
static inline uint64_t html_name_key(uint64_t key, char c)
{
    return key << 8 | (unsigned char)c;
}

/* The current name. `name.bytes` is the address of `bytes`. */
struct html_name_buffer {
    struct html_name name;
    char bytes[HTML_NAME_BYTES + 1];
};

/* An attribute's value as written; see html_decode(). Valid only during the call. */
struct html_value {
    const char *bytes;
    size_t n;
    bool cut; /* the value was truncated to HTML_VALUE_BYTES */
    /* The place of the value's first byte, or the place after the name if there is no
       value. */
    struct html_position place;
};

#define HTML_REPEATS 64 /* a power of two */

/* A tag that may be repeated. */
struct html_repeat {
    /* the tag after '<', up to and including '>', followed by zeroes */
    uint64_t text[2];
    uint64_t number; /* value of html_tokenizer.repeat, not 0 */
};

/* A DOCTYPE. If a name or identifier is missing, its `bytes` are NULL. */
struct html_doctype {
    struct html_name name, public_id, system_id;
    bool force_quirks;
};

/*
 * Receives the tokens of a page. Any function may be NULL. If a function returns a
 * negative value, the tokenizer stops, and html_tokenizer_feed() returns this value.
 */
struct html_sink {
    /* Called when a tag begins. Returns true if the sink wants the tag's attributes. */
    bool (*tag)(const struct html_name *name, bool is_end, void *arg);
    /* Returns true if the sink wants this attribute. Not called for end tags. */
    bool (*wants)(const struct html_name *name, void *arg);
    /*
     * Called for each wanted attribute of a start tag. If an attribute is repeated in a
     * tag, only the first one is reported.
     */
    int (*attribute)(const struct html_name *name, const struct html_value *value,
                     void *arg);
    /* Called at the '>' of a tag. A tag without '>' is dropped. */
    int (*tag_end)(const struct html_name *name, bool is_end, bool is_self_closing,
                   void *arg);
    /*
     * Called with text, in pieces of any size and with references decoded, while
     * html_tokenizer.wants_text is true.
     */
    int (*text)(const char *bytes, size_t n, void *arg);
    int (*comment)(const char *bytes, size_t n, void *arg);
    int (*doctype)(const struct html_doctype *doctype, void *arg);
    /*
     * Called instead of tag() and tag_end() for a tag that repeats an earlier one, byte for
     * byte. `number` is the value that tag_end() set for the earlier tag. If the function
     * returns false, the tag is read as usual.
     */
    bool (*repeat)(unsigned number, void *arg);
};

/*
 * The state of a tokenizer. The struct has many members, because a piece may end after
 * any byte of a page.
 */
struct html_tokenizer {
    /* The sink may change the next three members in tag_end() and text(). */
    bool wants_text; /* initially true */
    /* recognize CDATA sections, which are allowed in SVG and MathML; initially false */
    bool allows_cdata;
    bool marks_tags;                /* set `tag_place`; initially false */
    struct html_position tag_place; /* place of the '<' of the latest tag */
    /* The sink may change `marks_end` in tag(). */
    bool marks_end;                 /* set `end_place`; initially false */
    struct html_position end_place; /* place after the '>' of the latest tag */
    /*
     * The sink may set this number in tag_end(), which is called with 0 in it. Any other
     * number means that repeat() can replace later tags that are the same.
     */
    uint16_t repeat;

    /* The other members are private to the tokenizer: see html_states.h. */
    const struct html_sink *sink;
    void *arg;
    int rc;
    uint8_t state, content;
    uint8_t quote;   /* the quote of the current value */
    uint8_t phase;   /* the phase of a comment or a script */
    uint8_t dashes;  /* number of dashes just read in escaped text, at most two */
    uint8_t matched; /* number of bytes of an expected keyword that match so far */
    bool is_end, is_self_closing, wants_attributes, wants_value, after_cr;
    /* bytes that are either text or the beginning of a tag */
    char held[HTML_WORD_BYTES + 4];
    uint8_t held_n;
    char last_start[HTML_WORD_BYTES + 1]; /* the end tag that ends the current text */
    uint8_t last_start_n;
    struct html_name_buffer name, attribute;
    /* the bytes of an attribute value, a comment or a DOCTYPE */
    struct html_buffer value;
    struct html_position value_place;
    struct html_names seen; /* names of the wanted attributes of this tag */
    struct html_repeat repeats[HTML_REPEATS]; /* a hash table */
    struct html_reference reference;
    struct html_counter counter; /* the line and column of `counted` */
    const char *counted;
};

/* `sink` and `arg` must outlive the tokenizer. */
void html_tokenizer_init(struct html_tokenizer *tokenizer, const struct html_sink *sink,
                         void *arg);

/* Free the tokenizer's memory. A zeroed struct is accepted. */
void html_tokenizer_finish(struct html_tokenizer *tokenizer);

/* Begin another page, reusing the memory. */
void html_tokenizer_reset(struct html_tokenizer *tokenizer);

/*
 * Process the next piece. Fails with -ENOMEM, or with the negative value that a sink
 * function returned. After a failure, all calls return the same error.
 */
int html_tokenizer_feed(struct html_tokenizer *tokenizer, const char *bytes, size_t n);

/* End the page. Fails with the errors of html_tokenizer_feed(). */
int html_tokenizer_end(struct html_tokenizer *tokenizer);

/*
 * Set how to read the text up to the end tag `name`. Call this in tag_end() for the text
 * after a start tag, or before the first piece for the beginning of the page.
 */
void html_tokenizer_set_content(struct html_tokenizer *tokenizer,
                                enum html_content content, const char *name);

#endif
