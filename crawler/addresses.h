/*
 * addresses.h - looking hosts up for libcurl, which would start a thread for each.
 */
#ifndef CRAWLER_ADDRESSES_H
#define CRAWLER_ADDRESSES_H

#include <coil/base.h>

#include <curl/curl.h>

/*
 * Look the host of `url` up and append what was found to *entries, a list for
 * CURLOPT_RESOLVE. Fails as coil_getaddrinfo(), or with -EINVAL for what is no URL.
 */
COIL_SUSPENDS int addresses_look_up(const char *url, struct curl_slist **entries);

#endif
