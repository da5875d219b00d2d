/*
 * json_lines.h - reading a file of JSON objects, one on each line. (RFC 8259, jsonlines.org)
 */
#ifndef CRAWLER_JSON_LINES_H
#define CRAWLER_JSON_LINES_H

#include <jansson.h>
#include <stddef.h>

extern const char json_lines_no_memory[];

/*
 * What takes the objects. It returns NULL, or what is wrong with the line in a few words, which end
 * the reading; json_lines_no_memory for -ENOMEM. The object lasts for the call.
 */
typedef const char *(*json_lines_function)(const json_t *object, size_t line, void *arg);

/*
 * Call take() for each line of a file. Empty lines are skipped. Fails with a negative errno:
 * -EINVAL for a line that is no object, that take() refuses, or whose end is missing; -ENOMEM;
 * or what reading says. *message is then "FILE:12: what is wrong with it", for free(), or NULL
 * without memory; else NULL. Blocks.
 */
int json_lines_read(const char *path, json_lines_function take, void *arg,
                    char **message);

/* The string that is this member of an object, or NULL. */
const char *json_lines_string(const json_t *object, const char *name);

#endif
