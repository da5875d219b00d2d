/*
 * report.h - reports about errors and tasks, as text or as JSON.
 *
 * A report consists of values, records and lists. A value has a key for JSON, and a
 * printf(3) pattern, whose words are printed only in text:
 *
 *     coil__report_begin(&r, stderr, "example");
 *     coil__report_value(&r, "task", "Task '%s'", name);
 *     coil__report_value(&r, "fd", " uses %d", fd);
 *     coil__report_words(&r, "\n");
 *     coil__report_end(&r);
 *
 *     text:  Task 'main' uses 3
 *     JSON:  {"report":"example","task":"main","fd":3}
 *
 * A JSON report is one object on one line.
 */
#ifndef COIL_ERROR_REPORT_H
#define COIL_ERROR_REPORT_H

#include "../base/base.h"
#include "../base/line.h"

#include <stdio.h>

struct coil__report {
    FILE *out;
    struct coil__message *line; /* replaces `out` in a signal handler */
    bool json;
    bool follows; /* JSON: the next value needs a comma before it */
};

/* True if new reports are JSON. */
extern _Atomic bool coil__report_json;

/*
 * Choose the format. `format` is a value of COIL_REPORTS: "text" or "json". NULL and ""
 * change nothing. Fails with -EINVAL for any other value.
 */
int coil__report_choose(const char *format);

/*
 * Begin and end a report. `kind` is the report's type in JSON. In between, `out` is
 * locked and debug data is cached.
 */
void coil__report_begin(struct coil__report *report, FILE *out, const char *kind);
void coil__report_end(struct coil__report *report);

/* Begin a report in a signal handler, which is written to standard error. `line` must be
   zeroed. Patterns may contain %s and %zx. Symbols and stacks cannot be printed. */
void coil__report_begin_in_handler(struct coil__report *report,
                                   struct coil__message *line, const char *kind);
void coil__report_end_in_handler(struct coil__report *report);

/*
 * Begin a report that is always text, and is written to text[size], truncated if
 * necessary. Returns false if memory ran out; in that case the caller must not end the
 * report.
 */
bool coil__report_begin_text(struct coil__report *report, char *text, size_t size);
void coil__report_end_text(struct coil__report *report);

/*
 * Print a value. The pattern has at most one conversion (%s, %.*s, %d, %zu, %zx, %p or
 * %f). Without a conversion the pattern itself is the value. In JSON, integers and
 * fractions (3 digits) are numbers, and all other values are strings.
 */
void coil__report_value(struct coil__report *report, const char *key, const char *pattern,
                        ...) COIL__PRINTF(3, 4);

/* In text, print words. In JSON, print nothing. */
void coil__report_words(struct coil__report *report, const char *format, ...)
    COIL__PRINTF(2, 3);

/* In JSON, print the opening or closing bracket of a record ('{', '}') or of a list ('[',
   ']'). In text, print nothing. Inside a list, `key` is NULL. */
void coil__report_open(struct coil__report *report, const char *key, char bracket);
void coil__report_close(struct coil__report *report, char bracket);

#endif
