/*
 * digest.h - collect data for the reports that are written when the crawl is over.
 *
 *     digest_init(&digest, options, time(NULL));
 *     sink = digest_sink(&digest);         // receives all records
 *     rc = digest_arrange(&digest);        // after the last record
 *     ... digest.rows, digest.totals, digest.speed ...
 *     digest_finish(&digest);
 *
 * The digest stores findings: targets that are broken, blocked or permanently moved, and
 * any other targets that make the run fail. For each finding, it stores the first
 * DIGEST_LINKS_KEPT links, then only the first link on each page, and the number of all
 * links. A target that is OK only needs a slot in a table, and a link needs 40 bytes
 * until the verdict on its target is known.
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
    /* text on the page, truncated if it is very long; NULL: see digest_text() */
    char *text;
    uint32_t text_n; /* length of the text */
    uint32_t line, column;
    /* index of the previous link to the same target, or 0 */
    uint32_t before;
    uint16_t element, attribute; /* indexes into digest->words, or 0 */
    bool is_known;               /* the baseline contains the link */
};

/* How a report shows a finding. */
enum finding_kind {
    FINDING_FAILS, /* the finding makes the run fail */
    FINDING_WARNS, /* broken or blocked, but does not make the run fail */
    FINDING_MOVED  /* permanently redirected to a working target */
};

struct finding {
    /*
     * URL without its fragment, or a text that is not a URL; truncated if it is very
     * long.
     */
    const char *target;
    const char *fragment; /* or NULL */
    const char *message;  /* or NULL */
    /*
     * URL at the end of the target's redirects, or NULL. For FINDING_MOVED, the URL after
     * its permanent redirects.
     */
    const char *leads_to;
    enum finding_kind kind;
    enum verdict verdict;
    enum reason reason;
    int status;
    uint32_t links;      /* index of the last link in digest->links, or 0 */
    uint32_t link_count; /* number of all links to report */
    /*
     * the baseline contains the finding, so only links that are not in the baseline are
     * reported
     */
    bool is_known;
};

/* A row of a report: a finding and one of its links. */
struct digest_row {
    const struct finding *finding;
    const struct digest_link *link; /* NULL: a start URL to which no page links */
};

struct digest_total {
    enum verdict verdict;
    enum reason reason;
    int status; /* HTTP status if this is the reason, otherwise 0 */
    size_t count;
};

/*
 * The digest of a crawl. The struct has many members, because each list in the report
 * needs an array, its count and its capacity.
 */
struct digest {
    const struct options *options;
    time_t begin;
    struct record_summary summary; /* set when the summary arrives */
    struct speed speed;

    struct finding *findings;
    size_t finding_count, finding_capacity;
    /* sorted by digest_arrange(): grouped by verdict, the largest group first */
    struct digest_total *totals;
    size_t total_count, total_capacity;
    size_t known_count; /* number of findings in the baseline */

    /* Rows, sorted by page, line and column. Findings without links come first. */
    struct digest_row *rows;
    size_t row_count;
    size_t kind_counts[FINDING_MOVED + 1]; /* number of rows of each kind */
    /* for each kind, the number of links counted but not stored */
    size_t unstored_counts[FINDING_MOVED + 1];

    struct digest_slot *slots; /* hash table of all targets */
    size_t slot_count, slot_capacity;
    uint64_t seed;
    struct digest_link *links; /* index 0 is not used */
    size_t link_count, link_capacity;
    uint32_t unused_links; /* list linked by `before` */
    /* pages whose links are still arriving; the page of the latest link is last */
    struct digest_page **open;
    size_t open_count, open_capacity;
    const char **words; /* names of elements and attributes; words[0] is NULL */
    size_t word_count, word_capacity;
    struct table word_numbers, messages, redirects;
    struct arena arena;
};

/* Initialize the digest. `options` is borrowed. `begin` is in seconds since 1970. */
void digest_init(struct digest *digest, const struct options *options, time_t begin);
void digest_finish(struct digest *digest);

/* Return a sink for records, which fails only with -ENOMEM. */
struct record_sink digest_sink(struct digest *digest);

/* Sort the data. Call this once, after the last record. Returns 0 or -ENOMEM. */
int digest_arrange(struct digest *digest);

/*
 * Return the text of a row's link as written on the page, or the target if the row has no
 * link. The caller frees the text. Returns NULL if memory runs out.
 */
char *digest_text(const struct digest_row *row);

/*
 * Return an explanation for human readers: the message of the finding, or the name of its
 * verdict.
 */
const char *digest_cause(const struct finding *finding);

/* Return the reason of a total for human readers. The text may be stored in `to`. */
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
