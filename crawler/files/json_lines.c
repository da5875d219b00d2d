/*
 * json_lines.c - see json_lines.h
 */
#include "json_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char json_lines_no_memory[] = "out of memory";

/*
 * Parse a line. If the newline is missing, fail, because the line was cut off: coil-crawl
 * ends each line with a newline.
 */
static int parse_line(const char *text, size_t n, json_lines_function take, void *arg,
                      size_t line, char *words, size_t words_size)
{
    const char *wrong;
    json_error_t error;
    json_t *object;

    if (n == 0 || text[n - 1] != '\n') {
        snprintf(words, words_size, "the line is cut off");
        return -EINVAL;
    }
    if (n == 1)
        return 0;
    object = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL) {
        snprintf(words, words_size, "%s", error.text);
        return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EINVAL;
    }
    wrong = json_is_object(object) ? take(object, line, arg) : "not an object";
    json_decref(object);
    if (wrong == NULL)
        return 0;
    snprintf(words, words_size, "%s", wrong);
    return wrong == json_lines_no_memory ? -ENOMEM : -EINVAL;
}

static int read_lines(FILE *file, json_lines_function take, void *arg, size_t *line,
                      char *words, size_t words_size)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    int rc = 0;

    errno = 0;
    while (rc == 0 && (n = getline(&text, &size, file)) > 0)
        rc = parse_line(text, (size_t)n, take, arg, ++*line, words, words_size);
    if (rc == 0 && !feof(file))
        rc = errno > 0 ? -errno : -EIO;
    free(text);
    return rc;
}

int json_lines_read(const char *path, json_lines_function take, void *arg, char **message)
{
    char words[JSON_ERROR_TEXT_LENGTH] = "";
    FILE *file = fopen(path, "re");
    size_t line = 0;
    int rc = file != NULL ? 0 : -errno, n = 0;

    *message = NULL;
    if (file != NULL) {
        rc = read_lines(file, take, arg, &line, words, sizeof words);
        fclose(file);
    }
    if (rc < 0 && words[0] != '\0')
        n = asprintf(message, "%s:%zu: %s", path, line, words);
    else if (rc < 0)
        n = asprintf(message, "%s: %s", path, strerror(-rc));
    if (n >= 0)
        return rc;
    *message = NULL;
    return -ENOMEM;
}

const char *json_lines_string(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}
