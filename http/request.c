/*
 * request.c - convert a request to libcurl's options, and look up its host.
 *
 * libcurl would start a thread to look up each name. Instead, coil looks up the names and
 * passes the answers to libcurl with CURLOPT_RESOLVE. The callback of
 * CURLOPT_RESOLVER_START_FUNCTION refuses all other lookups. With a proxy, libcurl also
 * needs the addresses of the host in some cases, depending on no_proxy and the version of
 * SOCKS. If libcurl starts to look up the host, the request is sent again with its
 * addresses.
 */
#include "request.h"

#include "cookie.h"
#include "wire.h"

#include "easy.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- checks of a request ----------------------------------------------------------- */

/* Return the length of the token at the beginning of a text (tchar in RFC 9110,
   5.6.2). */
static size_t token_length(const char *text)
{
    return strspn(text, "!#$%&'*+-.^_`|~0123456789"
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* Return an error message for a malformed header, or NULL. */
static const char *fault_of(const char *header)
{
    size_t n = token_length(header);

    if (n == 0)
        return "does not begin with a name";
    if (header[n] != ':')
        return "has no colon after its name";
    return strpbrk(header, "\r\n") != NULL ? "contains a line break" : NULL;
}

/*
 * Check a header. The error message does not contain the header's value, which may be
 * secret.
 */
static int check_header(coil_http_response *response, const char *header, size_t number)
{
    const char *fault = fault_of(header);
    size_t name = token_length(header);

    if (fault == NULL)
        return 0;
    if (header[name] != ':')
        name = 0;
    snprintf(response->error, sizeof response->error,
             "header %zu of the request%s%.*s%s %s", number, name > 0 ? " (" : "",
             name < 64 ? (int)name : 64, header, name > 0 ? ")" : "", fault);
    return -EINVAL;
}

int coil__http_request_check(coil_http_response *response,
                             const coil_http_request *request)
{
    const char *const *headers = request->headers, *method = request->method;
    int rc = 0;

    if (method != NULL && (*method == '\0' || method[token_length(method)] != '\0')) {
        snprintf(response->error, sizeof response->error,
                 "the request's method contains a character that is not allowed");
        return -EINVAL;
    }
    for (size_t i = 0; rc == 0 && headers != NULL && headers[i] != NULL; i++)
        rc = check_header(response, headers[i], i + 1);
    return rc;
}

/* ---- redirects --------------------------------------------------------------------- */

struct http_step coil__http_first_step(const coil_http_request *request)
{
    struct http_step step = {.method = request->method,
                             .with_body = request->body != NULL,
                             .with_credentials = true};

    if (step.method == NULL)
        step.method = step.with_body ? "POST" : "GET";
    return step;
}

/*
 * The method after a redirect is the same as in browsers. (fetch.spec.whatwg.org,
 * "HTTP-redirect fetch")
 */
struct http_step coil__http_next_step(struct http_step step, int status, bool same_origin)
{
    bool is_post = strcmp(step.method, "POST") == 0;
    bool is_head = strcmp(step.method, "HEAD") == 0;

    if ((status == 303 && !is_head) || ((status == 301 || status == 302) && is_post)) {
        step.method = "GET";
        step.with_body = false;
        step.lost_body = true;
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

/*
 * True if a header is sent in this step. After a redirect, headers that describe a
 * dropped body or are meant for another origin are not sent.
 */
static bool is_to_be_sent(const char *header, const struct http_step *step)
{
    static const char *const for_the_origin[] = {"Authorization", "Cookie", "Host",
                                                 "Proxy-Authorization", NULL};
    static const char *const about_the_body[] = {
        "Content-Encoding", "Content-Language", "Content-Length",    "Content-Location",
        "Content-Type",     "Trailer",          "Transfer-Encoding", NULL};

    if (!step->with_credentials && is_any_of(header, for_the_origin))
        return false;
    return !step->lost_body || !is_any_of(header, about_the_body);
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
 * True if the request has a body, or a method that normally has one. In the second case,
 * Content-Length is sent even without a body. (RFC 9110, 8.6)
 */
static bool sends_body(const struct http_step *step)
{
    return step->with_body || strcmp(step->method, "POST") == 0 ||
           strcmp(step->method, "PUT") == 0 || strcmp(step->method, "PATCH") == 0;
}

/* Add a header. If the session stores cookies, a Cookie header is merged with these
   cookies. */
static int add_header(coil_http_response *response, const char *header)
{
    if (response->session->cookies == NULL || !is_named(header, "Cookie"))
        return append(&response->headers, header);
    return coil__http_cookie_add(response, header + strlen("Cookie:"),
                                 &response->cookies);
}

static bool is_in(const struct curl_slist *list, const char *header)
{
    for (; list != NULL; list = list->next)
        if (strncasecmp(list->data, header, strcspn(header, ":") + 1) == 0)
            return true;
    return false;
}

/*
 * Add the session's default headers, except those that the request sets itself. A request
 * that sets Range or Accept-Encoding gets the body undecoded.
 */
static int add_default_headers(coil_http_response *response, bool decoded)
{
    int rc = 0;

    for (struct curl_slist *each = response->session->headers; each != NULL && rc == 0;
         each = each->next)
        if (!is_in(response->headers, each->data) &&
            (decoded || !is_named(each->data, "Accept-Encoding")))
            rc = append(&response->headers, each->data);
    return rc;
}

/*
 * Make the list of the request's headers, or none if the default headers suffice. For a
 * request with a body, libcurl would add two headers, which the list removes unless the
 * caller sets them: the Content-Type of a form, and "Expect: 100-continue", which delays
 * a long body by up to a second.
 */
static int make_headers(coil_http_response *response, const coil_http_request *request,
                        const struct http_step *step, bool *decoded)
{
    const char *const *headers = request->headers;
    bool has_type = false;
    int rc = 0;

    *decoded = true;
    if (headers == NULL && !sends_body(step))
        return 0;
    for (; headers != NULL && *headers != NULL && rc == 0; headers++) {
        if (is_named(*headers, "Range") || is_named(*headers, "Accept-Encoding"))
            *decoded = false;
        if (!is_to_be_sent(*headers, step))
            continue;
        has_type = has_type || is_named(*headers, "Content-Type");
        rc = add_header(response, *headers);
    }
    if (rc == 0)
        rc = add_default_headers(response, *decoded);
    if (rc == 0 && !has_type)
        rc = append(&response->headers, "Content-Type:");
    if (rc == 0)
        rc = append(&response->headers, "Expect:");
    return rc;
}

/* ---- finding the host -------------------------------------------------------------- */

static bool is_tls(const coil_http_response *response)
{
    return strncasecmp(response->url, "https:", 6) == 0;
}

static struct http_proxy *proxy_for(const coil_http_response *response)
{
    return is_tls(response) ? &response->session->https_proxy
                            : &response->session->http_proxy;
}

static int set_error(coil_http_response *response, int rc, const char *why)
{
    if (rc < 0 && why != NULL)
        snprintf(response->error, sizeof response->error, "%s", why);
    return rc;
}

int coil__http_check_url(coil_http_response *response)
{
    struct http_target target;
    const char *why = NULL;
    int rc = coil__http_target_parse(&target, response->url, &why);

    coil__http_target_finish(&target);
    response->url_is_valid = rc == 0;
    return set_error(response, rc, why);
}

/* Set response->name to the entry of the target's host. */
static int find_name(coil_http_response *response, const struct http_target *target)
{
    response->name =
        coil__http_names_get(&response->session->names, target->host, target->port);
    return response->name != NULL ? 0 : -ENOMEM;
}

static int find_new_host(coil_http_response *response)
{
    struct http_target target;
    const char *why = NULL;
    int rc = coil__http_target_parse(&target, response->url, &why);

    set_error(response, rc, why);
    if (rc == 0)
        rc = find_name(response, &target);
    if (rc == 0)
        coil__http_name_set_origin(response->name, response->url);
    coil__http_target_finish(&target);
    return rc;
}

static int find_host(coil_http_response *response)
{
    int rc = 0;

    response->name = coil__http_names_known(&response->session->names, response->url);
    if (response->name == NULL)
        rc = find_new_host(response);
    response->url_is_valid = rc == 0;
    return rc;
}

static int find_proxy(coil_http_response *response, struct http_proxy *proxy)
{
    const char *why = NULL;
    int rc = 0;

    if (proxy->target.host == NULL)
        rc = coil__http_target_parse_proxy(&proxy->target, proxy->url, &why);
    if (rc == 0)
        return find_name(response, &proxy->target);
    coil__http_target_finish(&proxy->target);
    return set_error(response, rc, why);
}

/*
 * Pass the addresses to libcurl, which caches them. Addresses that were passed before are
 * omitted unless `all` is true, that is, unless libcurl has requested a lookup.
 */
static int give_addresses(coil_http_response *response, bool all)
{
    struct http_name *name = response->name;
    struct curl_slist *longer;

    if (name->given == name->version && !all) {
        response->trusted = true;
        return 0;
    }
    longer = curl_slist_append(response->addresses, name->entry);
    if (longer == NULL)
        return -ENOMEM;
    response->addresses = longer;
    response->name_version = name->version;
    return 0;
}

static int look_up(coil_http_response *response, bool all)
{
    struct http_name *name = response->name;
    int rc = coil__http_name_resolve(name, response->idle_timeout_ns);

    if (rc == 0)
        return give_addresses(response, all);
    if (rc != -ECANCELED && rc != -ENOMEM)
        snprintf(response->error, sizeof response->error, "%s could not be resolved: %s",
                 name->host, rc == -ENOENT ? "no such host" : strerror(-rc));
    return rc;
}

/*
 * True for a numeric host that libcurl parses itself: without a proxy, any numeric host;
 * with a proxy, an IPv6 address, which CURLOPT_RESOLVE does not support.
 */
static bool needs_no_look_up(const struct http_name *name, bool is_proxy)
{
    return name->numeric && (!is_proxy || name->host[0] == '[');
}

int coil__http_look_up(coil_http_response *response, bool directly, bool all)
{
    struct http_proxy *proxy = proxy_for(response);
    bool has_proxy = proxy->url[0] != '\0', is_proxy = !directly && has_proxy;
    int rc = find_host(response);

    if (rc == 0 && is_proxy) {
        coil__http_name_release(response->name);
        response->name = NULL;
        rc = find_proxy(response, proxy);
    }
    if (rc == 0 && needs_no_look_up(response->name, has_proxy))
        response->may_resolve = true;
    else if (rc == 0)
        rc = look_up(response, all);
    return rc;
}

/* CURLOPT_RESOLVER_START_FUNCTION. A nonzero result ends the transfer. */
static int on_name_wanted(void *resolver, void *reserved, void *arg)
{
    coil_http_response *response = ((struct http_easy *)arg)->response;

    (void)resolver;
    (void)reserved;
    if (response->may_resolve)
        return 0;
    response->name_wanted = true;
    return 1;
}

void coil__http_request_apply(struct http_easy *handle)
{
    curl_easy_setopt(handle->easy, CURLOPT_RESOLVER_START_FUNCTION, on_name_wanted);
    curl_easy_setopt(handle->easy, CURLOPT_RESOLVER_START_DATA, handle);
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

static CURLcode set_method(struct http_easy *handle, const coil_http_request *request,
                           const struct http_step *step)
{
    CURL *easy = handle->easy;
    bool is_post = strcmp(step->method, "POST") == 0, sends = sends_body(step);
    CURLcode code = CURLE_OK;

    handle->is_head = strcmp(step->method, "HEAD") == 0;
    if (handle->is_head)
        return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (!sends && strcmp(step->method, "GET") == 0)
        return CURLE_OK;
    handle->cannot_be_reset = true;
    if (sends)
        code = set_body(easy, request);
    if (code == CURLE_OK && !is_post && strcmp(step->method, "GET") != 0)
        code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, step->method);
    else if (code == CURLE_OK && sends && !is_post)
        code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "GET");
    return code;
}

/*
 * Limits for the headers of a request, beyond which libcurl 7.88 hangs: with HTTP/2,
 * nghttp2 does not open a stream for 64 KiB or more, and over TLS, bytes after the first
 * 128 KiB are not sent. The limits leave space for the headers that libcurl adds.
 */
#define LONGEST_BY_HTTP_2 50000
#define LONGEST_OVER_TLS 110000

static size_t length_of_request(const coil_http_response *response)
{
    size_t n = strlen(response->url);

    for (struct curl_slist *header = response->headers; header; header = header->next)
        n += strlen(header->data);
    return response->cookies != NULL ? n + strlen(response->cookies) : n;
}

/* Set the options that a plain GET does not need. */
static CURLcode set_rest(coil_http_response *response, const coil_http_request *request,
                         const struct http_step *step, bool decoded)
{
    struct http_easy *handle = response->handle;
    CURLcode code = set_method(handle, request, step);

    if (response->headers != NULL) {
        handle->has_headers = true;
        curl_easy_setopt(handle->easy, CURLOPT_HTTPHEADER, response->headers);
    }
    if (response->cookies != NULL && code == CURLE_OK) {
        handle->has_cookies = true;
        code = curl_easy_setopt(handle->easy, CURLOPT_COOKIE, response->cookies);
    }
    if (!decoded && code == CURLE_OK) {
        handle->is_not_decoded = true;
        code = curl_easy_setopt(handle->easy, CURLOPT_ACCEPT_ENCODING, NULL);
    }
    if (response->on_wire != NULL)
        coil__http_wire(handle);
    if (length_of_request(response) > LONGEST_BY_HTTP_2) {
        handle->cannot_be_reset = true;
        curl_easy_setopt(handle->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    }
    return code;
}

static CURLcode set_target(coil_http_response *response)
{
    struct http_easy *handle = response->handle;
    const char *proxy = proxy_for(response)->url;
    CURLcode code = curl_easy_setopt(handle->easy, CURLOPT_URL, response->url);

    if (response->addresses != NULL) {
        handle->has_names = true;
        curl_easy_setopt(handle->easy, CURLOPT_RESOLVE, response->addresses);
    }
    if (code != CURLE_OK || handle->proxy == proxy)
        return code;
    handle->proxy = proxy;
    return curl_easy_setopt(handle->easy, CURLOPT_PROXY, proxy);
}

int coil__http_prepare(coil_http_response *response, const coil_http_request *request,
                       const struct http_step *step)
{
    bool decoded = true;
    CURLcode code;
    int rc = coil__http_easy_take(response);

    if (rc == 0)
        rc = make_headers(response, request, step, &decoded);
    if (rc < 0)
        return rc;
    if (is_tls(response) && length_of_request(response) > LONGEST_OVER_TLS)
        return set_error(response, -EMSGSIZE,
                         "the request's URL or headers are longer than libcurl allows");
    code = set_target(response);
    if (code == CURLE_OK)
        code = set_rest(response, request, step, decoded);
    if (code == CURLE_BAD_FUNCTION_ARGUMENT)
        rc = coil__http_check_url(response);
    if (rc < 0)
        return rc;
    if (code == CURLE_BAD_FUNCTION_ARGUMENT)
        return set_error(response, -EMSGSIZE, "an option is longer than libcurl allows");
    return code == CURLE_OK ? 0 : -ENOMEM;
}
