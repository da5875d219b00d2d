/*
 * url_parser.h - a URL while it is being parsed; for whatwg_url.c and url_parser.c.
 */
#ifndef CRAWLER_URL_PARSER_H
#define CRAWLER_URL_PARSER_H

#include "../base/text.h"
#include "whatwg_url.h"

/*
 * Invariants
 * 1. What is parsed has been written: the text is the serialisation so far, and each
 *    offset of the URL is set when its part begins or ends.
 * 2. A part of the base is copied as it stands, since it is a serialisation too.
 * 3. No offset of a part begun lies beyond the text, even where memory has run out.
 */
struct parser {
    const char *at, *end;          /* what is left of the input */
    const struct whatwg_url *base; /* or NULL */
    struct whatwg_url *url;
    struct text text; /* invariants 1 and 3 */
};

#define NOT_SPECIAL (-2)

/* The default port of a special scheme, -1 for file; or NOT_SPECIAL. */
int parser_default_port(const char *scheme, size_t n);

/* What lies ahead. Special URLs take a backslash for a slash. */
size_t parser_left(const struct parser *p);
bool parser_at_slash(const struct parser *p);
bool parser_at_query(const struct parser *p);       /* or a fragment, or the end */
bool parser_at_drive(const struct parser *p);       /* a file's "C:" or "C|" */
size_t parser_to_delimiter(const struct parser *p); /* bytes before "/", "?", "#" */

bool parser_is_file(const struct parser *p);
bool parser_is_drive(const char *s, size_t n);

/* Write a string, or some of the base. */
void parser_add(struct parser *p, const char *s);
void parser_add_from_base(struct parser *p, size_t begin, size_t end);

/* Take over scheme and authority, and begin a path behind them. Fails with -ENOMEM. */
int parser_copy_authority(struct parser *p);

/* Begin an authority that is empty so far, or a path without one. */
void parser_set_authority(struct parser *p, bool has_host);

/* A ".."; and what is due after the last segment. */
void parser_shorten_path(struct parser *p);
void parser_end_path(struct parser *p);

/*
 * The states. Each parses from p->at to the end of the input, returning 0, -EINVAL or
 * -ENOMEM; whether memory ran out on the way is still to be asked of the text.
 */
int parser_special_authority(struct parser *p); /* behind "http:", any slashes first */
int parser_authority(struct parser *p);         /* behind "//" */
int parser_path_start(struct parser *p);        /* behind an authority */
int parser_path(struct parser *p);              /* behind its slash */
int parser_opaque_path(struct parser *p);
int parser_query(struct parser *p);
int parser_fragment(struct parser *p);

#endif
