/*
 * coil/http.h - HTTP requests that suspend only the calling task.
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
 * libcurl implements HTTP/1.1 and HTTP/2, TLS, proxies and compression; coil suspends the
 * calling task while a transfer is in progress. A session keeps connections open between
 * requests. A session belongs to the loop in which it was created, and must be destroyed
 * before that loop. Any number of tasks may use a session at the same time. The functions
 * are in a separate library: pkg-config coil-http.
 *
 * To set a deadline, use a scope (coil/scope.h). Cancelling a call ends its transfer; the
 * session remains usable. (aiohttp: ClientSession)
 */
#ifndef COIL_HTTP_H
#define COIL_HTTP_H

#include <coil/base.h>
#include <coil/guard.h>

#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_http_session coil_http_session;
typedef struct coil_http_response coil_http_response;

/* ---- sessions ---------------------------------------------------------------------- */

typedef struct coil_http_session_opts {
    const char *user_agent; /* NULL means "coil/VERSION" */
    /*
     * The proxy's URL: "http://proxy:3128" or "socks5://...". "" means no proxy. NULL
     * means the proxy that the environment specifies when the session is created
     * (http_proxy, https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY). Hosts that are listed
     * in the environment variable no_proxy are always contacted directly.
     */
    const char *proxy;
    /*
     * A PEM file of trusted certificates. NULL means SSL_CERT_FILE and SSL_CERT_DIR from
     * the environment, as in OpenSSL, or else the system's certificates. The environment
     * is read when the session is created.
     */
    const char *ca_file;
    unsigned max_connections; /* 0 means as many as the descriptor limit allows */
    /*
     * Returns whether the session may connect to this address (the proxy's address if a
     * proxy is used). If all addresses of a host are refused, the request fails with
     * -EACCES. NULL allows all addresses. The function must not suspend.
     */
    bool (*allows_address)(const struct sockaddr *address, void *arg);
    void *allows_address_arg;
    bool insecure; /* accept any certificate for any name: no protection from attackers */
    /*
     * Store the cookies that servers set, and send them back (RFC 6265). If a request has
     * its own Cookie header, the stored cookies are added to it. If a cookie's name
     * occurs in both, the stored value is sent.
     */
    bool cookies;
} coil_http_session_opts;

/*
 * Create a session in the current loop. `opts` is copied and may be NULL. Requests beyond
 * max_connections wait until a connection is free. Fails with -ENOMEM.
 */
COIL_API COIL_CHECKED int coil_http_session_create(const coil_http_session_opts *opts,
                                                   coil_http_session **out);

/*
 * Return the proxy that the environment currently specifies for URLs of this scheme,
 * "http" or "https". Returns NULL if the environment does not specify a proxy. The string
 * belongs to the environment.
 */
COIL_API const char *coil_http_proxy_of_environment(const char *scheme);

/*
 * Close all connections of the session and free it; NULL is accepted. Never suspends.
 *
 * Calls that are waiting for one of the session's transfers fail with -ESHUTDOWN; a call
 * that is waiting for a name lookup returns only when the lookup ends. The responses
 * still belong to the callers, who must destroy them in the same loop.
 */
COIL_API void coil_http_session_destroy(coil_http_session *session);

/* ---- requests ---------------------------------------------------------------------- */

/*
 * Receives the next n bytes of a body, decompressed; borrowed for the duration of the
 * call.
 *
 * The function runs as a callback of the loop and must not suspend. It may query the
 * status and the headers. If the function starts a request, reads a response, or destroys
 * a response or session, the program aborts. It returns 0 to continue, or a negative
 * errno to end the request with that error. If the function calls coil_fail(), that error
 * becomes the cause of the request's failure.
 */
typedef int (*coil_http_body_fn)(coil_http_response *response, const char *bytes,
                                 size_t n, void *arg);

/*
 * Parts of an exchange, in the order in which they are transmitted. If a request is sent
 * again, so is its head.
 */
enum coil_http_wire {
    COIL_HTTP_WIRE_REQUEST_HEAD, /* the whole head, with the empty line at its end */
    COIL_HTTP_WIRE_REQUEST_BODY,
    COIL_HTTP_WIRE_RESPONSE_HEAD, /* one line of the head; the last line is empty */
    COIL_HTTP_WIRE_RESPONSE_BODY  /* body with chunk headers, still compressed */
};

