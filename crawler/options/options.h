/*
 * options.h - the options of a run, from the command line and the configuration file.
 *
 * The table of options is in options.c.
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
    unsigned port;    /* 0: any port */
};

struct status_range {
    int first, last;
    /*
     * The range applies to this host and its subdomains, or to all hosts if host.name is
     * NULL.
     */
    struct host_name host;
};

struct host_header {
    struct host_name host;
    const char *header; /* "Authorization: token x" */
};

struct login { /* The credentials in a start URL. */
    const char *start;
    const char *header; /* "Authorization: Basic ..." */
};

enum external_mode { EXTERNAL_HEAD, EXTERNAL_GET, EXTERNAL_SKIP };
enum fragments_mode { FRAGMENTS_SITE, FRAGMENTS_ALL, FRAGMENTS_NONE };
enum options_command { /* The command that the first operand names. */
                       COMMAND_CRAWL,
                       COMMAND_RESUME,
                       COMMAND_RECHECK,
                       COMMAND_REPORT,
                       COMMAND_COLLECT,
                       COMMAND_DIFF
};
enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* All options of a run. The struct has many members, because each option has one. */
struct options {
    /* Which URLs to fetch. */
    struct text_list starts;   /* URLs from url_resolve(), or paths */
    struct text_list sitemaps; /* URLs and files to read as sitemaps */
    /* files that list further URLs and files to check; "-" is standard input */
    struct text_list lists;
    struct pattern_list exclude; /* URLs not to fetch */
    struct pattern_list include; /* URLs to fetch even if `exclude` matches */
    bool lenient;                /* how to compare hosts: see site.h */
    enum external_mode external; /* how to check external links */
    enum fragments_mode fragments;
    bool exclude_private; /* skip private addresses: see private_address.h */
    bool no_robots;
    bool obey_nofollow;     /* obey rel=nofollow and <meta name=robots> */
    bool obey_x_robots_tag; /* obey the header X-Robots-Tag */
    bool no_sitemaps;       /* only read sitemaps given by the user */
    bool no_header_links;   /* do not search the headers Link and Refresh */
    bool no_css;            /* do not search style sheets and styles */
    bool trap_repeat_off, trap_session_off, trap_calendar_off;

    /* Limits: */
    /*
     * concurrent requests for pages of the site; the same limit applies to external links
     */
    unsigned max_tasks;
    /* concurrent requests to each host of the site; 0: max_tasks */
    unsigned per_host;
    unsigned external_per_host;
    unsigned max_redirects; /* maximum number of redirects in a row */
    unsigned max_tries;
    unsigned max_depth; /* UINT_MAX means no limit */
    size_t max_pages;   /* 0 means no limit */
    size_t max_url_bytes;
    size_t max_body_bytes;   /* maximum size of a page */
    int64_t max_duration_ns; /* maximum duration of the crawl; 0 means no limit */
    int64_t timeout_ns;      /* time without received bytes after which a request fails */
    int64_t max_time_ns;     /* maximum duration of a request */
    int64_t delay_ns;        /* delay between two requests to a host */

    /* HTTP: */
    const char *user_agent;
    const char *ca_file, *proxy; /* NULL: use environment variables */
    bool insecure;
    bool cookies; /* store and send the cookies that servers set */
    /* The headers of -H, -b and -u, sent only to the origins of the start URLs. */
    struct text_list headers;
    struct host_header *host_headers;
    size_t host_header_count;
    /* Credentials of start URLs, also sent for links to the same hosts. */
    struct login *logins;
    size_t login_count;

    /* Local files: */
    const char *root_dir; /* NULL: the folder that is checked */
    const char *base_url; /* URL at which root_dir will be served, or NULL */
    struct text_list index_files;
    bool clean_urls; /* serve a.html for "/a" */
    bool offline;    /* do not use the network */

    /* Verdicts: */
    struct status_range *accept; /* statuses that are OK */
    size_t accept_count;
    bool accept_is_default; /* ranges for all hosts are still the default */
    bool fail_on[VERDICT_COUNT];
    const char *baseline; /* an earlier report; its findings do not fail the run */
    const char *cache;    /* file with external targets that were OK recently */
    int64_t max_age_ns;   /* maximum age of an entry in the cache */

    /* Reports: */
    struct text_list formats; /* "jsonl:FILE", "github", "text:-" */
    enum color_mode color;
    bool quiet, no_progress;
    const char *warc; /* path of the archive, or NULL */
    /*
     * The address of --status. If the host is "", listen on all addresses. If the port is
     * NULL, do not listen.
     */
    const char *status_host, *status_port;
    unsigned verbosity;
    /* `coil-crawl explain URL`: explain the first URL, which may have a fragment */
    bool explain;

    /* Options of saved and shared crawls: */
    enum options_command command;
    const char *state;       /* folder of the saved crawl, or NULL */
    const char *later_state; /* second folder of COMMAND_DIFF */
    /* backend of the event loop; NULL: the default */
    const char *backend;
    int64_t state_interval_ns;    /* time between two writes of results */
    const char *frontier, *crawl; /* URL of Redis and name of the shared crawl, or NULL */
    unsigned split_host;          /* number of processes that may fetch from one host */
    size_t results_max_bytes;
    struct text_list
        /* options that affect the crawl, as on the command line: "--max-depth=3" */
        decided;
    /*
     * All options on the command line, and the options in the configuration file that
     * affect reports.
     */
    struct text_list given;

    /* Strings owned by the options. */
    char **owned;
    size_t owned_count;
};

/*
 * Set the defaults. Returns 0 or -ENOMEM. options_finish() must be called even after an
 * error.
 */
int options_init(struct options *options);

/*
 * Returned by options_parse() after options such as --help, which only print information.
 */
#define OPTIONS_PRINTED 1

/*
 * Read the configuration file and the command line. Call this after options_init(). The
 * file is the value of --config, or otherwise ./coil-crawl.toml if it exists. The command
 * line takes precedence, but lists are concatenated. `argv` must outlive the options.
 *
 * Returns 0, or OPTIONS_PRINTED after printing information to `out`. Fails with -ENOMEM,
 * or with -EINVAL after printing a message to `complaints` that names the option and the
 * values that it accepts.
 */
int options_parse(struct options *options, int argc, char *const argv[], FILE *out,
                  FILE *complaints);

/*
 * Restore the options of a saved crawl. Call this after options_init(). `decided` and
 * `starts` are the options and start URLs of the original command. The options of the
 * current command, now->given, are applied after them. The texts and `now` must outlive
 * the options. Fails like options_parse().
 */
int options_restore(struct options *options, const struct options *now,
                    const struct text_list *decided, const struct text_list *starts,
                    FILE *complaints);

/* Free the options. A zeroed struct is accepted. */
void options_finish(struct options *options);

#endif
