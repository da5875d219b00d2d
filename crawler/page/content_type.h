/*
 * content_type.h - the type that headers give a page.
 */
#ifndef CRAWLER_CONTENT_TYPE_H
#define CRAWLER_CONTENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* True for one type without a list, "text/html; charset=utf-8": it can be taken as it is written. */
bool content_type_is_single(const char *value);

/*
 * The type of several Content-Type headers, or of one that is a list. The last that is a type counts; its
 * charset may come from one before it of the same type. *out is "text/html;charset=utf-8", for free(), or
 * NULL if there is none. (Fetch: extract a MIME type) 0 or -ENOMEM.
 */
int content_type_extract(const char *const *values, size_t count, char **out);

#endif
