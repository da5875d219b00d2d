/*
 * line.h - a line put together by a signal handler, where printf(3) must not be called.
 */
#ifndef COIL_BASE_LINE_H
#define COIL_BASE_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* What does not fit is dropped. Begins zeroed. */
struct coil__message {
    char text[256];
    size_t length;
};

static inline void coil__line_add(struct coil__message *line, const char *text)
{
    size_t n = strlen(text);

    if (n > sizeof line->text - line->length)
        n = sizeof line->text - line->length;
    memcpy(line->text + line->length, text, n);
    line->length += n;
}

static inline void coil__line_add_number(struct coil__message *line, uintptr_t number,
                                         unsigned base)
{
    char digits[24], *p = digits + sizeof digits - 1;

    *p = '\0';
    do
        *--p = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    coil__line_add(line, p);
}

/* Write it to stderr; false if that fails. */
static inline bool coil__line_write(const struct coil__message *line)
{
    return write(STDERR_FILENO, line->text, line->length) >= 0;
}

#endif
