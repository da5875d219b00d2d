/*
 * answer.h - what a server had to say about a URL.
 */
#ifndef CRAWLER_ANSWER_H
#define CRAWLER_ANSWER_H

#include <coil/http.h>

#define ANSWER_ERROR_BYTES 256

struct answer {
    int status;
    char *content_type; /* as in the header; NULL if there was none */
    char *location;     /* the same */
    char *body;         /* NULL unless wanted; a NUL follows it */
    size_t body_bytes;
    int64_t size;           /* of the body, as announced, else as received */
    int64_t received_bytes; /* headers and body, as they came over the wire */
    char error[ANSWER_ERROR_BYTES];
};

/* Once the headers are there: is the body wanted? */
typedef bool (*answer_wanted)(int status, const char *content_type);

/*
 * Get one URL, following no redirects. A body that is not wanted is read to its end if it
 * is short, for the connection's sake, else cut off. Fails as coil_http_get() and
 * coil_http_read(); then answer->error says why. In any case finish the answer.
 */
COIL_SUSPENDS int answer_get(struct answer *answer, coil_http_session *session,
                             const char *url, size_t body_limit, answer_wanted wanted);

/* Free what it holds. Zeroes are accepted. */
void answer_finish(struct answer *answer);

#endif
