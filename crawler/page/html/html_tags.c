/*
 * html_tags.c - parse tags and their attributes.
 *
 *      '<' --> TAG_OPEN --> TAG_NAME --> BEFORE_ATTRIBUTE --> ATTRIBUTE_NAME
 *                 |  ^                      ^   ^       |        \ '='
 *                 v  |                      |   |       v         v
 *            END_TAG_OPEN                   |  AFTER_VALUE  AFTER_  BEFORE_VALUE
 *                                           |     ^       ATTRIBUTE  |
 *                                           |     '-- VALUE_QUOTED <------|
 *                                           '------- VALUE_UNQUOTED <----'
 *
 * In nearly all states, '>' leads to end_tag(), and '/' leads to SELF_CLOSING.
 *
 * Most tags are plain: their names are short words, and their values have quotes.
 * html_read_plain_tag() reads these without changing the state for each part. Where a tag
 * is not plain, or a piece ends, the states continue.
 *
 * On most pages, tags such as "</p>" and "<li class=x>" occur many times. If a short tag
 * changes nothing except the number of open elements, html_repeat_tag() recognises it by
 * its text the next time.
 *
 * Names are short, and must be looked up in tables, so they are copied to a buffer in
 * lower case. Values are not copied, unless they continue in the next piece.
 */
#include "html_states.h"

#include <string.h>

/* ---- names ------------------------------------------------------------------------- */

/* Maps each byte to lower case, but NUL and the bytes that may end a name to 0. */
static const unsigned char in_names[256] = {
    0,   1,   2,   3,   4,   5,   6,   7,   8,   0,   0,   11,  0,   0,   14,  15,
    16,  17,  18,  19,  20,  21,  22,  23,  24,  25,  26,  27,  28,  29,  30,  31,
    0,   '!', '"', '#', '$', '%', '&', 39,  '(', ')', '*', '+', ',', '-', '.', 0,
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ':', ';', '<', 0,   0,   '?',
    '@', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', '[', 92,  ']', '^', '_',
    '`', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', '{', '|', '}', '~', 127,
    128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143,
    144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159,
    160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175,
    176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191,
    192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207,
    208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223,
    224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239,
    240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255};

void html_name_add(struct html_name_buffer *name, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && name->name.n < HTML_NAME_BYTES; i++) {
        name->bytes[name->name.n++] = bytes[i];
        name->name.key = html_name_key(name->name.key, bytes[i]);
    }
}

/* Copy bytes up to a NUL or the end of the name. Returns the address after them. */
static const char *read_plain(const char *p, const char *end,
                              struct html_name_buffer *name)
{
    uint64_t key = name->name.key;
    size_t n = name->name.n;
    unsigned char c;

    for (; p < end && (c = in_names[(unsigned char)*p]) != 0; p++) {
        if (n == HTML_NAME_BYTES)
            continue;
        name->bytes[n++] = (char)c;
        key = html_name_key(key, (char)c);
    }
    name->name.n = n;
    name->name.key = key;
    return p;
}

/*
 * Copy a name up to its end or the end of the piece. The byte `inside` does not end this
 * kind of name.
 */
static const char *read_name(const char *p, const char *end,
                             struct html_name_buffer *name, char inside)
{
    while ((p = read_plain(p, end, name)) < end) {
        if (*p == '\0')
            html_name_add(name, "\xef\xbf\xbd", 3);
        else if (*p == inside)
            html_name_add(name, p, 1);
        else
            break;
        p++;
    }
    return p;
}

/* Skip an unwanted name up to its end or the end of the piece. */
static const char *skip_name(const char *p, const char *end)
{
    while (p < end && (in_names[(unsigned char)*p] != 0 || *p == '\0'))
        p++;
    return p;
}

static void clear_name(struct html_name_buffer *name)
{
    name->name.n = 0;
    name->name.key = 0;
}

static const struct html_name *name_of(struct html_name_buffer *name)
{
    name->bytes[name->name.n] = '\0';
    return &name->name;
}

/* ---- output of tags ---------------------------------------------------------------- */

void html_begin_tag(struct html_tokenizer *t, bool is_end)
{
    t->is_end = is_end;
    t->is_self_closing = false;
    clear_name(&t->name);
}

/* Process the complete name of a tag. */
static inline void name_tag(struct html_tokenizer *t)
{
    bool wanted =
        t->sink->tag != NULL && t->sink->tag(name_of(&t->name), t->is_end, t->arg);

    t->wants_attributes = wanted && !t->is_end && t->sink->attribute != NULL;
    t->wants_value = false;
    if (t->seen.count > 0)
        html_names_clear(&t->seen);
}

