/*
 * html_text.c - parse the text between tags: ordinary text, scripts and CDATA sections.
 *
 * If the sink does not want text, these states only search for the next '<'. In RCDATA,
 * RAWTEXT and scripts, the only tag that counts is the end tag of the current element.
 * Bytes that may be the beginning of this tag are held back, until it is known whether
 * they are text.
 *
 * A script has three levels (13.2.5.15 to 31), which are stored in `phase`:
 *
 *      PLAIN -- "<!--" --> ESCAPED -- "<script" --> TWICE
 *       ^                   |  ^                     |
 *       '------ "-->" ------'  '---- "</script" -----'          "-->" leads from TWICE to PLAIN
 *
 * "</script" ends the script on the first two levels.
 */
#include "html_states.h"

#include <string.h>

enum { PLAIN, ESCAPED, TWICE };

/* ---- output of text ---------------------------------------------------------------- */

static void report_text(struct html_tokenizer *t, const char *bytes, size_t n)
{
    if (n > 0 && t->rc == 0)
        html_note(t, t->sink->text(bytes, n, t->arg));
}

static bool wants_text(const struct html_tokenizer *t)
{
    return t->wants_text && t->sink->text != NULL;
}

/* True if NUL is replaced with U+FFFD: everywhere except in data and CDATA sections. */
static bool replaces_nul(const struct html_tokenizer *t)
{
    return t->content != HTML_DATA && t->content != HTML_CDATA;
}

void html_put_lines(struct html_tokenizer *t, const char *bytes, size_t n,
                    bool replaces_nul, html_put_function put)
{
    const char *run = bytes, *end = bytes + n;

    for (const char *s = bytes; s < end; s++) {
        bool is_lf_of_cr = *s == '\n' && t->after_cr;
        t->after_cr = *s == '\r';
        if (!is_lf_of_cr && *s != '\r' && (*s != '\0' || !replaces_nul))
            continue;
        put(t, run, (size_t)(s - run));
        run = s + 1;
        if (*s == '\r')
            put(t, "\n", 1);
        else if (*s == '\0')
            put(t, "\xef\xbf\xbd", 3);
    }
    put(t, run, (size_t)(end - run));
}

void html_put_text(struct html_tokenizer *t, const char *bytes, size_t n)
{
    if (wants_text(t))
        html_put_lines(t, bytes, n, replaces_nul(t), report_text);
}

/* Pass the bytes that were held back to the sink, because they are text. */
static const char *release_held(struct html_tokenizer *t, const char *p)
{
    html_put_text(t, t->held, t->held_n);
    t->held_n = 0;
    t->state = t->content;
    return p;
}

/* ---- end of raw text --------------------------------------------------------------- */

static const char *find_byte(const char *p, const char *end, char c)
{
    const char *found = html_find_near(p, end, c);

    return found != NULL ? found : end;
}

static const char *find_either(const char *p, const char *end, char one, char other)
{
    while (p < end && *p != one && *p != other)
        p++;
    return p;
}

/* Process text up to the next '<'. If `decodes` is true and the sink wants text, also
   stop at '&'. Returns the address after the text. */
static const char *skip_text(struct html_tokenizer *t, const char *p, const char *end,
                             bool decodes)
{
    const char *begin = p;

    if (!wants_text(t))
        return find_byte(p, end, '<');
    p = decodes ? find_either(p, end, '<', '&') : find_byte(p, end, '<');
    html_put_text(t, begin, (size_t)(p - begin));
    return p;
}

static const char *begin_reference(struct html_tokenizer *t, const char *p,
                                   const char *end)
{
    html_reference_begin(&t->reference);
    t->after_cr = false;
    t->state = STATE_REFERENCE;
    return html_state_reference(t, p, end);
}

static void mark_tag(struct html_tokenizer *t, const char *p)
{
    t->after_cr = false;
    if (t->marks_tags)
        t->tag_place = html_position_of(t, p);
}

/* ---- states ------------------------------------------------------------------------ */

HTML_STATE(html_state_data)
{
    const char *next;

    do {
        p = skip_text(t, p, end, true);
        if (p == end)
            return p;
        if (*p == '&')
            return begin_reference(t, p + 1, end);
        mark_tag(t, p++);
        next = html_repeat_tag(t, p, end);
        if (next == NULL)
            next = html_read_plain_tag(t, p, end);
        if (next == NULL) {
            t->state = STATE_TAG_OPEN;
            return html_state_tag_open(t, p, end);
        }
        p = next;
    } while (t->state == STATE_DATA && t->rc == 0);
    return p;
}

static const char *open_raw(struct html_tokenizer *t, const char *p, const char *end,
                            bool decodes)
{
    p = skip_text(t, p, end, decodes);
    if (p == end)
        return p;
    if (*p == '&')
        return begin_reference(t, p + 1, end);
    mark_tag(t, p);
    html_hold(t, '<');
    t->state = STATE_RAW_OPEN;
    return html_state_raw_open(t, p + 1, end);
}

HTML_STATE(html_state_rcdata)
{
    return open_raw(t, p, end, true);
}

HTML_STATE(html_state_rawtext)
{
    return open_raw(t, p, end, false);
}

HTML_STATE(html_state_plaintext)
{
    html_put_text(t, p, (size_t)(end - p));
    return end;
}

