/*
 * target.c - parse URLs with libcurl's own parser, so that coil and libcurl see the same
 * host.
 */
#include "target.h"

#include <curl/curl.h>
#include <curl/mprintf.h>

#include <stdlib.h>
#include <string.h>

/* The value of CURL_MAX_INPUT_LENGTH, which libcurl does not export. */
#define LONGEST_URL 8000000

static int errno_of(CURLUcode code)
{
    if (code == CURLUE_OK)
        return 0;
    return code == CURLUE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL;
}

static int refuse_target(const char **why, int rc, const char *sentence)
{
    if (why != NULL)
        *why = sentence;
    return rc;
}

static int refuse_for(const char **why, CURLUcode code)
{
    return refuse_target(why, errno_of(code), curl_url_strerror(code));
}

/* Return the port that libcurl uses by default for proxies with this scheme. */
static const char *default_proxy_port(const char *scheme)
{
    return strcmp(scheme, "https") == 0 ? "443" : "1080";
}

static CURLUcode get_port(struct http_target *target, CURLU *handle, bool proxy)
{
    unsigned flags = proxy ? 0 : CURLU_DEFAULT_PORT;
    CURLUcode code = curl_url_get(handle, CURLUPART_PORT, &target->port, flags);

    if (code != CURLUE_NO_PORT || !proxy)
        return code;
    target->port = curl_maprintf("%s", default_proxy_port(target->scheme));
    return target->port != NULL ? CURLUE_OK : CURLUE_OUT_OF_MEMORY;
}

static CURLUcode get_parts(struct http_target *target, CURLU *handle, bool proxy)
{
    CURLUcode code = curl_url_get(handle, CURLUPART_SCHEME, &target->scheme, 0);

    if (code == CURLUE_OK)
        code = curl_url_get(handle, CURLUPART_HOST, &target->host, CURLU_PUNYCODE);
    if (code == CURLUE_OK)
        code = get_port(target, handle, proxy);
    for (char *c = target->host; code == CURLUE_OK && *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    return code;
}

static int parse_target(struct http_target *target, const char *url, unsigned flags,
                        bool proxy, const char **why)
{
    CURLU *handle;
    CURLUcode code;

    *target = (struct http_target){NULL, NULL, NULL};
    if (url == NULL || *url == '\0')
        return refuse_target(why, -EINVAL, "the request has no URL");
    if (strlen(url) > LONGEST_URL)
        return refuse_target(why, -EMSGSIZE, "the URL is longer than libcurl allows");
    handle = curl_url();
    if (handle == NULL)
        return refuse_for(why, CURLUE_OUT_OF_MEMORY);
    code = curl_url_set(handle, CURLUPART_URL, url, flags);
    if (code == CURLUE_OK)
        code = get_parts(target, handle, proxy);
    curl_url_cleanup(handle);
    return code == CURLUE_OK ? 0 : refuse_for(why, code);
}

static bool is_http(const char *scheme)
{
    return strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0;
}

/*
 * Parse a URL. libcurl's message for a URL without a scheme, "malformed input", is
 * replaced with a better one.
 */
int coil__http_target_parse(struct http_target *target, const char *url, const char **why)
{
    int rc = parse_target(target, url, CURLU_PATH_AS_IS | CURLU_NON_SUPPORT_SCHEME, false,
                          why);

    if (rc == -ENOMEM || rc == -EMSGSIZE)
        return rc;
    if (target->scheme != NULL && !is_http(target->scheme))
        return refuse_target(why, -EINVAL, "the URL's scheme is neither http nor https");
    if (rc < 0 && url != NULL && *url != '\0' && strstr(url, "//") == NULL)
        return refuse_target(why, rc, "the URL does not begin with http:// or https://");
    return rc;
}

/*
 * Unknown schemes are refused here, because libcurl's message about an unknown scheme
 * would contain the user name and password.
 */
int coil__http_target_parse_proxy(struct http_target *target, const char *proxy,
                                  const char **why)
{
    static const char *const schemes[] = {"http",    "https",  "socks",   "socks4",
                                          "socks4a", "socks5", "socks5h", NULL};
    int rc = parse_target(target, proxy, CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME,
                          true, NULL);

    if (rc == -ENOMEM)
        return refuse_for(why, CURLUE_OUT_OF_MEMORY);
    if (rc < 0)
        return refuse_target(why, rc, "the proxy is not a URL");
    for (size_t i = 0; schemes[i] != NULL; i++)
        if (strcmp(target->scheme, schemes[i]) == 0)
            return 0;
    return refuse_target(why, -EINVAL, "the proxy's scheme is not http, https or socks");
}

void coil__http_target_finish(struct http_target *target)
{
    curl_free(target->scheme);
    curl_free(target->host);
    curl_free(target->port);
    *target = (struct http_target){NULL, NULL, NULL};
}

int coil__http_same_origin(const char *a, const char *b)
{
    struct http_target left, right = {NULL, NULL, NULL};
    int rc = coil__http_target_parse(&left, a, NULL), same = 0;

    if (rc == 0)
        rc = coil__http_target_parse(&right, b, NULL);
    if (rc == 0)
        same = strcmp(left.scheme, right.scheme) == 0 &&
               strcmp(left.host, right.host) == 0 && strcmp(left.port, right.port) == 0;
    coil__http_target_finish(&left);
    coil__http_target_finish(&right);
    return rc == -ENOMEM ? rc : same;
}

/*
 * As in browsers, a space in a Location becomes %20. The caller parses and checks the
 * result before it requests that URL.
 */
int coil__http_resolve(const char *base, const char *reference, char **out,
                       const char **why)
{
    CURLU *handle = curl_url();
    char *url = NULL;
    CURLUcode code;

    if (handle == NULL)
        return refuse_for(why, CURLUE_OUT_OF_MEMORY);
    code = curl_url_set(handle, CURLUPART_URL, base, 0);
    if (code == CURLUE_OK)
        code = curl_url_set(handle, CURLUPART_URL, reference,
                            CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME);
    if (code == CURLUE_OK)
        code = curl_url_get(handle, CURLUPART_URL, &url, 0);
    curl_url_cleanup(handle);
    if (code != CURLUE_OK)
        return refuse_for(why, code);
    *out = strdup(url);
    curl_free(url);
    return *out != NULL ? 0 : refuse_for(why, CURLUE_OUT_OF_MEMORY);
}
