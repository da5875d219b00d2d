/* content_type.h - the content type of a page, from its headers. */
#ifndef CRAWLER_CONTENT_TYPE_H
#define CRAWLER_CONTENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* True if the value is one type and not a list. Then it can be used unchanged. */
bool content_type_is_single(const char *value);

/*
 * Find the type in several Content-Type headers, or in one that is a list. The last valid
 * type counts. Its charset may come from an earlier one of the same type. (Fetch: extract
 * a MIME type) *out is "text/html;charset=utf-8", which the caller frees, or NULL if no
 * type is valid. Returns 0 or -ENOMEM.
 */
int content_type_extract(const char *const *values, size_t count, char **out);

#endif
