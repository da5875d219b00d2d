/*
 * options.c - the table of all options.
 *
 * The parser (option_parser.c) calls the setters in this table (option_value.c), which
 * also set the defaults. option_printer.c prints the table as --help, manual, manual page
 * and shell completions.
 *
 * An option that exists in lychee, muffet, LinkChecker, wget or curl has the same name
 * here.
 */
#include "options.h"

#include "option_row.h"

#include <coil/run.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) .offset = offsetof(struct options, field)
#define MILLION 1000000

const char *const option_group_names[OPTION_GROUP_COUNT] = {
    [OPTION_SITE] = "What is checked",  [OPTION_LIMITS] = "How much, and how fast",
    [OPTION_HTTP] = "Requests",         [OPTION_FILES] = "Local files",
    [OPTION_VERDICTS] = "Verdicts",     [OPTION_REPORTS] = "Reports",
    [OPTION_OTHER] = "Everything else",
};

/* clang-format off */
const struct option_row option_rows[] = {
    /* ---- what is checked ---- */
    {.name = "exclude", .repeats = true, .aliases = "ignore-url", .argument = "RE", .set = add_pattern,
     FIELD(exclude), .group = OPTION_SITE,
     .words = "skip URLs that the regular expression matches (Perl's syntax, as implemented by PCRE2; the fragment is part of the URL); may be repeated"},
    {.name = "include", .repeats = true, .argument = "RE", .set = add_pattern, FIELD(include), .group = OPTION_SITE,
     .words = "fetch URLs that the regular expression matches, even if --exclude matches; may be repeated"},
    {.name = "strict", .set = clear_flag, FIELD(lenient), .group = OPTION_SITE,
     .words = "the site consists of the hosts of the start URLs, with or without \"www.\" (the default)"},
    {.name = "lenient", .set = set_flag, FIELD(lenient), .group = OPTION_SITE,
     .words = "the site consists of all hosts with the same last two labels, on any port"},
    {.name = "external", .argument = "MODE", .set = set_choice, FIELD(external), .initial = "head",
     .choices = "head get skip", .group = OPTION_SITE,
     .words = "check external links with HEAD (and with GET if HEAD fails), only with GET, or not at all"},
    {.name = "fragments", .argument = "WHERE", .set = set_choice, FIELD(fragments), .initial = "site",
     .choices = "site all none", .group = OPTION_SITE,
     .words = "check the part after \"#\" of links: on the site, also on other sites, or not at all"},
    {.name = "exclude-private", .aliases = "exclude-all-private", .set = set_flag, FIELD(exclude_private),
     .group = OPTION_SITE,
     .words = "do not connect to private networks or this machine, except for hosts of the site"},
    {.name = "no-robots", .set = set_flag, FIELD(no_robots), .group = OPTION_SITE,
     .words = "do not fetch or obey robots.txt"},
    {.name = "obey-nofollow", .set = set_flag, FIELD(obey_nofollow), .group = OPTION_SITE,
     .words = "do not follow rel=nofollow and <meta name=robots content=nofollow>"},
    {.name = "obey-x-robots-tag", .set = set_flag, FIELD(obey_x_robots_tag), .group = OPTION_SITE,
     .words = "obey nofollow in the header X-Robots-Tag"},
    {.name = "no-css", .set = set_flag, FIELD(no_css), .group = OPTION_SITE,
     .words = "do not search style sheets, \"style\" elements and style attributes for links"},
    {.name = "sitemap", .repeats = true, .argument = "URL", .set = add_sitemap, .group = OPTION_SITE,
     .words = "also read this sitemap, feed or list of URLs (XML, text, gzip); \"auto\": sitemaps named by robots.txt, and XML pages that are sitemaps; \"off\": only those named here; may be repeated (auto)"},
    {.name = "no-header-links", .set = set_flag, FIELD(no_header_links), .group = OPTION_SITE,
     .words = "do not search the headers Link and Refresh for links"},
    {.name = "no-trap", .repeats = true, .argument = "RULE", .set = set_traps, .choices = "repeat session calendar all",
     .group = OPTION_SITE,
     .words = "follow links even if they look like a trap: a path that repeats itself, a session id, an endless calendar; may be repeated"},

    /* ---- limits ---- */
    {.name = "max-tasks", .aliases = "max-concurrency max-connections", .argument = "N", .set = set_unsigned,
     FIELD(max_tasks), .initial = "10", .min = 1, .max = MILLION, .group = OPTION_LIMITS,
     .words = "fetch at most N pages at a time, and as many external links"},
    {.name = "per-host", .aliases = "max-connections-per-host", .argument = "N", .set = set_unsigned,
     FIELD(per_host), .min = 1, .max = MILLION, .group = OPTION_LIMITS,
     .words = "fetch at most N pages at a time from each host of the site (the value of --max-tasks)"},
    {.name = "external-per-host", .argument = "N", .set = set_unsigned, FIELD(external_per_host),
     .initial = "2", .min = 1, .max = MILLION, .group = OPTION_LIMITS,
     .words = "check at most N links at a time on every other host"},
    {.name = "max-redirect", .aliases = "max-redirects max-redirs max-redirections", .argument = "N",
     .set = set_unsigned, FIELD(max_redirects), .initial = "10", .min = 0, .max = 250,
     .group = OPTION_LIMITS, .words = "follow at most N redirects in a row"},
    {.name = "max-tries", .aliases = "tries", .argument = "N", .set = set_unsigned, FIELD(max_tries),
     .initial = "3", .min = 1, .max = 250, .group = OPTION_LIMITS,
     .words = "try a URL up to N times if the network or the server fails"},
    {.name = "max-depth", .letter = 'l', .aliases = "depth level", .argument = "N", .set = set_unsigned,
     FIELD(max_depth), .initial = "none", .min = 0, .max = 65000, .group = OPTION_LIMITS,
     .words = "follow links up to N pages deep; 0: only the start URLs"},
    {.name = "max-pages", .argument = "N", .set = set_size, FIELD(max_pages), .initial = "none", .min = 1,
     .max = INT64_C(1000000000), .group = OPTION_LIMITS, .words = "fetch at most N pages of the site"},
    {.name = "max-url-length", .argument = "SIZE", .set = set_bytes, FIELD(max_url_bytes),
     .initial = "2048", .min = 16, .max = 65536, .group = OPTION_LIMITS,
     .words = "do not follow URLs that are longer than this"},
    {.name = "max-body-size", .aliases = "max-response-body-size", .argument = "SIZE", .set = set_bytes,
     FIELD(max_body_bytes), .initial = "16M", .min = 1, .max = INT64_C(1) << 40, .group = OPTION_LIMITS,
     .words = "search only this much of each page for links"},
    {.name = "max-duration", .argument = "TIME", .set = set_duration, FIELD(max_duration_ns),
     .initial = "none", .min = 1, .group = OPTION_LIMITS, .words = "end the crawl after this time; the exit status is 6 if URLs are left and nothing is broken"},
    {.name = "timeout", .argument = "TIME", .set = set_duration, FIELD(timeout_ns), .initial = "30s",
     .min = 1, .group = OPTION_LIMITS, .words = "give up on an answer that makes no progress for this time"},
    {.name = "max-time", .letter = 'm', .argument = "TIME", .set = set_duration, FIELD(max_time_ns),
     .initial = "10m", .min = 1, .group = OPTION_LIMITS, .words = "give up on an answer that is not complete after this time"},
    {.name = "delay", .aliases = "wait", .argument = "TIME", .set = set_duration, FIELD(delay_ns),
     .initial = "0", .min = 0, .group = OPTION_LIMITS, .words = "wait this long between two requests to a host, including the request for its robots.txt"},
    {.name = "split-host", .argument = "N", .set = set_unsigned, FIELD(split_host), .initial = "1", .min = 1,
     .max = 1000, .group = OPTION_LIMITS,
     .words = "with --frontier: let N processes fetch from one host at the same time, each at 1/N of the rate"},

    /* ---- requests ---- */
    {.name = "header", .repeats = true, .letter = 'H', .argument = "HEADER", .set = add_header, .group = OPTION_HTTP,
     .words = "send \"Name: value\" to the hosts of the start URLs only (for http start URLs, also over https); may be repeated"},
    {.name = "cookie", .repeats = true, .letter = 'b', .argument = "COOKIE", .set = add_cookie, .group = OPTION_HTTP,
     .words = "send the cookie \"name=value\" to the hosts of the start URLs; may be repeated"},
    {.name = "user", .letter = 'u', .argument = "USER:PASSWORD", .set = set_credentials,
     .group = OPTION_HTTP, .words = "log in to the hosts of the start URLs (basic authentication); USER:PASSWORD@ in a start URL logs in to its host"},
    {.name = "header-for", .repeats = true, .argument = "HOST:HEADER", .set = add_host_header, .group = OPTION_HTTP,
     .words = "send a header to one host, instead of one of -H with the same name: \"git.example:Authorization: token x\"; HOST may have a port; may be repeated"},
    {.name = "cookies", .set = set_flag, FIELD(cookies), .group = OPTION_HTTP,
     .words = "store the cookies that servers set, and send them back, together with those of -b"},
    {.name = "user-agent", .letter = 'A', .argument = "TEXT", .set = set_line, FIELD(user_agent),
     .group = OPTION_HTTP, .words = "the User-Agent header (coil-crawl/VERSION); in robots.txt, rules for coil-crawl apply in any case"},
    {.name = "proxy", .letter = 'x', .argument = "URL", .set = set_proxy, FIELD(proxy), .group = OPTION_HTTP,
     .words = "use this proxy; \"\": no proxy (http_proxy, https_proxy and all_proxy)"},
    {.name = "cacert", .aliases = "ca-certificate", .argument = "FILE", .set = set_file, FIELD(ca_file),
     .hint = HINT_FILE, .group = OPTION_HTTP,
     .words = "trust the certificates in this file (PEM) instead of the system's"},
    {.name = "insecure", .letter = 'k', .aliases = "skip-tls-verification", .set = set_flag,
     FIELD(insecure), .group = OPTION_HTTP, .words = "do not check certificates"},

    /* ---- local files ---- */
    {.name = "root-dir", .argument = "FOLDER", .set = set_folder, FIELD(root_dir), .hint = HINT_FOLDER,
     .group = OPTION_FILES, .words = "the folder in which links such as \"/a.html\" are looked up (the folder that is checked)"},
    {.name = "base-url", .argument = "URL", .set = set_url, FIELD(base_url), .group = OPTION_FILES,
     .words = "the URL at which the files will be served; links to this URL are checked as links to the files"},
    {.name = "index-files", .repeats = true, .argument = "NAME,...", .set = add_names, FIELD(index_files),
     .initial = "index.html,.", .group = OPTION_FILES,
     .words = "the index files of a folder; a link to a folder without one is broken, unless the list contains \".\""},
    {.name = "clean-urls", .set = set_flag, FIELD(clean_urls), .group = OPTION_FILES,
     .words = "links may omit .html: \"/a\" may be the file a.html"},
    {.name = "offline", .set = set_flag, FIELD(offline), .group = OPTION_FILES,
     .words = "do not use the network: all URLs are unchecked, including start URLs"},

    /* ---- verdicts ---- */
    {.name = "accept", .repeats = true, .letter = 'a', .argument = "[HOST=]STATUS,...", .set = add_statuses, .initial = "200..299",
     .group = OPTION_VERDICTS,
     .words = "the statuses that are OK: 200..299,404 replaces the default for all hosts; linkedin.com=999,403 adds statuses for this host and its subdomains; may be repeated"},
    {.name = "fail-on", .repeats = true, .argument = "VERDICT,...", .set = add_verdicts,
     .initial = "broken,fragment,error,timeout",
     .choices = "ok redirect broken fragment text blocked error timeout skipped unchecked none",
     .group = OPTION_VERDICTS, .words = "the verdicts that make the run fail (exit status 2)"},
    {.name = "baseline", .argument = "FILE", .set = set_file, FIELD(baseline), .hint = HINT_FILE,
     .group = OPTION_VERDICTS, .words = "an earlier report (-f jsonl), whose findings do not make this run fail"},
    {.name = "cache", .writes = true, .argument = "FILE", .set = set_text, FIELD(cache), .hint = HINT_FILE,
     .group = OPTION_VERDICTS, .words = "remember in FILE which external links were OK, and do not check them again (except with --fragments all, which only updates FILE)"},
    {.name = "max-age", .aliases = "max-cache-age", .argument = "TIME", .set = set_duration,
     FIELD(max_age_ns), .initial = "1d", .min = 0, .group = OPTION_VERDICTS, .words = "how long an entry of --cache is valid"},

    /* ---- reports ---- */
    {.name = "format", .repeats = true, .writes = true, .letter = 'f', .argument = "FORMAT[:FILE]", .set = add_format,
     .choices = "text jsonl github junit sarif csv markdown html", .group = OPTION_REPORTS,
     .words = "write the report to FILE, or to stdout, as text, jsonl (a JSON object per line), github (workflow annotations), junit (XML), sarif, csv, markdown (for a summary) or html; may be repeated"},
    {.name = "warc", .writes = true, .argument = "FILE", .set = set_text, FIELD(warc), .hint = HINT_FILE, .group = OPTION_REPORTS,
     .words = "save all requests and answers in the archive FILE (WARC 1.1, gzip), and its index in FILE.cdxj; with this option, bodies that are not searched are read up to --max-body-size"},
    {.name = "quiet", .letter = 'q', .set = set_flag, FIELD(quiet), .group = OPTION_REPORTS,
     .words = "print only what is broken, without progress and totals"},
    {.name = "verbose", .letter = 'v', .set = set_count, FIELD(verbosity), .group = OPTION_REPORTS,
     .words = "print the whole report; twice: also redirects, skipped links, and a line on stderr for each URL"},
    {.name = "color", .aliases = "colour", .argument = "WHEN", .set = set_choice, FIELD(color),
     .initial = "auto", .choices = "auto always never", .group = OPTION_REPORTS,
     .words = "use colours; auto: on terminals, unless NO_COLOR is set"},
    {.name = "no-progress", .set = set_flag, FIELD(no_progress), .group = OPTION_REPORTS,
     .words = "do not show the progress line on terminals"},
    {.name = "status", .argument = "[HOST:]PORT", .set = set_status, .group = OPTION_REPORTS,
     .words = "serve the state of the crawl over HTTP: / for browsers, /status.json, /metrics for Prometheus; HOST is 127.0.0.1 by default; SIGUSR1 prints the state on stderr"},

    /* ---- everything else ---- */
    {.name = "state", .writes = true, .letter = 'd', .argument = "DIR", .set = set_text, FIELD(state), .hint = HINT_FOLDER,
     .group = OPTION_OTHER,
     .words = "save the crawl in the folder DIR; if it ends early, continue it with coil-crawl resume DIR"},
    {.name = "state-interval", .argument = "TIME", .set = set_duration, FIELD(state_interval_ns),
     .initial = "1s", .min = 0, .group = OPTION_OTHER,
     .words = "how often to write to DIR; pages fetched after the last write are fetched again; 0: write after each page"},
    {.name = "frontier", .argument = "URL", .set = set_text, FIELD(frontier), .group = OPTION_OTHER,
     .words = "share the crawl with all processes that use the same Redis (redis://[USER:PASSWORD@]HOST[:PORT]/DB, rediss:// for TLS, unix:///PATH) and --crawl; coil-crawl collect DIR writes the reports"},
    {.name = "crawl", .argument = "NAME", .set = set_text, FIELD(crawl), .group = OPTION_OTHER,
     .words = "the name of the shared crawl"},
    {.name = "results-max", .argument = "SIZE", .set = set_bytes, FIELD(results_max_bytes), .initial = "256M",
     .min = 1 << 20, .max = INT64_C(1) << 40, .group = OPTION_OTHER,
     .words = "pause a shared crawl while results of more than this size wait to be collected"},
    {.name = "backend", .argument = "NAME", .set = set_backend, FIELD(backend), .choices = "io_uring epoll poll select",
     .group = OPTION_OTHER, .words = "use this event backend (that of COIL_BACKEND, or epoll)"},
    {.name = "io-uring", .set = set_backend, FIELD(backend), .group = OPTION_HIDDEN, .words = "io_uring"},
    {.name = "epoll", .set = set_backend, FIELD(backend), .group = OPTION_HIDDEN, .words = "epoll"},
    {.name = "poll", .set = set_backend, FIELD(backend), .group = OPTION_HIDDEN, .words = "poll"},
    {.name = "select", .set = set_backend, FIELD(backend), .group = OPTION_HIDDEN, .words = "select"},
    {.name = "iocp", .set = refuse_iocp, .group = OPTION_HIDDEN, .words = "Windows"},
    {.name = "config", .argument = "FILE", .hint = HINT_FILE, .group = OPTION_OTHER,
     .words = "read options from FILE, in TOML; the default is ./coil-crawl.toml, if it exists, which may name output files only below the current folder"},
    {.name = "no-config", .group = OPTION_OTHER, .words = "do not read a configuration file"},
    {.name = "files-from", .repeats = true, .argument = "FILE", .set = add_text, FIELD(lists), .hint = HINT_FILE,
     .group = OPTION_OTHER,
     .words = "check the URLs, files and folders that FILE lists, one per line; \"-\" is standard input, and may also be an operand; may be repeated"},
    {.name = "completions", .argument = "SHELL", .choices = "bash zsh fish", .group = OPTION_OTHER,
     .words = "print a script that completes options in this shell"},
    {.name = "help", .letter = 'h', .group = OPTION_OTHER, .words = "print this text"},
    {.name = "version", .letter = 'V', .group = OPTION_OTHER, .words = "print the version"},
    {.name = "print", .argument = "WHAT", .choices = "man manual-table", .group = OPTION_HIDDEN,
     .words = "output for the build and the tests"},
};
/* clang-format on */

