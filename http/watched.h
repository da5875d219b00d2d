/* watched.h - the descriptors that libcurl watches. */
#ifndef HTTP_WATCHED_H
#define HTTP_WATCHED_H

#include <coil/base.h>

#include <curl/curl.h>
#include <stddef.h>

struct http_socket;

/*
 * Makes libcurl process an event of a descriptor. `event` is CURL_CSELECT_IN or
 * CURL_CSELECT_OUT.
 */
typedef void (*http_socket_event)(void *arg, curl_socket_t fd, int event);

struct http_sockets {
    struct http_socket **by_fd;
    size_t capacity; /* of by_fd */
    http_socket_event on_event;
    void *arg;
};

void coil__http_sockets_init(struct http_sockets *sockets, http_socket_event on_event,
                             void *arg);

/* Free the table. libcurl must have closed all descriptors. */
void coil__http_sockets_finish(struct http_sockets *sockets);

/* True if libcurl is waiting for an event of the descriptor. */
bool coil__http_socket_wanted(const struct http_sockets *sockets, curl_socket_t fd);

/*
 * Add the descriptor of a new connection. When libcurl closes the connection, call
 * coil__http_socket_forget(). Returns 0 or -ENOMEM.
 */
int coil__http_socket_opened(struct http_sockets *sockets, curl_socket_t fd);

/*
 * Watch a descriptor for the events that libcurl requests: CURL_POLL_IN, _OUT, _INOUT,
 * _NONE or _REMOVE. Fails like coil_add_reader(), except that _NONE and _REMOVE never
 * fail.
 */
int coil__http_socket_want(struct http_sockets *sockets, curl_socket_t fd, int what);

/* Return the time of the descriptor's latest event, or INT64_MIN before the first. */
int64_t coil__http_socket_last_event(const struct http_sockets *sockets,
                                     curl_socket_t fd);

/* Stop watching a descriptor that libcurl is about to close, and free its entry. */
void coil__http_socket_forget(struct http_sockets *sockets, curl_socket_t fd);

#endif
