/*
 * session.h - what the parts of libcoil-http know of each other.
 */
#ifndef HTTP_SESSION_H
#define HTTP_SESSION_H

#include "names.h"

#include <coil/http.h>
#include <coil/loop.h>
#include <coil/task.h>

#include <curl/curl.h>
#include <sys/queue.h>

struct coil_http_session {
    CURLM *multi; /* NULL once it is destroyed */
    coil_handle *timer;
    struct http_names names;
    char *user_agent, *proxy, *ca_file;
    size_t holders;                          /* the creator and each response */
    LIST_HEAD(, coil_http_response) running; /* transfers that libcurl has */
};

struct coil_http_response {
    coil_http_session *session;
    LIST_ENTRY(coil_http_response) link; /* coil_http_session.running */
    CURL *easy;                          /* of this request, NULL before it is sent */
    struct curl_slist *headers;          /* its headers */
    struct curl_slist *addresses;        /* "+host:port:address,address" */
    char *url;
    coil_task *waiter; /* who is parked until something happens */
    char *buffer;      /* body that is not read yet: [begin, end) */
    size_t begin, end;
    size_t body_limit, body_bytes;
    CURLcode code;    /* libcurl's, once `done` */
    int failure;      /* of ours rather than libcurl's: a negative errno */
    int socket_errno; /* why there was no socket */
    unsigned redirects;
    bool running; /* libcurl has it */
    bool reading; /* a task is in coil_http_read() */
    bool has_headers;
    bool paused; /* the buffer is full, libcurl waits */
    bool done;
    bool given_up;    /* `failure` has been returned, `error` says why */
    bool name_wanted; /* libcurl asked for a name it had not been given */
    bool may_resolve; /* ... which is an address in numbers */
    char error[CURL_ERROR_SIZE];
};

/*
 * Hand the request over to libcurl, or take it back: cut off unless it is done. The
 * second does nothing where libcurl does not have it.
 */
int coil__http_start(coil_http_response *response);
void coil__http_stop(coil_http_response *response);

/* Something happened: if a task waits for the response it looks again. */
void coil__http_wake(coil_http_response *response);

/* The transfer failed on our side; libcurl does not know yet. */
void coil__http_fail(coil_http_response *response, int rc);

/* The session's memory goes with the last holder. */
void coil__http_session_hold(coil_http_session *session);
void coil__http_session_drop(coil_http_session *session);

/* Tell a new request how this session opens and closes sockets. */
void coil__http_session_apply(coil_http_response *response);

#endif