void html_name_tag(struct html_tokenizer *t)
{
    name_tag(t);
}

/* Process the '>' of a tag. */
static const char *end_tag(struct html_tokenizer *t, const char *p)
{
    t->content = HTML_DATA;
    t->repeat = 0;
    if (t->marks_end)
        t->end_place = html_position_of(t, p);
    if (t->sink->tag_end != NULL)
        html_note(t, t->sink->tag_end(name_of(&t->name), t->is_end, t->is_self_closing,
                                      t->arg));
    t->state = t->content;
    return p;
}

/* ---- output of attributes ---------------------------------------------------------- */

/* Process the complete name of an attribute. */
static void name_attribute(struct html_tokenizer *t)
{
    const struct html_name *name = name_of(&t->attribute);
    int is_new;

    t->wants_value = t->sink->wants == NULL || t->sink->wants(name, t->arg);
    if (!t->wants_value)
        return;
    is_new = html_names_add(&t->seen, name->bytes, name->n, name->key);
    html_note(t, is_new);
    t->wants_value = is_new == 1;
    html_buffer_clear(&t->value);
}

static void report_value(struct html_tokenizer *t, const char *bytes, size_t n, bool cut)
{
    struct html_value value = {bytes, n, cut, t->value_place};

    t->wants_value = false;
    if (t->rc == 0)
        html_note(t, t->sink->attribute(name_of(&t->attribute), &value, t->arg));
}

static void store_value(struct html_tokenizer *t, const char *bytes, size_t n)
{
    if (t->wants_value)
        html_note(t, html_buffer_add(&t->value, bytes, n, HTML_VALUE_BYTES));
}

/* End the current value. The n bytes are its last part, and usually the whole value. */
static void end_value(struct html_tokenizer *t, const char *bytes, size_t n)
{
    if (!t->wants_value)
        return;
    if (t->value.n == 0) {
        bool cut = n > HTML_VALUE_BYTES;
        report_value(t, bytes, cut ? HTML_VALUE_BYTES : n, cut);
        return;
    }
    store_value(t, bytes, n);
    report_value(t, t->value.bytes, t->value.n, t->value.cut);
}

/*
 * For the two states in which the tokenizer usually enters a tag. The compiler inlines
 * the states after them, because most of these only look at one byte.
 */
#define INLINES_NEXT_STATES __attribute__((flatten))

/* ---- states: the tag --------------------------------------------------------------- */

/* The state after '<'. */
INLINES_NEXT_STATES HTML_STATE(html_state_tag_open)
{
    if (p == end)
        return p;
    if (is_letter(*p)) {
        html_begin_tag(t, false);
        t->state = STATE_TAG_NAME;
        return html_state_tag_name(t, p, end);
    }
    if (*p == '/') {
        t->state = STATE_END_TAG_OPEN;
        return html_state_end_tag_open(t, p + 1, end);
    }
    if (*p == '!') {
        t->held_n = t->matched = 0;
        t->state = STATE_DECLARATION;
        return p + 1;
    }
    if (*p == '?')
        return html_begin_bogus_comment(t, p, end);
    html_put_text(t, "<", 1);
    t->state = HTML_DATA;
    return p;
}

/* The state after "</". */
HTML_STATE(html_state_end_tag_open)
{
    if (p == end)
        return p;
    if (is_letter(*p)) {
        html_begin_tag(t, true);
        t->state = STATE_TAG_NAME;
        return html_state_tag_name(t, p, end);
    }
    if (*p != '>')
        return html_begin_bogus_comment(t, p, end);
    t->state = HTML_DATA;
    return p + 1;
}

HTML_STATE(html_state_tag_name)
{
    p = read_name(p, end, &t->name, '=');
    if (p == end)
        return p;
    html_name_tag(t);
    if (*p == '>')
        return end_tag(t, p + 1);
    t->state = STATE_BEFORE_ATTRIBUTE;
    return html_state_before_attribute(t, p, end);
}

/* ---- states: attributes ------------------------------------------------------------ */

