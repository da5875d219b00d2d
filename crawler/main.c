/*
 * main.c - the command coil-crawl: its options, and what its exit status means.
 */
#include "crawler.h"
#include "report.h"
#include "url.h"

#include <coil/run.h>

#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A look-up by the C library that nobody wants any more takes many seconds to give up:
   it is left to its thread. */
#define DRAIN_NS COIL_SEC(1)

enum status {
    STATUS_WELL = 0,
    STATUS_FAILED = 1, /* of memory, or writing the report */
    STATUS_BROKEN = 2,
    STATUS_USAGE = 3,
    STATUS_NOTHING = 4,
    STATUS_INTERRUPTED = 6
};

static const char help[] =
    "Usage: coil-crawl [OPTION]... URL...\n"
    "Visit every page of a site, and report what is broken and who links to it.\n"
    "\n"
    "      --max-tasks N     fetch at most N pages at a time (10)\n"
    "      --max-redirect N  follow at most N redirects in a row (10)\n"
    "      --max-tries N     try a URL N times where the network or server fails (3)\n"
    "      --timeout SECONDS wait no longer for each try (30)\n"
    "      --exclude RE      do not visit URLs that match; may be repeated\n"
    "      --strict          visit the hosts of the URLs, with or without \"www.\" (the\n"
    "                        default)\n"
    "      --lenient         visit hosts that share the last two labels, on any port\n"
    "  -f, --format jsonl:FILE  write a JSON object for each URL to FILE\n"
    "  -q, --quiet           no progress, no totals\n"
    "  -v, --verbose         a table of all URLs; twice: a line for each on stderr\n"
    "      --help            this text\n"
    "      --version         the version\n"
    "\n"
    "Links to other sites are counted. A URL may redirect to another port of its\n"
    "host; that belongs to the site, then. Regular expressions are POSIX extended.\n"
    "Ctrl-C ends the crawl with a report of what was done.\n"
    "\n"
    "Exit status: 0 all is well, 1 out of memory or the report could not be written,\n"
    "2 something is broken, 3 wrong usage, 4 nothing could be fetched, 6 interrupted.\n"
    "\n"
    "COIL_BACKEND=epoll, poll or select in the environment chooses how to wait.\n";

struct settings {
    struct crawler_options crawler;
    const char *jsonl_path;
    char **start_urls;
    regex_t *exclusions;
    unsigned verbosity;
    bool quiet;
};

static int complain(const char *what, const char *about)
{
    fprintf(stderr, "coil-crawl: %s: %s\n", about, what);
    return -EINVAL;
}

/* ---- options ----------------------------------------------------------------------- */

static int parse_number(const char *option, const char *text, unsigned min, unsigned *out)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value < min ||
        value > 1000000)
        return complain("not a number that it takes", option);
    *out = (unsigned)value;
    return 0;
}

static int parse_seconds(const char *text, int64_t *out)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds > 0 && seconds <= 1e6))
        return complain("not a number of seconds", "--timeout");
    *out = (int64_t)(seconds * 1e9);
    return 0;
}

static int parse_format(const char *text, struct settings *settings)
{
    const char prefix[] = "jsonl:";

    if (strncmp(text, prefix, sizeof prefix - 1) != 0 || text[sizeof prefix - 1] == '\0')
        return complain("the format is jsonl:FILE", text);
    settings->jsonl_path = text + sizeof prefix - 1;
    return 0;
}

static int parse_exclusion(const char *text, struct settings *settings)
{
    size_t count = settings->crawler.exclusion_count;
    regex_t *longer = realloc(settings->exclusions, (count + 1) * sizeof *longer);
    char why[128];
    int code;

    if (longer == NULL)
        return -ENOMEM;
    settings->exclusions = longer;
    settings->crawler.exclusions = longer;
    code = regcomp(&longer[count], text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        regerror(code, NULL, why, sizeof why);
        return complain(why, text);
    }
    settings->crawler.exclusion_count = count + 1;
    return 0;
}

