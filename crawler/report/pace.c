/*
 * pace.c - see pace.h
 *
 * The time is divided into PACE_SPANS periods of equal length, however long the crawl is.
 * If an answer comes after the last period, each two periods are merged into one.
 */
#include "pace.h"

#include "../base/array.h"
#include "../url/url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SPAN_NS 10000000 /* 1.2 s in all */
#define LONGEST_HOST 300       /* a host name has at most 253 bytes */

/* ---- hosts ------------------------------------------------------------------------- */

/* NULL without memory. */
static struct pace_host *add_host(struct pace *pace, const char *name)
{
    struct pace_host *host;

    if (pace->host_count == pace->host_capacity &&
        array_grow(&pace->hosts, &pace->host_capacity, sizeof(struct pace_host *)) < 0)
        return NULL;
    host = arena_alloc(&pace->arena, sizeof *host);
    if (host == NULL)
        return NULL;
    *host = (struct pace_host){.name = arena_text(&pace->arena, name, strlen(name))};
    if (host->name == NULL || table_add(&pace->by_name, host->name, host) < 0)
        return NULL;
    pace->hosts[pace->host_count++] = host;
    return host;
}

static struct pace_host *host_of(struct pace *pace, const char *url)
{
    struct whatwg_span span = url_host_and_port(url);
    char name[LONGEST_HOST + 1];
    struct pace_host *host;

    snprintf(name, sizeof name, "%.*s",
             (int)(span.n < LONGEST_HOST ? span.n : LONGEST_HOST), span.at);
    host = table_get(&pace->by_name, name);
    return host != NULL ? host : add_host(pace, name);
}

/* ---- the course -------------------------------------------------------------------- */

static void join_spans(struct pace *pace)
{
    for (size_t i = 0; i < PACE_SPANS / 2; i++) {
        const struct pace_span *one = &pace->spans[2 * i], *other = one + 1;

        pace->spans[i] = (struct pace_span){one->answers + other->answers,
                                            one->failures + other->failures,
                                            one->bytes + other->bytes};
    }
    memset(pace->spans + PACE_SPANS / 2, 0, PACE_SPANS / 2 * sizeof *pace->spans);
    pace->span_ns *= 2;
    pace->span_count = (pace->span_count + 1) / 2;
}

static struct pace_span *span_at(struct pace *pace, int64_t ns)
{
    size_t at;

    if (pace->span_ns == 0)
        pace->span_ns = FIRST_SPAN_NS;
    while (ns / pace->span_ns >= PACE_SPANS)
        join_spans(pace);
    at = ns > 0 ? (size_t)(ns / pace->span_ns) : 0;
    if (pace->span_count <= at)
        pace->span_count = at + 1;
    return &pace->spans[at];
}

/* ---- both -------------------------------------------------------------------------- */

int pace_add(struct pace *pace, const struct record_answer *record)
{
    bool is_failure = record->status == 0 || record->status >= 400;
    struct pace_host *host = host_of(pace, record->url);
    struct pace_span *span = span_at(pace, record->at_ns + record->duration_ns);

    if (host == NULL)
        return -ENOMEM;
    span->answers++;
    span->failures += is_failure;
    span->bytes += record->bytes;
    pace->answers++;
    pace->failures += is_failure;
    pace->total_ns += record->duration_ns;
    host->answers++;
    host->failures += is_failure;
    host->total_ns += record->duration_ns;
    if (record->duration_ns > host->slowest_ns)
        host->slowest_ns = record->duration_ns;
    return 0;
}

static int compare_hosts(const void *a, const void *b)
{
    const struct pace_host *one = *(struct pace_host *const *)a;
    const struct pace_host *other = *(struct pace_host *const *)b;
    double mean = (double)one->total_ns / (double)one->answers;
    double others = (double)other->total_ns / (double)other->answers;

    if (mean != others)
        return mean > others ? -1 : 1;
    return strcmp(one->name, other->name);
}

void pace_arrange(struct pace *pace)
{
    if (pace->host_count > 0)
        qsort(pace->hosts, pace->host_count, sizeof(struct pace_host *), compare_hosts);
}

void pace_finish(struct pace *pace)
{
    free(pace->hosts);
    table_finish(&pace->by_name);
    arena_finish(&pace->arena);
    *pace = (struct pace){0};
}
