/*
 * cookie.c - send cookies from a request's own Cookie header in addition to cookies that
 * servers have set.
 *
 * libcurl would send the cookies of its jar and the request's Cookie header as two header
 * lines. Most servers read only one Cookie line, and RFC 6265, 5.4 allows only one.
 * Therefore the request's cookies are passed to libcurl as CURLOPT_COOKIE, so that it
 * combines them and the cookies of its jar in one line.
 */
#include "cookie.h"

#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- cookies that servers have set ------------------------------------------------- */

/* The fields in a line of CURLINFO_COOKIELIST, which is in the format of Netscape's
   cookie files. */
enum field { DOMAIN, TAIL_MATCH, PATH, SECURE, EXPIRES, NAME, FIELD_COUNT };

struct jar_cookie {
    const char *at[FIELD_COUNT];
    size_t n[FIELD_COUNT];
};

static bool split_line(const char *line, struct jar_cookie *cookie)
{
    static const char http_only[] = "#HttpOnly_";

    if (strncmp(line, http_only, strlen(http_only)) == 0)
        line += strlen(http_only);
    for (int i = 0; i < FIELD_COUNT; i++) {
        cookie->at[i] = line;
        cookie->n[i] = strcspn(line, "\t");
        line += cookie->n[i];
        if (*line++ == '\0')
            return false;
    }
    return true;
}

static bool is_true(const struct jar_cookie *cookie, enum field field)
{
    return cookie->n[field] == 4 && memcmp(cookie->at[field], "TRUE", 4) == 0;
}

/*
 * Return true if the cookie's domain matches the host. The domain is "example.org", or
 * ".example.org" with TAIL_MATCH, which also matches subdomains.
 */
static bool matches_host(const struct jar_cookie *cookie, const char *host, size_t n)
{
    bool has_dot = cookie->at[DOMAIN][0] == '.';
    const char *domain = cookie->at[DOMAIN] + has_dot;
    size_t domain_n = cookie->n[DOMAIN] - has_dot;

    if (n < domain_n || strncasecmp(host + n - domain_n, domain, domain_n) != 0)
        return false;
    return n == domain_n ||
           (is_true(cookie, TAIL_MATCH) && host[n - domain_n - 1] == '.');
}

/* Return true if the path of a URL matches the cookie's path. (RFC 6265, 5.1.4) */
static bool matches_path(const struct jar_cookie *cookie, const char *path)
{
    size_t n = cookie->n[PATH];

    if (strncmp(path, cookie->at[PATH], n) != 0)
        return false;
    return n == 0 || cookie->at[PATH][n - 1] == '/' || strchr("/?#", path[n]) != NULL;
}

static const char *path_of(const char *url)
{
    const char *host = strstr(url, "://");
    const char *path = host != NULL ? host + 3 + strcspn(host + 3, "/?#") : "";

    return *path == '/' ? path : "/";
}

/*
 * True if libcurl sends the cookie to the target. A secure cookie is assumed to be sent
 * only over https, although libcurl also sends it to the local machine without https.
 */
static bool is_sent_to(const struct jar_cookie *cookie, const struct http_target *target,
                       const char *path)
{
    bool has_brackets = target->host[0] == '[';
    const char *host = target->host + has_brackets;
    size_t n = strlen(host) - has_brackets;

    return (strcmp(target->scheme, "https") == 0 || !is_true(cookie, SECURE)) &&
           matches_host(cookie, host, n) && matches_path(cookie, path);
}

static bool has_name(const struct curl_slist *jar, const struct http_target *target,
                     const char *path, const char *name, size_t n)
{
    struct jar_cookie cookie;

    for (; jar != NULL; jar = jar->next)
        if (split_line(jar->data, &cookie) && cookie.n[NAME] == n &&
            memcmp(cookie.at[NAME], name, n) == 0 && is_sent_to(&cookie, target, path))
            return true;
    return false;
}

/* ---- cookies of the request -------------------------------------------------------- */

static int append(char **cookies, const char *cookie, size_t n)
{
    char *before = *cookies, *longer;

    if (asprintf(&longer, "%s%s%.*s", before != NULL ? before : "",
                 before != NULL ? "; " : "", (int)n, cookie) < 0)
        return -ENOMEM;
    free(before);
    *cookies = longer;
    return 0;
}

static int add_all(const coil_http_response *response, const char *value,
                   const struct curl_slist *jar, const struct http_target *target,
                   char **cookies)
{
    const char *path = path_of(response->url);
    int rc = 0;

    while (rc == 0 && *(value += strspn(value, "; \t")) != '\0') {
        size_t n = strcspn(value, ";");

        if (jar == NULL || !has_name(jar, target, path, value, strcspn(value, "=; \t")))
            rc = append(cookies, value, n);
        value += n;
    }
    return rc;
}

int coil__http_cookie_add(const coil_http_response *response, const char *value,
                          char **cookies)
{
    struct http_target target = {NULL, NULL, NULL};
    struct curl_slist *jar = NULL;
    int rc = 0;

    if (curl_easy_getinfo(response->easy, CURLINFO_COOKIELIST, &jar) != CURLE_OK)
        return -ENOMEM;
    if (jar != NULL)
        rc = coil__http_target_parse(&target, response->url, NULL);
    if (rc == 0)
        rc = add_all(response, value, jar, &target, cookies);
    coil__http_target_finish(&target);
    curl_slist_free_all(jar);
    return rc;
}
