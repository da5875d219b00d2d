/*
 * request.c - what is sent, and to whom.
 *
 * libcurl would start a thread for each name it has to look up. It never has to: the
 * names are in CURLOPT_RESOLVE, and CURLOPT_RESOLVER_START_FUNCTION refuses the rest.
 * Whether a host behind a proxy must be looked up at all, libcurl knows best (no_proxy,
 * SOCKS): should it ask for the name, the request is begun once more, with it.
 */
#include "request.h"

#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What libcurl has been told lives longer than it takes to wait for a connection. */
#define NAMES_KEPT_S 600L

/* ---- what is well formed ----------------------------------------------------------- */

/* tchar in RFC 9110, 5.6.2 */
static size_t token_length(const char *text)
{
    return strspn(text, "!#$%&'*+-.^_`|~0123456789"
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static bool well_formed(const char *header)
{
    size_t n = token_length(header);

    return n > 0 && header[n] == ':' && strpbrk(header, "\r\n") == NULL;
}

int coil__http_request_check(const coil_http_request *request)
{
    const char *method = request->method;

    if (method != NULL && (*method == '\0' || method[token_length(method)] != '\0'))
        return -EINVAL;
    for (size_t i = 0; request->headers != NULL && request->headers[i] != NULL; i++)
        if (!well_formed(request->headers[i]))
            return -EINVAL;
    return 0;
}

/* ---- steps ------------------------------------------------------------------------- */

struct http_step coil__http_first_step(const coil_http_request *request)
{
    struct http_step step = {request->method, request->body != NULL, true};

    if (step.method == NULL)
        step.method = step.with_body ? "POST" : "GET";
    return step;
}

/* As browsers do: fetch.spec.whatwg.org, "HTTP-redirect fetch". */
struct http_step coil__http_next_step(struct http_step step, int status, bool same_origin)
{
    bool is_post = strcmp(step.method, "POST") == 0;
    bool is_head = strcmp(step.method, "HEAD") == 0;

    if ((status == 303 && !is_head) || ((status == 301 || status == 302) && is_post)) {
        step.method = "GET";
        step.with_body = false;
    }
    step.with_credentials = step.with_credentials && same_origin;
    return step;
}

/* ---- headers ----------------------------------------------------------------------- */

static bool is_named(const char *header, const char *name)
{
    size_t n = strlen(name);

    return strncasecmp(header, name, n) == 0 && header[n] == ':';
}

static bool is_any_of(const char *header, const char *const names[])
{
    for (; *names != NULL; names++)
        if (is_named(header, *names))
            return true;
    return false;
}

static bool is_to_be_sent(const char *header, const struct http_step *step)
{
    static const char *const for_the_origin[] = {"Authorization", "Cookie", "Host",
                                                 "Proxy-Authorization", NULL};
    static const char *const about_the_body[] = {"Content-Encoding", "Content-Language",
                                                 "Content-Length",   "Content-Location",
                                                 "Content-Type",     NULL};

    if (!step->with_credentials && is_any_of(header, for_the_origin))
        return false;
    return step->with_body || !is_any_of(header, about_the_body);
}

static int append(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    if (longer == NULL)
        return -ENOMEM;
    *list = longer;
    return 0;
}

/*
 * libcurl adds a Content-Type for forms to every body, and waits a second for leave to
 * send a long one. Both are left out, unless the caller's own headers come after.
 */
static int make_headers(coil_http_response *response, const coil_http_request *request,
                        const struct http_step *step, bool *decoded)
{
    const char *const *headers = request->headers;
    bool has_type = false;
    int rc = 0;

    *decoded = true;
    for (; headers != NULL && *headers != NULL && rc == 0; headers++) {
        if (is_named(*headers, "Range") || is_named(*headers, "Accept-Encoding"))
            *decoded = false;
        has_type = has_type || is_named(*headers, "Content-Type");
        if (is_to_be_sent(*headers, step))
            rc = append(&response->headers, *headers);
    }
    if (rc == 0 && !has_type)
        rc = append(&response->headers, "Content-Type:");
    if (rc == 0)
        rc = append(&response->headers, "Expect:");
    return rc;
}

/* ---- who is asked ------------------------------------------------------------------ */

static const char *from_environment(const char *const names[])
{
    const char *value = NULL;

    for (; *names != NULL && (value == NULL || *value == '\0'); names++)
        value = getenv(*names);
    return value != NULL ? value : "";
}

/* HTTP_PROXY in capitals could be a header that a CGI script was called with. */
static const char *proxy_for(const coil_http_response *response)
{
    static const char *const for_http[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
    static const char *const for_https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy",
                                            "ALL_PROXY", NULL};

    if (response->session->proxy != NULL)
        return response->session->proxy;
    if (strncasecmp(response->url, "https:", 6) == 0)
        return from_environment(for_https);
    return from_environment(for_http);
}

static int look_up(coil_http_response *response, const struct http_target *target)
{
    int rc;

    if (target->host[0] == '[') {
        response->may_resolve = true; /* IPv6 in numbers: CURLOPT_RESOLVE cannot say it */
        return 0;
    }
    rc = coil__http_names_look_up(&response->session->names, target->host, target->port,
                                  &response->addresses);
    if (rc < 0 && rc != -ECANCELED && rc != -ENOMEM)
        snprintf(response->error, sizeof response->error, "%s could not be resolved: %s",
                 target->host, rc == -ENOENT ? "no such host" : strerror(-rc));
    return rc;
}

int coil__http_look_up(coil_http_response *response, bool directly)
{
    const char *proxy = proxy_for(response);
    struct http_target target;
    int rc;

    if (directly || *proxy == '\0')
        rc = coil__http_target_parse(&target, response->url);
    else
        rc = coil__http_target_parse_proxy(&target, proxy);
    if (rc == 0)
        rc = look_up(response, &target);
    coil__http_target_finish(&target);
    return rc;
}

/* CURLOPT_RESOLVER_START_FUNCTION: anything but 0 ends the transfer. */
static int on_name_wanted(void *resolver, void *reserved, void *arg)
{
    coil_http_response *response = arg;

    (void)resolver;
    (void)reserved;
    if (response->may_resolve)
        return 0;
    response->name_wanted = true;
    return 1;
}

/* ---- libcurl's options ------------------------------------------------------------- */

static CURLcode set_body(CURL *easy, const coil_http_request *request)
{
    curl_off_t n = request->body != NULL ? (curl_off_t)request->body_bytes : 0;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, n);

    if (code != CURLE_OK)
        return code;
    return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, n > 0 ? request->body : "");
}

