/*
 * css.c - tokenize CSS to find the URLs in it. (CSS Syntax Level 3, section 4.3)
 *
 *                  .-- '"' --> STRING --.
 *        .---------|                    |--> TOP      each may hold an escape:
 *       TOP -------|-- a name --> NAME -- "url(" --> URL_OPEN      ESCAPE --> HEX --> SKIP_LF
 *                  |-- a digit --> INTEGER ... its unit --> NAME      |__ and back to after_escape
 *                  '-- "/ *" --> COMMENT             URL_OPEN -- a quote --> STRING
 *                                                             '-- else --> URL --> URL_END
 *
 * Each byte is read once; only the byte after a token may be read twice.
 *
 * If a token begins with a sign, a dot, '#', '@' or '<', its next one or two bytes show
 * what it is. Each of these beginnings has its own state. Numbers are parsed in
 * css_numbers.c, and escapes are decoded in css_decode.c.
 */
#include "css_states.h"
#include "../html/html_tokenizer.h"

#include <errno.h>
#include <string.h>

#define STATE(name) static CSS_STATE(name)

static bool is_unprintable(char c)
{
    return (c > 0 && c <= 8) || c == '\v' || (c >= 0x0e && c <= 0x1f) || c == 0x7f;
}

/* ---- values ------------------------------------------------------------------------ */

/*
 * Return the line and column of a byte. The byte must not precede the byte of the
 * previous call.
 */
static struct html_position place_of(struct css *css, const char *p)
{
    html_count(&css->counter, css->counted, (size_t)(p - css->counted));
    css->counted = p;
    return css->counter.place;
}

static void begin_value(struct css *css, const char *p, enum css_kind kind)
{
    if (css->in_name_rule)
        return;
    css->kind = (uint8_t)kind;
    css->reads_value = true;
    css->value_at = p;
    css->place = place_of(css, p);
    html_buffer_clear(&css->value);
}

/* Store the value up to `p`, which is the end of the value or of the current piece. */
static void store_value(struct css *css, const char *p)
{
    if (css->reads_value &&
        html_buffer_add(&css->value, css->value_at, (size_t)(p - css->value_at),
                        HTML_VALUE_BYTES) < 0)
        css->rc = -ENOMEM;
    css->value_at = p;
}

static void visit_url(struct css *css, const char *bytes, size_t n, bool cut)
{
    struct css_url url = {(enum css_kind)css->kind, bytes, n, cut, css->place};
    int rc = n > 0 ? css->visit(&url, css->arg) : 0;

    if (rc < 0)
        css->rc = rc;
}

/*
 * End the value before `p`, and pass it to visit(). If the whole value is in the current
 * piece, it is not copied.
 */
static void end_value(struct css *css, const char *p)
{
    if (!css->reads_value)
        return;
    if (css->value.n == 0) {
        size_t n = (size_t)(p - css->value_at);
        bool cut = n > HTML_VALUE_BYTES;
        visit_url(css, css->value_at, cut ? HTML_VALUE_BYTES : n, cut);
    } else {
        store_value(css, p);
        if (css->rc == 0)
            visit_url(css, css->value.bytes, css->value.n, css->value.cut);
    }
    css->reads_value = false;
}

/* ---- names ------------------------------------------------------------------------- */

static void add_to_name(struct css *css, char c)
{
    if (css->name_n < CSS_NAME_BYTES)
        css->name[css->name_n++] = to_lower(c);
}

static bool is_name(const struct css *css, const char *name)
{
    return css->name_n == strlen(name) && memcmp(css->name, name, css->name_n) == 0;
}

static void begin_at_rule(struct css *css)
{
    css->awaits_import = is_name(css, "import");
    css->in_name_rule = is_name(css, "namespace") || is_name(css, "document") ||
                        is_name(css, "-moz-document");
}

/* Process the '(' after a name. */
static void open_function(struct css *css)
{
    if (is_name(css, "url")) {
        css->state = URL_OPEN;
        return;
    }
    css->depth++;
    if (is_name(css, "image-set") || is_name(css, "-webkit-image-set"))
        css->image_set = css->depth;
}

