/*
 * line.c - printf(3) for signal handlers.
 */
#include "line.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

static void write_line(struct coil__message *line)
{
    line->failed |= write(STDERR_FILENO, line->text, line->length) < 0;
    line->length = 0;
}

void coil__line_add_bytes(struct coil__message *line, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        line->text[line->length++] = bytes[i];
        if (bytes[i] == '\n' || line->length == sizeof line->text)
            write_line(line);
    }
}

static void add_number(struct coil__message *line, size_t number, unsigned base)
{
    char digits[24], *end = digits + sizeof digits, *p = end;

    do
        *--p = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    coil__line_add_bytes(line, p, (size_t)(end - p));
}

void coil__line_vadd(struct coil__message *line, const char *format, va_list args)
{
    while (*format != '\0') {
        size_t n = strcspn(format, "%");

        coil__line_add_bytes(line, format, n);
        format += n;
        if (strncmp(format, "%s", 2) == 0) {
            const char *text = va_arg(args, const char *);

            coil__line_add_bytes(line, text, strlen(text));
            format += 2;
        } else if (*format != '\0') { /* "%zu", "%zx" */
            add_number(line, va_arg(args, size_t), format[2] == 'x' ? 16 : 10);
            format += 3;
        }
    }
}

void coil__line_add(struct coil__message *line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    coil__line_vadd(line, format, args);
    va_end(args);
}

bool coil__line_print(const char *format, ...)
{
    struct coil__message line = {.length = 0};
    va_list args;

    va_start(args, format);
    coil__line_vadd(&line, format, args);
    va_end(args);
    return !line.failed;
}
