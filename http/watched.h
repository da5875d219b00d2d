/*
 * watched.h - the descriptors that libcurl wants watched.
 */
#ifndef HTTP_WATCHED_H
#define HTTP_WATCHED_H

#include <coil/base.h>

#include <curl/curl.h>
#include <stddef.h>

struct http_socket;

/* libcurl is to act on a descriptor: CURL_CSELECT_IN or CURL_CSELECT_OUT. */
typedef void (*http_socket_event)(void *arg, curl_socket_t fd, int event);

struct http_sockets {
    struct http_socket **by_fd;
    size_t capacity; /* of by_fd */
    http_socket_event on_event;
    void *arg;
};

void coil__http_sockets_init(struct http_sockets *sockets, http_socket_event on_event,
                             void *arg);

/* libcurl must have closed them all. */
void coil__http_sockets_finish(struct http_sockets *sockets);

/* Is libcurl waiting for it? */
bool coil__http_socket_wanted(const struct http_sockets *sockets, curl_socket_t fd);

/* It is a connection's, and will be closed with coil__http_socket_forget(). 0 or -ENOMEM. */
int coil__http_socket_opened(struct http_sockets *sockets, curl_socket_t fd);

/*
 * Watch it for what libcurl waits for: CURL_POLL_IN, _OUT, _INOUT, _NONE or _REMOVE. Fails
 * as coil_add_reader(); never with the last two.
 */
int coil__http_socket_want(struct http_sockets *sockets, curl_socket_t fd, int what);

/* When something last came, or could be sent; INT64_MIN if never. */
int64_t coil__http_socket_last_event(const struct http_sockets *sockets,
                                     curl_socket_t fd);

/* It is about to be closed: no longer watched, and forgotten. */
void coil__http_socket_forget(struct http_sockets *sockets, curl_socket_t fd);

#endif
