/*
 * attempt.h - asking for a URL until there is an answer to keep.
 */
#ifndef CRAWLER_ATTEMPT_H
#define CRAWLER_ATTEMPT_H

#include "answer.h"

struct attempt_options {
    unsigned max_tries;
    int64_t timeout_ns; /* of one try */
    size_t body_limit;
    answer_wanted wanted;
};

/*
 * answer_get(), again after a pause where the network failed, or where the server said
 * that it would do better later. *tries is how often it was asked. Fails as answer_get(),
 * or with -ETIMEDOUT; a try that would come too late counts as the last. In any case
 * finish the answer.
 */
COIL_SUSPENDS int attempt_get(const struct attempt_options *options,
                              coil_http_session *session, const char *url,
                              struct answer *answer, unsigned *tries);

/*
 * What a Retry-After header asks for, in nanoseconds from `now`, a time(2); 0 for what
 * cannot be understood. (RFC 9110, section 10.2.3)
 */
int64_t attempt_retry_after(const char *header, int64_t now);

#endif
