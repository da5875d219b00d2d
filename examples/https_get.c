/*
 * https_get.c - fetch a page by HTTPS and print the answer.
 *
 *     https_get HOST [PORT [PATH [AUTHORITIES.pem]]]
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

struct page {
    const char *host, *port, *path, *authorities;
};

static int say(int rc)
{
    coil_error *error = coil_last_error();
    const char *why = error != NULL ? coil_error_message(error) : coil_strerror(rc);

    fprintf(stderr, "https_get: %s\n", why);
    return rc;
}

static ssize_t talk(coil_stream *s, const struct page *page)
{
    char buf[16384];
    ssize_t n = snprintf(buf, sizeof buf, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n",
                         page->path, page->host);

    if (n >= (ssize_t)sizeof buf)
        return -EMSGSIZE;
    n = coil_write(s, buf, (size_t)n);
    while (n >= 0 && (n = coil_read(s, buf, sizeof buf)) > 0)
        fwrite(buf, 1, (size_t)n, stdout);
    return n;
}

static int fetch(void *arg)
{
    const struct page *page = arg;
    coil_tls_opts opts = {.ca_file = page->authorities};
    COIL_AUTO(coil_tls) tls = NULL;
    COIL_AUTO(coil_stream) s = NULL;
    ssize_t rc = coil_tls_create(&opts, &tls);

    if (rc < 0)
        return say((int)rc);
    COIL_WITH_DEADLINE(COIL_SEC(30), rc)
    {
        rc = coil_connect_tls(page->host, page->port, tls, &s);
        if (rc == 0) {
            fprintf(stderr, "%s, %s\n", coil_tls_version(s), coil_tls_cipher(s));
            rc = talk(s, page);
        }
    }
    if (rc < 0)
        say((int)rc);
    return (int)rc;
}

int main(int argc, char *argv[])
{
    struct page page = {
        .host = argc > 1 ? argv[1] : "localhost",
        .port = argc > 2 ? argv[2] : "443",
        .path = argc > 3 ? argv[3] : "/",
        .authorities = argc > 4 ? argv[4] : NULL,
    };

    return coil_run(fetch, &page, NULL) < 0;
}
