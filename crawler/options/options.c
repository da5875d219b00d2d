/*
 * options.c - the table of all options.
 *
 * All code that needs the options reads this table: the parser (option_parser.c), which
 * calls the setter of a row (option_value.c), and the code that prints --help, the
 * manual, the manual page and shell completions (option_printer.c). The same setters set
 * the defaults.
 *
 * Options that mean the same as in lychee, muffet, LinkChecker, wget or curl have the
 * same names.
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
     .words = "leave out URLs, with their fragments, in which the regular expression (Perl's, by PCRE2) is found; may be repeated"},
    {.name = "include", .repeats = true, .argument = "RE", .set = add_pattern, FIELD(include), .group = OPTION_SITE,
     .words = "fetch these although --exclude has them; may be repeated"},
    {.name = "strict", .set = clear_flag, FIELD(lenient), .group = OPTION_SITE,
     .words = "the site is the hosts of the URLs, with or without \"www.\" (the default)"},
    {.name = "lenient", .set = set_flag, FIELD(lenient), .group = OPTION_SITE,
     .words = "the site is all hosts that share the last two labels, on any port"},
    {.name = "external", .argument = "MODE", .set = set_choice, FIELD(external), .initial = "head",
     .choices = "head get skip", .group = OPTION_SITE,
     .words = "check links that leave the site by HEAD, and GET where that fails; by GET; or not at all"},
    {.name = "fragments", .argument = "WHERE", .set = set_choice, FIELD(fragments), .initial = "site",
     .choices = "site all none", .group = OPTION_SITE,
     .words = "check the part after \"#\" of links: on the site, on other sites too, or not at all"},
    {.name = "exclude-private", .aliases = "exclude-all-private", .set = set_flag, FIELD(exclude_private),
     .group = OPTION_SITE,
     .words = "do not ask addresses of private networks and of this machine, but for hosts of the site"},
    {.name = "no-robots", .set = set_flag, FIELD(no_robots), .group = OPTION_SITE,
     .words = "do not ask for robots.txt, nor obey it"},
    {.name = "obey-nofollow", .set = set_flag, FIELD(obey_nofollow), .group = OPTION_SITE,
     .words = "do not follow rel=nofollow and <meta name=robots content=nofollow>"},
    {.name = "obey-x-robots-tag", .set = set_flag, FIELD(obey_x_robots_tag), .group = OPTION_SITE,
     .words = "obey the header X-Robots-Tag in the same way"},
    {.name = "no-css", .set = set_flag, FIELD(no_css), .group = OPTION_SITE,
     .words = "do not search style sheets, \"style\" elements and style attributes for links"},
    {.name = "sitemap", .repeats = true, .argument = "URL", .set = add_sitemap, .group = OPTION_SITE,
     .words = "read this sitemap, feed or list of URLs (XML, text, gzip), too; \"auto\": those that robots.txt names, and XML that is one; \"off\": none of these; may be repeated (auto)"},
    {.name = "no-header-links", .set = set_flag, FIELD(no_header_links), .group = OPTION_SITE,
     .words = "do not search the headers Link and Refresh for links"},
    {.name = "no-trap", .repeats = true, .argument = "RULE", .set = set_traps, .choices = "repeat session calendar all",
     .group = OPTION_SITE,
     .words = "follow links that look like a trap: a path that repeats itself, a session id, a calendar without an end; may be repeated"},

    /* ---- limits ---- */
    {.name = "max-tasks", .aliases = "max-concurrency max-connections", .argument = "N", .set = set_unsigned,
     FIELD(max_tasks), .initial = "10", .min = 1, .max = MILLION, .group = OPTION_LIMITS,
     .words = "fetch at most N pages at a time, and as many links that leave the site"},
    {.name = "per-host", .aliases = "max-connections-per-host", .argument = "N", .set = set_unsigned,
     FIELD(per_host), .min = 1, .max = MILLION, .group = OPTION_LIMITS,
     .words = "of these at most N from each host of the site (as many as --max-tasks)"},
    {.name = "external-per-host", .argument = "N", .set = set_unsigned, FIELD(external_per_host),
     .initial = "2", .min = 1, .max = MILLION, .group = OPTION_LIMITS,
     .words = "and at most N from each other host"},
    {.name = "max-redirect", .aliases = "max-redirects max-redirs max-redirections", .argument = "N",
     .set = set_unsigned, FIELD(max_redirects), .initial = "10", .min = 0, .max = 250,
     .group = OPTION_LIMITS, .words = "follow at most N redirects in a row"},
    {.name = "max-tries", .aliases = "tries", .argument = "N", .set = set_unsigned, FIELD(max_tries),
     .initial = "3", .min = 1, .max = 250, .group = OPTION_LIMITS,
     .words = "try a URL N times where the network or the server fails"},
    {.name = "max-depth", .letter = 'l', .aliases = "depth level", .argument = "N", .set = set_unsigned,
     FIELD(max_depth), .initial = "none", .min = 0, .max = 65000, .group = OPTION_LIMITS,
     .words = "follow links up to N pages deep; 0: the start alone"},
    {.name = "max-pages", .argument = "N", .set = set_size, FIELD(max_pages), .initial = "none", .min = 1,
     .max = INT64_C(1000000000), .group = OPTION_LIMITS, .words = "fetch at most N pages of the site"},
    {.name = "max-url-length", .argument = "SIZE", .set = set_bytes, FIELD(max_url_bytes),
     .initial = "2048", .min = 16, .max = 65536, .group = OPTION_LIMITS,
     .words = "do not follow URLs that are longer"},
    {.name = "max-body-size", .aliases = "max-response-body-size", .argument = "SIZE", .set = set_bytes,
     FIELD(max_body_bytes), .initial = "16M", .min = 1, .max = INT64_C(1) << 40, .group = OPTION_LIMITS,
     .words = "search so much of each page for links"},
    {.name = "max-duration", .argument = "TIME", .set = set_duration, FIELD(max_duration_ns),
     .initial = "none", .min = 1, .group = OPTION_LIMITS, .words = "end the crawl after that time; the exit status is 6 if work is left and nothing is broken"},
    {.name = "timeout", .argument = "TIME", .set = set_duration, FIELD(timeout_ns), .initial = "30s",
     .min = 1, .group = OPTION_LIMITS, .words = "give up an answer that makes no progress for so long"},
    {.name = "max-time", .letter = 'm', .argument = "TIME", .set = set_duration, FIELD(max_time_ns),
     .initial = "10m", .min = 1, .group = OPTION_LIMITS, .words = "give up an answer that takes so long as a whole"},
    {.name = "delay", .aliases = "wait", .argument = "TIME", .set = set_duration, FIELD(delay_ns),
     .initial = "0", .min = 0, .group = OPTION_LIMITS, .words = "wait so long between two requests to a host, that for its robots.txt among them"},
    {.name = "split-host", .argument = "N", .set = set_unsigned, FIELD(split_host), .initial = "1", .min = 1,
     .max = 1000, .group = OPTION_LIMITS,
     .words = "with --frontier: let N processes ask one host at the same time, each an Nth as often"},

    /* ---- requests ---- */
    {.name = "header", .repeats = true, .letter = 'H', .argument = "HEADER", .set = add_header, .group = OPTION_HTTP,
     .words = "send \"Name: value\" to the hosts of the start URLs, by https too where those are http, and to no other; may be repeated"},
    {.name = "cookie", .repeats = true, .letter = 'b', .argument = "COOKIE", .set = add_cookie, .group = OPTION_HTTP,
     .words = "send the cookie \"name=value\" to them; may be repeated"},
    {.name = "user", .letter = 'u', .argument = "USER:PASSWORD", .set = set_credentials,
     .group = OPTION_HTTP, .words = "log in to them (basic authentication); a start with USER:PASSWORD@ does so to its host"},
    {.name = "header-for", .repeats = true, .argument = "HOST:HEADER", .set = add_host_header, .group = OPTION_HTTP,
     .words = "send a header to that host, \"git.example:Authorization: token x\"; HOST may have a port; may be repeated"},
    {.name = "cookies", .set = set_flag, FIELD(cookies), .group = OPTION_HTTP,
     .words = "keep the cookies that servers set, and send them back together with those of -b"},
    {.name = "user-agent", .letter = 'A', .argument = "TEXT", .set = set_line, FIELD(user_agent),
     .group = OPTION_HTTP, .words = "what the crawler calls itself (coil-crawl/VERSION); robots.txt is read for coil-crawl all the same"},
    {.name = "proxy", .letter = 'x', .argument = "URL", .set = set_proxy, FIELD(proxy), .group = OPTION_HTTP,
     .words = "ask through this proxy; \"\": through none (what http_proxy, https_proxy and all_proxy say)"},
    {.name = "cacert", .aliases = "ca-certificate", .argument = "FILE", .set = set_file, FIELD(ca_file),
     .hint = HINT_FILE, .group = OPTION_HTTP,
     .words = "trust the certificates in this file (PEM) instead of the system's"},
    {.name = "insecure", .letter = 'k', .aliases = "skip-tls-verification", .set = set_flag,
     FIELD(insecure), .group = OPTION_HTTP, .words = "do not check certificates"},

    /* ---- local files ---- */
    {.name = "root-dir", .argument = "FOLDER", .set = set_folder, FIELD(root_dir), .hint = HINT_FOLDER,
     .group = OPTION_FILES, .words = "where \"/a.html\" is looked for (in the folder that is checked)"},
    {.name = "base-url", .argument = "URL", .set = set_url, FIELD(base_url), .group = OPTION_FILES,
     .words = "the URL at which the files will be served: links to it are links to the files"},
    {.name = "index-files", .repeats = true, .argument = "NAME,...", .set = add_names, FIELD(index_files),
     .initial = "index.html,.", .group = OPTION_FILES,
     .words = "which file of a folder stands for it; without one, a link to the folder is broken, unless \".\" is among them"},
    {.name = "clean-urls", .set = set_flag, FIELD(clean_urls), .group = OPTION_FILES,
     .words = "\"/a\" may be the file a.html"},
    {.name = "offline", .set = set_flag, FIELD(offline), .group = OPTION_FILES,
     .words = "ask nothing over the network: URLs are unchecked, starts among them"},

    /* ---- verdicts ---- */
    {.name = "accept", .repeats = true, .letter = 'a', .argument = "[HOST=]STATUS,...", .set = add_statuses, .initial = "200..299",
     .group = OPTION_VERDICTS,
     .words = "the statuses that are well: 200..299,404 of all hosts, in the default's place; linkedin.com=999,403 also of that host and those below it; may be repeated"},
    {.name = "fail-on", .repeats = true, .argument = "VERDICT,...", .set = add_verdicts,
     .initial = "broken,fragment,error,timeout",
     .choices = "ok redirect broken fragment text blocked error timeout skipped unchecked none",
     .group = OPTION_VERDICTS, .words = "the verdicts that fail the run (exit status 2)"},
    {.name = "baseline", .argument = "FILE", .set = set_file, FIELD(baseline), .hint = HINT_FILE,
     .group = OPTION_VERDICTS, .words = "what this report (-f jsonl) of an earlier run has found does not fail this one"},
    {.name = "cache", .writes = true, .argument = "FILE", .set = set_text, FIELD(cache), .hint = HINT_FILE,
     .group = OPTION_VERDICTS, .words = "keep in FILE which links that leave the site were well, and do not check them again (but for --fragments all, which only brings FILE up to date)"},
    {.name = "max-age", .aliases = "max-cache-age", .argument = "TIME", .set = set_duration,
     FIELD(max_age_ns), .initial = "1d", .min = 0, .group = OPTION_VERDICTS, .words = "for so long"},

    /* ---- reports ---- */
    {.name = "format", .repeats = true, .writes = true, .letter = 'f', .argument = "FORMAT[:FILE]", .set = add_format,
     .choices = "text jsonl github junit sarif csv markdown html", .group = OPTION_REPORTS,
     .words = "write the report as text, jsonl (a JSON object a line), github (annotations of a workflow), junit (XML), sarif, csv, markdown (for a summary) or html to FILE, or to stdout; may be repeated"},
    {.name = "warc", .writes = true, .argument = "FILE", .set = set_text, FIELD(warc), .hint = HINT_FILE, .group = OPTION_REPORTS,
     .words = "keep all requests and answers in FILE, an archive (WARC 1.1, gzip), and its index in FILE.cdxj; bodies that are not searched are read up to --max-body-size then"},
    {.name = "quiet", .letter = 'q', .set = set_flag, FIELD(quiet), .group = OPTION_REPORTS,
     .words = "no progress, no totals: only what is broken"},
    {.name = "verbose", .letter = 'v', .set = set_count, FIELD(verbosity), .group = OPTION_REPORTS,
     .words = "the whole report; twice: redirects and skipped links as well, and a line on stderr for each URL"},
    {.name = "color", .aliases = "colour", .argument = "WHEN", .set = set_choice, FIELD(color),
     .initial = "auto", .choices = "auto always never", .group = OPTION_REPORTS,
     .words = "colours; auto: on terminals, unless NO_COLOR is set"},
    {.name = "no-progress", .set = set_flag, FIELD(no_progress), .group = OPTION_REPORTS,
     .words = "no progress line on terminals"},
    {.name = "status", .argument = "[HOST:]PORT", .set = set_status, .group = OPTION_REPORTS,
     .words = "serve how the crawl stands over HTTP: / for people, /status.json, /metrics for Prometheus; on 127.0.0.1 unless HOST says otherwise; SIGUSR1 prints the same"},

    /* ---- everything else ---- */
    {.name = "state", .writes = true, .letter = 'd', .argument = "DIR", .set = set_text, FIELD(state), .hint = HINT_FOLDER,
     .group = OPTION_OTHER,
     .words = "keep in the folder DIR what is done; whatever ends the crawl, coil-crawl resume DIR goes on with it"},
    {.name = "state-interval", .argument = "TIME", .set = set_duration, FIELD(state_interval_ns),
     .initial = "1s", .min = 0, .group = OPTION_OTHER,
     .words = "write to that folder after so long: what has come since is asked for again; 0: after each page"},
    {.name = "frontier", .argument = "URL", .set = set_text, FIELD(frontier), .group = OPTION_OTHER,
     .words = "share the crawl with all who name the same Redis (redis://[USER:PASSWORD@]HOST[:PORT]/DB, rediss:// for TLS, unix:///PATH) and --crawl; coil-crawl collect DIR tells it"},
    {.name = "crawl", .argument = "NAME", .set = set_text, FIELD(crawl), .group = OPTION_OTHER,
     .words = "the name of the crawl there"},
    {.name = "results-max", .argument = "SIZE", .set = set_bytes, FIELD(results_max_bytes), .initial = "256M",
     .min = 1 << 20, .max = INT64_C(1) << 40, .group = OPTION_OTHER,
     .words = "pause there while answers of so many bytes were not collected"},
    {.name = "backend", .argument = "NAME", .set = set_backend, FIELD(backend), .choices = "io_uring epoll poll select",
     .group = OPTION_OTHER, .words = "wait in the kernel by this interface (that of COIL_BACKEND, or epoll)"},
    {.name = "io-uring", .set = set_backend, FIELD(backend), .group = OPTION_HIDDEN, .words = "io_uring"},
    {.name = "epoll", .set = set_backend, FIELD(backend), .group = OPTION_HIDDEN, .words = "epoll"},
    {.name = "poll", .set = set_backend, FIELD(backend), .group = OPTION_HIDDEN, .words = "poll"},
    {.name = "select", .set = set_backend, FIELD(backend), .group = OPTION_HIDDEN, .words = "select"},
    {.name = "iocp", .set = refuse_iocp, .group = OPTION_HIDDEN, .words = "Windows"},
    {.name = "config", .argument = "FILE", .hint = HINT_FILE, .group = OPTION_OTHER,
     .words = "read options from FILE, in TOML (./coil-crawl.toml if it is there, whose outputs must lie below its folder)"},
    {.name = "no-config", .group = OPTION_OTHER, .words = "read no such file"},
    {.name = "files-from", .repeats = true, .argument = "FILE", .set = add_text, FIELD(lists), .hint = HINT_FILE,
     .group = OPTION_OTHER,
     .words = "check the URLs, files and folders that FILE lists, one a line; \"-\", which may also stand alone, is standard input; may be repeated"},
    {.name = "completions", .argument = "SHELL", .choices = "bash zsh fish", .group = OPTION_OTHER,
     .words = "print what completes the options in this shell"},
    {.name = "help", .letter = 'h', .group = OPTION_OTHER, .words = "this text"},
    {.name = "version", .letter = 'V', .group = OPTION_OTHER, .words = "the version"},
    {.name = "print", .argument = "WHAT", .choices = "man manual-table", .group = OPTION_HIDDEN,
     .words = "what the build and the tests need"},
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
