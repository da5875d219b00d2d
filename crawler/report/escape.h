/*
 * escape.h - write untrusted text so that each format treats it as plain text.
 *
 * Texts from pages, servers and file names may contain any bytes. In all formats,
 * passwords in URLs are replaced with "***". Invalid UTF-8, control characters (including
 * newlines) and characters that change the direction of writing (which can disguise a
 * text) are replaced with U+FFFD.
 */
#ifndef CRAWLER_ESCAPE_H
#define CRAWLER_ESCAPE_H

#include "../files/out.h"

#include <stddef.h>

typedef void (*escape_put)(void *to, const char *piece, size_t n);

/* Only replace passwords and characters as described above. */
void escape_plain(const char *text, escape_put put, void *to);

/* Escape a text for a JSON string, without writing the quotes around it. */
void escape_json(const char *text, escape_put put, void *to);

/*
 * Escape a text for a message in SARIF, in which brackets mean links, and braces mean
 * placeholders. (SARIF 2.1.0, 3.11.5 and 3.11.6)
 */
void escape_sarif(const char *text, escape_put put, void *to);

/* Escape a text for HTML and XML, both between tags and in attributes. */
void escape_markup(const char *text, escape_put put, void *to);

/*
 * Escape a text for a line, a table cell or an HTML element in GitHub's Markdown. Nothing
 * in the text can become a link, a mention or formatting.
 */
void escape_markdown(const char *text, escape_put put, void *to);

/*
 * Escape a text for a quoted field of CSV (RFC 4180). Spreadsheets treat a field that
 * begins with "=", "+", "-" or "@" as a formula, even if it is quoted. So such a field is
 * preceded by a "'", which marks it as text.
 */
void escape_csv(const char *text, escape_put put, void *to);

/* An escape_put function that writes to a struct out. */
void escape_to_out(void *to, const char *piece, size_t n);

/* Write text, escaped for HTML and XML. */
void out_put_markup(struct out *out, const char *text);

#endif
