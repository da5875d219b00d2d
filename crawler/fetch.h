/*
 * fetch.h - HTTP requests that suspend the calling task and nothing else.
 *
 *     fetch_session *session;
 *     struct fetch_request request = {.url = "http://example.org/"};
 *     struct fetch_response response;
 *
 *     rc = fetch_session_create(&options, &session);
 *     rc = fetch_get(session, &request, &response);
 *     if (rc == 0)
 *         fwrite(response.body, 1, response.body_bytes, stdout);
 *     fetch_response_finish(&response);
 *     fetch_session_destroy(session);
 *
 * A session keeps connections open between requests and belongs to the thread of the
 * loop it was created in. Deadlines are scopes (coil/scope.h): cancelling the task takes
 * the request back and leaves the session as good as before.
 */
#ifndef CRAWLER_FETCH_H
#define CRAWLER_FETCH_H

#include <coil/base.h>

typedef struct fetch_session fetch_session;

struct fetch_options {
    const char *user_agent;
    unsigned max_connections; /* at most, in all; 0: as there are descriptors */
};

struct fetch_request {
    const char *url;   /* http or https */
    size_t body_limit; /* a longer body fails with -EFBIG; 0 means no limit */

    /*
     * Called once the headers of a response have come, if not NULL: is its body wanted?
     * One that is not is read to its end if it is short, for the connection's sake, else
     * cut off.
     */
    bool (*want_body)(int status, const char *content_type);
};

#define FETCH_ERROR_BYTES 256

struct fetch_response {
    int status;
    char *content_type; /* as in the header; NULL if there was none */
    char *location;     /* the same; redirects are never followed here */
    char *body;         /* NULL unless wanted; a NUL follows it */
    size_t body_bytes;
    int64_t size;                  /* of the body, as announced, else as received */
    int64_t received_bytes;        /* headers and body, as they came over the wire */
    char error[FETCH_ERROR_BYTES]; /* a sentence about the failure */
};

/* Create a session in the current loop. `options` is copied. -ENOMEM. */
int fetch_session_create(const struct fetch_options *options, fetch_session **out);

/*
 * Close its connections and free it; NULL is accepted. No request may be under way.
 */
void fetch_session_destroy(fetch_session *session);

/*
 * Look the host of `url` up now, by coil_getaddrinfo(), for all later requests. Where it
 * is left out, libcurl starts a thread for every look-up. Fails as coil_getaddrinfo().
 */
COIL_SUSPENDS int fetch_session_resolve(fetch_session *session, const char *url);

/*
 * GET one URL. Returns 0 if there was a response, whatever its status.
 *
 * Otherwise response->error says why, and the rc is -ECANCELED, -ENOENT (no such host),
 * what connect(2) or the connection failed with, -EPROTO (not HTTP, or TLS that cannot be
 * trusted), -EFBIG (body_limit), -ENODATA (cut off in the middle), -EINVAL (the URL),
 * -ENOMEM. In any case finish the response.
 */
COIL_SUSPENDS int fetch_get(fetch_session *session, const struct fetch_request *request,
                            struct fetch_response *response);

/* Free what it holds. Zeroes are accepted. */
void fetch_response_finish(struct fetch_response *response);

#endif
