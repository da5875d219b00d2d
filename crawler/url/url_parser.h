/* url_parser.h - the state of the URL parser, shared by whatwg_url.c and url_parser.c. */
#ifndef CRAWLER_URL_PARSER_H
#define CRAWLER_URL_PARSER_H

#include "../base/text.h"
#include "whatwg_url.h"

/*
 * Invariants
 *   1. `text` is the serialisation of everything parsed so far. The offsets of a part of
 *      the URL are set when the part begins or ends.
 *   2. Parts of the base are copied unchanged, because the base is also a serialisation.
 *   3. No offset is greater than the length of `text`, even if memory has run out.
 */
struct parser {
    const char *at, *end;          /* the rest of the input */
    const struct whatwg_url *base; /* or NULL */
    struct whatwg_url *url;
    struct text text; /* see invariants 1 and 3 */
};

#define NOT_SPECIAL (-2)

/* Return the default port of a special scheme, -1 for file, or NOT_SPECIAL. */
int parser_default_port(const char *scheme, size_t n);

/*
 * Return the number of unread bytes. parser_at_slash() returns whether the next byte is a
 * slash, or a backslash in a special URL.
 */
size_t parser_left(const struct parser *p);
bool parser_at_slash(const struct parser *p);
/* True at "?", "#" or the end of the input. */
bool parser_at_query(const struct parser *p);
bool parser_at_drive(const struct parser *p); /* at a drive of a file URL, "C:" or "C|" */
/*
 * Return the number of bytes before the next "/", "?" or "#", or before the end of the
 * input.
 */
size_t parser_to_delimiter(const struct parser *p);

bool parser_is_file(const struct parser *p);
bool parser_is_drive(const char *s, size_t n);

/* parser_add() appends a string, and parser_add_from_base() a part of the base. */
void parser_add(struct parser *p, const char *s);
void parser_add_from_base(struct parser *p, size_t begin, size_t end);

/* Copy scheme and authority of the base, and begin the path. Fails with -ENOMEM. */
int parser_copy_authority(struct parser *p);

/* Set the offsets of an empty authority (has_host), or of a URL without an authority. */
void parser_set_authority(struct parser *p, bool has_host);

/* Handle a ".." segment, or the end of the path. */
void parser_shorten_path(struct parser *p);
void parser_end_path(struct parser *p);

/*
 * The states. Each function parses from p->at to the end of the input, and returns 0,
 * -EINVAL or -ENOMEM. The caller must also check text.failed.
 */
int parser_special_authority(struct parser *p); /* after "http:" and any slashes */
int parser_authority(struct parser *p);         /* after "//" */
int parser_path_start(struct parser *p);        /* after an authority */
int parser_path(struct parser *p);              /* after the slash */
int parser_opaque_path(struct parser *p);
int parser_query(struct parser *p);
int parser_fragment(struct parser *p);

#endif
