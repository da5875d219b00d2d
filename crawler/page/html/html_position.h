/*
 * html_position.h - lines and columns of a text that comes in pieces.
 */
#ifndef CRAWLER_HTML_POSITION_H
#define CRAWLER_HTML_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Both from 1. A line ends with LF, CR LF or CR. Columns are of characters: of bytes that do
 * not continue one, in UTF-8.
 */
struct html_position {
    uint32_t line, column;
};

/* Where it has counted to. Begins as {{1, 1}, false}. */
struct html_counter {
    struct html_position place;
    bool after_cr;
};

/* Count on, over these bytes. */
void html_count(struct html_counter *counter, const char *bytes, size_t n);

#endif
