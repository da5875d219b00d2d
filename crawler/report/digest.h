/*
 * digest.h - what the reports that are made at the end are made of, gathered from records
 * alone.
 *
 *     digest_init(&digest, options, time(NULL));
 *     sink = digest_sink(&digest);             whoever tells the records
 *     rc = digest_arrange(&digest);            once the last is told
 *     ... digest.rows, digest.totals, digest.speed ...
 *     digest_finish(&digest);
 *
 * Kept are findings: the targets that are broken, blocked or have moved for good, and
 * whatever fails the run; of each the first DIGEST_LINKS_KEPT links, beyond them the
 * first on each page, and how many there are. What was well costs one slot of a table, a
 * link 40 bytes until its target's verdict is told.
 */
#ifndef CRAWLER_DIGEST_H
#define CRAWLER_DIGEST_H

#include "../base/arena.h"
#include "../base/table.h"
#include "../verdict/record.h"
#include "../options/options.h"
#include "speed.h"

#include <time.h>

#define DIGEST_LINKS_KEPT 100

/* A page for as long as links on it are kept. */
struct digest_page {
    uint64_t hash;
    size_t uses;
    char url[];
};

struct digest_link {
    struct digest_page *page;
    char *text;      /* as written, cut where it is very long; NULL: digest_text() */
    uint32_t text_n; /* of that */
    uint32_t line, column;
    uint32_t before;             /* the one before it, of the same target; 0: none */
    uint16_t element, attribute; /* among digest->words; 0: none */
    bool is_known;               /* the baseline has it */
};

/* What becomes of it in a report. */
enum finding_kind {
    FINDING_FAILS, /* it fails the run */
    FINDING_WARNS, /* it is broken or blocked, and does not */
    FINDING_MOVED  /* it is well at another address, for good */
};

struct finding {
    const char
        *target; /* without fragment; or a text that is no URL; cut if it is very long */
    const char *fragment; /* or NULL */
    const char *message;  /* or NULL */
    const char *
        leads_to; /* where its redirects end, of what has moved those for good; or NULL */
    enum finding_kind kind;
    enum verdict verdict;
    enum reason reason;
    int status;
    uint32_t links;      /* the last of them in digest->links; 0: none */
    uint32_t link_count; /* of all that are told */
    bool is_known;       /* the baseline has it: only links that it lacks are told */
};

/* A finding at one place. */
struct digest_row {
    const struct finding *finding;
    const struct digest_link *link; /* NULL: nothing links to it, a start */
};

struct digest_total {
    enum verdict verdict;
    enum reason reason;
    int status; /* where that is the reason, else 0 */
    size_t count;
};

struct digest {
    const struct options *options;
    time_t begin;
    struct record_summary summary; /* once that is told */
    struct speed speed;

    struct finding *findings;
    size_t finding_count, finding_capacity;
    struct digest_total
        *totals; /* by verdict, the largest first once they are arranged */
    size_t total_count, total_capacity;
    size_t known_count; /* findings of the baseline */

    struct digest_row *rows; /* by page, line and column; what has no place first */
    size_t row_count;
    size_t kind_counts[FINDING_MOVED + 1];   /* of rows */
    size_t untold_counts[FINDING_MOVED + 1]; /* links whose places are not kept */

    struct digest_slot *slots; /* of all targets that were met */
    size_t slot_count, slot_capacity;
    uint64_t seed;
    struct digest_link *links; /* from 1 */
    size_t link_count, link_capacity;
    uint32_t unused_links;     /* a list by `before` */
    struct digest_page **open; /* whose links are being told, the last first */
    size_t open_count, open_capacity;
    const char **words; /* elements, attributes; the first is NULL */
    size_t word_count, word_capacity;
    struct table word_numbers, messages, redirects;
    struct arena arena;
};

/* `options` are borrowed. `begin` is in seconds since 1970. */
void digest_init(struct digest *digest, const struct options *options, time_t begin);
void digest_finish(struct digest *digest);

/* A sink that fails with -ENOMEM alone. */
struct record_sink digest_sink(struct digest *digest);

/* Sort what was gathered, once. 0 or -ENOMEM. */
int digest_arrange(struct digest *digest);

/* The text of a row's link as written, of what has no link its target; for free(). NULL without
   memory. */
char *digest_text(const struct digest_row *row);

/* Why, for people: its message, or the verdict. */
const char *digest_cause(const struct finding *finding);

/* The same of a total; what is not static is written to `to`. */
#define DIGEST_CAUSE_BYTES 64
const char *digest_total_cause(const struct digest_total *total,
                               char to[DIGEST_CAUSE_BYTES]);

/* "broken/status", "blocked/challenge". */
#define DIGEST_RULE_BYTES 48
const char *digest_rule(enum verdict verdict, enum reason reason,
                        char to[DIGEST_RULE_BYTES]);

/* Where a link stands in its page: "12:9", or "header". */
#define DIGEST_PLACE_BYTES 24
const char *digest_place(const struct digest_link *link, char to[DIGEST_PLACE_BYTES]);

/* "2026-11-22T14:00:00Z", that much after the beginning. */
#define DIGEST_TIME_BYTES 32
const char *digest_time(const struct digest *digest, int64_t after_ns,
                        char to[DIGEST_TIME_BYTES]);

#endif
