/*
 * options.h - what the user asked for.
 *
 * options.c has the one table that the parser, --help, the manual, the configuration file
 * and the completions of shells are made from.
 */
#ifndef CRAWLER_OPTIONS_H
#define CRAWLER_OPTIONS_H

#include "../verdict/verdict.h"
#include "../scope/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text_list {
    const char **at;
    size_t count;
};

struct host_name {
    const char *name; /* "github.com", as in a URL */
    unsigned port;    /* 0: any */
};

struct status_range {
    int first, last;
    struct host_name
        host; /* of this host's answers, or of one below it; no name: of all */
};

struct host_header {
    struct host_name host;
    const char *header; /* "Authorization: token x" */
};

struct login { /* of a start URL with credentials */
    const char *start;
    const char *header; /* "Authorization: Basic ..." */
};

enum external_mode { EXTERNAL_HEAD, EXTERNAL_GET, EXTERNAL_SKIP };
enum fragments_mode { FRAGMENTS_SITE, FRAGMENTS_ALL, FRAGMENTS_NONE };
enum options_command { /* the first operand, but for what is a start */
                       COMMAND_CRAWL,
                       COMMAND_RESUME,
                       COMMAND_RECHECK,
                       COMMAND_REPORT,
                       COMMAND_COLLECT,
                       COMMAND_DIFF
};
enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct options {
    /* Where to start, and what belongs to it: */
    struct text_list starts;     /* URLs as url_resolve() makes them, or paths */
    struct text_list sitemaps;   /* those of them that are read as sitemaps */
    struct text_list lists;      /* files that list more starts; "-": standard input */
    struct pattern_list exclude; /* not fetched */
    struct pattern_list include; /* fetched although `exclude` has it */
    bool lenient;                /* in what belongs to a site: site.h */
    enum external_mode external; /* what becomes of links that leave the site */
    enum fragments_mode fragments;
    bool exclude_private; /* addresses of private networks and of this machine */
    bool no_robots;
    bool obey_nofollow;     /* rel=nofollow, <meta name=robots> */
    bool obey_x_robots_tag; /* the header */
    bool no_sitemaps;       /* but those */
    bool no_header_links;   /* Link and Refresh are not searched */
    bool no_css;            /* style sheets are not searched, nor styles in pages */
    bool trap_repeat_off, trap_session_off, trap_calendar_off;

    /* How much: */
    unsigned max_tasks; /* pages at a time, and as many links that leave the site */
    unsigned per_host;  /* requests at a time to each host of the site; 0: max_tasks */
    unsigned external_per_host;
    unsigned max_redirects; /* in a row */
    unsigned max_tries;
    unsigned max_depth; /* UINT_MAX: no limit */
    size_t max_pages;   /* 0: no limit */
    size_t max_url_bytes;
    size_t max_body_bytes;   /* of a page */
    int64_t max_duration_ns; /* of the crawl; 0: no limit */
    int64_t timeout_ns;      /* without progress */
    int64_t max_time_ns;     /* of one answer, whole */
    int64_t delay_ns;        /* between two requests to a host */

    /* HTTP: */
    const char *user_agent;
    const char *ca_file, *proxy; /* NULL: what the environment says */
    bool insecure;
    bool cookies;             /* keep what servers set */
    struct text_list headers; /* -H, -b and -u: to the start URLs' origins only */
    struct host_header *host_headers;
    size_t host_header_count;
    struct login *logins; /* for links to a start's host without its credentials */
    size_t login_count;

    /* Local files: */
    const char *root_dir; /* NULL: the folder that is checked */
    const char *base_url; /* the URL at which root_dir will be served; NULL: none */
    struct text_list index_files;
    bool clean_urls; /* "/a" is a.html */
    bool offline;    /* nothing is asked over the network */

    /* Judging: */
    struct status_range *accept; /* that are well */
    size_t accept_count;
    bool accept_is_default; /* as to what is for all hosts */
    bool fail_on[VERDICT_COUNT];
    const char *baseline; /* a report whose findings do not fail the run */
    const char *cache;    /* a file of external targets that were well */
    int64_t max_age_ns;   /* of an entry of the cache */

    /* Reports: */
    struct text_list formats; /* "jsonl:FILE", "github", "text:-" */
    enum color_mode color;
    bool quiet, no_progress;
    const char *warc; /* the archive; NULL: none */
    /* Where the crawl is watched: "": on all addresses; NULL: nowhere. */
    const char *status_host, *status_port;
    unsigned verbosity;
    bool explain; /* `coil-crawl explain URL`: the first start, with its fragment */

    /* What is kept of a crawl: */
    enum options_command command;
    const char *state;         /* the folder; NULL: none */
    const char *later_state;   /* of COMMAND_DIFF */
    const char *backend;       /* of the loop; NULL: the default */
    int64_t state_interval_ns; /* so much work may be lost */
    const char *frontier,
        *crawl; /* a Redis, and a name there, of a crawl that many share; NULL: none */
    unsigned split_host; /* processes that may ask a host at a time */
    size_t results_max_bytes;
    struct text_list
        decided; /* "--max-depth=3": what decides about the crawl, as it was given */
    struct text_list
        given; /* all that the command line gave, and how a configuration reports */

    /* Strings that are pointed at above and belong to the options. */
    char **owned;
    size_t owned_count;
};

/* The defaults. 0 or -ENOMEM; finish them in any case. */
int options_init(struct options *options);

/* What options_parse() returns where there is nothing to crawl: --help and its like. */
#define OPTIONS_PRINTED 1

/*
 * Set what the configuration file and the command line say, after options_init(). The file is that
 * of --config, else ./coil-crawl.toml if there is one; what both set, the command line
 * has set, and lists add up. `argv` must outlive the options.
 *
 * Returns 0, OPTIONS_PRINTED after --help and its like, which go to `out`, or fails with
 * -EINVAL after a sentence to `complaints` that names the option and what it takes, or
 * -ENOMEM.
 */
int options_parse(struct options *options, int argc, char *const argv[], FILE *out,
                  FILE *complaints);

/*
 * The options of a crawl that is kept, of those that its commands were given (`now`): first what it was
 * begun with, options.decided and its starts, then options.given. After options_init(); fails as
 * options_parse(). The texts must outlive the options, and so must `now`.
 */
int options_restore(struct options *options, const struct options *now,
                    const struct text_list *decided, const struct text_list *starts,
                    FILE *complaints);

/* Zeroes are accepted. */
void options_finish(struct options *options);

#endif
