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
     * A URL, "http://proxy:3128" or "socks5://...". NULL means what the environment says
     * (http_proxy, https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY) when the session is
     * created, "" none. Either way no_proxy in the environment names the hosts to be asked
     * directly.
     */
    const char *proxy;
    /*
     * The certificates to trust, PEM. NULL means what the environment says by OpenSSL's
     * rule, SSL_CERT_FILE and SSL_CERT_DIR, and the system's where that says nothing. The
     * environment is read when the session is created.
     */
    const char *ca_file;
    unsigned max_connections; /* at most, in all; 0: as many as there are descriptors */
    /*
     * Whether this address may be connected to, which is the proxy's where there is one. A host
     * that has no other fails with -EACCES. NULL allows all. It must not suspend.
     */
    bool (*allows_address)(const struct sockaddr *address, void *arg);
    void *allows_address_arg;
    bool insecure; /* trust every certificate, of whatever name: TLS without protection */
    /*
     * Keep the cookies that servers set, and send them back (RFC 6265). The cookies of a request's
     * Cookie header are sent with them, in one header; one that the server has set replaces one of
     * the same name.
     */
    bool cookies;
} coil_http_session_opts;

/*
 * Create a session in the current loop. `opts` is copied and may be NULL. Requests beyond
 * max_connections wait for their turn. Fails with -ENOMEM.
 */
COIL_API int coil_http_session_create(const coil_http_session_opts *opts,
                                      coil_http_session **out);

/*
 * The proxy for URLs of this scheme, "http" or "https", that a session created now would
 * take from the environment; NULL if that names none. Borrowed from the environment.
 */
COIL_API const char *coil_http_proxy_of_environment(const char *scheme);

/*
 * Close all its connections and free it; NULL is accepted. Never suspends. Calls that
 * wait in one of its transfers get -ESHUTDOWN; one that waits for a name gets it when the
 * look-up ends. The responses remain their owners', to be destroyed, in the same loop.
 */
COIL_API void coil_http_session_destroy(coil_http_session *session);

/* ---- requests ---------------------------------------------------------------------- */

/*
 * Takes the next n bytes of a body, decompressed; borrowed for the call. It runs as a callback
 * of the loop and must not suspend, begin a request, nor read or destroy a response or session,
 * which stops the program; it may ask for status and headers. 0, or below 0 to end the request
 * with that; what it said by coil_fail() is the cause of the request's failure.
 */
typedef int (*coil_http_body_fn)(coil_http_response *response, const char *bytes,
                                 size_t n, void *arg);

/* What goes over the wire, in this order; a head that is sent once more begins anew. */
enum coil_http_wire {
    COIL_HTTP_WIRE_REQUEST_HEAD, /* whole, with its empty line */
    COIL_HTTP_WIRE_REQUEST_BODY,
    COIL_HTTP_WIRE_RESPONSE_HEAD, /* a line of it; the last is empty */
    COIL_HTTP_WIRE_RESPONSE_BODY  /* in its chunks, compressed */
};

/* Takes n bytes as they go over the wire. Called and bound as coil_http_body_fn. */
typedef void (*coil_http_wire_fn)(enum coil_http_wire what, const char *bytes, size_t n,
                                  void *arg);

typedef struct coil_http_request {
    const char *url; /* http or https; user:password@ in it is sent as credentials */
    /*
     * NULL means GET, or POST if there is a body. A HEAD gets headers that tell of a body
     * (coil_http_content_length()), and none: coil_http_read() returns 0.
     */
    const char *method;
    /*
     * "Name: value", the last is NULL; may be NULL itself. "Name:" leaves out a header
     * that would be sent otherwise. With a Range or Accept-Encoding of your own the body
     * comes as it is sent; without, it is decompressed. With a Content-Encoding that libcurl does
     * not know it comes as it is sent, too. (Fetch: handle content codings)
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
    /*
     * End the request with -ETIMEDOUT if for so long nothing comes: no connection, no byte
     * of the TLS handshake, of the headers, of the body while a task reads it; nor an answer
     * about the host's name. 0 means no limit. It does not run while the request waits for
     * one of max_connections. A limit to the whole is a scope.
     */
    int64_t idle_timeout_ns;
    /*
     * Called with on_body_arg for each piece of the body, as it comes, without a copy. Then
     * coil_http_get() returns at the body's end. It is not called for the bodies of
     * redirects that are followed. NULL leaves the body to coil_http_read().
     */
    coil_http_body_fn on_body;
    void *on_body_arg;
    /*
     * Called with on_wire_arg for all that is sent and comes, in the clear, passwords too; without
     * what a proxy is asked by CONNECT. The request goes by HTTP/1.1 then. An interim response
     * (1xx) has a head of its own, before the response's; where libcurl finds a connection that
     * was kept closed, the request is sent again, and told again. NULL: nobody.
     */
    coil_http_wire_fn on_wire;
    void *on_wire_arg;
} coil_http_request;

