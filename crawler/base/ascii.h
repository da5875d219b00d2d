/* ascii.h - classify ASCII characters, independent of the locale. */
#ifndef CRAWLER_ASCII_H
#define CRAWLER_ASCII_H

#include <stdbool.h>

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Return the value of a hexadecimal digit, or -1. */
static inline int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Convert a letter to lower case. */
static inline char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

#endif
