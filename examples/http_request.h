/*
 * http_request.h - an HTTP/1.1 request to a file server, and the head of its answer.
 *
 * For httpd.c. This file only converts text, and does not use coil.
 */
#ifndef EXAMPLES_HTTP_REQUEST_H
#define EXAMPLES_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_HEAD_BYTES 8192
#define HTTP_TARGET_BYTES 4096
#define HTTP_INDEX "/index.html"

struct http_request {
    int status;                     /* 0, or the error: 400, 404, 405, 414, 505 */
    bool head_only;                 /* the method is HEAD */
    bool old;                       /* HTTP/1.0 */
    bool keep_alive;                /* the connection may carry another request */
    char target[HTTP_TARGET_BYTES]; /* as the client sent it, without the query */
    /* decoded, relative to the root: "." for "/"; an index's name also fits */
    char path[HTTP_TARGET_BYTES + sizeof HTTP_INDEX];
    bool slash; /* the request target ended with a slash; `path` does not */
};

/*
 * Parse the head of a request: its first line and its headers, without the empty line at
 * the end. The head is modified. If the request is invalid, request->status is set.
 */
void http_parse(char *head, struct http_request *request);

/*
 * Write the head of a 200 response for a file of this size. Returns the length of the
 * head.
 */
size_t http_format_ok(char *to, size_t n, const struct http_request *request,
                      long long size);

/*
 * Write a complete response with only a status; a 301 redirects to the target with a
 * slash appended.
 */
size_t http_format_status(char *to, size_t n, const struct http_request *request,
                          int status);

#endif
