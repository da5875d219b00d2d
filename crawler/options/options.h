/*
 * options.h - the options of a run, from the command line and the configuration file.
 *
 * options.c has the table from which the parser, --help, the manual, the configuration
 * file and the completions of shells are made.
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
    /* Applies to this host and its subdomains; to all hosts if host.name is NULL. */
    struct host_name host;
};

struct host_header {
    struct host_name host;
    const char *header; /* "Authorization: token x" */
};

struct login { /* credentials of a start URL */
    const char *start;
    const char *header; /* "Authorization: Basic ..." */
};

enum external_mode { EXTERNAL_HEAD, EXTERNAL_GET, EXTERNAL_SKIP };
enum fragments_mode { FRAGMENTS_SITE, FRAGMENTS_ALL, FRAGMENTS_NONE };
enum options_command { /* the first operand, unless it is a start */
                       COMMAND_CRAWL,
                       COMMAND_RESUME,
                       COMMAND_RECHECK,
                       COMMAND_REPORT,
                       COMMAND_COLLECT,
                       COMMAND_DIFF
};
enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct options {
    /* Where to start, and what belongs to the site: */
    struct text_list starts;     /* URLs from url_resolve(), or paths */
    struct text_list sitemaps;   /* the starts that are read as sitemaps */
    struct text_list lists;      /* files that list further starts; "-": standard input */
    struct pattern_list exclude; /* not fetched */
    struct pattern_list include; /* fetched although `exclude` matches */
    bool lenient;                /* compare sites leniently: site.h */
    enum external_mode external; /* how to check external links */
    enum fragments_mode fragments;
    bool exclude_private; /* skip addresses of private networks and of this machine */
    bool no_robots;
    bool obey_nofollow;     /* obey rel=nofollow and <meta name=robots> */
    bool obey_x_robots_tag; /* obey the header */
    bool no_sitemaps;       /* read only sitemaps that the user names */
    bool no_header_links;   /* do not search the headers Link and Refresh */
    bool no_css;            /* do not search style sheets and styles */
    bool trap_repeat_off, trap_session_off, trap_calendar_off;

    /* Limits: */
    unsigned max_tasks; /* concurrent pages, and as many external links */
    unsigned per_host;  /* concurrent requests to each host of the site; 0: max_tasks */
    unsigned external_per_host;
    unsigned max_redirects; /* in a row */
    unsigned max_tries;
    unsigned max_depth; /* UINT_MAX: no limit */
    size_t max_pages;   /* 0: no limit */
    size_t max_url_bytes;
    size_t max_body_bytes;   /* of a page */
    int64_t max_duration_ns; /* of the crawl; 0: no limit */
    int64_t timeout_ns;      /* without progress */
    int64_t max_time_ns;     /* of a whole answer */
    int64_t delay_ns;        /* between two requests to a host */

    /* HTTP: */
    const char *user_agent;
    const char *ca_file, *proxy; /* NULL: from the environment */
    bool insecure;
    bool cookies; /* store the cookies that servers set */
    /* -H, -b and -u: sent only to the origins of the start URLs */
    struct text_list headers;
    struct host_header *host_headers;
    size_t host_header_count;
    /* for links to the host of a start URL that lack its credentials */
    struct login *logins;
    size_t login_count;

    /* Local files: */
    const char *root_dir; /* NULL: the folder that is checked */
    const char *base_url; /* the URL at which root_dir will be served, or NULL */
    struct text_list index_files;
    bool clean_urls; /* "/a" may be a.html */
    bool offline;    /* do not use the network */

    /* Verdicts: */
    struct status_range *accept; /* the statuses that are OK */
    size_t accept_count;
    bool accept_is_default; /* the ranges for all hosts are still the default */
    bool fail_on[VERDICT_COUNT];
    const char *baseline; /* an earlier report, whose findings do not make the run fail */
    const char *cache;    /* a file of external targets that were OK */
    int64_t max_age_ns;   /* of an entry in the cache */

    /* Reports: */
    struct text_list formats; /* "jsonl:FILE", "github", "text:-" */
    enum color_mode color;
    bool quiet, no_progress;
    const char *warc; /* path of the archive, or NULL */
    /* Where to serve the status. Host "": all addresses; port NULL: nowhere. */
    const char *status_host, *status_port;
    unsigned verbosity;
    /* `coil-crawl explain URL`: explain the first start, including its fragment */
    bool explain;

    /* Saved and shared crawls: */
    enum options_command command;
    const char *state;            /* the folder, or NULL */
    const char *later_state;      /* the second folder of COMMAND_DIFF */
    const char *backend;          /* of the event loop; NULL: the default */
    int64_t state_interval_ns;    /* how much work may be lost, in time */
    const char *frontier, *crawl; /* URL of Redis, and name of a shared crawl; or NULL */
    unsigned split_host; /* number of processes that may send requests to one host */
    size_t results_max_bytes;
    struct text_list
        decided; /* options that affect the crawl, as given: "--max-depth=3" */
    /* all options of the command line, and options for reports of a configuration file */
    struct text_list given;

    /* Strings that the options own. */
    char **owned;
    size_t owned_count;
};

/* Set the defaults. Returns 0 or -ENOMEM. Call options_finish() in any case. */
int options_init(struct options *options);

/*
 * Returned by options_parse() after --help and similar, when there is nothing to crawl.
 */
#define OPTIONS_PRINTED 1

/*
 * Read the configuration file and the command line, after options_init(). The file is
 * that of --config, otherwise ./coil-crawl.toml if it exists. The command line takes
 * precedence, and lists are concatenated. `argv` must outlive the options.
 *
 * Returns 0, or OPTIONS_PRINTED after --help and similar, which print to `out`. Fails
 * with -EINVAL after a message to `complaints` that names the option and its allowed
 * values, or with -ENOMEM.
 */
int options_parse(struct options *options, int argc, char *const argv[], FILE *out,
                  FILE *complaints);

/*
 * Restore the options of a saved crawl, after options_init(). First set the options that
 * it was begun with (`decided` and `starts`), then those of the current command
 * (now->given). Fails with the errors of options_parse(). The texts and `now` must
 * outlive the options.
 */
int options_restore(struct options *options, const struct options *now,
                    const struct text_list *decided, const struct text_list *starts,
                    FILE *complaints);

/* Zeroed options are allowed. */
void options_finish(struct options *options);

#endif
