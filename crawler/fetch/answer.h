/* answer.h - the answer of a server to one request. */
#ifndef CRAWLER_ANSWER_H
#define CRAWLER_ANSWER_H

#include "warc.h"

#include <coil/http.h>

#define ANSWER_ERROR_BYTES 256

/* Texts are valid until the answer is finished, and may be NULL. */
struct answer {
    int rc;     /* below 0: the reason why there is no answer */
    int status; /* 0: no answer */
    const char *content_type, *location, *retry_after;
    char *extracted_type; /* of several headers: content_type, for free() */
    /* there is no content type, and no header forbids to guess it */
    bool may_be_sniffed;
    bool is_challenge; /* it asks for a human */
    bool sets_cookie;
    bool is_late; /* rc is -ETIMEDOUT: it took too long as a whole */
    bool is_tls;  /* rc is -EPROTO: of TLS, not of HTTP */
    bool
        is_too_long; /* the body was cut off at the limit; the reader has what came before it */
    bool is_cut; /* because it was not needed */
    bool
        has_body; /* it was wanted, and the reader got all of it, or all up to the limit */
    int64_t size; /* of the body, as announced, else as received */
    int64_t
        received_bytes; /* headers and body, as they came over the wire; of all requests */
    int64_t paused_ns;  /* between its requests, for the host's sake */
    char error[ANSWER_ERROR_BYTES];
    coil_http_response *response;
};

struct question {
    const char *url;            /* its credentials are not sent: a login is a header */
    const char *const *headers; /* as in coil_http_request */
    bool headers_only;          /* HEAD */
    bool ends_after_headers;    /* whatever comes then is cut off */
    bool is_kept;               /* the body is read up to the limit in any case */
    int64_t idle_ns;            /* without progress it ends */
    int64_t max_ns;             /* after that it ends in any case */
    size_t body_limit;
    /* Once the headers are there: is the body wanted, or its beginning? NULL: it is
       not. */
    bool (*wants_body)(const struct answer *answer, void *arg);
    /* The next piece of it. A return below 0 ends the answer with that; 1 means that
       no more is wanted. It must not suspend. */
    int (*take_body)(const char *bytes, size_t n, void *arg);
    void *arg;
    struct warc_exchange *exchange; /* takes what goes over the wire; or NULL */
};

/* Send one request, and follow no redirects. A body that is not wanted is read to its
   end if it is short, to keep the connection; otherwise it is cut off. Failures are in
   the answer, with a message. Returns below 0 only for -ECANCELED and -ENOMEM. In any
   case finish the answer. */
COIL_SUSPENDS int answer_get(struct answer *answer, coil_http_session *session,
                             const struct question *question);

/* True for the statuses of redirects that are followed: 301, 302, 303, 307, 308. */
bool answer_is_redirect(int status);

/* Free what it holds. Zeroes are accepted. */
void answer_finish(struct answer *answer);

#endif
