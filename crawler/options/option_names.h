/*
 * option_names.h - find the row of an option by its name, and suggest a similar name for
 * an unknown one.
 */
#ifndef CRAWLER_OPTION_NAMES_H
#define CRAWLER_OPTION_NAMES_H

#include "option_row.h"

#define LONGEST_NAME 40

const struct option_row *option_row_lettered(char letter);

/*
 * Return the number of rows with a name that begins with `begin`. Stores the last of
 * these rows in *row.
 */
size_t option_rows_that_begin(const char *begin, size_t length,
                              const struct option_row **row);

int option_complain_ambiguous(FILE *to, const char *begin, size_t length);

#endif
