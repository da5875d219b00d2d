/*
 * speed.c - see speed.h
 *
 * There are at most SPEED_SPANS periods of equal length. If an answer arrives after the
 * last one, pairs of periods are merged.
 */
#include "speed.h"

#include "../base/array.h"
#include "../url/url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SPAN_NS 10000000 /* 1.2 s for all periods together */
#define LONGEST_HOST 300       /* host names have at most 253 bytes */

/* ---- hosts ------------------------------------------------------------------------- */

/* Add a host. Returns NULL if memory runs out. */
static struct speed_host *add_host(struct speed *speed, const char *name)
{
    struct speed_host *host;

    if (speed->host_count == speed->host_capacity &&
        array_grow(&speed->hosts, &speed->host_capacity, sizeof(struct speed_host *)) < 0)
        return NULL;
    host = arena_alloc(&speed->arena, sizeof *host);
    if (host == NULL)
        return NULL;
    *host = (struct speed_host){.name = arena_text(&speed->arena, name, strlen(name))};
    if (host->name == NULL || table_add(&speed->by_name, host->name, host) < 0)
        return NULL;
    speed->hosts[speed->host_count++] = host;
    return host;
}

static struct speed_host *host_of(struct speed *speed, const char *url)
{
    struct whatwg_span span = url_host_and_port(url);
    char name[LONGEST_HOST + 1];
    struct speed_host *host;

    snprintf(name, sizeof name, "%.*s",
             (int)(span.n < LONGEST_HOST ? span.n : LONGEST_HOST), span.at);
    host = table_get(&speed->by_name, name);
    return host != NULL ? host : add_host(speed, name);
}

/* ---- the course -------------------------------------------------------------------- */

static void join_spans(struct speed *speed)
{
    for (size_t i = 0; i < SPEED_SPANS / 2; i++) {
        const struct speed_span *one = &speed->spans[2 * i], *other = one + 1;

        speed->spans[i] = (struct speed_span){one->answers + other->answers,
                                              one->failures + other->failures,
                                              one->bytes + other->bytes};
    }
    memset(speed->spans + SPEED_SPANS / 2, 0, SPEED_SPANS / 2 * sizeof *speed->spans);
    speed->span_ns *= 2;
    speed->span_count = (speed->span_count + 1) / 2;
}

static struct speed_span *span_at(struct speed *speed, int64_t ns)
{
    size_t at;

    if (speed->span_ns == 0)
        speed->span_ns = FIRST_SPAN_NS;
    while (ns / speed->span_ns >= SPEED_SPANS)
        join_spans(speed);
    at = ns > 0 ? (size_t)(ns / speed->span_ns) : 0;
    if (speed->span_count <= at)
        speed->span_count = at + 1;
    return &speed->spans[at];
}

/* ---- both -------------------------------------------------------------------------- */

int speed_add(struct speed *speed, const struct record_answer *record)
{
    bool is_failure = record->status == 0 || record->status >= 400;
    struct speed_host *host = host_of(speed, record->url);
    struct speed_span *span = span_at(speed, record->at_ns + record->duration_ns);

    if (host == NULL)
        return -ENOMEM;
    span->answers++;
    span->failures += is_failure;
    span->bytes += record->bytes;
    speed->answers++;
    speed->failures += is_failure;
    speed->total_ns += record->duration_ns;
    host->answers++;
    host->failures += is_failure;
    host->total_ns += record->duration_ns;
    if (record->duration_ns > host->slowest_ns)
        host->slowest_ns = record->duration_ns;
    return 0;
}

static int compare_hosts(const void *a, const void *b)
{
    const struct speed_host *one = *(struct speed_host *const *)a;
    const struct speed_host *other = *(struct speed_host *const *)b;
    double mean = (double)one->total_ns / (double)one->answers;
    double others = (double)other->total_ns / (double)other->answers;

    if (mean != others)
        return mean > others ? -1 : 1;
    return strcmp(one->name, other->name);
}

void speed_arrange(struct speed *speed)
{
    if (speed->host_count > 0)
        qsort(speed->hosts, speed->host_count, sizeof(struct speed_host *),
              compare_hosts);
}

void speed_finish(struct speed *speed)
{
    free(speed->hosts);
    table_finish(&speed->by_name);
    arena_finish(&speed->arena);
    *speed = (struct speed){0};
}
