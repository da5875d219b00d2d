/*
 * libcurl.c - libcurl's easy interface, which waits in poll() and resolves names on its
 * own threads.
 */
#include "library.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

static size_t compare(char *data, size_t size, size_t n, void *right)
{
    *(bool *)right = size * n == 5 && memcmp(data, "slow\n", 5) == 0;
    return size * n;
}

static void *open_client(const char *server)
{
    CURL *curl = curl_easy_init();

    if (curl == NULL)
        return NULL;
    curl_easy_setopt(curl, CURLOPT_URL, server);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, compare);
    return curl;
}

/*
 * Open a client without the DNS cache, so that a thread of libcurl resolves the name for
 * each call.
 */
static void *open_client_by_name(const char *server)
{
    CURL *curl = open_client(server);

    if (curl != NULL) {
        curl_easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
        curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    }
    return curl;
}

static bool call(void *handle)
{
    bool right = false;
    CURLcode code;

    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 60000L);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &right);
    code = curl_easy_perform(handle);
    if (code != CURLE_OK)
        fprintf(stderr, "libcurl: %s\n", curl_easy_strerror(code));
    return code == CURLE_OK && right;
}

static bool times_out(void *handle)
{
    bool unused;

    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 50L);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &unused);
    return curl_easy_perform(handle) == CURLE_OPERATION_TIMEDOUT;
}

static void close_client(void *handle)
{
    curl_easy_cleanup(handle);
}

__attribute__((constructor)) static void add(void)
{
    static struct library libcurl = {
        .name = "libcurl",
        .version = VERSION_OF_LIBCURL,
        .tested = "the easy interface; look-ups on its own threads",
        .server = "HTTP_SERVER",
        .open = open_client,
        .call = call,
        .times_out = times_out,
        .close = close_client};

    static struct library by_name = {.name = "libcurl, by name",
                                     .server = "NAMED_HTTP_SERVER",
                                     .has_threads = true,
                                     .open = open_client_by_name,
                                     .call = call,
                                     .times_out = times_out,
                                     .close = close_client};

    curl_global_init(CURL_GLOBAL_DEFAULT);
    library_register(&libcurl);
    library_register(&by_name);
}