INLINES_NEXT_STATES HTML_STATE(html_state_before_attribute)
{
    while (p < end && html_is_space(*p))
        p++;
    if (p == end)
        return p;
    if (*p == '>')
        return end_tag(t, p + 1);
    if (*p == '/') {
        t->state = STATE_SELF_CLOSING;
        return html_state_self_closing(t, p + 1, end);
    }
    clear_name(&t->attribute);
    t->state = STATE_ATTRIBUTE_NAME;
    if (*p == '=') /* a '=' at the beginning of a name is part of the name */
        html_name_add(&t->attribute, p++, 1);
    return html_state_attribute_name(t, p, end);
}

HTML_STATE(html_state_attribute_name)
{
    p = t->wants_attributes ? read_name(p, end, &t->attribute, '\0') : skip_name(p, end);
    if (p == end)
        return p;
    if (t->wants_attributes)
        name_attribute(t);
    if (*p == '=') {
        t->state = STATE_BEFORE_VALUE;
        return html_state_before_value(t, p + 1, end);
    }
    if (t->wants_value)
        t->value_place = html_position_of(t, p);
    t->state = STATE_AFTER_ATTRIBUTE;
    return html_state_after_attribute(t, p, end);
}

HTML_STATE(html_state_after_attribute)
{
    while (p < end && html_is_space(*p))
        p++;
    if (p == end)
        return p;
    if (*p == '=') {
        t->state = STATE_BEFORE_VALUE;
        return html_state_before_value(t, p + 1, end);
    }
    end_value(t, p, 0);
    t->state = STATE_BEFORE_ATTRIBUTE;
    return p;
}

HTML_STATE(html_state_before_value)
{
    while (p < end && html_is_space(*p))
        p++;
    if (p == end)
        return p;
    t->quote = (uint8_t)*p;
    if (*p == '"' || *p == '\'') {
        t->state = STATE_VALUE_QUOTED;
        p++;
        if (t->wants_value)
            t->value_place = html_position_of(t, p);
        return html_state_value_quoted(t, p, end);
    }
    if (t->wants_value)
        t->value_place = html_position_of(t, p);
    t->state = STATE_VALUE_UNQUOTED;
    return html_state_value_unquoted(t, p, end);
}

HTML_STATE(html_state_value_quoted)
{
    const char *quote = memchr(p, t->quote, (size_t)(end - p));

    if (quote == NULL) {
        store_value(t, p, (size_t)(end - p));
        return end;
    }
    end_value(t, p, (size_t)(quote - p));
    t->state = STATE_AFTER_VALUE;
    return html_state_after_value(t, quote + 1, end);
}

HTML_STATE(html_state_value_unquoted)
{
    const char *begin = p;

    while (p < end && *p != '>' && !html_is_space(*p))
        p++;
    if (p == end) {
        store_value(t, begin, (size_t)(p - begin));
        return p;
    }
    end_value(t, begin, (size_t)(p - begin));
    t->state = STATE_BEFORE_ATTRIBUTE;
    return p;
}

/*
 * The state after a quoted value. The next state, BEFORE_ATTRIBUTE, comes earlier in a
 * tag. So this function does not call it, but returns to the loop in
 * html_tokenizer_feed().
 */
HTML_STATE(html_state_after_value)
{
    if (p == end)
        return p;
    if (*p == '>')
        return end_tag(t, p + 1);
    t->state = STATE_BEFORE_ATTRIBUTE;
    return p;
}

/* The state after '/' in a tag. */
HTML_STATE(html_state_self_closing)
{
    if (p == end)
        return p;
    if (*p == '>') {
        t->is_self_closing = true;
        return end_tag(t, p + 1);
    }
    t->state = STATE_BEFORE_ATTRIBUTE;
    return p;
}

/* ---- repeated tags ----------------------------------------------------------------- */

/* A short tag, as stored in struct html_repeat. */
struct short_tag {
    uint64_t text[2];
    size_t n; /* 0: the tag has more than a block, or the piece ends before that */
};

/* Return the text after '<' up to the first '>'. */
static inline struct short_tag short_tag_at(const char *p, const char *end)
{
    static const char all_then_none[] = "\xff\xff\xff\xff\xff\xff\xff\xff"
                                        "\xff\xff\xff\xff\xff\xff\xff\xff"
                                        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    struct short_tag tag = {.n = 0};
    unsigned ends;
    block text;

    if (end - p < BLOCK)
        return tag;
    text = block_load(p);
    ends = block_mask(text == block_of('>'));
    if (ends == 0)
        return tag;
    tag.n = (size_t)__builtin_ctz(ends) + 1;
    text &= block_load(all_then_none + BLOCK - tag.n);
    memcpy(tag.text, &text, sizeof tag.text);
    return tag;
}

