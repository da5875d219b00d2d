/*
 * toml.h - read a configuration file in TOML 1.0 as keys and values.
 *
 * Features that a list of options does not need are rejected: tables, dotted keys, dates
 * and nested lists.
 */
#ifndef CRAWLER_TOML_H
#define CRAWLER_TOML_H

#include <stdbool.h>
#include <stddef.h>

enum toml_kind { TOML_STRING, TOML_NUMBER, TOML_BOOLEAN };

struct toml_value {
    const char *key;
    /*
     * The value as a string: a text, "true", "false", or a decimal number. NULL for an
     * empty list.
     */
    const char *text;
    enum toml_kind kind;
    /*
     * is_first is true for the first element of a list, and if the value is not in a list
     */
    bool in_list, is_first;
    unsigned line;
};

/* An error in the file, and its line number. */
struct toml_mistake {
    const char *what;
    unsigned line;
};

/*
 * Call take() for each value that is not a list and for each element of a list, until
 * take() fails. `text` consists of n bytes and a NUL, and is overwritten. The strings
 * passed to take() are valid only during the call.
 *
 * Returns 0, the error of take(), or -EINVAL if the file is invalid. In the last case,
 * *mistake describes the error. Otherwise, mistake->what is NULL.
 */
int toml_read(char *text, size_t n,
              int (*take)(void *arg, const struct toml_value *value), void *arg,
              struct toml_mistake *mistake);

#endif
