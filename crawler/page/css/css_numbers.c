/*
 * css_numbers.c - tokenize numbers with their units. For example, "url" is the unit of
 * the number in "1url(", not the beginning of a URL.
 *
 *     INTEGER -- '.' --> INTEGER_DOT --> FRACTION -- 'e' --> EXPONENT_E --> EXPONENT
 *        |                                  |                    |  '-- sign --> EXPONENT_SIGN
 *        '----------- its unit ------------>|<-------------------'                  |
 *                                         NAME <------------------------------------'
 */
#include "css_states.h"

/* Process the first byte after the digits of a number, which may begin the unit. */
static const char *begin_unit(struct css *css, const char *p)
{
    css->state = TOP;
    if (*p == '-') {
        css->state = NUMBER_MINUS;
        return p + 1;
    }
    if (css_begins_name(*p) || *p == '\\')
        css_begin_name(css, OF_OTHER);
    return p;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

CSS_STATE(css_state_integer)
{
    p = skip_digits(p, end);
    if (p == end)
        return p;
    if (*p != '.' && *p != 'e' && *p != 'E')
        return begin_unit(css, p);
    css->state = *p == '.' ? INTEGER_DOT : EXPONENT_E;
    return p + 1;
}

CSS_STATE(css_state_integer_dot)
{
    if (p < end)
        css->state = is_digit(*p) ? FRACTION : TOP;
    return p;
}

CSS_STATE(css_state_fraction)
{
    p = skip_digits(p, end);
    if (p == end)
        return p;
    if (*p != 'e' && *p != 'E')
        return begin_unit(css, p);
    css->state = EXPONENT_E;
    return p + 1;
}

/* The state after the 'e' in a number, which begins either an exponent or the unit. */
CSS_STATE(css_state_exponent_e)
{
    if (p == end)
        return p;
    if (*p == '+' || *p == '-') {
        css->mark = *p;
        css->state = EXPONENT_SIGN;
        return p + 1;
    }
    if (is_digit(*p))
        css->state = EXPONENT;
    else
        css_begin_name(css, OF_OTHER);
    return p;
}

/*
 * The state after the sign of an exponent. If no digit follows the sign, "1e-" is a
 * number with the unit "e-", but "1e+" is a number with the unit "e", followed by a '+'.
 */
CSS_STATE(css_state_exponent_sign)
{
    if (p == end)
        return p;
    if (is_digit(*p))
        css->state = EXPONENT;
    else if (css->mark == '-')
        css_begin_name(css, OF_OTHER);
    else
        css->state = TOP;
    return p;
}

CSS_STATE(css_state_exponent)
{
    p = skip_digits(p, end);
    return p < end ? begin_unit(css, p) : p;
}

CSS_STATE(css_state_number_minus)
{
    if (p == end)
        return p;
    if (css_begins_name(*p) || *p == '-' || *p == '\\') {
        css_begin_name(css, OF_OTHER);
        return p;
    }
    css->state = is_digit(*p) ? INTEGER : TOP;
    return p;
}
