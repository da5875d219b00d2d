/*
 * answer.h - one request for a URL, and the server's answer.
 */
#ifndef CRAWLER_ANSWER_H
#define CRAWLER_ANSWER_H

#include "warc.h"

#include <coil/http.h>

#define ANSWER_ERROR_BYTES 256

/*
 * The answer to a request. Strings are valid until answer_finish(), and NULL if the
 * header is missing. The struct has many members, because later steps need many facts
 * about an answer.
 */
struct answer {
    int rc;     /* 0, or a negative errno if the request failed */
    int status; /* 0: no answer */
    /*
     * 0, or a negative errno if the body of a redirect or an error page is damaged or
     * incomplete. The request has not failed then.
     */
    int body_rc;
    const char *content_type, *location, *retry_after;
    char *extracted_type;   /* NULL, or content_type if made from several headers */
    char *encoded_location; /* NULL, or location if the header is not valid UTF-8 */
    bool may_be_sniffed;    /* there is no Content-Type, and sniffing is allowed */
    bool is_challenge;      /* the server asks the client to prove that it is human */
    bool sets_cookie;
    bool is_late;     /* rc is -ETIMEDOUT because of request_params.max_ns */
    bool is_tls;      /* rc is -EPROTO because of TLS, not HTTP */
    bool is_too_long; /* the body was cut off at the limit */
    bool is_cut;      /* the body was cut off because it was unwanted */
    bool has_body;    /* the reader received the body, up to the limit */
    int64_t size;     /* Content-Length, or else the length of the received body */
    /*
     * Number of bytes received over the network in all requests of this fetch, including
     * headers.
     */
    int64_t received_bytes;
    int64_t paused_ns; /* pause between HEAD and GET because of the host's delay */
    char error[ANSWER_ERROR_BYTES];
    coil_http_response *response;
};

/* The receiver of a body. */
struct body_reader {
    /* Called when the headers have arrived. Returns true if the body is wanted. */
    bool (*begin_body)(const struct answer *answer, void *arg);
    /*
     * Receives the next piece of the body. Returns 0 to receive more, 1 if the rest is
     * unwanted, or a negative errno, which becomes the answer's rc. Must not suspend.
     */
    int (*feed_body)(const char *bytes, size_t n, void *arg);
    void *arg;
};

struct request_params {
    const char *url;            /* credentials in the URL are not sent */
    const char *const *headers; /* as in coil_http_request */
    bool headers_only;          /* send HEAD */
    bool ends_after_headers;    /* end the transfer after the headers */
    bool is_archived;           /* also read an unwanted body, up to the limit */
    int64_t idle_ns;            /* time limit while no bytes are received */
    int64_t max_ns;             /* time limit for the whole request */
    size_t body_limit;
    const struct body_reader *reader; /* NULL: the body is unwanted */
    struct warc_exchange *exchange;   /* stores all bytes sent and received; or NULL */
};

/*
 * Fetch one URL without following redirects. An unwanted body is read up to 128 KiB, so
 * that the connection can be reused, or up to body_limit if is_archived is set. A longer
 * one is cut off. The error of a failed request is stored in answer->rc and answer->error.
 * The function itself fails only with -ECANCELED or -ENOMEM. answer_finish() must be
 * called even after an error.
 */
COIL_SUSPENDS int answer_get(struct answer *answer, coil_http_session *session,
                             const struct request_params *params);

/* True for the status of a redirect that is followed: 301, 302, 303, 307 or 308. */
bool answer_is_redirect(int status);

/* Free the members of the answer. A zeroed struct is accepted. */
void answer_finish(struct answer *answer);

#endif
