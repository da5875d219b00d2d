/*
 * target.c - URLs by libcurl's own parser, so that both see the same host in them.
 */
#include "target.h"

#include <curl/curl.h>
#include <curl/mprintf.h>

#include <stdlib.h>
#include <string.h>

static int errno_of(CURLUcode code)
{
    if (code == CURLUE_OK)
        return 0;
    return code == CURLUE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL;
}

/* What libcurl takes where a proxy's URL has no port. */
static const char *default_proxy_port(const char *scheme)
{
    return strcmp(scheme, "https") == 0 ? "443" : "1080";
}

static int get_parts(struct http_target *target, CURLU *handle, bool proxy)
{
    unsigned port_flags = proxy ? 0 : CURLU_DEFAULT_PORT;
    CURLUcode code = curl_url_get(handle, CURLUPART_SCHEME, &target->scheme, 0);

    if (code == CURLUE_OK)
        code = curl_url_get(handle, CURLUPART_HOST, &target->host, CURLU_PUNYCODE);
    if (code != CURLUE_OK)
        return errno_of(code);
    code = curl_url_get(handle, CURLUPART_PORT, &target->port, port_flags);
    if (code == CURLUE_NO_PORT && proxy) {
        target->port = curl_maprintf("%s", default_proxy_port(target->scheme));
        return target->port != NULL ? 0 : -ENOMEM;
    }
    for (char *c = target->host; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    return errno_of(code);
}

static int parse(struct http_target *target, const char *url, unsigned flags, bool proxy)
{
    CURLU *handle = curl_url();
    int rc;

    *target = (struct http_target){NULL, NULL, NULL};
    if (handle == NULL)
        return -ENOMEM;
    rc = errno_of(curl_url_set(handle, CURLUPART_URL, url, flags));
    if (rc == 0)
        rc = get_parts(target, handle, proxy);
    curl_url_cleanup(handle);
    return rc;
}

int coil__http_target_parse(struct http_target *target, const char *url)
{
    int rc;

    if (url == NULL) {
        *target = (struct http_target){NULL, NULL, NULL};
        return -EINVAL;
    }
    rc = parse(target, url, CURLU_PATH_AS_IS, false);
    if (rc < 0)
        return rc;
    if (strcmp(target->scheme, "http") == 0 || strcmp(target->scheme, "https") == 0)
        return 0;
    return -EINVAL;
}

int coil__http_target_parse_proxy(struct http_target *target, const char *proxy)
{
    return parse(target, proxy, CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME, true);
}

void coil__http_target_finish(struct http_target *target)
{
    curl_free(target->scheme);
    curl_free(target->host);
    curl_free(target->port);
    *target = (struct http_target){NULL, NULL, NULL};
}

bool coil__http_same_origin(const char *a, const char *b)
{
    struct http_target left, right = {NULL, NULL, NULL};
    bool same = coil__http_target_parse(&left, a) == 0 &&
                coil__http_target_parse(&right, b) == 0 &&
                strcmp(left.scheme, right.scheme) == 0 &&
                strcmp(left.host, right.host) == 0 && strcmp(left.port, right.port) == 0;

    coil__http_target_finish(&left);
    coil__http_target_finish(&right);
    return same;
}

/*
 * A space in a Location is common enough to be taken for %20, as browsers do. What comes
 * of it is parsed again where it is asked for.
 */
int coil__http_resolve(const char *base, const char *reference, char **out)
{
    CURLU *handle = curl_url();
    char *url = NULL;
    CURLUcode code;

    if (handle == NULL)
        return -ENOMEM;
    code = curl_url_set(handle, CURLUPART_URL, base, 0);
    if (code == CURLUE_OK)
        code = curl_url_set(handle, CURLUPART_URL, reference, CURLU_URLENCODE);
    if (code == CURLUE_OK)
        code = curl_url_get(handle, CURLUPART_URL, &url, 0);
    curl_url_cleanup(handle);
    if (code != CURLUE_OK)
        return errno_of(code);
    *out = strdup(url);
    curl_free(url);
    return *out != NULL ? 0 : -ENOMEM;
}
