/*
 * local.c - map links in local files to file URLs.
 *
 * Without base_url, links in a file are resolved against the file's own URL, so
 * "../README.md" may leave the root folder, as in a repository. If a link begins with
 * "/", the result is moved into the root folder. With base_url, links are resolved
 * against the URL that the file will have on the server, and URLs below base_url are
 * mapped back to the root folder.
 */
#include "local.h"

#include "../base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- paths and URLs ---------------------------------------------------------------- */

/*
 * Append the percent-encoded path. '%' and '\' must be encoded too, because they have a
 * special meaning for the URL parser.
 */
static void add_path(struct text *url, const char *path)
{
    for (size_t n; *path != '\0'; path += n) {
        n = strcspn(path, "%\\");
        text_add_encoded(url, path, n, PERCENT_PATH);
        if (path[n] != '\0')
            text_add(url, path[n++] == '%' ? "%25" : "%5C", 3);
    }
}

/* Normalise a URL with the URL parser, which removes "." and "..". */
static char *normalise(struct text *text)
{
    struct url url;
    char *href = text_take(text);

    if (href == NULL || url_parse(NULL, href, &url) < 0)
        url.href = NULL;
    free(href);
    return url.href;
}

char *local_url(const char *path)
{
    struct text url = {0};
    char *folder = NULL;

    text_add(&url, "file://", 7);
    if (path[0] != '/') {
        folder = getcwd(NULL, 0);
        if (folder == NULL) {
            text_finish(&url);
            return NULL;
        }
        add_path(&url, folder);
        text_add(&url, "/", 1);
        free(folder);
    }
    add_path(&url, path);
    return normalise(&url);
}

int local_path(const char *url, char **out)
{
    static const char scheme[] = "file://";
    const char *path = url + sizeof scheme - 1;
    struct text text = {0};
    size_t n;

    *out = NULL;
    if (strncmp(url, scheme, sizeof scheme - 1) != 0 || path[0] != '/')
        return -ENOENT;
    n = strcspn(path, "?#");
    for (size_t i = 0; i + 2 < n; i++)
        if (strncasecmp(path + i, "%2f", 3) == 0 || strncmp(path + i, "%00", 3) == 0)
            return -ENOENT;
    text_add_decoded(&text, path, n);
    *out = text_take(&text);
    return *out != NULL ? 0 : -ENOMEM;
}

/* ---- the root ---------------------------------------------------------------------- */

/*
 * Return the URL of a folder, ending in "/". If `is_file` is true, `url` is the URL of a
 * file in the folder, otherwise the URL of the folder itself, perhaps without "/".
 */
static char *copy_as_folder(const char *url, bool is_file)
{
    struct text text = {0};
    size_t n = strlen(url);

    if (is_file)
        while (n > 0 && url[n - 1] != '/')
            n--;
    text_add(&text, url, n);
    if (n == 0 || url[n - 1] != '/')
        text_add(&text, "/", 1);
    return text_take(&text);
}

int local_init(struct local *local, const struct options *options, const char *start)
{
    const char *root = options->root_dir != NULL ? options->root_dir : start;
    struct stat st;
    char *url;

    *local = (struct local){.options = options};
    if (stat(root, &st) < 0)
        return -errno;
    url = local_url(root);
    if (url != NULL)
        local->root_url = copy_as_folder(url, !S_ISDIR(st.st_mode));
    free(url);
    if (options->base_url != NULL)
        local->base_url = copy_as_folder(options->base_url, false);
    if (local->root_url == NULL ||
        (options->base_url != NULL && local->base_url == NULL)) {
        local_finish(local);
        return -ENOMEM;
    }
    return 0;
}

void local_finish(struct local *local)
{
    free(local->root_url);
    free(local->base_url);
    *local = (struct local){0};
}

/* ---- links ------------------------------------------------------------------------- */

/*
 * Return the part of `url` after the folder `base`, which ends in "/", or NULL if `url`
 * is not in this folder.
 */
static const char *path_below(const char *url, const char *base)
{
    size_t n = strlen(base);

    if (strncmp(url, base, n) == 0)
        return url + n;
    /* the folder itself, without its slash */
    if (strncmp(url, base, n - 1) == 0 &&
        (url[n - 1] == '\0' || strchr("?#", url[n - 1])))
        return url + n - 1;
    return NULL;
}

bool local_is_outside(const struct local *local, const char *url)
{
    return path_below(url, local->root_url) == NULL;
}

static char *join(const char *base, const char *rest)
{
    struct text text = {0};

    text_add(&text, base, strlen(base));
    text_add(&text, rest, strlen(rest));
    return text_take(&text);
}

char *local_base(const struct local *local, const char *url)
{
    const char *rest = local->base_url != NULL ? path_below(url, local->root_url) : NULL;

    return rest != NULL ? join(local->base_url, rest) : strdup(url);
}

/* Replace `url` with the parsed concatenation of `base` and `rest`. */
static int replace_url(struct url *url, const char *base, const char *rest)
{
    struct url other;
    char *href = join(base, rest);
    int rc = href != NULL ? url_parse(NULL, href, &other) : -ENOMEM;

    free(href);
    if (rc < 0)
        return rc;
    free(url->href);
    *url = other;
    return 0;
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

int local_rebase(const struct local *local, const char *reference, struct url *url)
{
    const char *rest;

    reference += strspn(reference, " \t\r\n\f");
    if (url->href == NULL)
        return is_slash(reference[0]) && is_slash(reference[1])
                   ? replace_url(url, "https:", reference)
                   : -EINVAL;
    if (url->kind == URL_WEB && local->base_url != NULL &&
        (rest = path_below(url->href, local->base_url)) != NULL)
        return replace_url(url, local->root_url, rest);
    if (url->kind != URL_FILE || !is_slash(reference[0]))
        return 0;
    if (is_slash(reference[1]))
        return replace_url(url, "https:", reference);
    if (strncmp(url->href, "file:///", strlen("file:///")) != 0)
        return 0; /* the URL names a file on another host */
    return replace_url(url, local->root_url, url->href + strlen("file:///"));
}
