/*
 * addresses.c - the answer of coil_getaddrinfo() in the words of CURLOPT_RESOLVE.
 */
#include "addresses.h"

#include <coil/addrinfo.h>

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

/* "address,address", IPv6 in brackets; libcurl tries them in this order. */
static void print_addresses(const struct addrinfo *list, FILE *to)
{
    const char *separator = "";
    char text[INET6_ADDRSTRLEN];

    for (; list != NULL; list = list->ai_next) {
        bool six = list->ai_family == AF_INET6;
        if (getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        fprintf(to, six ? "%s[%s]" : "%s%s", separator, text);
        separator = ",";
    }
}

static int append(struct curl_slist **entries, const char *host, const char *port,
                  const struct addrinfo *list)
{
    struct curl_slist *longer = NULL;
    char *entry = NULL;
    size_t n;
    bool complete;
    FILE *text = open_memstream(&entry, &n);

    if (text == NULL)
        return -ENOMEM;
    fprintf(text, "%s:%s:", host, port);
    print_addresses(list, text);
    complete = !ferror(text);
    if (fclose(text) == 0 && complete)
        longer = curl_slist_append(*entries, entry);
    free(entry);
    if (longer == NULL)
        return -ENOMEM;
    *entries = longer;
    return 0;
}

static int look_up(const char *host, const char *port, struct curl_slist **entries)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    int rc;

    if (host[0] == '[')
        return 0; /* IPv6 in numbers */
    rc = coil_getaddrinfo(host, port, &hints, &list);
    if (rc < 0)
        return rc;
    rc = append(entries, host, port, list);
    freeaddrinfo(list);
    return rc;
}

int addresses_look_up(const char *url, struct curl_slist **entries)
{
    CURLU *handle = curl_url();
    char *host = NULL, *port = NULL;
    int rc = -EINVAL;

    if (curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(handle, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(handle, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
        rc = look_up(host, port, entries);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(handle);
    return rc;
}
