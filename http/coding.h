/* coding.h - the content codings that this build of libcurl can decode. */
#ifndef HTTP_CODING_H
#define HTTP_CODING_H

#include <coil/base.h>

#include <stddef.h>

/* True if libcurl can decode the content coding, whose name has n bytes. */
bool coil__http_can_decode(const char *name, size_t n);

/*
 * Print the header that requests all codings that libcurl can decode. The header is the
 * one that libcurl sends if CURLOPT_ACCEPT_ENCODING is "". It has at most 63 bytes.
 */
void coil__http_print_accept_encoding(char *header, size_t size);

#endif
