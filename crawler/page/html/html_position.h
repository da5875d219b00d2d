/* html_position.h - count lines and columns of a text that arrives in pieces. */
#ifndef CRAWLER_HTML_POSITION_H
#define CRAWLER_HTML_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A place in the text. Lines and columns are numbered from 1. A line ends with LF, CR LF
 * or CR. Columns count characters, that is, all bytes except the continuation bytes of
 * UTF-8.
 */
struct html_position {
    uint32_t line, column;
};

/* The position of the next byte. Initialize with {{1, 1}, false}. */
struct html_counter {
    struct html_position place;
    bool after_cr;
};

/* Advance the counter over n bytes of text. */
void html_count(struct html_counter *counter, const char *bytes, size_t n);

#endif