/* The state after '&'. */
HTML_STATE(html_state_reference)
{
    char out[HTML_REFERENCE_OUT_BYTES];

    while (p < end && html_reference_feed(&t->reference, (unsigned char)*p))
        p++;
    if (p == end)
        return p;
    report_text(t, out, html_reference_end(&t->reference, false, 0, out));
    t->state = t->content;
    return p;
}

/*
 * The state after '<'. The '<' is text unless it begins the element's end tag. In a
 * script, the text "<!", "<script" or "</script" may begin or end a level.
 */
HTML_STATE(html_state_raw_open)
{
    if (p == end)
        return p;
    t->matched = 0;
    if (*p == '/' && !(t->content == HTML_SCRIPT && t->phase == TWICE)) {
        html_hold(t, '/');
        t->state = STATE_RAW_END_NAME;
        return html_state_raw_end_name(t, p + 1, end);
    }
    release_held(t, p);
    if (t->content != HTML_SCRIPT)
        return p;
    if (t->phase == ESCAPED && is_letter(*p)) {
        t->state = STATE_SCRIPT_WORD;
        return p;
    }
    if (*p != (t->phase == PLAIN ? '!' : '/') || t->phase == ESCAPED)
        return p;
    t->state = t->phase == PLAIN ? STATE_SCRIPT_ESCAPE : STATE_SCRIPT_WORD;
    html_put_text(t, p, 1);
    return p + 1;
}

/* The state after "</". Compare the name with the name of the start tag. */
HTML_STATE(html_state_raw_end_name)
{
    for (; p < end && t->matched < t->last_start_n; p++, t->matched++) {
        if (to_lower(*p) != t->last_start[t->matched])
            return release_held(t, p);
        html_hold(t, *p);
    }
    if (p == end)
        return p;
    if (t->last_start_n == 0 || (!html_is_space(*p) && *p != '/' && *p != '>'))
        return release_held(t, p);
    t->held_n = 0;
    html_begin_tag(t, true);
    html_name_add(&t->name, t->last_start, t->last_start_n);
    html_name_tag(t);
    t->state = STATE_BEFORE_ATTRIBUTE;
    return html_state_before_attribute(t, p, end);
}

/* ---- scripts ----------------------------------------------------------------------- */

/* Skip escaped text up to the next '<', and return the address of the '<'. A "-->" ends
   the escaped text. */
static const char *skip_escaped(struct html_tokenizer *t, const char *p, const char *end)
{
    for (; p < end && *p != '<'; p++) {
        if (*p == '>' && t->dashes == 2) {
            t->phase = PLAIN;
            return find_byte(p, end, '<');
        }
        t->dashes = *p != '-' ? 0 : t->dashes < 2 ? t->dashes + 1 : 2;
    }
    return p;
}

HTML_STATE(html_state_script)
{
    const char *begin = p;

    p = t->phase == PLAIN ? find_byte(p, end, '<') : skip_escaped(t, p, end);
    html_put_text(t, begin, (size_t)(p - begin));
    if (p == end)
        return p;
    mark_tag(t, p);
    t->dashes = 0;
    html_hold(t, '<');
    t->state = STATE_RAW_OPEN;
    return html_state_raw_open(t, p + 1, end);
}

/* The state after "<!" in a script. Two dashes begin escaped text. */
HTML_STATE(html_state_script_escape)
{
    for (; p < end && *p == '-' && t->matched < 2; p++, t->matched++)
        html_put_text(t, p, 1);
    if (p == end && t->matched < 2)
        return p;
    if (t->matched == 2) {
        t->phase = ESCAPED;
        t->dashes = 2;
    }
    t->state = STATE_SCRIPT;
    return p;
}

/* The state in a tag name in an escaped script. Compare the name with "script". */
HTML_STATE(html_state_script_word)
{
    static const char word[] = "script";
    const char *begin = p;

    for (; p < end && is_letter(*p); p++) {
        bool agrees = t->matched < 6 && to_lower(*p) == word[t->matched];
        t->matched = agrees ? t->matched + 1 : 7;
    }
    html_put_text(t, begin, (size_t)(p - begin));
    if (p == end)
        return p;
    if (t->matched == 6 && (html_is_space(*p) || *p == '/' || *p == '>'))
        t->phase = t->phase == ESCAPED ? TWICE : ESCAPED;
    t->state = STATE_SCRIPT;
    return p;
}

/* ---- CDATA sections ---------------------------------------------------------------- */

/* The state in a CDATA section. `matched` is the number of bytes of "]]>" read so far. */
HTML_STATE(html_state_cdata)
{
    while (p < end) {
        const char *begin = p;
        if (t->matched == 0) {
            p = find_byte(p, end, ']');
            html_put_text(t, begin, (size_t)(p - begin));
            t->matched = p < end;
            p += p < end;
        } else if (*p == ']') {
            /* the first of three brackets is text */
            html_put_text(t, p++, t->matched == 2);
            t->matched = 2;
        } else if (*p == '>' && t->matched == 2) {
            t->content = t->state = HTML_DATA;
            t->after_cr = false;
            return p + 1;
        } else {
            html_put_text(t, "]]", t->matched);
            t->matched = 0;
        }
    }
    return p;
}

/* ---- the end of the page ----------------------------------------------------------- */

void html_text_end(struct html_tokenizer *t)
{
    char out[HTML_REFERENCE_OUT_BYTES];

    if (t->state == STATE_REFERENCE)
        report_text(t, out, html_reference_end(&t->reference, false, 0, out));
    if (t->state == STATE_CDATA)
        html_put_text(t, "]]", t->matched);
    release_held(t, NULL);
}
