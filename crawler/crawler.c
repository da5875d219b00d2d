/*
 * crawler.c - see crawler.h
 *
 * Options and starts become the arguments of a command line, so that programs and users
 * have the same options, checks and messages.
 */
#include "crawler.h"

#include "base/array.h"
#include "crawl/crawl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct crawl {
    struct record_sink sink;
    char **arguments; /* as in main(), with NULL at the end */
    size_t count, capacity;
    struct options options;
    struct crawler crawler;
    char *message; /* for free(); or NULL */
};

/* The crawl owns the argument, also after a failure. */
static int add_argument(struct crawl *crawl, char *argument)
{
    if (argument == NULL)
        return -ENOMEM;
    if (crawl->count + 1 >= crawl->capacity &&
        array_grow(&crawl->arguments, &crawl->capacity, sizeof *crawl->arguments) < 0) {
        free(argument);
        return -ENOMEM;
    }
    crawl->arguments[crawl->count++] = argument;
    crawl->arguments[crawl->count] = NULL;
    return 0;
}

int crawl_create(const struct record_sink *sink, struct crawl **out)
{
    struct crawl *crawl = calloc(1, sizeof *crawl);
    int rc;

    *out = NULL;
    if (crawl == NULL)
        return -ENOMEM;
    crawl->sink = *sink;
    rc = add_argument(crawl, strdup("coil-crawl"));
    if (rc == 0)
        rc = crawl_set(crawl, "no-config", NULL);
    if (rc == 0)
        *out = crawl;
    else
        crawl_destroy(crawl);
    return rc;
}

void crawl_destroy(struct crawl *crawl)
{
    if (crawl == NULL)
        return;
    crawler_finish(&crawl->crawler);
    options_finish(&crawl->options);
    for (size_t i = 0; i < crawl->count; i++)
        free(crawl->arguments[i]);
    free(crawl->arguments);
    free(crawl->message);
    free(crawl);
}

int crawl_set(struct crawl *crawl, const char *option, const char *value)
{
    char *argument;

    if (asprintf(&argument, "--%s%s%s", option, value != NULL ? "=" : "",
                 value != NULL ? value : "") < 0)
        argument = NULL;
    return add_argument(crawl, argument);
}

int crawl_add_start(struct crawl *crawl, const char *start)
{
    return add_argument(crawl, strdup(start));
}

/* Parse the arguments. The message of a wrong one, and the text of --help, go to
   crawl->message. */
static int parse_arguments(struct crawl *crawl)
{
    size_t n;
    FILE *messages = open_memstream(&crawl->message, &n);
    int rc;

    if (messages == NULL)
        return -ENOMEM;
    rc = options_init(&crawl->options);
    if (rc == 0)
        rc = options_parse(&crawl->options, (int)crawl->count, crawl->arguments, messages,
                           messages);
    if (fclose(messages) != 0 && rc == 0)
        rc = -ENOMEM;
    return rc == OPTIONS_PRINTED ? -EINVAL : rc;
}

static int run_crawler(struct crawl *crawl)
{
    struct crawler *crawler = &crawl->crawler;
    int rc = crawler_init(crawler, &crawl->options, NULL, &crawl->sink, 1), reported;

    if (rc == 0)
        rc = crawler_run(crawler);
    reported = records_summary(&crawler->verdicts.sinks, &crawler->verdicts.summary);
    if (rc < 0 && crawler->result.complaint != NULL) {
        free(crawl->message);
        crawl->message = strdup(crawler->result.complaint);
    }
    return rc < 0 ? rc : reported;
}

int crawl_run(struct crawl *crawl)
{
    int rc = parse_arguments(crawl);

    return rc == 0 ? run_crawler(crawl) : rc;
}

const char *crawl_message(const struct crawl *crawl)
{
    return crawl->message != NULL ? crawl->message : "";
}
