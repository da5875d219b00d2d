/* fragment.c - see fragment.h */
#include "fragment.h"

#include "../base/ascii.h"
#include "../page/markdown/heading_ids.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAGMENT_BYTES 256  /* enough for most fragments; longer ones use the heap */
#define RANGE_END_BYTES 256 /* the longest id at the end of a range */

/* ---- GitHub ------------------------------------------------------------------------ */

static bool has_id(const struct targets *targets, const struct target *page,
                   const char *id, size_t n)
{
    return target_has_id(page, targets_hash_id(targets, id, n));
}

/*
 * GitHub, GitLab and Gitea prepend this prefix to ids that a user has written. Their
 * scripts also accept fragments without it.
 */
#define USER_CONTENT "user-content-"

/*
 * Return 1 if GitHub finds an element for the fragment in a rendered Markdown file, 0 if
 * not, or -ENOMEM. Ids of headings are in lower case, and GitHub ignores the case of
 * fragments. Ids exist with and without the prefix. The element around the file has the
 * id "readme".
 */
static int has_github_place(const struct targets *targets, const struct target *page,
                            const char *fragment, size_t n)
{
    const size_t prefix_n = strlen(USER_CONTENT);
    bool has_prefix = n > prefix_n && memcmp(fragment, USER_CONTENT, prefix_n) == 0;
    const char *id = has_prefix ? fragment + prefix_n : fragment;
    char *lower;
    int has;

    n -= has_prefix ? prefix_n : 0;
    if (has_id(targets, page, id, n) || (!has_prefix && strcmp(id, "readme") == 0))
        return 1;
    lower = heading_ids_lower(id, n);
    if (lower == NULL)
        return -ENOMEM;
    has = has_id(targets, page, lower, strlen(lower));
    free(lower);
    return has;
}

/* ---- ranges ------------------------------------------------------------------------ */

static size_t digits_before(const char *s, size_t n)
{
    size_t digits = 0;

    while (digits < n && is_digit(s[n - digits - 1]))
        digits++;
    return digits;
}

/*
 * Return true if the page has the id that consists of the prefix and the digits, for one
 * end of a range.
 */
static bool has_end(const struct targets *targets, const struct target *page,
                    const char *prefix, size_t prefix_n, const char *digits, size_t n)
{
    char id[RANGE_END_BYTES];

    if (n == 0 || prefix_n + n > sizeof id)
        return false;
    memcpy(id, prefix, prefix_n);
    memcpy(id + prefix_n, digits, n);
    return has_id(targets, page, id, prefix_n + n);
}

/*
 * Return true if the fragment is a range of lines, such as "208-210" (rustdoc), "L10-L20"
 * or "L10-20" (GitLab), and the page has the ids of both ends.
 */
static bool has_range(const struct targets *targets, const struct target *page,
                      const char *fragment, size_t n)
{
    const char *end = fragment + n, *hyphen = fragment;

    while ((hyphen = memchr(hyphen, '-', (size_t)(end - hyphen))) != NULL) {
        size_t first_n = (size_t)(hyphen - fragment);
        size_t prefix_n = first_n - digits_before(fragment, first_n);
        const char *last = hyphen + 1;

        if ((size_t)(end - last) > prefix_n && memcmp(last, fragment, prefix_n) == 0)
            last += prefix_n;
        if (prefix_n < first_n &&
            digits_before(last, (size_t)(end - last)) == (size_t)(end - last) &&
            has_id(targets, page, fragment, first_n) &&
            has_end(targets, page, fragment, prefix_n, last, (size_t)(end - last)))
            return true;
        hyphen++;
    }
    return false;
}

/* ---- all fragments ----------------------------------------------------------------- */

int fragment_is_on(const struct targets *targets, const struct target *page,
                   const char *fragment)
{
    const size_t prefix_n = strlen(USER_CONTENT);
    char usual[FRAGMENT_BYTES];
    size_t n = strlen(fragment);
    char *prefixed, *decoded;
    int has;

    if (has_id(targets, page, fragment, n))
        return 1;
    prefixed = prefix_n + n < sizeof usual ? usual : malloc(prefix_n + n + 1);
    if (prefixed == NULL)
        return -ENOMEM;
    memcpy(prefixed, USER_CONTENT, prefix_n);
    decoded = prefixed + prefix_n;
    memcpy(decoded, fragment, n + 1);
    n = url_decode(decoded, n);
    has = has_id(targets, page, decoded, n) ||
          has_id(targets, page, prefixed, prefix_n + n) ||
          has_range(targets, page, decoded, n);
    if (has == 0 && page->content == CONTENT_MARKDOWN)
        has = has_github_place(targets, page, decoded, n);
    if (prefixed != usual)
        free(prefixed);
    return has;
}

/* Return true for line numbers such as "L10", "L10-L20" and "L10C5-L20C7". */
static bool names_lines(const char *fragment)
{
    const char *s = fragment;

    do {
        s += *s == '-';
        if (*s++ != 'L' || !is_digit(*s))
            return false;
        s += strspn(s, "0123456789");
        if (*s == 'C' && is_digit(s[1]))
            s += 1 + strspn(s + 1, "0123456789");
    } while (*s == '-');
    return *s == '\0';
}

static bool is_on_github(const char *url)
{
    static const char *const hosts[] = {"github.com", "www.github.com",
                                        "gist.github.com"};

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (url_has_host(url, hosts[i], 0))
            return true;
    return false;
}

bool fragment_is_route(const struct target *page, const char *fragment)
{
    char first[3];
    size_t n = strnlen(fragment, sizeof first); /* room for "%21", an encoded "!" */

    memcpy(first, fragment, n);
    if (url_decode(first, n) > 0 && (first[0] == '/' || first[0] == '!'))
        return true;
    return names_lines(fragment) && is_on_github(page->url);
}
