/*
 * option_inputs.c - add start URLs and files that are given indirectly: by a list, a file
 * name pattern, or a file:// URL.
 */
#include "option_row.h"
#include "../base/ascii.h"
#include "../url/url.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The maximum size of a list, with space for half a million file names. A larger file is
 * probably not a list.
 */
#define LIST_BYTES_MAX ((size_t)64 << 20)

/* ---- lists ------------------------------------------------------------------------- */

static int complain_of_list(const struct option_source *source, const char *name,
                            const char *what)
{
    fprintf(source->complaints, "coil-crawl: %s: %s\n", name, what);
    return -EINVAL;
}

/* Read a file completely, and append a NUL. The caller frees *text. */
static int read_all(const struct option_source *source, FILE *from, const char *name,
                    char **text, size_t *n)
{
    size_t capacity = 0, got = 1;

    *n = 0;
    *text = NULL;
    while (got > 0) {
        if (capacity - *n < 2) {
            char *longer = realloc(*text, capacity = capacity > 0 ? 2 * capacity : 65536);
            if (longer == NULL)
                return -ENOMEM;
            *text = longer;
        }
        errno = 0;
        got = fread(*text + *n, 1, capacity - *n - 1, from);
        *n += got;
        if (*n > LIST_BYTES_MAX)
            return complain_of_list(source, name, "is longer than 64 MiB");
    }
    (*text)[*n] = '\0';
    if (ferror(from))
        return complain_of_list(source, name, strerror(errno));
    return 0;
}

/* Remove white space at both ends. */
static char *trim(char *line, size_t n)
{
    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t' || line[n - 1] == '\r'))
        n--;
    line[n] = '\0';
    return line + strspn(line, " \t");
}

/*
 * Add each line as a start URL or file, ignoring empty lines and those that begin with
 * "#". If the text contains NULs, like the output of "find -print0", add each
 * NUL-terminated string instead.
 */
static int add_lines(const struct option_source *source, const char *name, char *text,
                     size_t n)
{
    bool has_nul = memchr(text, '\0', n) != NULL;
    struct option_source in_list = *source;
    size_t before = source->options->starts.count;
    int rc = 0;

    in_list.file = name;
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        n -= 3;
    }
    for (size_t at = 0; at < n && rc == 0;) {
        size_t length = has_nul ? strnlen(text + at, n - at) : strcspn(text + at, "\n");
        char *line = text + at;

        in_list.line++;
        at += length + 1;
        line[length] = '\0';
        if (!has_nul)
            line = trim(line, length);
        if (*line != '\0' && (has_nul || *line != '#'))
            rc = option_add_start(&in_list, line);
    }
    if (rc == 0 && source->options->starts.count == before)
        return complain_of_list(source, name, "does not name any URL or file");
    return rc;
}

int option_add_list(struct option_source *source, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    FILE *from = is_stdin ? stdin : fopen(path, "re");
    char *text = NULL;
    size_t n;
    int rc;

    if (from == NULL)
        return complain_of_list(source, name, strerror(errno));
    rc = read_all(source, from, name, &text, &n);
    if (!is_stdin)
        fclose(from);
    if (rc == 0)
        rc = add_lines(source, name, text, n);
    free(text);
    return rc;
}

/* ---- patterns of files ------------------------------------------------------------- */

bool option_is_pattern(const char *operand)
{
    return strstr(operand, "://") == NULL && strpbrk(operand, "*?[{~") != NULL;
}

int option_add_matches(struct option_source *source, const char *pattern)
{
    glob_t found;
    int rc = 0, code;

    if (strstr(pattern, "**") != NULL)
        return option_complain_of_start(source, pattern,
                                        "\"**\" is not supported here: name the folder, "
                                        "whose subfolders are searched, too");
    code = glob(pattern, GLOB_BRACE | GLOB_TILDE, NULL, &found);
    if (code == GLOB_NOSPACE)
        return -ENOMEM;
    for (size_t i = 0; code == 0 && i < found.gl_pathc && rc == 0; i++)
        rc = option_add_start(source, found.gl_pathv[i]);
    globfree(&found);
    if (code == 0)
        return rc;
    if (strpbrk(pattern, "*{") == NULL)
        /* a URL may contain "?" or "[", as in "example.org/a?b" or "[::1]/" */
        return option_add_start(source, pattern);
    return option_complain_of_start(source, pattern, "no file matches");
}

/* ---- schemes ----------------------------------------------------------------------- */

bool option_has_scheme(const char *operand)
{
    size_t n = 0;

    while (is_letter(operand[n]) || is_digit(operand[n]) ||
           (operand[n] != '\0' && strchr("+-.", operand[n]) != NULL))
        n++;
    if (strncasecmp(operand, "mailto:", 7) == 0 || strncasecmp(operand, "tel:", 4) == 0)
        return true;
    return is_letter(operand[0]) && strncmp(operand + n, "://", 3) == 0;
}

bool option_has_web_scheme(const char *operand)
{
    size_t n = strncasecmp(operand, "https:", 6) == 0  ? 6
               : strncasecmp(operand, "http:", 5) == 0 ? 5
                                                       : 0;

    return n > 0 && operand[n] != '\0' && !is_digit(operand[n]);
}

/* ---- file:// ----------------------------------------------------------------------- */

bool option_is_file_url(const char *operand)
{
    return strncasecmp(operand, "file:", 5) == 0;
}

/*
 * Decode the path of a file:// URL in place. Returns NULL if the result is not a path on
 * this machine.
 */
static char *path_of(struct url *url)
{
    static const char scheme[] = "file://";
    char *path = url->href + strlen(scheme);

    if (strncmp(url->href, "file:///", strlen("file:///")) != 0)
        return NULL; /* the file is on another host */
    path[strcspn(path, "?#")] = '\0';
    if (strcasestr(path, "%2f") != NULL || strstr(path, "%00") != NULL)
        return NULL;
    path[url_decode(path, strlen(path))] = '\0';
    return path;
}

int option_add_file_url(struct option_source *source, const char *operand)
{
    struct url url = {.href = NULL};
    struct stat info;
    int rc = url_parse(NULL, operand, &url);
    char *path;

    if (rc == -ENOMEM)
        return rc;
    path = rc == 0 ? path_of(&url) : NULL;
    if (path == NULL)
        rc = option_complain_of_start(source, operand, "not a file on this machine");
    else if (stat(path, &info) < 0)
        rc = option_complain_of_start(source, operand, strerror(errno));
    else
        rc = option_add_start(source, path);
    free(url.href);
    return rc;
}
