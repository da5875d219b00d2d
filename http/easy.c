/*
 * easy.c - reuse libcurl's transfer handles.
 *
 * Creating a handle and setting all options of the session takes about as long as the
 * rest of a short request. Therefore a handle is reused after a successful request, and
 * the next request sets only the options that differ, such as the URL and the buffer for
 * the error message. All callbacks get the handle as their argument, and the handle
 * points to the response that uses it.
 *
 * Before a handle is reused, the options that the request changed are reset. The handle
 * is destroyed instead if the request had a custom method or a body, which no single
 * option can reset, or if the transfer failed, because libcurl may still hold its state.
 */
#include "easy.h"

#include "request.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>

/*
 * The maximum number of spare handles: few are needed, because a task that ends a request
 * usually begins the next one at once.
 */
#define MOST_SPARE 32

/*
 * How long libcurl caches a name. If a request waits longer than this for a connection,
 * libcurl no longer has the addresses of its host.
 */
#define NAMES_KEPT_S 600L

/* ---- options of the session -------------------------------------------------------- */

/*
 * Set the options that are the same for all requests. Redirects are followed by coil, not
 * by libcurl.
 */
static void set_common_options(CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, NAMES_KEPT_S);
}

/*
 * Set a certificate option both for servers and for https:// proxies, because libcurl has
 * separate options for them.
 */
static CURLcode set_ca(CURL *easy, CURLoption option, CURLoption for_proxy,
                       const char *path)
{
    CURLcode code = curl_easy_setopt(easy, option, path);

    return code == CURLE_OK ? curl_easy_setopt(easy, for_proxy, path) : code;
}

static CURLcode set_trust(const coil_http_session *session, CURL *easy)
{
    CURLcode code = CURLE_OK;

    if (session->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
        curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
    }
    if (session->ca_file != NULL)
        code = set_ca(easy, CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO, session->ca_file);
    if (code == CURLE_OK && (session->ca_folder != NULL || !session->system_ca_folder))
        code = set_ca(easy, CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH, session->ca_folder);
    return code;
}

static CURLcode set_cookies(const coil_http_session *session, CURL *easy)
{
    CURLcode code = CURLE_OK;

    if (session->cookies != NULL)
        code = curl_easy_setopt(easy, CURLOPT_SHARE, session->cookies);
    if (code == CURLE_OK && session->cookies != NULL)
        code = curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
    return code;
}

/*
 * Set the User-Agent of a CONNECT to a proxy. Other requests use the session's default
 * headers: for each request, libcurl would format the value of CURLOPT_USERAGENT twice,
 * byte by byte, but a custom header only once.
 */
static CURLcode set_user_agent(const coil_http_session *session, CURL *easy)
{
    if (session->http_proxy.url[0] == '\0' && session->https_proxy.url[0] == '\0')
        return CURLE_OK;
    return curl_easy_setopt(easy, CURLOPT_USERAGENT,
                            session->headers->data + strlen("User-Agent: "));
}

/*
 * Set the options whose strings libcurl copies, which may fail because memory runs out.
 * CURLOPT_ACCEPT_ENCODING makes libcurl decode bodies. The header itself is one of the
 * session's default headers.
 */
static CURLcode set_strings(const coil_http_session *session, CURL *easy)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");

    if (code == CURLE_OK)
        code = set_user_agent(session, easy);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    if (code == CURLE_OK)
        code = set_trust(session, easy);
    return code == CURLE_OK ? set_cookies(session, easy) : code;
}

/* ---- handles ----------------------------------------------------------------------- */

static void destroy(struct http_easy *handle)
{
    curl_easy_cleanup(handle->easy);
    free(handle);
}

static int create(const coil_http_session *session, struct http_easy **out)
{
    struct http_easy *handle = calloc(1, sizeof *handle);
    CURLcode code;

    if (handle == NULL)
        return -ENOMEM;
    handle->easy = curl_easy_init();
    code =
        handle->easy != NULL ? set_strings(session, handle->easy) : CURLE_OUT_OF_MEMORY;
    if (code != CURLE_OK) {
        destroy(handle);
        return code == CURLE_BAD_FUNCTION_ARGUMENT ? -EMSGSIZE : -ENOMEM;
    }
    set_common_options(handle->easy);
    curl_easy_setopt(handle->easy, CURLOPT_HTTPHEADER, session->headers);
    curl_easy_setopt(handle->easy, CURLOPT_PRIVATE, handle);
    coil__http_session_apply(session, handle);
    coil__http_response_apply(handle);
    coil__http_request_apply(handle);
    *out = handle;
    return 0;
}

int coil__http_easy_take(coil_http_response *response)
{
    coil_http_session *session = response->session;
    struct http_easy *handle = SLIST_FIRST(&session->spare);
    int rc = 0;

    if (handle != NULL) {
        SLIST_REMOVE_HEAD(&session->spare, link);
        session->spare_count--;
    } else {
        rc = create(session, &handle);
    }
    if (rc < 0)
        return rc;
    response->handle = handle;
    response->easy = handle->easy;
    handle->response = response;
    curl_easy_setopt(handle->easy, CURLOPT_ERRORBUFFER, response->error);
    return 0;
}

/*
 * Reset the options that the request has changed. Returns false if an option cannot be
 * reset.
 */
static bool reset(const coil_http_session *session, struct http_easy *handle)
{
    CURL *easy = handle->easy;

    handle->response = NULL;
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
    if (handle->has_headers)
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, session->headers);
    if (handle->has_cookies)
        curl_easy_setopt(easy, CURLOPT_COOKIE, NULL);
    if (handle->has_names)
        curl_easy_setopt(easy, CURLOPT_RESOLVE, NULL);
    if (handle->is_head)
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    if (handle->is_not_decoded &&
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "") != CURLE_OK)
        return false;
    if (handle->is_raw)
        curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 1L);
    if (handle->is_wired)
        coil__http_unwire(handle);
    handle->has_headers = handle->has_cookies = handle->has_names = false;
    handle->is_head = handle->is_not_decoded = handle->is_wired = false;
    handle->is_raw = false;
    return true;
}

void coil__http_easy_give_back(coil_http_response *response)
{
    coil_http_session *session = response->session;
    struct http_easy *handle = response->handle;
    bool good = response->code == CURLE_OK && response->failure == 0;

    if (handle == NULL)
        return;
    response->handle = NULL;
    response->easy = NULL;
    if (!good || session->multi == NULL || session->spare_count == MOST_SPARE ||
        handle->cannot_be_reset || !reset(session, handle)) {
        destroy(handle);
        return;
    }
    SLIST_INSERT_HEAD(&session->spare, handle, link);
    session->spare_count++;
}

void coil__http_easies_finish(coil_http_session *session)
{
    struct http_easy *handle;

    while ((handle = SLIST_FIRST(&session->spare)) != NULL) {
        SLIST_REMOVE_HEAD(&session->spare, link);
        destroy(handle);
    }
    session->spare_count = 0;
}
