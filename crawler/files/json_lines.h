/*
 * json_lines.h - read a file that contains one JSON object per line. (RFC 8259,
 * jsonlines.org)
 */
#ifndef CRAWLER_JSON_LINES_H
#define CRAWLER_JSON_LINES_H

#include <jansson.h>
#include <stddef.h>

extern const char json_lines_no_memory[];

/*
 * Called for each object, which is valid only during the call. Returns NULL to continue.
 * To stop, returns a short description of the error, or json_lines_no_memory for -ENOMEM.
 */
typedef const char *(*json_lines_function)(const json_t *object, size_t line, void *arg);

/*
 * Call take() for each line of a file. Empty lines are skipped. Blocks the thread. Fails
 * with a negative errno:
 *
 *     -EINVAL    a line is not an object, is cut off, or take() returned an error
 *     -ENOMEM    or an error of reading the file
 *
 * After a failure, *message is "FILE:12: the error", which the caller frees, or NULL if
 * memory ran out. On success, it is NULL.
 */
int json_lines_read(const char *path, json_lines_function take, void *arg,
                    char **message);

/* Return the value of a member if it exists and is a string, otherwise NULL. */
const char *json_lines_string(const json_t *object, const char *name);

#endif