/* A start URL: "example.org" will do. */
static int parse_url(const char *text, char **url)
{
    char *complete = NULL;
    int rc;

    if (strstr(text, "://") == NULL && asprintf(&complete, "http://%s", text) < 0)
        return -ENOMEM;
    rc = url_resolve(NULL, complete != NULL ? complete : text, url);
    free(complete);
    if (rc < 0)
        return complain("not an http or https URL", text);
    return 0;
}

static int parse_urls(char *texts[], size_t count, struct settings *settings)
{
    int rc = 0;

    settings->start_urls = calloc(count, sizeof *settings->start_urls);
    if (settings->start_urls == NULL)
        return -ENOMEM;
    settings->crawler.start_urls = (const char *const *)settings->start_urls;
    while (rc == 0 && settings->crawler.start_count < count) {
        size_t i = settings->crawler.start_count;
        rc = parse_url(texts[i], &settings->start_urls[i]);
        settings->crawler.start_count += rc == 0;
    }
    return rc;
}

static void finish_settings(struct settings *settings)
{
    for (size_t i = 0; i < settings->crawler.start_count; i++)
        free(settings->start_urls[i]);
    for (size_t i = 0; i < settings->crawler.exclusion_count; i++)
        regfree(&settings->exclusions[i]);
    free(settings->start_urls);
    free(settings->exclusions);
}

enum {
    OPTION_TASKS = 256,
    OPTION_REDIRECT,
    OPTION_TRIES,
    OPTION_TIMEOUT,
    OPTION_EXCLUDE,
    OPTION_STRICT,
    OPTION_LENIENT
};

