/*
 * line.h - printf(3) for signal handlers: writes lines to standard error with write(2).
 *
 * Formats may contain only %s, %zu and %zx, because these need neither locks nor memory.
 */
#ifndef COIL_BASE_LINE_H
#define COIL_BASE_LINE_H

#include "compiler.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A buffer, whose contents are written to standard error at the end of each line, and
 * whenever the buffer is full. Must be zeroed before its first use.
 */
struct coil__message {
    char text[256];
    size_t length;
    bool failed; /* a write(2) has failed */
};

void coil__line_add(struct coil__message *line, const char *format, ...)
    COIL__PRINTF(2, 3);
void coil__line_add_bytes(struct coil__message *line, const char *bytes, size_t count);
void coil__line_vadd(struct coil__message *line, const char *format, va_list args);

/* Print one complete line. Returns false if the line cannot be written. */
bool coil__line_print(const char *format, ...) COIL__PRINTF(1, 2);

#endif
