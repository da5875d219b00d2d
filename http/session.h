/* session.h - internal interfaces between the parts of libcoil-http. */
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
    char *url;                 /* "" means no proxy */
    struct http_target target; /* the parsed URL, if already parsed */
};

struct coil_http_session {
    CURLM *multi;     /* NULL once the session is destroyed */
    CURLSH *cookies;  /* NULL unless the session stores cookies */
    coil_timer timer; /* due when libcurl must be called */
    coil_timer idle_timer;
    int64_t idle_due; /* time at which idle_timer is due, if it is started */
    struct http_sockets sockets;
    struct http_names names;
    SLIST_HEAD(, http_easy) spare;
    SLIST_HEAD(, http_buffer) spare_buffers;
    size_t spare_count, spare_buffer_count;
    /* The default headers: "User-Agent: ..." and "Accept-Encoding: ..." */
    struct curl_slist *headers;
    char *ca_file, *ca_folder;
    struct http_proxy http_proxy, https_proxy;
    bool insecure, system_ca_folder;
    bool (*allows_address)(const struct sockaddr *address, void *arg);
    void *allows_address_arg;
    unsigned forks; /* number of forks at creation; different in a child of fork(2) */
    size_t holders; /* number of references: the creator's and one per response */
    LIST_HEAD(, coil_http_response) running; /* transfers in libcurl's multi handle */
    bool inside;                             /* libcurl is running, and may call back */
    volatile bool destroyed;                 /* to detect a second destroy */
};

/* Abort, because the session or response was already destroyed. */
void coil__http_gone(const char *caller) __attribute__((noreturn));

/*
 * Abort with a message such as "coil_http_get() was called with a session that is NULL".
 */
void coil__http_misuse_null(const char *function, const char *argument)
    __attribute__((noreturn));

/* Abort if `pointer` is NULL. Each public function begins with such checks of its
   pointers. */
#define COIL__HTTP_REQUIRE(pointer, noun)                                                \
    do {                                                                                 \
        if ((pointer) == NULL)                                                           \
            coil__http_misuse_null(__func__, (noun));                                    \
    } while (0)

/*
 * Abort if libcurl is calling on_body or allows_address, because the function `caller`
 * must not be called there.
 */
void coil__http_check_outside(const coil_http_session *session, const char *caller);

/* Return true in a child of fork(2) if the session belongs to the parent. */
bool coil__http_is_parents(const coil_http_session *session);

struct coil_http_response {
    coil_http_session *session;
    LIST_ENTRY(coil_http_response) link; /* coil_http_session.running */
    struct http_easy *handle;            /* NULL before the request is sent */
    CURL *easy;                          /* handle->easy */
    struct http_name *name;              /* the host or proxy that gets the request */
    unsigned name_version;               /* the version of the name in `addresses` */
    struct curl_slist *headers;          /* headers of the request */
    /* the request's cookies, if the session stores cookies */
    char *cookies;
    struct curl_slist *addresses; /* "+host:port:address,address" */
    char *url;
    coil_task *waiter;          /* the task that is waiting for the response, or NULL */
    struct http_buffer *buffer; /* unread bytes of the body, in [begin, end) */
    size_t begin, end;
    size_t body_limit, body_bytes;
    coil_http_body_fn on_body; /* receives the body instead of `buffer`, or NULL */
    void *on_body_arg;
    coil_http_wire_fn on_wire; /* receives the transmitted bytes, or NULL */
    void *on_wire_arg;
    bool in_tunnel;                    /* the current exchange is a CONNECT to a proxy */
    int64_t idle_timeout_ns, progress; /* 0: none; time of the last progress */
    curl_socket_t fd;                  /* the socket of the latest connection */
    CURLcode code;                     /* libcurl's result, valid once `done` */
    int failure;                       /* a failure on coil's side: a negative errno */
    int socket_errno;                  /* errno of a socket that could not be opened */
    unsigned redirects, max_redirects;
    bool url_is_valid;
    bool had_socket; /* a socket to an allowed address was opened */
    /* libcurl has a connection for the transfer, or is connecting */
    bool begun;
    bool explained;                    /* `error` contains coil's message */
    uint64_t header_names;             /* hashes of the header names: response.c */
    bool has_length, lengths_doubtful; /* has a Content-Length; lengths may differ */
    bool has_coding;                   /* has a Content-Encoding */
    bool on_body_failed;               /* on_body ended the transfer */
    coil_error *on_body_error;         /* a reference to on_body's error, or NULL */
    bool redirected;                   /* the response is a redirect to follow */
    bool running;                      /* the transfer is in libcurl's multi handle */
    bool reading;                      /* a task is in coil_http_read() */
    bool has_headers;
    bool paused; /* the buffer is full: libcurl is paused */
    bool done;
    bool no_memory;          /* memory ran out, as opposed to a limit of libcurl */
    bool skipping_body;      /* a redirect's body is being skipped; ignore failures */
    bool given_up;           /* `failure` was returned, and `error` has the message */
    bool trusted;            /* libcurl probably still has the addresses in its cache */
    bool name_wanted;        /* libcurl tried to look up a name itself */
    bool may_resolve;        /* the host is numeric, so libcurl may resolve it */
    volatile bool destroyed; /* to detect a second destroy */
    char error[CURL_ERROR_SIZE];
};

/*
 * Add the transfer to libcurl's multi handle, or remove it. Removing an unfinished
 * transfer aborts it; removing one that is not in the handle does nothing.
 */
int coil__http_start(coil_http_response *response);
void coil__http_stop(coil_http_response *response);

/* Wake the task that waits for the response. */
void coil__http_wake(coil_http_response *response);

/* Make the transfer fail with rc, for a reason outside libcurl. */
void coil__http_fail(coil_http_response *response, int rc);

void coil__http_fail_all(coil_http_session *session, int rc);

/* Add or drop a reference. When the last reference is dropped, the session is freed. */
void coil__http_session_hold(coil_http_session *session);
void coil__http_session_drop(coil_http_session *session);

/* Set the handle's callbacks for opening and closing sockets. */
void coil__http_session_apply(const coil_http_session *session, struct http_easy *handle);

/* Set the handle's callbacks for headers and bodies. */
void coil__http_response_apply(struct http_easy *handle);

#endif
