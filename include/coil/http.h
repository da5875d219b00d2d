/*
 * coil/http.h - HTTP requests that suspend the calling task and nothing else.
 *
 *     coil_http_session *session;
 *     coil_http_response *response;
 *     coil_http_request request = {.url = "https://example.org/"};
 *     char buf[4096];
 *     ssize_t n;
 *
 *     rc = coil_http_session_create(NULL, &session);
 *     if (rc < 0)
 *         return rc;
 *     n = coil_http_get(session, &request, &response);
 *     while (n >= 0 && (n = coil_http_read(response, buf, sizeof buf)) > 0)
 *         fwrite(buf, 1, (size_t)n, stdout);
 *     if (n < 0)
 *         fprintf(stderr, "%s\n", coil_http_error(response));
 *     coil_http_response_destroy(response);
 *     coil_http_session_destroy(session);
 *
 * HTTP/1.1 and HTTP/2, TLS, proxies and compression are libcurl's; waiting is coil's. A
 * session keeps connections open between requests, belongs to the loop it was created in
 * and is destroyed before that. Any number of tasks may use it at once. This is a library
 * of its own: pkg-config coil-http.
 *
 * Deadlines are scopes (coil/scope.h). A call that is cancelled ends its transfer, and
 * leaves the session as good as before. (aiohttp: ClientSession)
 */
#ifndef COIL_HTTP_H
#define COIL_HTTP_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_http_session coil_http_session;
typedef struct coil_http_response coil_http_response;

/* ---- sessions --------------------------------------------------------------------- */

typedef struct coil_http_session_opts {
    const char *user_agent; /* NULL means "coil/VERSION" */
    /*
     * A URL, "http://proxy:3128" or "socks5://...". NULL means what the environment says
     * (http_proxy, https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY), "" none. Either way
     * no_proxy in the environment names the hosts to be asked directly.
     */
    const char *proxy;
    const char *ca_file;      /* certificates to trust, PEM; NULL means the system's */
    unsigned max_connections; /* at most, in all; 0: as many as there are descriptors */
} coil_http_session_opts;

/*
 * Create a session in the current loop. `opts` is copied and may be NULL. Requests beyond
 * max_connections wait for their turn. Fails with -ENOMEM.
 */
COIL_API int coil_http_session_create(const coil_http_session_opts *opts,
                                      coil_http_session **out);

/*
 * Close all its connections and free it; NULL is accepted. Never suspends. Calls that
 * wait in one of its transfers get -ESHUTDOWN; one that waits for a name gets it when the
 * look-up ends. The responses remain their owners', to be destroyed, in the same loop.
 */
COIL_API void coil_http_session_destroy(coil_http_session *session);

/* ---- requests --------------------------------------------------------------------- */

typedef struct coil_http_request {
    const char *url;    /* http or https; user:password@ in it is sent as credentials */
    const char *method; /* NULL means GET, or POST if there is a body */
    /*
     * "Name: value", the last is NULL; may be NULL itself. "Name:" leaves out a header
     * that would be sent otherwise. With a Range or Accept-Encoding of your own the body
     * comes as it is sent; without, it is decompressed.
     */
    const char *const *headers;
    const void *body; /* copied */
    size_t body_bytes;
    size_t body_limit; /* a longer answer fails with -EMSGSIZE; 0 means no limit */
    /*
     * Follow so many redirects (301, 302, 303, 307, 308). 0 leaves them to the caller:
     * they are responses like any other, with a Location.
     */
    unsigned max_redirects;
} coil_http_request;

/*
 * Send a request and wait for the headers of the response. Whatever its status is, it is
 * a response: 0. The request is not needed any more when this returns.
 *
 * *out is set in any case, NULL only for want of memory, and is to be destroyed: after a
 * failure it tells what coil_http_error() says.
 *
 * A redirect that is followed goes on with GET and without the body after a 303, and
 * after a POST that got 301 or 302; else with the same method and body. Authorization,
 * Cookie, Proxy-Authorization and Host headers do not go to another scheme, host or port.
 *
 * Fails with -EINVAL (not an http URL, a malformed method or header, no such ca_file), as
 * coil_getaddrinfo() does for names (-ENOENT), as connect(2) (-ECONNREFUSED), with
 * -ECONNRESET (cut off before the headers), -EPROTO (not HTTP, or TLS that fails),
 * -EKEYREJECTED (a certificate that cannot be trusted, or of another name), -ELOOP (more
 * than max_redirects), -ETIMEDOUT (connecting, after five minutes; scopes are sooner),
 * -ECANCELED, -ESHUTDOWN (the session is destroyed), -EMFILE, -ENOMEM.
 */
COIL_SUSPENDS int coil_http_get(coil_http_session *session,
                                const coil_http_request *request,
                                coil_http_response **out);

/* ---- responses -------------------------------------------------------------------- */

/*
 * Read what there is of the body, at most n bytes, waiting until there is some. Returns
 * how many; 0 at the end. One task at a time.
 *
 * A body that nobody reads stops coming: 64 KiB are kept, then the peer has to wait.
 * Fails, after what came before has been read, with -ENODATA (cut off), -EMSGSIZE
 * (body_limit), -ECONNRESET, -EPROTO, -ECANCELED (which ends the transfer), -ESHUTDOWN,
 * -EBUSY, -ENOMEM; and again with the same.
 */
COIL_SUSPENDS ssize_t coil_http_read(coil_http_response *response, void *buf, size_t n);

/*
 * Read all that is left. *body is the caller's, for free(3), with a NUL behind its *n
 * bytes. On failure it is NULL; fails as coil_http_read().
 */
COIL_SUSPENDS int coil_http_read_all(coil_http_response *response, char **body,
                                     size_t *n);

/*
 * Read and forget the rest, so that the connection can be used again, if it is at most
 * n bytes; if it is longer, end the transfer. 0, or fails as coil_http_read().
 */
COIL_SUSPENDS int coil_http_discard(coil_http_response *response, size_t n);

/*
 * End the transfer if it is not at its end, and free all; NULL is accepted. Nobody may be
 * reading it. Never suspends. The connection is kept if the body was read to its end.
 */
COIL_API void coil_http_response_destroy(coil_http_response *response);

/* The status, 200; 0 where there is none. */
COIL_API int coil_http_status(const coil_http_response *response);

/* The HTTP version: 10, 11 or 20; 0 where there is none. */
COIL_API int coil_http_version(const coil_http_response *response);

/*
 * The value of a header, or NULL; borrowed until the response is destroyed. The second
 * tells the index-th of several with the same name. Names in any case.
 */
COIL_API const char *coil_http_header(const coil_http_response *response,
                                      const char *name);
COIL_API const char *coil_http_header_at(const coil_http_response *response,
                                         const char *name, size_t index);

/* The body's length as announced, before decompression; -1 if it was not. */
COIL_API int64_t coil_http_content_length(const coil_http_response *response);

/* Bytes received so far, before decompression: of the body, and with the headers. */
COIL_API int64_t coil_http_body_bytes(const coil_http_response *response);
COIL_API int64_t coil_http_received_bytes(const coil_http_response *response);

/* Where it came from: the request's URL, or where redirects led. Borrowed. */
COIL_API const char *coil_http_url(const coil_http_response *response);

/* How many redirects were followed. */
COIL_API unsigned coil_http_redirect_count(const coil_http_response *response);

/* A sentence about the failure; "" if there was none. Borrowed. NULL is accepted. */
COIL_API const char *coil_http_error(const coil_http_response *response);

#ifdef __cplusplus
}
#endif

#endif
