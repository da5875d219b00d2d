/*
 * css_states.h - declarations shared by the files of the CSS tokenizer.
 *
 * Each state is a function that reads as much of the current piece as it can, sets
 * `state` to the next state, and returns the address of the first unread byte. A state is
 * never called with an empty piece.
 */
#ifndef CRAWLER_CSS_STATES_H
#define CRAWLER_CSS_STATES_H

#include "../../base/ascii.h"
#include "css.h"

enum css_state {
    TOP,
    NAME,
    STRING,
    URL_OPEN, /* after "url(" */
    URL,
    URL_END, /* after the white space at the end of a URL */
    BAD_URL,
    SLASH,
    COMMENT,
    COMMENT_STAR,
    ESCAPE, /* after a backslash */
    HEX,
    SKIP_LF, /* after a CR: a following LF is part of the same newline */
    MINUS,
    DOT,
    HASH,
    AT,
    AT_MINUS,
    LESS, /* this and the next two states: "<", "<!" and "<!-", which may begin "<!--" */
    LESS_BANG,
    LESS_BANG_DASH,
    INTEGER,
    INTEGER_DOT,
    FRACTION,
    EXPONENT_E,
    EXPONENT_SIGN,
    EXPONENT,
    NUMBER_MINUS, /* after a number and '-', which may begin the unit */
    STATES
};

enum css_name_kind { OF_IDENT, OF_AT, OF_OTHER };

#define CSS_STATE(name) const char *name(struct css *css, const char *p, const char *end)

/* css_numbers.c */
CSS_STATE(css_state_integer);
CSS_STATE(css_state_integer_dot);
CSS_STATE(css_state_fraction);
CSS_STATE(css_state_exponent_e);
CSS_STATE(css_state_exponent_sign);
CSS_STATE(css_state_exponent);
CSS_STATE(css_state_number_minus);

/* Begin a name, whose bytes are added later. */
static inline void css_begin_name(struct css *css, enum css_name_kind kind)
{
    css->name_kind = (uint8_t)kind;
    css->name_n = 0;
    css->state = NAME;
}

static inline bool css_is_newline(char c)
{
    return c == '\n' || c == '\r' || c == '\f';
}

static inline bool css_is_space(char c)
{
    return c == ' ' || c == '\t' || css_is_newline(c);
}

/* True if the character can begin a name. NUL can, because it stands for U+FFFD. (3.3) */
static inline bool css_begins_name(char c)
{
    return is_letter(c) || c == '_' || (c & 0x80) != 0 || c == '\0';
}

static inline bool css_is_of_name(char c)
{
    return css_begins_name(c) || is_digit(c) || c == '-';
}

/* Return the character of a hexadecimal escape. (4.3.7) */
static inline uint32_t css_point_of_hex(uint32_t hex)
{
    return hex == 0 || hex > 0x10ffff || (hex >= 0xd800 && hex <= 0xdfff) ? 0xfffd : hex;
}

#endif
