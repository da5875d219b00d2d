/*
 * report.h - reports about errors and tasks, as text or as JSON.
 *
 * A report consists of values, records and lists. Each call names the value for JSON and
 * gives a printf(3) pattern. The words of the pattern are for text alone:
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
    struct coil__message *line; /* in place of `out`, in a signal handler */
    bool json;
    bool follows; /* in JSON: a comma is due before the next value */
};

/* True: reports that begin from now on are JSON. */
extern _Atomic bool coil__report_json;

/*
 * Choose the format by its name, as COIL_REPORTS has it: "text" or "json"; NULL and ""
 * change nothing. Fails with -EINVAL for any other name.
 */
int coil__report_choose(const char *format);

/*
 * Begin a report; `kind` is its type in JSON. Until the end `out` is locked and debug
 * data is kept.
 */
void coil__report_begin(struct coil__report *report, FILE *out, const char *kind);
void coil__report_end(struct coil__report *report);

/* The same in a signal handler. `line` is zeroed; it is written to standard error.
   Patterns may have %s and %zx; symbols and stacks cannot be printed. */
void coil__report_begin_in_handler(struct coil__report *report,
                                   struct coil__message *line, const char *kind);
void coil__report_end_in_handler(struct coil__report *report);

/*
 * A report as text, whatever the format, in text[size]; cut if it is too long. Returns
 * false if memory ran out: then do not end the report.
 */
bool coil__report_begin_text(struct coil__report *report, char *text, size_t size);
void coil__report_end_text(struct coil__report *report);

/*
 * Print a value. The pattern has one conversion (%s, %.*s, %d, %zu, %zx, %p or %f), or
 * none: then the pattern is the value. In JSON integers and fractions (3 digits) are
 * numbers; all else is a string.
 */
void coil__report_value(struct coil__report *report, const char *key, const char *pattern,
                        ...) COIL__PRINTF(3, 4);

/* Words in text; nothing in JSON. */
void coil__report_words(struct coil__report *report, const char *format, ...)
    COIL__PRINTF(2, 3);

/* Brackets of JSON, nothing in text: of a record ('{' and '}') or a list ('[' and ']').
   In a list the key is NULL. */
void coil__report_open(struct coil__report *report, const char *key, char bracket);
void coil__report_close(struct coil__report *report, char bracket);

#endif