STATE(state_name)
{
    while (p < end && css_is_of_name(*p))
        add_to_name(css, *p++);
    if (p == end)
        return p;
    if (*p == '\\') {
        css->after_escape = NAME;
        css->state = ESCAPE;
        return p + 1;
    }
    css->state = TOP;
    if (css->name_kind == OF_AT)
        begin_at_rule(css);
    if (css->name_kind != OF_IDENT || *p != '(')
        return p;
    open_function(css);
    return p + 1;
}

/* ---- escapes ----------------------------------------------------------------------- */

static const char *begin_escape(struct css *css, const char *p, enum css_state after)
{
    css->after_escape = (uint8_t)after;
    css->state = ESCAPE;
    return p + 1;
}

/*
 * Handle a newline after a backslash, which is not a valid escape. In a string, both
 * characters are dropped, and the string continues on the next line. Elsewhere, the
 * current token ends, and the backslash is a separate token.
 */
static const char *end_escape(struct css *css, const char *p)
{
    switch (css->after_escape) {
    case STRING:
        css->state = *p == '\r' ? SKIP_LF : STRING;
        return p + 1;
    case NAME:
        if (css->name_kind == OF_AT && css->name_n > 0)
            begin_at_rule(css);
        css->awaits_import = false;
        css->state = TOP;
        return p;
    default:
        css->reads_value = false;
        css->state = BAD_URL;
        return p;
    }
}

STATE(state_escape)
{
    if (p == end)
        return p;
    if (css_is_newline(*p))
        return end_escape(css, p);
    css->state = css->after_escape;
    if (hex_value(*p) >= 0) {
        css->hex = css->hex_n = 0;
        css->state = HEX;
        return p;
    }
    if (css->after_escape == NAME)
        add_to_name(css, *p != '\0' ? *p : '\x80');
    return p + 1;
}

STATE(state_hex)
{
    while (p < end && css->hex_n < 6 && hex_value(*p) >= 0) {
        css->hex = css->hex << 4 | (uint32_t)hex_value(*p++);
        css->hex_n++;
    }
    if (p == end)
        return p;
    if (css->after_escape == NAME) {
        uint32_t point = css_point_of_hex(css->hex);
        add_to_name(css, point < 0x80 ? (char)point : '\x80');
    }
    css->state = *p == '\r' ? SKIP_LF : css->after_escape;
    return css_is_space(*p) ? p + 1 : p;
}

STATE(state_skip_lf)
{
    if (p == end)
        return p;
    css->state = css->after_escape;
    return *p == '\n' ? p + 1 : p;
}

/* ---- strings, url() and comments --------------------------------------------------- */

static const char *begin_string(struct css *css, const char *p)
{
    css->mark = *p;
    css->state = STRING;
    return p + 1;
}

/* The state inside a string. A newline makes the string invalid. */
STATE(state_string)
{
    while (p < end && *p != css->mark && *p != '\\' && !css_is_newline(*p))
        p++;
    if (p == end)
        return p;
    if (*p == '\\')
        return begin_escape(css, p, STRING);
    css->state = TOP;
    if (*p == css->mark)
        end_value(css, p);
    css->reads_value = false;
    return p + 1;
}

STATE(state_url_open)
{
    while (p < end && css_is_space(*p))
        p++;
    if (p == end)
        return p;
    if (*p == '"' || *p == '\'') {
        css->depth++;
        begin_value(css, p + 1, css->is_import ? CSS_IMPORT : CSS_URL);
        return begin_string(css, p);
    }
    begin_value(css, p, css->is_import ? CSS_IMPORT : CSS_URL);
    css->state = URL;
    return p;
}

STATE(state_url)
{
    while (p < end && *p != ')' && *p != '\\' && *p != '(' && *p != '"' && *p != '\'' &&
           !css_is_space(*p) && !is_unprintable(*p))
        p++;
    if (p == end)
        return p;
    if (*p == '\\')
        return begin_escape(css, p, URL);
    if (*p == ')') {
        end_value(css, p);
        css->state = TOP;
        return p + 1;
    }
    if (css_is_space(*p)) {
        store_value(css, p);
        css->value_at = p + 1;
        css->state = URL_END;
        return p + 1;
    }
    css->reads_value = false;
    css->state = BAD_URL;
    return p;
}

