/*
 * json_lines.h - read a file with one JSON object in each line. (RFC 8259, jsonlines.org)
 */
#ifndef CRAWLER_JSON_LINES_H
#define CRAWLER_JSON_LINES_H

#include <jansson.h>
#include <stddef.h>

extern const char json_lines_no_memory[];

/*
 * A callback for each object, which is valid only during the call. The callback returns
 * NULL to continue. To stop, it returns a short description of the error, or
 * json_lines_no_memory for -ENOMEM.
 */
typedef const char *(*json_lines_function)(const json_t *object, size_t line, void *arg);

/*
 * Call take() for each line of a file. Empty lines are skipped. Blocks. Fails with a
 * negative errno:
 *
 *     -EINVAL    a line is not an object, is cut off, or take() returned an error
 *     -ENOMEM    or an error of reading the file
 *
 * On failure *message is set to "FILE:12: the error", which the caller frees, or to NULL
 * if memory runs out. On success it is set to NULL.
 */
int json_lines_read(const char *path, json_lines_function take, void *arg,
                    char **message);

/* Return the value of a member if it is a string, otherwise NULL. */
const char *json_lines_string(const json_t *object, const char *name);

#endif
