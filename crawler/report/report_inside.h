/*
 * report_inside.h - private declarations shared by the files of the text report.
 *
 * report.c combines the parts, report_groups.c writes the groups of broken links, and
 * report_totals.c writes the totals.
 */
#ifndef CRAWLER_REPORT_INSIDE_H
#define CRAWLER_REPORT_INSIDE_H

#include "report.h"

#define SCREEN_LINES 30 /* assumed if the terminal does not report its size */
#define TOTAL_LINES 9   /* lines of the screen reserved for the totals */
#define SCREEN_WIDTH 100
#define LISTED_ITEMS 5      /* items listed per group without -v */
#define LONGEST_URL 60      /* longer URLs are truncated without -v */
#define LONGEST_MESSAGE 160 /* longer messages are truncated without -v */
#define LONGEST_CHAIN 250   /* maximum number of redirects to follow: --max-redirect */
#define CLUSTER_LINKS 3     /* minimum number of links to a folder that become one item */

enum color { PLAIN, BOLD, RED, GREEN, YELLOW, DIM };

struct view {
    struct out *out;
    /* common origin of all start URLs, omitted in printed URLs; or "" */
    const char *origin;
    size_t origin_length;
    /* URL of the working directory, omitted in URLs of files; or NULL */
    char *folder;
    size_t folder_length;
    size_t width;
    size_t lines_left; /* lines left for broken links */
    size_t column;
    bool is_all; /* -v */
    bool has_color;
};

void report_put(struct view *view, const char *format, ...);

void report_set_color(struct view *view, enum color color);

void report_end_line(struct view *view);

/* Format a number as "6,957". */
const char *report_format_number(uint64_t value, char *to);

void report_put_amount(struct view *view, uint64_t n, const char *one, const char *many);

/* Write untrusted text. If it has more than `longest` bytes, omit its middle. */
void report_put_shortened(struct view *view, const char *text, size_t longest);

void report_put_text(struct view *view, const char *text);

/* Return the part of a URL after view->origin or view->folder, or the whole URL. */
const char *report_short_url(const struct view *view, const char *url);

/*
 * Write the first n bytes of a URL. The URL of a file is decoded and written as a path.
 */
void report_put_short(struct view *view, const char *url, size_t n);

void report_put_url(struct view *view, const struct target *target);

/* Write a complete start URL, as the user gave it. */
void report_put_whole(struct view *view, const struct target *start);

/* Write "12:9", or "header". */
void report_put_position(struct view *view, const struct reference *reference);

void report_put_place(struct view *view, const struct reference *reference);

void report_put_status(struct view *view, int status);

/* True if the line has space for n columns, and for a hint that more items follow. */
bool report_has_room(const struct view *view, size_t n);

int report_put_groups(struct view *view, const struct targets *targets,
                      const struct references *references, const bool *verdicts,
                      const char *title);

int report_put_totals(struct view *view, const struct targets *targets,
                      const struct record_summary *summary, bool after_groups);

#endif