/* Receives n bytes as they were transmitted. The rules of coil_http_body_fn apply. */
typedef void (*coil_http_wire_fn)(enum coil_http_wire what, const char *bytes, size_t n,
                                  void *arg);

typedef struct coil_http_request {
    const char *url; /* http or https; user:password@ is sent as credentials */
    /*
     * NULL means GET, or POST with a body. The headers of a response to HEAD describe a
     * body (coil_http_content_length()), but no body is sent: coil_http_read() returns 0.
     */
    const char *method;
    /*
     * A NULL-terminated array of "Name: value"; may be NULL. "Name:" omits a header that
     * would otherwise be sent. The response's body is decompressed, unless the request
     * has its own Range or Accept-Encoding header, or libcurl does not support the
     * Content-Encoding. (Fetch: handle content codings)
     */
    const char *const *headers;
    const void *body; /* copied */
    size_t body_bytes;
    size_t body_limit; /* a longer body fails with -EMSGSIZE; 0 means no limit */
    /*
     * Follow at most this many redirects (301, 302, 303, 307, 308). With 0, a redirect is
     * returned to the caller as an ordinary response with a Location header.
     */
    unsigned max_redirects;
    /*
     * End the request with -ETIMEDOUT if it makes no progress for this long. The request
     * makes progress when the name is resolved, when a connection is established, and
     * with each byte of the TLS handshake, the headers or the body. The clock is stopped
     * while the request waits for a free connection (max_connections) and, once the body
     * has begun, while no task reads. 0 means no limit. To limit the whole request, use a
     * scope.
     */
    int64_t idle_timeout_ns;
    /*
     * Receives each piece of the body as it arrives, without a copy. coil_http_get() then
     * returns at the end of the body. If a redirect is followed, its body is not passed
     * to on_body. If on_body is NULL, read the body with coil_http_read().
     */
    coil_http_body_fn on_body;
    void *on_body_arg;
    /*
     * Receives all bytes sent and received, unencrypted, including passwords. May be
     * NULL. The CONNECT request to a proxy is not included. A request with on_wire uses
     * HTTP/1.1. The head of an interim response (1xx) is passed before the head of the
     * final response. If a reused connection turns out to be closed, libcurl sends the
     * request again, and on_wire receives its bytes again.
     */
    coil_http_wire_fn on_wire;
    void *on_wire_arg;
} coil_http_request;

/*
 * Send a request and wait for the headers of the response, or, with on_body, for the end
 * of the body.
 *
 * Any response counts as success, whatever its status: the call returns 0. The request
 * may be freed when the call returns.
 *
 * *out is set before the call suspends, and the caller destroys it, even after a failure.
 * *out is NULL only if memory ran out. After a failure, coil_http_error() returns the
 * message; the status and headers are available if they were received. If only the
 * headers are needed, destroy the response without reading it, which never waits.
 *
 * After status 303, and for a POST also after 301 or 302, a redirect is followed with GET
 * and without the body. Other redirects keep the method and the body. If the target has
 * another scheme, host or port, the headers Authorization, Cookie, Proxy-Authorization
 * and Host are not sent to it.
 *
 * Fails with -EINVAL if the URL, or the target of a redirect, is not an http or https
 * URL. Also fails with -EINVAL for a malformed method, header or proxy, and for a missing
 * ca_file. If the host name cannot be resolved, fails like coil_getaddrinfo() (for
 * example -ENOENT). If connecting fails, fails like connect(2) (for example
 * -ECONNREFUSED).
 *
 * Fails with -ECONNRESET (the connection ended before the end of the headers), or -EPROTO
 * (not HTTP, a TLS failure, a redirect to an invalid URL). Fails with -EKEYREJECTED if
 * the certificate is not trusted or is for another name. Also fails with -ELOOP (more
 * than max_redirects), or -ETIMEDOUT (idle_timeout_ns, or no connection after five
 * minutes).
 *
 * Fails with -EMSGSIZE if a limit of libcurl is exceeded. The limits for the request are
 * 8 MB for the URL, and 1 MiB for URL and headers together, or 110 KB over TLS. The
 * limits for the response are 100 KiB for a header line and 300 KiB for all headers.
 *
 * Also fails with -ECANCELED, -ESHUTDOWN (the session was destroyed), -EMFILE, -ENOMEM,
 * or -EACCES (allows_address). With on_body it also fails like coil_http_read(), or with
 * the return value of on_body.
 */
