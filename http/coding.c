/* coding.c - the content codings that this build of libcurl can decode. */
#include "coding.h"

#include <curl/curl.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct http_coding {
    const char *name;
    int feature; /* the feature of libcurl that decodes it, or 0 if it always can */
    bool is_requested;
} codings[] = {{"deflate", CURL_VERSION_LIBZ, true},
               {"gzip", CURL_VERSION_LIBZ, true},
               {"x-gzip", CURL_VERSION_LIBZ, false},
               {"br", CURL_VERSION_BROTLI, true},
               {"zstd", CURL_VERSION_ZSTD, true},
               {"identity", 0, false},
               {"none", 0, false}};

#define CODING_COUNT (sizeof codings / sizeof *codings)

static bool can_decode(const struct http_coding *coding)
{
    return (curl_version_info(CURLVERSION_NOW)->features & coding->feature) ==
           coding->feature;
}

bool coil__http_can_decode(const char *name, size_t n)
{
    for (size_t i = 0; i < CODING_COUNT; i++)
        if (strlen(codings[i].name) == n && strncasecmp(codings[i].name, name, n) == 0)
            return can_decode(&codings[i]);
    return false;
}

void coil__http_print_accept_encoding(char *header, size_t size)
{
    size_t n = (size_t)snprintf(header, size, "Accept-Encoding: "), beginning = n;

    for (size_t i = 0; i < CODING_COUNT; i++)
        if (codings[i].is_requested && can_decode(&codings[i]))
            n += (size_t)snprintf(header + n, size - n, "%s%s", n > beginning ? ", " : "",
                                  codings[i].name);
    if (n == beginning)
        snprintf(header + n, size - n, "identity");
}
