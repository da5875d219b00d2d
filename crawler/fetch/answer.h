/*
 * answer.h - one request for a URL, and the server's answer.
 */
#ifndef CRAWLER_ANSWER_H
#define CRAWLER_ANSWER_H

#include "warc.h"

#include <coil/http.h>

#define ANSWER_ERROR_BYTES 256

/* The answer to a request. Strings are NULL if absent, and valid until answer_finish().
 * The struct has many members, because each is a fact about the answer that a later step
 * needs. */
struct answer {
    int rc;     /* 0, or a negative errno if the request failed */
    int status; /* 0: no answer */
    const char *content_type, *location, *retry_after;
    char *extracted_type; /* owns content_type if it was made from several headers */
    bool may_be_sniffed;  /* Content-Type is missing, and no header forbids sniffing */
    bool is_challenge;    /* the server asks the client to prove that it is human */
    bool sets_cookie;
    bool is_late;     /* rc is -ETIMEDOUT because the whole request took too long */
    bool is_tls;      /* rc is -EPROTO because of TLS, not of HTTP */
    bool is_too_long; /* the body was longer than the limit, and was cut off there */
    bool is_cut;      /* the body was cut off because it was not needed */
    bool has_body;    /* the reader received all of the body, up to the limit */
    int64_t size;     /* the body's Content-Length, or else the bytes received */
    /* Bytes received over the network in all requests of this fetch, including
       headers. */
    int64_t received_bytes;
    int64_t paused_ns; /* pause between HEAD and GET, for the host's delay */
    char error[ANSWER_ERROR_BYTES];
    coil_http_response *response;
};

/* The receiver of a body. */
struct body_reader {
    /* Called when the headers have arrived. Returns true if the body, or at least its
       beginning, is wanted. */
    bool (*begin_body)(const struct answer *answer, void *arg);
    /* Receives the next piece of the body. Returns 0 to receive more, 1 if the rest is
       not wanted, or a negative errno, which becomes the answer's rc. Must not
       suspend. */
    int (*feed_body)(const char *bytes, size_t n, void *arg);
    void *arg;
};

struct question {
    const char *url;            /* credentials in it are not sent; use a header instead */
    const char *const *headers; /* as in coil_http_request */
    bool headers_only;          /* send HEAD */
    bool ends_after_headers;    /* end the transfer when the headers have arrived */
    bool is_kept;               /* read the body up to the limit even if it is unwanted */
    int64_t idle_ns;            /* time limit for a wait without received bytes */
    int64_t max_ns;             /* time limit for the whole request */
    size_t body_limit;
    const struct body_reader *reader; /* or NULL: the body is not wanted */
    struct warc_exchange *exchange;   /* receives all bytes sent and received; or NULL */
};

/*
 * Fetch one URL without following redirects. If the body is not wanted, a short body is
 * still read to its end, so that the connection can be reused, and a long one is cut off.
 * A failed request is reported in answer->rc and answer->error. Fails only with
 * -ECANCELED or -ENOMEM. Always call answer_finish() afterwards.
 */
COIL_SUSPENDS int answer_get(struct answer *answer, coil_http_session *session,
                             const struct question *question);

/* Return true for statuses of redirects that are followed: 301, 302, 303, 307, 308. */
bool answer_is_redirect(int status);

/* Free the members of the answer. A zeroed struct is accepted. */
void answer_finish(struct answer *answer);

#endif
