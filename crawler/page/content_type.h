/* content_type.h - determine the content type of a page from its headers. */
#ifndef CRAWLER_CONTENT_TYPE_H
#define CRAWLER_CONTENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* True if the value is one valid type and not a list, so that it can be used
   unchanged. */
bool content_type_is_single(const char *value);

/*
 * Find the type in several Content-Type headers, or in one header that contains a list.
 * The last valid type is used. If it lacks a charset, the charset of an earlier value of
 * the same type is added. (Fetch: extract a MIME type) *out is set to, for example,
 * "text/html;charset=utf-8", or to NULL if none of the types is valid. The caller frees
 * *out. Returns 0 or -ENOMEM.
 */
int content_type_extract(const char *const *values, size_t count, char **out);

#endif
