/*
 * http_request.h - an HTTP/1.1 request to a file server, and the head of its answer.
 *
 * For httpd.c. No coil in here: text in, text out.
 */
#ifndef EXAMPLES_HTTP_REQUEST_H
#define EXAMPLES_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_HEAD_BYTES 8192
#define HTTP_TARGET_BYTES 4096
#define HTTP_INDEX "/index.html"

struct http_request {
    int status;      /* 0, or what is wrong with it: 400, 404, 405, 414, 505 */
    bool head_only;  /* the method is HEAD */
    bool old;        /* HTTP/1.0 */
    bool keep_alive; /* another request may follow on this connection */
    char target[HTTP_TARGET_BYTES]; /* as the client wrote it, without the query */
    char
        path[HTTP_TARGET_BYTES + sizeof HTTP_INDEX]; /* decoded, relative to the root: "."
                                     for "/"; with room for the index */
    bool slash; /* it ended with a slash, which `path` does not */
};

/*
 * Parse the head of a request: its first line and its headers, without the empty line
 * that ends it. It is modified. What is wrong is left in request->status.
 */
void http_parse(char *head, struct http_request *request);

/* Write the head of a 200 for a file of this size. Returns how long the head is. */
size_t http_format_ok(char *to, size_t n, const struct http_request *request,
                      long long size);

/* Write a whole answer that says only a status; 301 leads to the target with a slash. */
size_t http_format_status(char *to, size_t n, const struct http_request *request,
                          int status);

#endif
