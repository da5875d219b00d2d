/*
 * http_request.c - parses the HTTP/1.1 requests and writes the responses that a file
 * server needs. (RFC 9110, RFC 9112)
 */
#include "http_request.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the path ---------------------------------------------------------------------- */

static int hex_value(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, tolower((unsigned char)c)) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

/*
 * Decode %XX. Returns false for an invalid escape, and for a NUL, which no file name can
 * contain.
 */
static bool percent_decode(const char *from, char *to)
{
    for (; *from != '\0'; from++, to++) {
        *to = *from;
        if (*from != '%')
            continue;
        if (hex_value(from[1]) < 0 || hex_value(from[2]) < 0)
            return false;
        *to = (char)(hex_value(from[1]) * 16 + hex_value(from[2]));
        if (*to == '\0')
            return false;
        from += 2;
    }
    *to = '\0';
    return true;
}

/*
 * Make a decoded path relative to the root, in place. Clients resolve ".." before they
 * send a request (RFC 3986, section 5.2.4). Returns false if ".." remains, because the
 * path would be outside the root.
 */
static bool make_relative(char *path)
{
    char *to = path, *save, *segment = strtok_r(path, "/", &save);

    for (; segment != NULL; segment = strtok_r(NULL, "/", &save)) {
        size_t n = strlen(segment);
        if (strcmp(segment, "..") == 0)
            return false;
        if (strcmp(segment, ".") == 0)
            continue;
        if (to > path)
            *to++ = '/';
        memmove(to, segment, n);
        to += n;
    }
    if (to == path)
        *to++ = '.';
    *to = '\0';
    return true;
}

static int parse_target(char *target, struct http_request *request)
{
    /* the absolute form, for proxies, is allowed */
    if (strncasecmp(target, "http://", 7) == 0)
        target += 7 + strcspn(target + 7, "/?");
    target[strcspn(target, "?#")] = '\0';
    if (*target != '/')
        return 400;
    if (strlen(target) >= HTTP_TARGET_BYTES)
        return 414;
    snprintf(request->target, sizeof request->target, "%s", target);
    if (!percent_decode(target, request->path))
        return 400;
    request->slash = request->path[strlen(request->path) - 1] == '/';
    return make_relative(request->path) ? 0 : 404;
}

/* ---- the first line and the headers ------------------------------------------------ */

static int parse_first_line(char *line, struct http_request *request)
{
    char *save, *method = strtok_r(line, " ", &save);
    char *target = strtok_r(NULL, " ", &save), *version = strtok_r(NULL, " ", &save);

    if (version == NULL || strtok_r(NULL, " ", &save) != NULL ||
        strncmp(version, "HTTP/", 5) != 0)
        return 400;
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return 505;
    request->old = strcmp(version, "HTTP/1.0") == 0;
    request->keep_alive = !request->old;
    request->head_only = strcmp(method, "HEAD") == 0;
    if (!request->head_only && strcmp(method, "GET") != 0)
        return 405;
    return parse_target(target, request);
}

/*
 * The server does not read an unexpected body, so the connection cannot carry another
 * request.
 */
static int parse_header(char *line, struct http_request *request, bool *has_host,
                        bool *has_body)
{
    char *value = strchr(line, ':');

    if (value == NULL || value == line || strcspn(line, " \t") < (size_t)(value - line))
        return 400;
    *value++ = '\0';
    value += strspn(value, " \t");
    if (strcasecmp(line, "Host") == 0)
        *has_host = true;
    else if (strcasecmp(line, "Content-Length") == 0)
        *has_body |= strcmp(value, "0") != 0;
    else if (strcasecmp(line, "Transfer-Encoding") == 0)
        *has_body = true;
    else if (strcasecmp(line, "Connection") == 0 && strcasestr(value, "close") != NULL)
        request->keep_alive = false;
    else if (strcasecmp(line, "Connection") == 0 && request->old)
        request->keep_alive = strcasestr(value, "keep-alive") != NULL;
    return 0;
}

void http_parse(char *head, struct http_request *request)
{
    bool has_host = false, has_body = false;
    char *save, *line = strtok_r(head, "\r\n", &save);

    *request = (struct http_request){.status = 400};
    if (line == NULL)
        return;
    request->status = parse_first_line(line, request);
    while ((line = strtok_r(NULL, "\r\n", &save)) != NULL) {
        int status = parse_header(line, request, &has_host, &has_body);
        if (status != 0 && request->status == 0)
            request->status = status;
    }
    if (request->status == 0 && !request->old && !has_host)
        request->status = 400;
    if (has_body || request->status == 400 || request->status == 505)
        request->keep_alive = false;
}

/* ---- answers ----------------------------------------------------------------------- */

static const char *content_type(const char *name)
{
    static const char *const types[][2] = {
        {"html", "text/html; charset=utf-8"},
        {"htm", "text/html; charset=utf-8"},
        {"css", "text/css; charset=utf-8"},
        {"js", "text/javascript; charset=utf-8"},
        {"txt", "text/plain; charset=utf-8"},
        {"c", "text/plain; charset=utf-8"},
        {"h", "text/plain; charset=utf-8"},
        {"md", "text/markdown; charset=utf-8"},
        {"xml", "application/xml"},
        {"json", "application/json"},
        {"svg", "image/svg+xml"},
        {"png", "image/png"},
        {"gif", "image/gif"},
        {"jpg", "image/jpeg"},
        {"jpeg", "image/jpeg"},
        {"webp", "image/webp"},
        {"ico", "image/vnd.microsoft.icon"},
        {"pdf", "application/pdf"},
        {"gz", "application/gzip"},
        {"zip", "application/zip"},
        {"woff2", "font/woff2"},
        {"wasm", "application/wasm"},
    };
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof types[0]; i++)
        if (strcasecmp(dot + 1, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

static const char *reason(int status)
{
    switch (status) {
    case 301:
        return "Moved Permanently";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 414:
        return "URI Too Long";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Internal Server Error";
    }
}

static const char *connection(const struct http_request *request)
{
    return request->keep_alive ? "keep-alive" : "close";
}

size_t http_format_ok(char *to, size_t n, const struct http_request *request,
                      long long size)
{
    return (size_t)snprintf(to, n,
                            "HTTP/1.1 200 OK\r\n"
                            "Content-Type: %s\r\n"
                            "Content-Length: %lld\r\n"
                            "Connection: %s\r\n\r\n",
                            content_type(request->path), size, connection(request));
}

size_t http_format_status(char *to, size_t n, const struct http_request *request,
                          int status)
{
    char body[256];
    int body_bytes = snprintf(body, sizeof body,
                              "<!DOCTYPE html>\n<title>%d %s</title>\n<h1>%d %s</h1>\n",
                              status, reason(status), status, reason(status));
    bool moved = status == 301;
    const char *target = request->target;

    /* "//x/" would redirect to the host x. */
    while (moved && target[0] == '/' && target[1] == '/')
        target++;
    return (size_t)snprintf(to, n,
                            "HTTP/1.1 %d %s\r\n"
                            "Content-Type: text/html; charset=utf-8\r\n"
                            "Content-Length: %d\r\n"
                            "%s%s%s%s"
                            "Connection: %s\r\n\r\n%s",
                            status, reason(status), body_bytes, moved ? "Location: " : "",
                            moved ? target : "", moved ? "/\r\n" : "",
                            status == 405 ? "Allow: GET, HEAD\r\n" : "",
                            connection(request), request->head_only ? "" : body);
}
