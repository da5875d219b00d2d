/* option_file.c - read the configuration file, a TOML file whose keys are the names of
   options. */
#include "option_row.h"

#include "toml.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "coil-crawl.toml"

/* maximum size of a configuration file */
#define LONGEST_FILE ((size_t)1 << 20)

struct file {
    struct option_source source;
    bool *has; /* for each row of the table, whether the file sets this option */
};

/* ---- a value ----------------------------------------------------------------------- */

static int complain_of_name(const struct option_source *source, const char *name)
{
    char place[PATH_MAX + 16];

    snprintf(place, sizeof place, "%s:%u: ", source->file, source->line);
    return option_complain_unknown(source->complaints, place, name, strlen(name));
}

/*
 * Check that the option may be set in a file, and that the type of the value is
 * appropriate for it. (Values on the command line are untyped.)
 */
static int check_kind(const struct option_source *source, const struct option_row *row,
                      const struct toml_value *value)
{
    bool is_flag = row->argument == NULL;

    if (row->set == NULL)
        return option_complain(source, row, "only for the command line");
    if (value->in_list && !row->repeats)
        return option_complain(source, row, "takes one value, not a list");
    if (value->text == NULL && row->initial != NULL)
        return option_complain(source, row,
                               "an empty list: leave it out for the default");
    if (!is_flag && value->text != NULL && value->kind == TOML_BOOLEAN)
        return option_complain(source, row, "needs a value: %s = %s", row->name,
                               row->argument);
    return 0;
}

/* Set an option. Its name in the file may contain "_" instead of "-". */
static int set_from_file(void *arg, const struct toml_value *value)
{
    struct file *file = arg;
    struct option_source *source = &file->source;
    const struct option_row *row, *denied = NULL;
    size_t n = strlen(value->key);
    char name[64];
    int rc;

    source->line = value->line;
    snprintf(name, sizeof name, "%s", value->key);
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
    row = option_named(name, strlen(name));
    if (row == NULL)
        row = denied = option_denied(name, strlen(name));
    if (row == NULL || row->group == OPTION_HIDDEN || n >= sizeof name)
        return complain_of_name(source, value->key);
    if (value->is_first && file->has[row - option_rows])
        return option_complain(source, row, "is there twice");
    file->has[row - option_rows] = true;
    rc = check_kind(source, row, value);
    if (rc < 0 || value->text == NULL)
        return rc;
    if (denied == NULL || value->kind != TOML_BOOLEAN)
        return option_set(source, row, value->text);
    return option_set(source, row, strcmp(value->text, "true") == 0 ? "no" : "yes");
}

/* ---- a file ------------------------------------------------------------------------ */

static int complain_of_file(const struct option_source *source, const char *what)
{
    fprintf(source->complaints, "coil-crawl: %s: %s\n", source->file, what);
    return -EINVAL;
}

static int take_text(const struct option_source *source, char *text, size_t n)
{
    struct file file = {*source, calloc(option_row_count, sizeof *file.has)};
    struct toml_mistake mistake;
    int rc;

    if (file.has == NULL)
        return -ENOMEM;
    text[n] = '\0';
    rc = toml_read(text, n, set_from_file, &file, &mistake);
    if (mistake.what != NULL)
        fprintf(source->complaints, "coil-crawl: %s:%u: %s\n", source->file, mistake.line,
                mistake.what);
    free(file.has);
    return rc;
}

static int read_all(const struct option_source *source, FILE *from)
{
    char *text = malloc(LONGEST_FILE + 1);
    size_t n;
    int rc;

    if (text == NULL)
        return -ENOMEM;
    errno = 0;
    n = fread(text, 1, LONGEST_FILE, from);
    if (ferror(from))
        rc = complain_of_file(source, strerror(errno));
    else if (n == LONGEST_FILE)
        rc = complain_of_file(source, "is a megabyte or more");
    else
        rc = take_text(source, text, n);
    free(text);
    return rc;
}

int option_read_file(struct option_source *source, const char *path)
{
    struct option_source in_file = *source;
    FILE *from;
    int rc;

    in_file.file = path != NULL ? path : DEFAULT_FILE;
    in_file.is_found = path == NULL;
    from = fopen(in_file.file, "re");
    if (from == NULL && errno == ENOENT && path == NULL)
        return 0;
    if (from == NULL)
        return complain_of_file(&in_file, strerror(errno));
    rc = read_all(&in_file, from);
    fclose(from);
    return rc;
}
