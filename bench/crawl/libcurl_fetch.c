/*
 * libcurl_fetch.c - the lower bound for a crawl: libcurl fetches pages with known URLs.
 *
 *     libcurl_fetch URL-PREFIX PAGES CONNECTIONS
 *
 * The program fetches PREFIXp0.html, PREFIXp1.html and so on, without parsing them. The
 * program fails if a page does not arrive.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static const char *prefix;
static long page_count, next_page, done_count, failed_count;

static size_t discard(char *bytes, size_t size, size_t n, void *arg)
{
    (void)bytes, (void)arg;
    return size * n;
}

/* Start to fetch the next page. Returns false if no pages are left. */
static int begin_next(CURLM *multi, CURL *easy)
{
    char url[256];

    if (next_page == page_count)
        return 0;
    snprintf(url, sizeof url, "%sp%ld.html", prefix, next_page++);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    return curl_multi_add_handle(multi, easy) == CURLM_OK;
}

static void take_finished(CURLM *multi)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        CURL *easy = message->easy_handle;
        long status = 0;

        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        failed_count += message->data.result != CURLE_OK || status != 200;
        done_count++;
        curl_multi_remove_handle(multi, easy);
        if (!begin_next(multi, easy))
            curl_easy_cleanup(easy);
    }
}

int main(int argc, char *argv[])
{
    CURLM *multi = curl_multi_init();
    int running;

    if (argc != 4) {
        fprintf(stderr, "usage: libcurl_fetch URL-PREFIX PAGES CONNECTIONS\n");
        return 2;
    }
    prefix = argv[1];
    page_count = atol(argv[2]);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, atol(argv[3]));
    for (long i = 0; i < atol(argv[3]); i++) {
        CURL *easy = curl_easy_init();

        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        if (!begin_next(multi, easy))
            curl_easy_cleanup(easy);
    }
    while (done_count < page_count) {
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            return 1;
        take_finished(multi);
        if (running > 0)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    curl_multi_cleanup(multi);
    return failed_count > 0;
}
