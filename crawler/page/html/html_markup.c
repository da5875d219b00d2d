/*
 * html_markup.c - parse text that begins with "<!" or "<?": comments, DOCTYPEs, and the
 * beginnings of CDATA sections.
 *
 * The standard's states for comments (13.2.5.43 to 52) are phases of one state, named
 * after the bytes read last:
 *
 *      START, START_DASH   nothing, "-": '>' already ends the comment
 *      TEXT                anything else
 *      DASH, DASHES        "-", "--"
 *      BANG                "--!"
 *
 * States that only detect nested comments, a parse error, are omitted.
 */
#include "html_states.h"

#include <string.h>

enum { START, START_DASH, TEXT, DASH, DASHES, BANG };

/* ---- collecting -------------------------------------------------------------------- */

static void begin_data(struct html_tokenizer *t)
{
    html_buffer_clear(&t->value);
    t->after_cr = false;
}

static void add_data(struct html_tokenizer *t, const char *bytes, size_t n)
{
    html_note(t, html_buffer_add(&t->value, bytes, n, HTML_DATA_BYTES));
}

/* Append bytes to the current comment or DOCTYPE. */
static void collect_lines(struct html_tokenizer *t, const char *bytes, size_t n)
{
    html_put_lines(t, bytes, n, true, add_data);
}

static void collect_comment(struct html_tokenizer *t, const char *bytes, size_t n)
{
    if (t->sink->comment != NULL)
        collect_lines(t, bytes, n);
}

static const char *end_comment(struct html_tokenizer *t, const char *p)
{
    t->state = HTML_DATA;
    t->after_cr = false;
    if (t->sink->comment != NULL && t->rc == 0)
        html_note(t, t->sink->comment(t->value.n > 0 ? t->value.bytes : "", t->value.n,
                                      t->arg));
    return p;
}

static const char *end_doctype(struct html_tokenizer *t, const char *p, bool is_complete)
{
    char nothing[1];
    struct html_doctype doctype;

    t->state = HTML_DATA;
    t->after_cr = false;
    if (t->sink->doctype == NULL || t->rc < 0)
        return p;
    doctype = html_doctype_of(t->value.n > 0 ? t->value.bytes : nothing, t->value.n,
                              is_complete);
    html_note(t, t->sink->doctype(&doctype, t->arg));
    return p;
}

/* ---- states ------------------------------------------------------------------------ */

const char *html_begin_bogus_comment(struct html_tokenizer *t, const char *p,
                                     const char *end)
{
    begin_data(t);
    t->state = STATE_BOGUS_COMMENT;
    return html_state_bogus_comment(t, p, end);
}

HTML_STATE(html_state_bogus_comment)
{
    const char *closing = memchr(p, '>', (size_t)(end - p));

    collect_comment(t, p, (size_t)((closing != NULL ? closing : end) - p));
    return closing != NULL ? end_comment(t, closing + 1) : end;
}

/* Return the keyword that begins with the byte `c` and may follow "<!", or NULL. */
static const char *word_of(const struct html_tokenizer *t, char c)
{
    if (c == '-')
        return "--";
    if (to_lower(c) == 'd')
        return "doctype";
    return c == '[' && t->allows_cdata ? "[CDATA[" : NULL;
}

static const char *end_word(struct html_tokenizer *t, const char *p)
{
    begin_data(t);
    t->phase = START;
    t->matched = 0;
    if (t->held[0] == '-') {
        t->state = STATE_COMMENT;
    } else if (t->held[0] == '[') {
        t->content = HTML_CDATA;
        t->state = STATE_CDATA;
    } else {
        t->state = STATE_DOCTYPE;
    }
    t->held_n = 0;
    return p;
}

static const char *end_unknown(struct html_tokenizer *t, const char *p, const char *end)
{
    begin_data(t);
    collect_comment(t, t->held, t->held_n);
    t->held_n = 0;
    t->state = STATE_BOGUS_COMMENT;
    return html_state_bogus_comment(t, p, end);
}

/* The state after "<!". */
HTML_STATE(html_state_declaration)
{
    for (; p < end; p++) {
        const char *word = word_of(t, t->held_n > 0 ? t->held[0] : *p);
        char c = word != NULL && word[0] == 'd' ? to_lower(*p) : *p;
        if (word == NULL || c != word[t->held_n])
            return end_unknown(t, p, end);
        html_hold(t, *p);
        if (word[t->held_n] == '\0')
            return end_word(t, p + 1);
    }
    return p;
}

/*
 * Process a byte of a comment that may belong to its beginning or end. Returns false if
 * the byte turns out to be text of the comment, and was not consumed.
 */
static bool step_comment(struct html_tokenizer *t, char c)
{
    static const struct {
        const char *text;   /* bytes that belong to the comment if it continues */
        uint8_t dash, bang; /* next phase after '-' and after '!' */
        bool ends;          /* '>' ends the comment in this phase */
    } phases[] = {
        [START] = {"", START_DASH, TEXT, true}, [START_DASH] = {"-", DASHES, TEXT, true},
        [TEXT] = {"", DASH, TEXT, false},       [DASH] = {"-", DASHES, TEXT, false},
        [DASHES] = {"--", DASHES, BANG, true},  [BANG] = {"--!", DASH, TEXT, true},
    };
    uint8_t from = t->phase;
    uint8_t to = c == '-' ? phases[from].dash : c == '!' ? phases[from].bang : TEXT;

    if (c == '>' && phases[from].ends)
        return true;
    if (from == DASHES && to == DASHES)
        collect_comment(t, "-", 1);
    else if (to == TEXT || from == BANG)
        collect_comment(t, phases[from].text, strlen(phases[from].text));
    t->phase = to;
    return to != TEXT;
}

HTML_STATE(html_state_comment)
{
    while (p < end) {
        const char *dash;
        if (t->phase != TEXT || *p == '-') {
            bool taken = step_comment(t, *p);
            if (taken && *p == '>')
                return end_comment(t, p + 1);
            p += taken;
            continue;
        }
        dash = memchr(p, '-', (size_t)(end - p));
        if (dash == NULL)
            dash = end;
        collect_comment(t, p, (size_t)(dash - p));
        p = dash;
    }
    return p;
}

/* The state in a DOCTYPE, which ends at the first '>'. html_doctype_of() parses it. */
HTML_STATE(html_state_doctype)
{
    const char *closing = memchr(p, '>', (size_t)(end - p));

    if (t->sink->doctype != NULL)
        collect_lines(t, p, (size_t)((closing != NULL ? closing : end) - p));
    return closing != NULL ? end_doctype(t, closing + 1, true) : end;
}

/* ---- the end of the page ----------------------------------------------------------- */

void html_markup_end(struct html_tokenizer *t)
{
    if (t->state == STATE_DECLARATION)
        end_unknown(t, "", "");
    if (t->state == STATE_COMMENT || t->state == STATE_BOGUS_COMMENT)
        end_comment(t, NULL);
    else if (t->state == STATE_DOCTYPE)
        end_doctype(t, NULL, false);
}
