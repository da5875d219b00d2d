/*
 * digest.h - collect the data for reports that are written at the end of the crawl.
 *
 *     digest_init(&digest, options, time(NULL));
 *     sink = digest_sink(&digest);         // receives all records
 *     rc = digest_arrange(&digest);        // after the last record
 *     ... digest.rows, digest.totals, digest.speed ...
 *     digest_finish(&digest);
 *
 * The digest stores findings: targets that are broken, blocked or permanently moved, and
 * all other targets that make the run fail. Each finding has its first DIGEST_LINKS_KEPT
 * links, then only the first link on each further page, and the number of all links. A
 * target that is OK takes one slot of a table. A link takes 40 bytes until the verdict of
 * its target is known.
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

/* A page, shared by the links on it. */
struct digest_page {
    uint64_t hash;
    size_t uses;
    char url[];
};

struct digest_link {
    struct digest_page *page;
    /* the text on the page, truncated if it is very long; NULL: see digest_text() */
    char *text;
    uint32_t text_n; /* length of the text */
    uint32_t line, column;
    /* index of the previous link to the same target, or 0 for the first one */
    uint32_t before;
    uint16_t element, attribute; /* indexes into digest->words, or 0 */
    bool is_known;               /* the link is in the baseline */
};

/* How a report shows a finding. */
enum finding_kind {
    FINDING_FAILS, /* the finding makes the run fail */
    FINDING_WARNS, /* broken or blocked, but the run does not fail */
    FINDING_MOVED  /* permanently redirected to a working target */
};

struct finding {
    /*
     * A URL without its fragment, or a text that is not a URL. Truncated if it is very
     * long.
     */
    const char *target;
    const char *fragment; /* or NULL */
    const char *message;  /* or NULL */
    /*
     * The URL at the end of the target's redirects, or NULL. For FINDING_MOVED, only
     * permanent redirects are followed.
     */
    const char *leads_to;
    enum finding_kind kind;
    enum verdict verdict;
    enum reason reason;
    int status;
    uint32_t links;      /* index of the last link in digest->links, or 0 */
    uint32_t link_count; /* the number of all reported links */
    /*
     * the finding is in the baseline, so only links outside the baseline are reported
     */
    bool is_known;
};

/* A row of a report: one finding and one link to it. */
struct digest_row {
    const struct finding *finding;
    const struct digest_link *link; /* or NULL for a start URL that no page links to */
};

struct digest_total {
    enum verdict verdict;
    enum reason reason;
    int status; /* the HTTP status if the status is the reason, otherwise 0 */
    size_t count;
};

/* The digest of a crawl. The struct has many members, because each list of the report
 * needs an array, its count and its capacity. */
struct digest {
    const struct options *options;
    time_t begin;
    struct record_summary summary; /* set once the summary has arrived */
    struct speed speed;

    struct finding *findings;
    size_t finding_count, finding_capacity;
    /* grouped by verdict; digest_arrange() puts the largest group first */
    struct digest_total *totals;
    size_t total_count, total_capacity;
    size_t known_count; /* number of findings in the baseline */

    /* The rows are sorted by page, line and column. Findings without links come first. */
    struct digest_row *rows;
    size_t row_count;
    size_t kind_counts[FINDING_MOVED + 1]; /* number of rows of each kind */
    /* for each kind, the number of links that were counted but not stored */
    size_t untold_counts[FINDING_MOVED + 1];

    struct digest_slot *slots; /* a hash table of all targets */
    size_t slot_count, slot_capacity;
    uint64_t seed;
    struct digest_link *links; /* index 0 is not used */
    size_t link_count, link_capacity;
    uint32_t unused_links; /* a list linked by `before` */
    /* pages with links that may still be arriving; the most recent page is last */
    struct digest_page **open;
    size_t open_count, open_capacity;
    const char **words; /* names of elements and attributes; words[0] is NULL */
    size_t word_count, word_capacity;
    struct table word_numbers, messages, redirects;
    struct arena arena;
};

/* `options` are borrowed. `begin` is in seconds since 1970. */
void digest_init(struct digest *digest, const struct options *options, time_t begin);
void digest_finish(struct digest *digest);

/* Return a sink for records, which fails only with -ENOMEM. */
struct record_sink digest_sink(struct digest *digest);

/* Sort the data. Call this once, after the last record. Returns 0 or -ENOMEM. */
int digest_arrange(struct digest *digest);

/*
 * Return the text of a row's link as written on the page. If the row has no link, return
 * its target. The caller frees the text. Returns NULL if memory runs out.
 */
char *digest_text(const struct digest_row *row);

/* Return an explanation for human readers: the finding's message, or else its verdict. */
const char *digest_cause(const struct finding *finding);

/* Return the reason of a total for human readers. `to` is a buffer for the text. */
#define DIGEST_CAUSE_BYTES 64
const char *digest_total_cause(const struct digest_total *total,
                               char to[DIGEST_CAUSE_BYTES]);

/* Return the identifier of a verdict and reason, such as "broken/status". */
#define DIGEST_RULE_BYTES 48
const char *digest_rule(enum verdict verdict, enum reason reason,
                        char to[DIGEST_RULE_BYTES]);

/* Return the position of a link in its page: "12:9", or "header". */
#define DIGEST_PLACE_BYTES 24
const char *digest_place(const struct digest_link *link, char to[DIGEST_PLACE_BYTES]);

/* Return the time `after_ns` nanoseconds after the start of the crawl:
   "2026-11-22T14:00:00Z". */
#define DIGEST_TIME_BYTES 32
const char *digest_time(const struct digest *digest, int64_t after_ns,
                        char to[DIGEST_TIME_BYTES]);

#endif
