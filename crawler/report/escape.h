/*
 * escape.h - texts of anybody's, as what a format takes for text and for nothing else.
 *
 * Pages, servers and file names say what they like. In each format here passwords of URLs become
 * "***", and U+FFFD stands for what is not UTF-8, for control characters (a line end, too), and for
 * those that turn the direction of writing and so make a text look like another.
 */
#ifndef CRAWLER_ESCAPE_H
#define CRAWLER_ESCAPE_H

#include "../files/out.h"

#include <stddef.h>

typedef void (*escape_put)(void *to, const char *piece, size_t n);

/* As it is but for that. */
void escape_plain(const char *text, escape_put put, void *to);

/* For a string of JSON, without its quotes. */
void escape_json(const char *text, escape_put put, void *to);

/* The same of a message of SARIF, where brackets make links and braces stand for arguments.
   (SARIF 2.1.0, 3.11.5 and 3.11.6) */
void escape_sarif(const char *text, escape_put put, void *to);

/* For HTML and XML, between tags and in attributes. */
void escape_markup(const char *text, escape_put put, void *to);

/* For GitHub's Markdown, in a line, a table's cell and an element of HTML: nothing in it is a
   link, a mention or a mark. */
void escape_markdown(const char *text, escape_put put, void *to);

/*
 * A field of CSV, in quotes. (RFC 4180) A spreadsheet takes what begins with "=", "+", "-" or "@"
 * for a formula, in quotes too, so "'" is put before it, which makes it a text there.
 */
void escape_csv(const char *text, escape_put put, void *to);

/* Whose `to` is a struct out. */
void escape_to_out(void *to, const char *piece, size_t n);

/* The same of HTML and XML. */
void out_put_markup(struct out *out, const char *text);

#endif
