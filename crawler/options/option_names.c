/*
 * option_names.c - see option_names.h
 */
#include "option_names.h"
#include "../base/text.h"
#include "../url/url.h"

#include <coil/run.h>

#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

/* ---- finding rows ------------------------------------------------------------------ */

/*
 * Get the next name of a row: its name at the first call, when *at is 0, then its
 * aliases. Returns false after the last one.
 */
static bool next_name(const struct option_row *row, size_t *at, const char **name,
                      size_t *n)
{
    const char *all = *at == 0 ? row->name : row->aliases;

    if (*at == 0) {
        *name = all;
        *n = strlen(all);
        *at = 1;
        return true;
    }
    if (all == NULL || all[*at - 1] == '\0')
        return false;
    *name = all + *at - 1;
    *n = strcspn(*name, " ");
    *at += *n + ((*name)[*n] == ' ');
    return true;
}

static bool has_name(const struct option_row *row, const char *wanted, size_t length)
{
    const char *name;
    size_t at = 0, n;

    while (next_name(row, &at, &name, &n))
        if (n == length && memcmp(name, wanted, n) == 0)
            return true;
    return false;
}

const struct option_row *option_named(const char *name, size_t n)
{
    for (size_t i = 0; i < option_row_count; i++)
        if (has_name(&option_rows[i], name, n))
            return &option_rows[i];
    return NULL;
}

const struct option_row *option_row_lettered(char letter)
{
    for (size_t i = 0; i < option_row_count; i++)
        if (option_rows[i].letter == letter)
            return &option_rows[i];
    return NULL;
}

const struct option_row *option_denied(const char *name, size_t n)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

        if (row->argument != NULL || row->set == NULL)
            continue;
        if (option_is_negative(row) && strlen(row->name) == n + 3 &&
            memcmp(row->name + 3, name, n) == 0)
            return row;
        if (!option_is_negative(row) && n > 3 && memcmp(name, "no-", 3) == 0 &&
            has_name(row, name + 3, n - 3))
            return row;
    }
    return NULL;
}

/*
 * Like next_name(), but visit only names that begin with `begin` and are longer. Skip
 * hidden options, which must not be abbreviated.
 */
static bool next_that_begins(const struct option_row *row, const char *begin,
                             size_t length, size_t *at, const char **name, size_t *n)
{
    while (row->group != OPTION_HIDDEN && next_name(row, at, name, n))
        if (*n > length && memcmp(*name, begin, length) == 0)
            return true;
    return false;
}

size_t option_rows_that_begin(const char *begin, size_t length,
                              const struct option_row **row)
{
    size_t count = 0;

    for (size_t i = 0; i < option_row_count; i++) {
        const char *name;
        size_t at = 0, n;

        if (!next_that_begins(&option_rows[i], begin, length, &at, &name, &n))
            continue;
        *row = &option_rows[i];
        count++;
    }
    return count;
}

/* ---- names that were misspelt ------------------------------------------------------ */

static unsigned min_of_three(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/*
 * Return the number of edits that turn one name into the other. An edit inserts, deletes
 * or replaces a character, or swaps two adjacent ones. (Optimal string alignment)
 */
static unsigned edit_distance(const char *a, size_t a_length, const char *b,
                              size_t b_length)
{
    unsigned rows[3][LONGEST_NAME + 1];

    if (a_length > LONGEST_NAME || b_length > LONGEST_NAME)
        return UINT_MAX;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *last = rows[(i - 1) % 3], *now = rows[i % 3],
                 *before = rows[(i + 1) % 3];

        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            bool equal = a[i - 1] == b[j - 1];

            now[j] = min_of_three(last[j] + 1, now[j - 1] + 1, last[j - 1] + !equal);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
    }
    return rows[a_length % 3][b_length];
}

/* Return the row with the most similar name, or NULL if none is similar. */
static const struct option_row *nearest_row(const char *wanted, size_t length)
{
    const struct option_row *nearest = NULL;
    unsigned best = length < 4 ? 1 : length < 8 ? 2 : 3;

    for (size_t i = 0; i < option_row_count; i++) {
        const char *name;
        size_t at = 0, n;

        while (option_rows[i].group != OPTION_HIDDEN &&
               next_name(&option_rows[i], &at, &name, &n)) {
            unsigned d = edit_distance(wanted, length, name, n);

            if (d < best || (d == best && nearest == NULL)) {
                best = d;
                nearest = &option_rows[i];
            }
        }
    }
    return nearest;
}

static void write_piece(void *to, const char *piece, size_t n)
{
    fwrite(piece, 1, n, to);
}

int option_complain_unknown(FILE *to, const char *before, const char *name, size_t n)
{
    const char *dashes = before[0] == '\0' ? "--" : "";
    const struct option_row *nearest = nearest_row(name, n);

    fprintf(to, "coil-crawl: %s%s", before, dashes);
    text_put_visible(name, n, "?", write_piece, to);
    fputs(": no such option", to);
    if (nearest != NULL)
        fprintf(to, "; did you mean %s%s?\n", dashes, nearest->name);
    else
        fputs("; coil-crawl --help lists them\n", to);
    return -EINVAL;
}

int option_complain_ambiguous(FILE *to, const char *begin, size_t length)
{
    const char *comma = "";

    fprintf(to, "coil-crawl: --%.*s: that may be ", (int)length, begin);
    for (size_t i = 0; i < option_row_count; i++) {
        const char *name;
        size_t at = 0, n;

        if (!next_that_begins(&option_rows[i], begin, length, &at, &name, &n))
            continue;
        fprintf(to, "%s--%.*s", comma, (int)n, name);
        comma = ", ";
    }
    fputc('\n', to);
    return -EINVAL;
}
