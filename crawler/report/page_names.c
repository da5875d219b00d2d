/* page_names.c - see page_names.h */
#include "page_names.h"

#include "../files/local.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int page_names_init(struct page_names *names)
{
    char *path = getcwd(NULL, 0);
    bool lacks_memory = path == NULL && errno == ENOMEM;

    *names = (struct page_names){.folder = path != NULL ? local_url(path) : NULL};
    lacks_memory |= path != NULL && names->folder == NULL;
    free(path);
    if (lacks_memory)
        return -ENOMEM;
    names->n = names->folder != NULL ? strlen(names->folder) : 0;
    if (names->n > 0 && names->folder[names->n - 1] == '/')
        names->n--;
    return 0;
}

void page_names_finish(struct page_names *names)
{
    free(names->folder);
    *names = (struct page_names){0};
}

bool page_names_is_file(const char *url)
{
    return strncmp(url, "file://", 7) == 0;
}

/*
 * Return the part of a URL after the working directory, or NULL if the URL is not below
 * it.
 */
static const char *rest_of(const struct page_names *names, const char *url)
{
    size_t n = names->n;

    if (n == 0 || strncmp(url, names->folder, n) != 0 || url[n] != '/' ||
        url[n + 1] == '\0')
        return NULL;
    return url + n + 1;
}

char *page_names_path(const struct page_names *names, const char *url)
{
    const char *rest = rest_of(names, url);
    char *path;

    if (!page_names_is_file(url))
        return strdup(url);
    path = strdup(rest != NULL ? rest : url + strlen("file://"));
    if (path != NULL)
        path[url_decode(path, strlen(path))] = '\0';
    return path;
}

/*
 * If the first segment of a relative URI contains a ':', the prefix "./" is needed,
 * because the text before the ':' would be read as a scheme.
 */
char *page_names_uri(const struct page_names *names, const char *url)
{
    const char *rest = rest_of(names, url);
    size_t n, m;
    char *uri;

    if (rest == NULL)
        return strdup(url);
    n = strcspn(rest, ":");
    if (rest[n] == '\0' || memchr(rest, '/', n) != NULL)
        return strdup(rest);
    m = strlen(rest);
    uri = malloc(m + 3);
    if (uri == NULL)
        return NULL;
    memcpy(uri, "./", 2);
    memcpy(uri + 2, rest, m + 1);
    return uri;
}