static const struct option options[] = {
    {"max-tasks", required_argument, NULL, OPTION_TASKS},
    {"exclude", required_argument, NULL, OPTION_EXCLUDE},
    {"strict", no_argument, NULL, OPTION_STRICT},
    {"lenient", no_argument, NULL, OPTION_LENIENT},
    {"max-redirect", required_argument, NULL, OPTION_REDIRECT},
    {"max-tries", required_argument, NULL, OPTION_TRIES},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"format", required_argument, NULL, 'f'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static int parse_option(int option, struct settings *settings)
{
    struct crawler_options *crawler = &settings->crawler;

    switch (option) {
    case OPTION_TASKS:
        return parse_number("--max-tasks", optarg, 1, &crawler->max_tasks);
    case OPTION_REDIRECT:
        return parse_number("--max-redirect", optarg, 0, &crawler->max_redirects);
    case OPTION_TRIES:
        return parse_number("--max-tries", optarg, 1, &crawler->max_tries);
    case OPTION_TIMEOUT:
        return parse_seconds(optarg, &crawler->timeout_ns);
    case OPTION_EXCLUDE:
        return parse_exclusion(optarg, settings);
    case OPTION_STRICT:
    case OPTION_LENIENT:
        crawler->lenient = option == OPTION_LENIENT;
        return 0;
    case 'f':
        return parse_format(optarg, settings);
    case 'q':
        settings->quiet = true;
        return 0;
    case 'v':
        crawler->verbose = ++settings->verbosity > 1;
        return 0;
    case 'h':
        fputs(help, stdout);
        exit(STATUS_WELL);
    case 'V':
        printf("coil-crawl %s, %s\n", coil_version(), curl_version());
        exit(STATUS_WELL);
    default:
        return -EINVAL; /* getopt has complained */
    }
}

static int parse(int argc, char *argv[], struct settings *settings)
{
    int option, rc = 0;

    while (rc == 0 && (option = getopt_long(argc, argv, "f:qv", options, NULL)) != -1)
        rc = parse_option(option, settings);
    if (rc < 0)
        return rc;
    if (optind == argc)
        return complain("missing", "URL");
    settings->crawler.progress =
        !settings->quiet && !settings->crawler.verbose && isatty(STDERR_FILENO);
    return parse_urls(argv + optind, (size_t)(argc - optind), settings);
}

/* ---- the outcome ------------------------------------------------------------------- */

static bool fetched_anything(const struct crawler *crawler)
{
    return crawler->totals.html + crawler->totals.files > 0;
}

static enum status status_of(const struct crawler *crawler, int rc)
{
    if (rc == -EINTR)
        return STATUS_INTERRUPTED;
    if (rc < 0)
        return STATUS_FAILED;
    if (!fetched_anything(crawler))
        return STATUS_NOTHING;
    return crawler->totals.broken > 0 ? STATUS_BROKEN : STATUS_WELL;
}

static void explain(const struct crawler *crawler, int rc)
{
    const struct page *start = crawler->pages[0];

    if (rc == -EINTR)
        fputs("coil-crawl: interrupted\n", stderr);
    else if (rc < 0)
        fprintf(stderr, "coil-crawl: the crawl could not go on: %s\n", strerror(-rc));
    else if (!fetched_anything(crawler) && start->next != NULL && start->next->external)
        fprintf(stderr, "coil-crawl: %s is of another site; start there if you mean it\n",
                start->next->url);
    else if (!fetched_anything(crawler))
        fprintf(stderr, "coil-crawl: nothing could be fetched from %s%s\n", start->url,
                crawler->start_count > 1 ? " and the others" : "");
}

/* Whole lines: a Ctrl-C takes effect afterwards. */
static int write_jsonl(FILE *jsonl, const struct crawler *crawler)
{
    sigset_t interrupt, before;
    int rc;

    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    rc = report_jsonl(jsonl, crawler);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* The file comes first: whoever reads stdout may have closed it, which ends the program.
 */
static enum status report(const struct crawler *crawler, const struct settings *settings,
                          FILE *jsonl, int rc)
{
    int written = jsonl != NULL ? write_jsonl(jsonl, crawler) : 0;

    if (settings->verbosity > 0 && report_table(stdout, crawler) < 0)
        complain(strerror(ENOMEM), "the table of URLs");
    report_text(stdout, crawler, settings->quiet);
    fflush(stdout);
    explain(crawler, rc);
    if (written < 0) {
        complain(strerror(-written), settings->jsonl_path);
        return STATUS_FAILED;
    }
    return status_of(crawler, rc);
}

/* What is done is in the file before the workers are waited for: a second Ctrl-C may come
   any time. Should it fail, the end will tell. */
static void write_on_interrupt(struct crawler *crawler, void *jsonl)
{
    write_jsonl(jsonl, crawler);
}

static enum status crawl(const struct settings *settings, FILE *jsonl)
{
    struct crawler_options with_file = settings->crawler;
    struct crawler crawler;
    enum status status;
    int rc;

    if (jsonl != NULL) {
        with_file.on_interrupt = write_on_interrupt;
        with_file.arg = jsonl;
    }
    rc = crawler_init(&crawler, &with_file);

    if (rc == 0) {
        rc = coil_run(crawler_run, &crawler, &(coil_run_opts){.drain_ns = DRAIN_NS});
        status = report(&crawler, settings, jsonl, rc);
    } else {
        complain(strerror(-rc), "starting");
        status = STATUS_FAILED;
    }
    crawler_finish(&crawler);
    return status;
}

/* The report's file is opened first, so that a wrong path does not cost an hour. */
static enum status crawl_into(const struct settings *settings)
{
    FILE *jsonl = NULL;
    enum status status;

    if (settings->jsonl_path != NULL) {
        jsonl = fopen(settings->jsonl_path, "we");
        if (jsonl == NULL) {
            complain(strerror(errno), settings->jsonl_path);
            return STATUS_USAGE;
        }
    }
    status = crawl(settings, jsonl);
    if (jsonl != NULL && fclose(jsonl) != 0)
        status = STATUS_FAILED;
    return status;
}

int main(int argc, char *argv[])
{
    char user_agent[32];
    struct settings settings = {.crawler = {.user_agent = user_agent,
                                            .max_tasks = 10,
                                            .max_redirects = 10,
                                            .max_tries = 3,
                                            .timeout_ns = COIL_SEC(30),
                                            .body_limit = (size_t)16 << 20}};
    enum status status = STATUS_USAGE;

    snprintf(user_agent, sizeof user_agent, "coil-crawl/%s", coil_version());
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return STATUS_FAILED;
    if (parse(argc, argv, &settings) == 0)
        status = crawl_into(&settings);
    finish_settings(&settings);
    curl_global_cleanup();
    return status;
}