STATE(state_url_end)
{
    while (p < end && css_is_space(*p))
        p++;
    css->value_at = p; /* white space after a URL is not part of the value */
    if (p == end)
        return p;
    if (*p == ')')
        end_value(css, p);
    css->reads_value = false;
    css->state = *p == ')' ? TOP : BAD_URL;
    return *p == ')' ? p + 1 : p;
}

STATE(state_bad_url)
{
    while (p < end && *p != ')' && *p != '\\')
        p++;
    if (p == end)
        return p;
    if (*p == '\\')
        return begin_escape(css, p, BAD_URL);
    css->state = TOP;
    return p + 1;
}

STATE(state_slash)
{
    if (p == end)
        return p;
    css->state = *p == '*' ? COMMENT : TOP;
    if (*p == '*')
        return p + 1;
    css->awaits_import = false;
    return p;
}

STATE(state_comment)
{
    const char *star = memchr(p, '*', (size_t)(end - p));

    if (star == NULL)
        return end;
    css->state = COMMENT_STAR;
    return star + 1;
}

STATE(state_comment_star)
{
    if (p == end)
        return p;
    css->state = *p == '/' ? TOP : *p == '*' ? COMMENT_STAR : COMMENT;
    return p + 1;
}

/* ---- multi-byte encodings ---------------------------------------------------------- */

STATE(state_minus)
{
    if (p == end)
        return p;
    css->state = is_digit(*p) ? INTEGER : TOP;
    if (css_begins_name(*p) || *p == '-' || *p == '\\') {
        css_begin_name(css, OF_IDENT);
        add_to_name(css, '-');
    }
    return p;
}

STATE(state_dot)
{
    if (p < end)
        css->state = is_digit(*p) ? FRACTION : TOP;
    return p;
}

STATE(state_hash)
{
    if (p == end)
        return p;
    css->state = TOP;
    if (css_is_of_name(*p) || *p == '\\')
        css_begin_name(css, OF_OTHER);
    return p;
}

STATE(state_at)
{
    if (p == end)
        return p;
    css->state = TOP;
    if (*p == '-') {
        css->state = AT_MINUS;
        return p + 1;
    }
    if (css_begins_name(*p) || *p == '\\')
        css_begin_name(css, OF_AT);
    return p;
}

STATE(state_at_minus)
{
    if (p == end)
        return p;
    if (!css_begins_name(*p) && *p != '-' && *p != '\\') {
        css->state = MINUS;
        return p;
    }
    css_begin_name(css, OF_AT);
    add_to_name(css, '-');
    return p;
}

STATE(state_less)
{
    if (p == end)
        return p;
    css->state = *p == '!' ? LESS_BANG : TOP;
    return *p == '!' ? p + 1 : p;
}

STATE(state_less_bang)
{
    if (p == end)
        return p;
    css->state = *p == '-' ? LESS_BANG_DASH : TOP;
    return *p == '-' ? p + 1 : p;
}

STATE(state_less_bang_dash)
{
    if (p == end)
        return p;
    css->state = *p == '-' ? TOP : MINUS;
    return *p == '-' ? p + 1 : p;
}

/* ---- between tokens ---------------------------------------------------------------- */

static const char *open_string(struct css *css, const char *p)
{
    if (css->is_import)
        begin_value(css, p + 1, CSS_IMPORT);
    else if (css->image_set > 0 && css->image_set == css->depth)
        begin_value(css, p + 1, CSS_IMAGE_SET);
    return begin_string(css, p);
}

static void close_parenthesis(struct css *css)
{
    if (css->depth == 0)
        return;
    if (css->image_set == css->depth)
        css->image_set = 0;
    css->depth--;
}

static const char *set_state(struct css *css, const char *p, enum css_state state)
{
    css->state = (uint8_t)state;
    return p + 1;
}