static inline struct html_repeat *repeat_of(struct html_tokenizer *t,
                                            const struct short_tag *tag)
{
    uint64_t hash =
        (tag->text[0] ^ tag->text[1] * 0x9e3779b97f4a7c15) * UINT64_C(0x9e3779b97f4a7c15);

    return &t->repeats[hash >> 32 & (HTML_REPEATS - 1)];
}

const char *html_repeat_tag(struct html_tokenizer *t, const char *p, const char *end)
{
    struct short_tag tag;
    const struct html_repeat *repeat;

    if (t->sink->repeat == NULL)
        return NULL;
    tag = short_tag_at(p, end);
    repeat = repeat_of(t, &tag);
    if (tag.n == 0 || repeat->text[0] != tag.text[0] || repeat->text[1] != tag.text[1] ||
        !t->sink->repeat((unsigned)repeat->number, t->arg))
        return NULL;
    return p + tag.n;
}

/* Store the tag from p to `behind`, so that it can be repeated. */
static void store_repeat(struct html_tokenizer *t, const char *p, const char *behind,
                         const char *end)
{
    struct short_tag tag = short_tag_at(p, end);

    if (tag.n == (size_t)(behind - p))
        *repeat_of(t, &tag) = (struct html_repeat){{tag.text[0], tag.text[1]}, t->repeat};
}

/* ---- plain tags -------------------------------------------------------------------- */

/*
 * Read a name of one to eight letters. Returns the address after the letters, or NULL if
 * there are more letters, none, or too few bytes in the piece.
 */
static inline const char *read_letters(const char *p, const char *end,
                                       struct html_name_buffer *name)
{
    block text;
    size_t n;

    if (end - p < BLOCK)
        return NULL;
    text = block_load(p) | block_of(0x20); /* letters in lower case, and other bytes */
    n = (size_t)__builtin_ctz(
        ~block_mask((text > block_of('a' - 1)) & (text < block_of('z' + 1))));
    if (n == 0 || n > HTML_WORD)
        return NULL;
    block_store(name->bytes, text);
    name->name.n = n;
    name->name.key =
        __builtin_bswap64(html_load_word(name->bytes)) >> 8 * (HTML_WORD - n);
    return p + n;
}

/*
 * Read an attribute with a name of letters and a value in quotes. Returns the address
 * after it, which is in the piece. Returns NULL for other attributes, of which nothing is
 * read.
 */
static inline const char *read_plain_attribute(struct html_tokenizer *t, const char *p,
                                               const char *end)
{
    const char *value, *quote;

    p = read_letters(p, end, &t->attribute);
    if (p == NULL || end - p < 3 || p[0] != '=' || (p[1] != '"' && p[1] != '\''))
        return NULL;
    value = p + 2;
    quote =
        p[1] == '"' ? html_find_near(value, end, '"') : html_find_near(value, end, '\'');
    if (quote == NULL || quote + 1 == end)
        return NULL;
    if (t->wants_attributes)
        name_attribute(t);
    if (t->wants_value) {
        t->value_place = html_position_of(t, value);
        end_value(t, value, (size_t)(quote - value));
    }
    return quote + 1;
}

const char *html_read_plain_tag(struct html_tokenizer *t, const char *p, const char *end)
{
    bool is_end = p < end && *p == '/';
    const char *begin = p, *next;

    p = read_letters(p + is_end, end, &t->name);
    if (p == NULL || (*p != '>' && *p != ' '))
        return NULL;
    t->is_end = is_end;
    t->is_self_closing = false;
    name_tag(t);
    while (*p == ' ' && t->rc == 0) {
        next = read_plain_attribute(t, p + 1, end);
        if (next == NULL)
            break;
        p = next;
    }
    if (*p != '>') {
        t->state = STATE_BEFORE_ATTRIBUTE;
        return p;
    }
    p = end_tag(t, p + 1);
    if (t->repeat != 0)
        store_repeat(t, begin, p, end);
    return p;
}

/* ---- the end of the page ----------------------------------------------------------- */

/*
 * Handle the end of the page. An unfinished tag is dropped, but a "<" or "</" without a
 * name is text.
 */
void html_tags_end(struct html_tokenizer *t)
{
    if (t->state == STATE_TAG_OPEN)
        html_put_text(t, "<", 1);
    else if (t->state == STATE_END_TAG_OPEN)
        html_put_text(t, "</", 2);
}
