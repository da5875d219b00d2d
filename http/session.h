/*
 * session.h - what the parts of libcoil-http know of each other.
 */
#ifndef HTTP_SESSION_H
#define HTTP_SESSION_H

#include "names.h"
#include "target.h"
#include "watched.h"

#include <coil/error.h>
#include <coil/http.h>
#include <coil/loop.h>
#include <coil/task.h>
#include <coil/timer.h>

#include <curl/curl.h>
#include <sys/queue.h>

struct http_buffer;
struct http_easy;

struct http_proxy {
    char *url;                 /* "": none */
    struct http_target target; /* of the URL, once that has been parsed */
};

struct coil_http_session {
    CURLM *multi;     /* NULL once it is destroyed */
    CURLSH *cookies;  /* NULL unless the session keeps cookies */
    coil_timer timer; /* when libcurl wants to be called */
    coil_timer idle_timer;
    int64_t idle_due; /* when idle_timer is due, if it is started */
    struct http_sockets sockets;
    struct http_names names;
    SLIST_HEAD(, http_easy) spare;
    SLIST_HEAD(, http_buffer) spare_buffers;
    size_t spare_count, spare_buffer_count;
    char *user_agent, *ca_file, *ca_folder;
    struct http_proxy http_proxy, https_proxy;
    bool insecure, system_ca_folder;
    bool (*allows_address)(const struct sockaddr *address, void *arg);
    void *allows_address_arg;
    unsigned forks; /* of the process that created it: a child does not use it */
    size_t holders; /* references of the creator and of each response */
    LIST_HEAD(, coil_http_response) running; /* transfers that libcurl has */
    bool inside;                             /* libcurl's, which may call back */
    volatile bool destroyed;                 /* detects a second destroy */
};

/* Stop the program: the session or response was destroyed before. */
void coil__http_gone(const char *caller) __attribute__((noreturn));

/* Stop the program: "coil_http_get() was called with a session that is NULL". */
void coil__http_misuse_null(const char *function, const char *argument)
    __attribute__((noreturn));

/* The first statement of a public function that needs `pointer`. */
#define COIL__HTTP_REQUIRE(pointer, noun)                                                \
    do {                                                                                 \
        if ((pointer) == NULL)                                                           \
            coil__http_misuse_null(__func__, (noun));                                    \
    } while (0)

/*
 * Stop the program if libcurl is calling a function of the program's, on_body or
 * allows_address: it forbids what `caller` would do.
 */
void coil__http_check_outside(const coil_http_session *session, const char *caller);

/* In a child of fork(2): the session is its parent's. */
bool coil__http_is_parents(const coil_http_session *session);

struct coil_http_response {
    coil_http_session *session;
    LIST_ENTRY(coil_http_response) link; /* coil_http_session.running */
    struct http_easy *handle;            /* NULL before it is sent */
    CURL *easy;                          /* handle->easy */
    struct http_name *name;              /* who is asked */
    unsigned name_version;               /* of its addresses in `addresses` */
    struct curl_slist *headers;          /* its headers */
    char *cookies;                       /* its own, where the session has cookies, too */
    struct curl_slist *addresses;        /* "+host:port:address,address" */
    char *url;
    coil_task *waiter;          /* the task that waits in the response; or NULL */
    struct http_buffer *buffer; /* bytes of the body not read yet: [begin, end) */
    size_t begin, end;
    size_t body_limit, body_bytes;
    coil_http_body_fn on_body; /* takes the body instead of `buffer`; or NULL */
    void *on_body_arg;
    coil_http_wire_fn on_wire; /* is told of what goes over the wire; or NULL */
    void *on_wire_arg;
    bool in_tunnel;                    /* what is said is said to a proxy: CONNECT */
    int64_t idle_timeout_ns, progress; /* 0: without end; when something last came */
    curl_socket_t fd;                  /* the connection's that it had last */
    CURLcode code;                     /* libcurl's result, once `done` */
    int failure;                       /* a failure on coil's side: a negative errno */
    int socket_errno;                  /* why there was no socket */
    unsigned redirects, max_redirects;
    bool url_is_valid;
    bool had_socket;       /* a socket was made for it, to an address that is allowed */
    bool begun;            /* libcurl has a connection for it, or is connecting */
    bool explained;        /* `error` says why coil failed it */
    uint64_t header_names; /* a set of their beginnings: response.c */
    bool has_length, lengths_doubtful; /* Content-Length came; several times */
    bool taker_failed;                 /* on_body ended the transfer */
    coil_error *taker_error;           /* what it said, a reference; or NULL */
    bool redirected;                   /* the answer is a redirect to follow */
    bool running;                      /* the transfer is in libcurl's multi handle */
    bool reading;                      /* a task is in coil_http_read() */
    bool has_headers;
    bool paused; /* the buffer is full: libcurl is paused */
    bool done;
    bool no_memory;   /* what libcurl calls that may be a limit of its own */
    bool passed_over; /* a redirect's body, whose failure is the caller's no more */
    bool given_up;    /* `failure` has been returned, `error` says why */
    bool trusted;     /* libcurl was not told addresses that it has been before */
    bool name_wanted; /* libcurl wanted to resolve a name itself */
    bool may_resolve; /* ... which is an address in numbers */
    volatile bool destroyed; /* detects a second destroy */
    char error[CURL_ERROR_SIZE];
};

/*
 * Add the transfer to libcurl's multi handle; remove it, which aborts it unless it is
 * done. Removing one that is not there does nothing.
 */
int coil__http_start(coil_http_response *response);
void coil__http_stop(coil_http_response *response);

/* Wake the task that waits for the response. */
void coil__http_wake(coil_http_response *response);

/* Fail the transfer for a reason that libcurl does not know. */
void coil__http_fail(coil_http_response *response, int rc);

void coil__http_fail_all(coil_http_session *session, int rc);

/* Drop a reference; the last one frees the session. */
void coil__http_session_hold(coil_http_session *session);
void coil__http_session_drop(coil_http_session *session);

/* Set the callbacks by which a handle opens and closes sockets. */
void coil__http_session_apply(const coil_http_session *session, struct http_easy *handle);

/* Set the callbacks by which headers and bodies arrive. */
void coil__http_response_apply(struct http_easy *handle);

#endif