COIL_SUSPENDS COIL_CHECKED int coil_http_get(coil_http_session *session,
                                             const coil_http_request *request,
                                             coil_http_response **out);

/* ---- responses --------------------------------------------------------------------- */

/*
 * Read at most n bytes of the body, suspending until at least one is available. Returns
 * the number of bytes; 0 at the end. Only one task may read at a time.
 *
 * While no task reads the body, coil buffers up to 64 KiB of it, and then stops
 * receiving. After a failure, the bytes that arrived before it can still be read. Fails
 * with -ENODATA (the body was cut off), or -EMSGSIZE (body_limit, or a limit of libcurl:
 * the size of a trailer, or 64 MiB decompressed from one piece). Fails with -ETIMEDOUT
 * (idle_timeout_ns), -ECONNRESET, -EPROTO, -ECANCELED (which ends the transfer),
 * -ESHUTDOWN, -EBUSY, or -ENOMEM. Further calls return the same error.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_http_read(coil_http_response *response, void *buf,
                                                  size_t n);

/*
 * Read the rest of the body. Free *body with coil_free(); a NUL follows its *n bytes.
 * After a failure *body is NULL; fails like coil_http_read().
 */
COIL_SUSPENDS COIL_CHECKED int coil_http_read_all(coil_http_response *response,
                                                  char **body, size_t *n);

/*
 * Read and discard the rest of the body, so that the connection can be reused. If the
 * rest is longer than n bytes, end the transfer instead.
 *
 * Returns 0, or fails like coil_http_read(). After -EBUSY the task that is reading still
 * gets the whole body.
 */
COIL_SUSPENDS int coil_http_discard(coil_http_response *response, size_t n);

/*
 * Abort the transfer if it is still in progress, and free the response; NULL is accepted.
 * Never suspends.
 *
 * No task may still be reading the response. The connection stays open for other requests
 * if the whole response has arrived, even if it was not read. An HTTP/2 connection always
 * stays open.
 */
COIL_API void coil_http_response_destroy(coil_http_response *response);

/* Return the status, such as 200; 0 if no response was received. */
COIL_API int coil_http_status(const coil_http_response *response);

/* Return the HTTP version as 10, 11 or 20; 0 if no response was received. */
COIL_API int coil_http_version(const coil_http_response *response);

/*
 * Return the value of a header, or NULL; borrowed until the response is destroyed. Names
 * are not case-sensitive. If several headers have the same name, coil_http_header_at()
 * returns the one with this index.
 */
COIL_API const char *coil_http_header(const coil_http_response *response,
                                      const char *name);
COIL_API const char *coil_http_header_at(const coil_http_response *response,
                                         const char *name, size_t index);

/*
 * Return the length of the body as the server announced it, before decompression; -1 if
 * it was not announced.
 */
COIL_API int64_t coil_http_content_length(const coil_http_response *response);

/*
 * Return the number of bytes received so far, before decompression: of the body only, or
 * of body and headers.
 */
COIL_API int64_t coil_http_body_bytes(const coil_http_response *response);
COIL_API int64_t coil_http_received_bytes(const coil_http_response *response);

/*
 * Return the URL whose response this is: the URL of the request, or the target of the
 * last redirect that was followed. Borrowed.
 */
COIL_API const char *coil_http_url(const coil_http_response *response);

/* Return the number of redirects that were followed. */
COIL_API unsigned coil_http_redirect_count(const coil_http_response *response);

/*
 * Return the message of the failure, or "" if the request did not fail. Borrowed. NULL is
 * accepted. The message contains neither the user name or password of a URL or proxy, nor
 * the value of a header.
 */
COIL_API const char *coil_http_error(const coil_http_response *response);

COIL__AUTO_TYPE(coil_http_session, coil_http_session_destroy);
COIL__AUTO_TYPE(coil_http_response, coil_http_response_destroy);

#ifdef __cplusplus
}
#endif

#endif