/*
 * Send a request and wait for the headers of the response; with on_body, for its end.
 * Whatever its status is, it is a response: 0. The request is not needed any more when this
 * returns.
 *
 * *out is set before this suspends, NULL only for want of memory, and is to be destroyed:
 * after a failure it tells what coil_http_error() says, and the status and headers if there
 * were any. To get the headers alone, destroy it next: that never waits.
 *
 * A redirect that is followed goes on with GET and without the body after a 303, and
 * after a POST that got 301 or 302; else with the same method and body. Authorization,
 * Cookie, Proxy-Authorization and Host headers do not go to another scheme, host or port.
 *
 * Fails with -EINVAL (not an http URL, a malformed method, header or proxy, no such
 * ca_file; a redirect to another scheme), as coil_getaddrinfo() does for names (-ENOENT),
 * as connect(2) (-ECONNREFUSED), with -ECONNRESET (cut off before the end of the headers),
 * -EPROTO (not HTTP, TLS that fails, a redirect to what is no URL),
 * -EKEYREJECTED (a certificate that cannot be trusted, or of another name), -ELOOP (more
 * than max_redirects), -ETIMEDOUT (idle_timeout_ns; or connecting, after five minutes),
 * -EMSGSIZE (longer than libcurl takes: a URL of 8 MB; URL and headers of 1 MiB, or of
 * 110 KB over TLS; in the answer a header line of 100 KiB, or 300 KiB of headers),
 * -ECANCELED, -ESHUTDOWN (the session is destroyed), -EMFILE, -ENOMEM; -EACCES
 * (allows_address); with on_body also as coil_http_read() and with what on_body returned.
 */
COIL_SUSPENDS int coil_http_get(coil_http_session *session,
                                const coil_http_request *request,
                                coil_http_response **out);

/* ---- responses --------------------------------------------------------------------- */

/*
 * Read what there is of the body, at most n bytes, waiting until there is some. Returns
 * how many; 0 at the end. One task at a time.
 *
 * A body that nobody reads stops coming: 64 KiB are kept, then the peer has to wait.
 * Fails, after what came before has been read, with -ENODATA (cut off), -EMSGSIZE
 * (body_limit, or what is longer than libcurl takes: a trailer, or 64 MiB out of one
 * compressed piece), -ETIMEDOUT (idle_timeout_ns), -ECONNRESET, -EPROTO, -ECANCELED (which
 * ends the transfer), -ESHUTDOWN, -EBUSY, -ENOMEM; and again with the same.
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
 * n bytes; if it is longer, end the transfer. 0, or fails as coil_http_read(); if that is
 * -EBUSY, the reading task still gets all of the body.
 */
COIL_SUSPENDS int coil_http_discard(coil_http_response *response, size_t n);

/*
 * End the transfer if it is not at its end, and free all; NULL is accepted. Nobody may be
 * reading it. Never suspends. The connection is kept if all of the response has come,
 * read or not; with HTTP/2 in any case.
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

/*
 * A sentence about the failure; "" if there was none. Borrowed. NULL is accepted. It has no
 * user name or password of a URL or proxy in it, and no header's value.
 */
COIL_API const char *coil_http_error(const coil_http_response *response);

#ifdef __cplusplus
}
#endif

#endif