/* Begin a token that is identified by its first byte. */
static const char *begin_token(struct css *css, const char *p)
{
    switch (*p) {
    case '"':
    case '\'':
        return open_string(css, p);
    case '-':
        return set_state(css, p, MINUS);
    case '.':
        return set_state(css, p, DOT);
    case '#':
        return set_state(css, p, HASH);
    case '@':
        return set_state(css, p, AT);
    case '<':
        return set_state(css, p, LESS);
    case '(':
        css->depth++;
        break;
    case ')':
        close_parenthesis(css);
        break;
    case ';':
    case '{':
    case '}':
        css->in_name_rule = false;
        break;
    default:
        break;
    }
    return p + 1;
}

STATE(state_top)
{
    while (p < end && css_is_space(*p))
        p++;
    if (p == end)
        return p;
    if (*p == '/')
        return set_state(css, p, SLASH);
    css->is_import = css->awaits_import;
    css->awaits_import = false;
    if (css_begins_name(*p)) {
        css_begin_name(css, OF_IDENT);
        return state_name(css, p, end);
    }
    if (is_digit(*p)) {
        css->state = INTEGER;
        return p;
    }
    if (*p != '\\')
        return begin_token(css, p);
    css_begin_name(css, OF_IDENT);
    return begin_escape(css, p, NAME);
}

typedef const char *(*state_function)(struct css *css, const char *p, const char *end);

static const state_function states[STATES] = {
    [TOP] = state_top,
    [NAME] = state_name,
    [STRING] = state_string,
    [URL_OPEN] = state_url_open,
    [URL] = state_url,
    [URL_END] = state_url_end,
    [BAD_URL] = state_bad_url,
    [SLASH] = state_slash,
    [COMMENT] = state_comment,
    [COMMENT_STAR] = state_comment_star,
    [ESCAPE] = state_escape,
    [HEX] = state_hex,
    [SKIP_LF] = state_skip_lf,
    [MINUS] = state_minus,
    [DOT] = state_dot,
    [HASH] = state_hash,
    [AT] = state_at,
    [AT_MINUS] = state_at_minus,
    [LESS] = state_less,
    [LESS_BANG] = state_less_bang,
    [LESS_BANG_DASH] = state_less_bang_dash,
    [INTEGER] = css_state_integer,
    [INTEGER_DOT] = css_state_integer_dot,
    [FRACTION] = css_state_fraction,
    [EXPONENT_E] = css_state_exponent_e,
    [EXPONENT_SIGN] = css_state_exponent_sign,
    [EXPONENT] = css_state_exponent,
    [NUMBER_MINUS] = css_state_number_minus,
};

/* ---- a text ------------------------------------------------------------------------ */

void css_init(struct css *css, css_visit_function visit, void *arg)
{
    *css = (struct css){.visit = visit, .arg = arg};
    css_begin(css, (struct html_position){1, 1});
}

void css_finish(struct css *css)
{
    html_buffer_finish(&css->value);
}

void css_begin(struct css *css, struct html_position place)
{
    css->rc = 0;
    css->state = TOP;
    css->reads_value = css->awaits_import = css->is_import = css->in_name_rule = false;
    css->depth = css->image_set = 0;
    css->counter = (struct html_counter){place, false};
    html_buffer_shrink(&css->value);
}

int css_feed(struct css *css, const char *text, size_t n)
{
    const char *p = text, *end = text + n;

    css->counted = css->value_at = text;
    while (p < end && css->rc == 0)
        p = states[css->state](css, p, end);
    if (css->rc == 0)
        store_value(css, end);
    place_of(css, end);
    return css->rc;
}

/*
 * Return the length of a value that is unfinished when the text ends. A backslash at its
 * end is not part of the value if it is a string. (4.3.5)
 */
static size_t value_length(const struct css *css)
{
    bool is_open = css->state == ESCAPE && css->after_escape == STRING && !css->value.cut;

    return css->value.n - (is_open && css->value.n > 0);
}

int css_end(struct css *css)
{
    if (css->rc == 0 && css->reads_value)
        visit_url(css, css->value.bytes, value_length(css), css->value.cut);
    css->reads_value = false;
    return css->rc;
}
