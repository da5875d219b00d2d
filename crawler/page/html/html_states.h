/*
 * html_states.h - declarations shared by the files of the HTML tokenizer.
 *
 * Each state is a function that reads as much of the current piece as it can, sets
 * `state` to the next state, and returns the address of the first unread byte. A state
 * may be called with an empty piece.
 */
#ifndef CRAWLER_HTML_STATES_H
#define CRAWLER_HTML_STATES_H

#include "../../base/ascii.h"
#include "html_tokenizer.h"
#include "html_word.h"

/* The first constants have the same values as those of enum html_content. */
enum html_state {
    STATE_DATA,
    STATE_RCDATA,
    STATE_RAWTEXT,
    STATE_SCRIPT,
    STATE_PLAINTEXT,
    STATE_CDATA,
    STATE_REFERENCE,     /* after '&' in text */
    STATE_RAW_OPEN,      /* after '<' in RCDATA, RAWTEXT and scripts */
    STATE_RAW_END_NAME,  /* after "</" in RCDATA, RAWTEXT and scripts */
    STATE_SCRIPT_ESCAPE, /* after "<!" in a script */
    STATE_SCRIPT_WORD,   /* in a tag name, perhaps "script", in an escaped script */
    STATE_TAG_OPEN,
    STATE_END_TAG_OPEN,
    STATE_TAG_NAME,
    STATE_BEFORE_ATTRIBUTE,
    STATE_ATTRIBUTE_NAME,
    STATE_AFTER_ATTRIBUTE,
    STATE_BEFORE_VALUE,
    STATE_VALUE_QUOTED,
    STATE_VALUE_UNQUOTED,
    STATE_AFTER_VALUE,
    STATE_SELF_CLOSING,
    STATE_DECLARATION, /* after "<!" */
    STATE_BOGUS_COMMENT,
    STATE_COMMENT,
    STATE_DOCTYPE,
    STATE_COUNT
};

#define HTML_STATE(name)                                                                 \
    const char *name(struct html_tokenizer *t, const char *p, const char *end)

/* html_text.c */
HTML_STATE(html_state_data);
HTML_STATE(html_state_rcdata);
HTML_STATE(html_state_rawtext);
HTML_STATE(html_state_script);
HTML_STATE(html_state_plaintext);
HTML_STATE(html_state_cdata);
HTML_STATE(html_state_reference);
HTML_STATE(html_state_raw_open);
HTML_STATE(html_state_raw_end_name);
HTML_STATE(html_state_script_escape);
HTML_STATE(html_state_script_word);
void html_put_text(struct html_tokenizer *t, const char *bytes, size_t n);

/*
 * Pass the bytes to put() in one or more calls. CR and CR LF are replaced with LF. If
 * `replaces_nul` is true, NUL is replaced with U+FFFD.
 */
typedef void (*html_put_function)(struct html_tokenizer *t, const char *bytes, size_t n);
void html_put_lines(struct html_tokenizer *t, const char *bytes, size_t n,
                    bool replaces_nul, html_put_function put);
void html_text_end(struct html_tokenizer *t);

/* html_tags.c */
HTML_STATE(html_state_tag_open);
HTML_STATE(html_state_end_tag_open);
HTML_STATE(html_state_tag_name);
HTML_STATE(html_state_before_attribute);
HTML_STATE(html_state_attribute_name);
HTML_STATE(html_state_after_attribute);
HTML_STATE(html_state_before_value);
HTML_STATE(html_state_value_quoted);
HTML_STATE(html_state_value_unquoted);
HTML_STATE(html_state_after_value);
HTML_STATE(html_state_self_closing);
/*
 * Process the tag after '<' if it repeats an earlier tag. Returns the address after it, or
 * NULL if it does not.
 */
const char *html_repeat_tag(struct html_tokenizer *t, const char *p, const char *end);

/*
 * Read the tag after '<' as far as it is simple, and set `state`. Returns NULL if nothing
 * was read.
 */
const char *html_read_plain_tag(struct html_tokenizer *t, const char *p, const char *end);
void html_begin_tag(struct html_tokenizer *t, bool is_end);
void html_name_tag(struct html_tokenizer *t);
void html_name_add(struct html_name_buffer *name, const char *bytes, size_t n);
void html_tags_end(struct html_tokenizer *t);

/* html_markup.c */
HTML_STATE(html_state_declaration);
HTML_STATE(html_state_bogus_comment);
HTML_STATE(html_state_comment);
HTML_STATE(html_state_doctype);
const char *html_begin_bogus_comment(struct html_tokenizer *t, const char *p,
                                     const char *end);
void html_markup_end(struct html_tokenizer *t);

/* html_doctype.c: parse the text between "<!DOCTYPE" and '>', in place. */
struct html_doctype html_doctype_of(char *text, size_t n, bool is_complete);

/* Record the return value of a sink function. After a negative value, the tokenizer
   stops. */
static inline void html_note(struct html_tokenizer *t, int rc)
{
    if (rc < 0)
        t->rc = rc;
}

static inline void html_hold(struct html_tokenizer *t, char c)
{
    t->held[t->held_n++] = c;
}

static inline bool html_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

/*
 * Return the line and column of a byte. The byte must not precede the byte of the
 * previous call.
 */
static inline struct html_position html_position_of(struct html_tokenizer *t,
                                                    const char *p)
{
    html_count(&t->counter, t->counted, (size_t)(p - t->counted));
    t->counted = p;
    return t->counter.place;
}

#endif
