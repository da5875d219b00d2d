/*
 * nginx.h - Debian's nginx as a child of the test, on free ports, in a temporary folder.
 *
 *     /file/NAME     what the test put there, for keep-alive, ranges and HEAD
 *     /gzip/NAME     the same, compressed
 *     /chunked/NAME  the same through nginx's proxy, in chunks
 *     /slow/NAME     10 KB a second
 *     /moved         a redirect to /file/small
 *
 * The TLS port has a certificate for "localhost" by an authority of the test's own,
 * made by openssl(1), and speaks HTTP/2 too. Its folder has the authority's certificate
 * also as OpenSSL looks for it in a folder (trusted), and another authority's (other.pem).
 */
#ifndef TESTS_HTTP_NGINX_H
#define TESTS_HTTP_NGINX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct nginx {
    pid_t pid;
    int port, tls_port;
    char folder[64];
    char ca_file[128];
};

/* Skips the test where there is no nginx, or no openssl for `tls`. */
void nginx_start(struct nginx *nginx, bool tls);

/* End it, and remove the folder. */
void nginx_stop(struct nginx *nginx);

/* A file of n bytes, byte i being 'a' + i % 26. */
void nginx_put(const struct nginx *nginx, const char *name, size_t n);

/* How many connections and requests its log knows. */
int nginx_connections(const struct nginx *nginx);
int nginx_requests(const struct nginx *nginx);

#endif