/* A method that means to send a body says so even if that is empty: RFC 9110, 8.6. */
static CURLcode set_method(CURL *easy, const coil_http_request *request,
                           const struct http_step *step)
{
    bool is_post = strcmp(step->method, "POST") == 0;
    bool sends = step->with_body || is_post || strcmp(step->method, "PUT") == 0 ||
                 strcmp(step->method, "PATCH") == 0;
    CURLcode code = CURLE_OK;

    if (strcmp(step->method, "HEAD") == 0)
        return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (sends)
        code = set_body(easy, request);
    if (code == CURLE_OK && !is_post && strcmp(step->method, "GET") != 0)
        code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, step->method);
    else if (code == CURLE_OK && sends && !is_post)
        code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "GET");
    return code;
}

/* Signals and redirects belong to the program, and so do names. */
static void set_manners(coil_http_response *response)
{
    CURL *easy = response->easy;

    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, NAMES_KEPT_S);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, response->addresses);
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, on_name_wanted);
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, response);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, response->error);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, response);
    coil__http_session_apply(response);
}

/* What libcurl copies, and may have no memory for. */
static CURLcode set_strings(coil_http_response *response)
{
    coil_http_session *session = response->session;
    CURL *easy = response->easy;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_URL, response->url);

    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_USERAGENT, session->user_agent);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROXY, proxy_for(response));
    if (code == CURLE_OK && session->ca_file != NULL)
        code = curl_easy_setopt(easy, CURLOPT_CAINFO, session->ca_file);
    return code;
}

int coil__http_prepare(coil_http_response *response, const coil_http_request *request,
                       const struct http_step *step)
{
    bool decoded;
    CURLcode code;

    response->easy = curl_easy_init();
    if (response->easy == NULL || make_headers(response, request, step, &decoded) < 0)
        return -ENOMEM;
    set_manners(response);
    code = set_strings(response);
    if (code == CURLE_OK && decoded)
        code = curl_easy_setopt(response->easy, CURLOPT_ACCEPT_ENCODING, "");
    if (code == CURLE_OK)
        code = set_method(response->easy, request, step);
    curl_easy_setopt(response->easy, CURLOPT_HTTPHEADER, response->headers);
    return code == CURLE_OK ? 0 : -ENOMEM;
}
