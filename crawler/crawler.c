/*
 * crawler.c - see crawler.h
 *
 * Options and start URLs are converted to a command line, which the option parser of
 * coil-crawl reads. So programs get the same options, checks and messages as users of the
 * command.
 */
#include "crawler.h"

#include "base/array.h"
#include "crawl/check_options.h"
#include "crawl/crawl.h"

#include <coil/error.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct crawl {
    struct record_sink sink;
    char **arguments; /* as for main(), with NULL at the end */
    size_t count, capacity;
    struct options options;
    struct crawler crawler;
    char *message; /* allocated with malloc(), or NULL */
    bool has_run;
};

/* Append an argument, taking ownership of it. If memory runs out, free the argument. */
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
    if (start[0] == '-' || strpbrk(start, ":/.") == NULL)
        return -EINVAL;
    return add_argument(crawl, strdup(start));
}

/*
 * Refuse options that only the command supports, mostly because only the command opens
 * the files that they name.
 */
static int refuse_options_of_command(const struct options *options, FILE *complaints)
{
    if (options->state == NULL && options->frontier == NULL && options->crawl == NULL &&
        options->formats.count == 0 && options->status_port == NULL &&
        options->cache == NULL && options->baseline == NULL && options->warc == NULL)
        return 0;
    fputs("coil-crawl: the library has none of --state, --frontier, --crawl, --format, "
          "--status, --cache, --baseline and --warc\n",
          complaints);
    return -EINVAL;
}

/* Remove the name of the command at the beginning of a message, and the newline at its
   end. */
static void strip_message(char *message)
{
    static const char name[] = "coil-crawl: ";
    size_t n = strlen(message), from = strlen(name);

    if (strncmp(message, name, from) != 0)
        from = 0;
    while (n > from && message[n - 1] == '\n')
        n--;
    memmove(message, message + from, n - from);
    message[n - from] = '\0';
}

/* Parse the arguments. Error messages and the text of --help are stored in
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
    if (rc == 0)
        rc = refuse_options_of_command(&crawl->options, messages);
    if (rc == 0)
        rc = check_options(&crawl->options, messages);
    if (fclose(messages) != 0 && rc == 0)
        rc = -ENOMEM;
    if (crawl->message != NULL)
        strip_message(crawl->message);
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
    int rc;

    if (crawl->has_run)
        return -EINVAL;
    crawl->has_run = true;
    rc = parse_arguments(crawl);
    if (rc == 0)
        rc = run_crawler(crawl);
    if (rc < 0 && crawl_message(crawl)[0] == '\0') {
        free(crawl->message);
        crawl->message = strdup(coil_strerror(rc));
    }
    return rc;
}

const char *crawl_message(const struct crawl *crawl)
{
    return crawl->message != NULL ? crawl->message : "";
}