const size_t option_row_count = sizeof option_rows / sizeof option_rows[0];

bool option_is_negative(const struct option_row *row)
{
    return row->argument == NULL && strncmp(row->name, "no-", 3) == 0;
}

/* ---- ownership --------------------------------------------------------------------- */

static char *own_text(struct options *options, char *text)
{
    size_t count = options->owned_count;
    char **longer;

    if (text == NULL)
        return NULL;
    longer = realloc(options->owned, (count + 1) * sizeof *longer);
    if (longer == NULL) {
        free(text);
        return NULL;
    }
    options->owned = longer;
    longer[options->owned_count++] = text;
    return text;
}

char *options_keep(struct options *options, const char *text, size_t n)
{
    return own_text(options, strndup(text, n));
}

char *options_print(struct options *options, const char *format, ...)
{
    va_list args;
    char *text;
    int n;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    return n < 0 ? NULL : own_text(options, text);
}

int text_list_add(struct text_list *list, const char *text)
{
    const char **longer = realloc(list->at, (list->count + 1) * sizeof *longer);

    if (longer == NULL)
        return -ENOMEM;
    list->at = longer;
    longer[list->count++] = text;
    return 0;
}

int options_init(struct options *options)
{
    struct option_source source = {.options = options, .complaints = stderr};

    *options = (struct options){0};
    options->user_agent = options_print(options, "coil-crawl/%s", coil_version());
    if (options->user_agent == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        int rc = row->initial != NULL ? row->set(&source, row, row->initial) : 0;

        if (rc < 0)
            return rc;
    }
    return 0;
}

void options_finish(struct options *options)
{
    patterns_finish(&options->exclude);
    patterns_finish(&options->include);
    free(options->starts.at);
    free(options->sitemaps.at);
    free(options->lists.at);
    free(options->headers.at);
    free(options->host_headers);
    free(options->logins);
    free(options->index_files.at);
    free(options->accept);
    free(options->formats.at);
    free(options->decided.at);
    free(options->given.at);
    for (size_t i = 0; i < options->owned_count; i++)
        free(options->owned[i]);
    free(options->owned);
    *options = (struct options){0};
}
