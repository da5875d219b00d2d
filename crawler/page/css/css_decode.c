/*
 * css_decode.c - decode the escapes in a CSS URL. (CSS Syntax Level 3, section 4.3.7)
 */
#include "css_states.h"
#include "../html/html_reference.h"

static const char *skip_newline(const char *s, const char *end)
{
    return end - s > 1 && s[0] == '\r' && s[1] == '\n' ? s + 2 : s + 1;
}

/* Decode the escape after a backslash. Stores the length of the result in *n. */
static const char *decode_escape(const char *s, const char *end, char *out, size_t *n)
{
    uint32_t hex = 0;
    const char *begin = s;

    *n = 0;
    if (s == end) {
        *n = html_put_utf8(0xfffd, out);
        return s;
    }
    if (css_is_newline(*s))
        return skip_newline(s, end);
    for (; s < end && s - begin < 6 && hex_value(*s) >= 0; s++)
        hex = hex << 4 | (uint32_t)hex_value(*s);
    if (s == begin) {
        *n = *s != '\0' ? 1 : html_put_utf8(0xfffd, out);
        if (*s != '\0')
            *out = *s;
        return s + 1;
    }
    *n = html_put_utf8(css_point_of_hex(hex), out);
    return s < end && css_is_space(*s) ? skip_newline(s, end) : s;
}

size_t css_decode(const char *bytes, size_t n, char *out)
{
    const char *s = bytes, *end = bytes + n;
    char *begin = out;

    while (s < end) {
        size_t length = 1;
        if (*s == '\\')
            s = decode_escape(s + 1, end, out, &length);
        else if (*s == '\0')
            length = html_put_utf8(0xfffd, out), s++;
        else
            *out = *s++;
        out += length;
    }
    return (size_t)(out - begin);
}
