/* content_type.h - determine the content type of a page from its headers. */
#ifndef CRAWLER_CONTENT_TYPE_H
#define CRAWLER_CONTENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if the value is a single valid type, not a list, so that it can be used unchanged.
 * "unknown/unknown" and "application/unknown" are not types.
 */
bool content_type_is_single(const char *value);

/*
 * Choose the type from several Content-Type headers, or from one header that contains a
 * list: the last valid type. If it has no charset, add the charset of an earlier value
 * with the same type. (Fetch: extract a MIME type) Stores the result in *out, for example
 * "text/html;charset=utf-8", or NULL if none of the types is valid or the last one is
 * unknown. The caller frees *out. Returns 0 or -ENOMEM.
 */
int content_type_extract(const char *const *values, size_t count, char **out);

#endif
