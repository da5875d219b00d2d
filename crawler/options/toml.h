/*
 * toml.h - a configuration file in TOML 1.0, as keys and values.
 *
 * What a list of options has no use for is refused by name: tables, keys with dots, dates, lists
 * in lists.
 */
#ifndef CRAWLER_TOML_H
#define CRAWLER_TOML_H

#include <stdbool.h>
#include <stddef.h>

enum toml_kind { TOML_STRING, TOML_NUMBER, TOML_BOOLEAN };

struct toml_value {
    const char *key;
    const char
        *text; /* what a string says, "true", "false", or a number in decimal digits;
                         NULL of a list without elements */
    enum toml_kind kind;
    bool in_list, is_first; /* of a list, or the only one */
    unsigned line;
};

/* What is wrong with a file, and where. */
struct toml_mistake {
    const char *what;
    unsigned line;
};

/*
 * Give take() each value in turn, each element of a list by itself; what it fails with ends the
 * reading. `text`, of n bytes and a byte of zero behind them, is overwritten; strings are borrowed
 * for the call.
 *
 * Returns 0, what take() fails with, or -EINVAL and *mistake; mistake->what is NULL otherwise.
 */
int toml_read(char *text, size_t n,
              int (*take)(void *arg, const struct toml_value *value), void *arg,
              struct toml_mistake *mistake);

#endif
