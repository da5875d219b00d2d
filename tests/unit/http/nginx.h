/*
 * nginx.h - runs Debian's nginx as a child of the test, on free ports, in a temporary
 * folder.
 *
 *     /file/NAME     what the test put there, for keep-alive, ranges and HEAD
 *     /gzip/NAME     the same, compressed
 *     /chunked/NAME  the same through nginx's proxy, in chunks
 *     /slow/NAME     10 KB a second
 *     /moved         a redirect to /file/small
 *
 * The TLS port also supports HTTP/2. The port's certificate for "localhost" is created
 * with openssl(1) and signed by an authority of the test. The authority's certificate is
 * also in the folder `trusted`, under the hashed name that OpenSSL looks for. other.pem
 * is the certificate of another authority.
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

/* Start nginx. Skips the test if nginx or, with `tls`, openssl(1) is not installed. */
void nginx_start(struct nginx *nginx, bool tls);

/* End nginx, and remove its folder. */
void nginx_stop(struct nginx *nginx);

/* Write a file of n bytes. Byte i is 'a' + i % 26. */
void nginx_put(const struct nginx *nginx, const char *name, size_t n);

/* Return the number of connections or requests in nginx's log. */
int nginx_connections(const struct nginx *nginx);
int nginx_requests(const struct nginx *nginx);

#endif
