/* check_options.c - see check_options.h */
#include "check_options.h"

#include "../shared/lease.h"

#include <coil/http.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * True if requests go through a proxy, which hides the addresses of the hosts from the
 * crawler.
 */
static bool goes_through_proxy(const struct options *options)
{
    if (options->proxy != NULL)
        return options->proxy[0] != '\0';
    return coil_http_proxy_of_environment("http") != NULL ||
           coil_http_proxy_of_environment("https") != NULL;
}

static bool is_url(const char *start)
{
    return strstr(start, "://") != NULL;
}

/*
 * Refuse to save a crawl of local files, because they can be read again quickly, and may
 * have changed by then.
 */
static int check_state(const struct options *options, FILE *complaints)
{
    if (options->state == NULL || options->command != COMMAND_CRAWL || options->explain)
        return 0;
    for (size_t i = 0; i < options->starts.count; i++)
        if (!is_url(options->starts.at[i])) {
            fprintf(complaints,
                    "coil-crawl: %s: --state saves crawls of URLs, not of files\n",
                    options->starts.at[i]);
            return -EINVAL;
        }
    return 0;
}

static int refuse_options(FILE *complaints, const char *what)
{
    fprintf(complaints, "coil-crawl: %s\n", what);
    return -EINVAL;
}

static bool has_files(const struct options *options)
{
    for (size_t i = 0; i < options->starts.count; i++)
        if (!is_url(options->starts.at[i]))
            return true;
    return false;
}

/* Refuse options that a shared crawl does not support. */
static int check_shared(const struct options *options, FILE *complaints)
{
    bool is_shared = options->frontier != NULL;

    if (is_shared != (options->crawl != NULL))
        return refuse_options(complaints,
                              "--frontier and --crawl must be given together");
    if (is_shared && !leases_is_name(options->crawl))
        return refuse_options(
            complaints, "--crawl: a name consists of at most 64 letters, digits, \".\", "
                        "\"_\" and \"-\"");
    if (options->command == COMMAND_COLLECT)
        return is_shared
                   ? 0
                   : refuse_options(complaints, "collect needs --frontier and --crawl");
    if (!is_shared)
        return 0;
    if (options->command != COMMAND_CRAWL || options->explain)
        return refuse_options(complaints, "--frontier is for a crawl and for collect");
    if (has_files(options))
        return refuse_options(complaints,
                              "--frontier shares crawls of URLs, not of files");
    if (options->state != NULL || options->cache != NULL || options->baseline != NULL ||
        options->formats.count > 0)
        return refuse_options(
            complaints,
            "-d, -f, --cache and --baseline are not for --frontier, but for collect");
    return options->offline
               ? refuse_options(complaints, "--frontier and --offline exclude each other")
               : 0;
}

/* Refuse `resume` and `recheck` with --offline, because these commands send requests. */
static int check_offline(const struct options *options, FILE *complaints)
{
    if (options->offline &&
        (options->command == COMMAND_RESUME || options->command == COMMAND_RECHECK))
        return refuse_options(
            complaints, "resume and recheck send requests, which --offline forbids");
    return 0;
}

int check_options(const struct options *options, FILE *complaints)
{
    if (check_offline(options, complaints) < 0 || check_shared(options, complaints) < 0 ||
        check_state(options, complaints) < 0)
        return -EINVAL;
    if (!options->exclude_private || !goes_through_proxy(options))
        return 0;
    return refuse_options(
        complaints, "--exclude-private does not work through a proxy, because only the "
                    "proxy knows the addresses; -x \"\" uses none");
}
