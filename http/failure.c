/* failure.c - map libcurl's many errors to the few that a caller can handle. */
#include "failure.h"

#include <coil/error.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_URL_SHOWN 1000

/* True if socket() failed because of a lack in this process or in the system. */
static bool is_lack(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/*
 * Return the errno of a failed connection. If socket() itself failed, return its errno
 * instead of ECONNREFUSED, which libcurl would report. A lack is returned even if another
 * address of the host has failed otherwise, because it says nothing about the host.
 */
static int errno_of_connection(const coil_http_response *response)
{
    long error = 0;

    if (response->socket_errno == EACCES)
        return -EACCES; /* allows_address() refused the address: see session.c */
    if (is_lack(response->socket_errno))
        return -response->socket_errno;
    curl_easy_getinfo(response->easy, CURLINFO_OS_ERRNO, &error);
    if (error > 0)
        return -(int)error;
    return response->socket_errno > 0 ? -response->socket_errno : -ECONNREFUSED;
}

/*
 * Return the errno for CURLE_OUT_OF_MEMORY: -ENOMEM if memory ran out. Otherwise the
 * request, a header line, or the data of a paused transfer exceeds a limit of libcurl,
 * which uses the same code in these cases.
 */
static int errno_of_memory(const coil_http_response *response)
{
    return response->no_memory ? -ENOMEM : -EMSGSIZE;
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/*
 * Return the errno for CURLE_RECV_ERROR. libcurl uses this code for a broken connection,
 * a proxy that refuses a tunnel, too many header bytes, a trailer that is too long, and
 * malformed chunks. All messages about malformed chunks contain "chunk".
 */
static int errno_of_reception(const coil_http_response *response)
{
    long status = 0;

    if (begins_with(response->error, "Too large response headers"))
        return -EMSGSIZE;
    if (begins_with(response->error, "Out of memory in chunked-encoding"))
        return errno_of_memory(response);
    if (strstr(response->error, "chunk") != NULL)
        return -EPROTO;
    curl_easy_getinfo(response->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 300 ? -EPROTO : -ECONNRESET;
}

/*
 * True if the connection ended inside the headers, or after an interim response (1xx). In
 * these cases libcurl reports success or, if a header contained a length, a truncated
 * body.
 */
static bool ended_in_headers(const coil_http_response *response)
{
    return response->done && !response->has_headers &&
           (response->code == CURLE_OK || response->code == CURLE_PARTIAL_FILE);
}

/*
 * Return the errno for CURLE_WRITE_ERROR. If a callback refused bytes, it has set
 * response->failure. Otherwise the body is complete, but there are more bytes after the
 * end of its compressed stream, which are ignored, as in browsers.
 */
static int errno_of_writing(const coil_http_response *response)
{
    return response->has_headers && response->failure == 0 ? 0 : -EPROTO;
}

#define TOO_LARGE                                                                        \
    100 /* CURLE_TOO_LARGE of libcurl 8.6, which older headers of libcurl do not define */

static int errno_of(const coil_http_response *response)
{
    if (ended_in_headers(response))
        return -ECONNRESET;
    switch ((int)response->code) {
    case TOO_LARGE:
        return -EMSGSIZE;
    case CURLE_OK:
        return 0;
    case CURLE_WRITE_ERROR:
        return errno_of_writing(response);
    case CURLE_OUT_OF_MEMORY:
        return errno_of_memory(response);
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CACERT_BADFILE:
        return -EINVAL;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return -ENOENT;
    case CURLE_COULDNT_CONNECT:
        return errno_of_connection(response);
    case CURLE_OPERATION_TIMEDOUT:
        return -ETIMEDOUT;
    case CURLE_PARTIAL_FILE:
        return -ENODATA;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
        return -ECONNRESET;
    case CURLE_RECV_ERROR:
        return errno_of_reception(response);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return -EKEYREJECTED;
    default:
        return -EPROTO;
    }
}

int coil__http_outcome(const coil_http_response *response)
{
    return response->failure < 0 ? response->failure : errno_of(response);
}

static const char *what_is_too_long(const coil_http_response *response)
{
    long requested = 0;

    if (response->has_headers)
        return "a piece of the body is decompressed to more than libcurl allows";
    curl_easy_getinfo(response->easy, CURLINFO_REQUEST_SIZE, &requested);
    return requested > 0 ? "a header is longer than libcurl allows"
                         : "the request's URL or headers are longer than libcurl allows";
}

/*
 * Return true if the server does not use TLS. In that case it answers the handshake in
 * plain text, and OpenSSL takes the first bytes of the answer for the version or length
 * of a TLS record.
 */
static bool lacks_tls(const char *error)
{
    return strstr(error, "wrong version number") != NULL ||
           strstr(error, "packet length too long") != NULL;
}

/*
 * Replace libcurl's message with one that explains why the handshake failed. libcurl's
 * message is "OpenSSL/3.0.19: error:0A00010B:SSL routines::REASON" or "OpenSSL
 * SSL_connect: REASON in connection to HOST:PORT ".
 */
static void explain_handshake(coil_http_response *response)
{
    static const char connect[] = "SSL_connect: ";
    char said[sizeof response->error];
    const char *reason = response->error, *behind = strstr(reason, "::");
    const char *called = strstr(reason, connect), *end = NULL;

    if (lacks_tls(response->error)) {
        reason = "the server does not speak TLS on this port";
    } else if (called != NULL) {
        reason = called + strlen(connect);
        end = strstr(reason, " in connection to ");
        if (begins_with(reason, "SSL_ERROR_SYSCALL") || begins_with(reason, "Success"))
            reason = "the server closed the connection", end = NULL;
    } else if (behind != NULL && behind[2] != '\0') {
        reason = behind + 2;
    }
    snprintf(said, sizeof said, "the TLS handshake failed: %.*s",
             end != NULL ? (int)(end - reason) : (int)strlen(reason), reason);
    memcpy(response->error, said, sizeof said);
}

/* Return a message for libcurl's result, or NULL to use libcurl's own message. */
static const char *message_of_result(const coil_http_response *response)
{
    int rc = errno_of(response);

    if (ended_in_headers(response))
        return "the server closed the connection before the end of the headers";
    if (rc == -EACCES)
        return "connecting to the host's address is not allowed";
    if (rc == -EMSGSIZE &&
        (response->code == CURLE_OUT_OF_MEMORY || (int)response->code == TOO_LARGE))
        return what_is_too_long(response);
    if (rc == -EMSGSIZE && begins_with(response->error, "Out of memory"))
        return "a trailer is longer than libcurl allows";
    /* libcurl's message differs if it tried more than one connection */
    if (response->code == CURLE_GOT_NOTHING ||
        begins_with(response->error, "Connection died"))
        return "the server closed the connection without a response";
    return response->error[0] != '\0' ? NULL : curl_easy_strerror(response->code);
}

static const char *message_of_failure(const coil_http_response *response, int rc)
{
    switch (rc) {
    case -EMSGSIZE:
        return "the body is longer than the limit";
    case -EPROTO:
        return response->lengths_doubtful
                   ? "the Content-Length headers differ"
                   : "the server switched to another protocol, which was not requested";
    case -ELOOP:
        return "too many redirects";
    case -ESHUTDOWN:
        return "the session was destroyed";
    case -ECANCELED:
        return "the request was cancelled";
    default:
        return coil_strerror(rc);
    }
}

/* Set response->error, unless it already contains the message. */
static void set_error_message(coil_http_response *response, int rc)
{
    const char *said = NULL;

    if (response->explained && rc == response->failure)
        return;
    if (response->on_body_failed && rc == response->failure) {
        snprintf(response->error, sizeof response->error,
                 "the on_body callback ended the request: %s",
                 response->on_body_error != NULL
                     ? coil_error_message(response->on_body_error)
                     : coil_strerror(rc));
        return;
    }
    if (response->failure < 0 || rc == -ECANCELED || rc == -ELOOP)
        said = message_of_failure(response, rc);
    else if (response->code == CURLE_SSL_CONNECT_ERROR && response->error[0] != '\0')
        explain_handshake(response);
    else if (response->code != CURLE_OK || ended_in_headers(response))
        said = message_of_result(response);
    else if (response->error[0] == '\0')
        said = message_of_failure(response, rc);
    if (said != NULL)
        snprintf(response->error, sizeof response->error, "%s", said);
}

/*
 * Fail with a message that contains the URL without user name and password, because
 * messages are often written to logs. In a malformed URL, the user name and password may
 * be anywhere before the last @.
 */
static int fail_response(const coil_http_response *response, int rc)
{
    const char *url = response->url, *host = strstr(url, "://");
    bool parsed = host != NULL && response->url_is_valid;
    size_t scheme, authority;
    const char *at;

    host = host != NULL ? host + strlen("://") : url;
    host += parsed ? strspn(host, "/") : 0; /* libcurl accepts "http:///host" */
    scheme = (size_t)(host - url);
    authority = parsed ? strcspn(host, "/?#") : strlen(host);
    at = memrchr(host, '@', authority);
    return coil_fail_from(response->on_body_error, rc, "%.*s%.*s: %s", (int)scheme, url,
                          LONGEST_URL_SHOWN, at != NULL ? at + 1 : host, response->error);
}

int coil__http_give_up(coil_http_response *response, int rc)
{
    coil__http_stop(response);
    if (!response->given_up) {
        set_error_message(response, rc);
        response->failure = rc;
        response->given_up = response->done = true;
    }
    return rc == -ECANCELED || response->skipping_body ? rc : fail_response(response, rc);
}
