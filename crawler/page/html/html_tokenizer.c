/*
 * html_tokenizer.c - life cycle of the tokenizer, and the loop that calls its states.
 *
 *      html_text.c       text, RCDATA, RAWTEXT, scripts, PLAINTEXT, CDATA sections, references
 *      html_tags.c       tags and attributes
 *      html_markup.c     comments, DOCTYPEs
 *
 * Invariants
 *   1. To limit the depth of nested calls, a state calls only states that come later in a
 *      tag. To continue in an earlier state, it returns to the loop.
 *   2. After a state that consumes nothing, the next state consumes at least one byte.
 *   3. `counted` points into the current piece, and only moves forward.
 */
#include "html_states.h"

#include <string.h>

typedef HTML_STATE((*state_function));

static const state_function states[STATE_COUNT] = {
    [STATE_DATA] = html_state_data,
    [STATE_RCDATA] = html_state_rcdata,
    [STATE_RAWTEXT] = html_state_rawtext,
    [STATE_SCRIPT] = html_state_script,
    [STATE_PLAINTEXT] = html_state_plaintext,
    [STATE_CDATA] = html_state_cdata,
    [STATE_REFERENCE] = html_state_reference,
    [STATE_RAW_OPEN] = html_state_raw_open,
    [STATE_RAW_END_NAME] = html_state_raw_end_name,
    [STATE_SCRIPT_ESCAPE] = html_state_script_escape,
    [STATE_SCRIPT_WORD] = html_state_script_word,
    [STATE_TAG_OPEN] = html_state_tag_open,
    [STATE_END_TAG_OPEN] = html_state_end_tag_open,
    [STATE_TAG_NAME] = html_state_tag_name,
    [STATE_BEFORE_ATTRIBUTE] = html_state_before_attribute,
    [STATE_ATTRIBUTE_NAME] = html_state_attribute_name,
    [STATE_AFTER_ATTRIBUTE] = html_state_after_attribute,
    [STATE_BEFORE_VALUE] = html_state_before_value,
    [STATE_VALUE_QUOTED] = html_state_value_quoted,
    [STATE_VALUE_UNQUOTED] = html_state_value_unquoted,
    [STATE_AFTER_VALUE] = html_state_after_value,
    [STATE_SELF_CLOSING] = html_state_self_closing,
    [STATE_DECLARATION] = html_state_declaration,
    [STATE_BOGUS_COMMENT] = html_state_bogus_comment,
    [STATE_COMMENT] = html_state_comment,
    [STATE_DOCTYPE] = html_state_doctype,
};

void html_tokenizer_init(struct html_tokenizer *tokenizer, const struct html_sink *sink,
                         void *arg)
{
    memset(tokenizer, 0, sizeof *tokenizer);
    tokenizer->sink = sink;
    tokenizer->arg = arg;
    tokenizer->name.name.bytes = tokenizer->name.bytes;
    tokenizer->attribute.name.bytes = tokenizer->attribute.bytes;
    html_tokenizer_reset(tokenizer);
}

void html_tokenizer_finish(struct html_tokenizer *tokenizer)
{
    html_buffer_finish(&tokenizer->value);
    html_names_finish(&tokenizer->seen);
}

void html_tokenizer_reset(struct html_tokenizer *tokenizer)
{
    html_buffer_shrink(&tokenizer->value);
    tokenizer->rc = 0;
    tokenizer->state = tokenizer->content = HTML_DATA;
    tokenizer->held_n = tokenizer->last_start_n = 0;
    tokenizer->after_cr = false;
    tokenizer->wants_text = true;
    tokenizer->allows_cdata = tokenizer->marks_tags = tokenizer->marks_end = false;
    memset(tokenizer->repeats, 0, sizeof tokenizer->repeats);
    tokenizer->counter = (struct html_counter){{1, 1}, false};
    tokenizer->tag_place = tokenizer->counter.place;
}

int html_tokenizer_feed(struct html_tokenizer *tokenizer, const char *bytes, size_t n)
{
    const char *p = bytes, *end = bytes + n;

    tokenizer->counted = bytes;
    while (p < end && tokenizer->rc == 0)
        p = states[tokenizer->state](tokenizer, p, end);
    html_position_of(tokenizer, end);
    return tokenizer->rc;
}

int html_tokenizer_end(struct html_tokenizer *tokenizer)
{
    if (tokenizer->rc < 0)
        return tokenizer->rc;
    html_tags_end(tokenizer);
    html_markup_end(tokenizer);
    html_text_end(tokenizer);
    return tokenizer->rc;
}

void html_tokenizer_set_content(struct html_tokenizer *tokenizer,
                                enum html_content content, const char *name)
{
    size_t n = strnlen(name, HTML_WORD_BYTES);

    memcpy(tokenizer->last_start, name, n);
    tokenizer->last_start_n = (uint8_t)n;
    tokenizer->content = tokenizer->state = (uint8_t)content;
    tokenizer->phase = tokenizer->dashes = tokenizer->matched = 0;
}
