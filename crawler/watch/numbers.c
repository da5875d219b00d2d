/*
 * numbers.c - see numbers.h
 */
#include "numbers.h"

#include <coil/timer.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *watch_state_word(enum watch_state state)
{
    static const char *const words[] = {[WATCH_IDLE] = "idle",
                                        [WATCH_ASKED] = "asked",
                                        [WATCH_READY] = "ready",
                                        [WATCH_DELAYED] = "delayed",
                                        [WATCH_RULES] = "rules"};

    return words[state];
}

/* Return the memory of the process in bytes, or 0 if /proc is not available. */
static int64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long long size, resident = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%lld %lld", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static enum watch_state state_of(const struct host *host, int64_t now)
{
    if (host->robots.state == ROBOTS_REQUESTED)
        return WATCH_RULES;
    if (host->in_flight > 0)
        return WATCH_ASKED;
    if (host->queue.count == 0)
        return WATCH_IDLE;
    return host->pace.next_ns > now ? WATCH_DELAYED : WATCH_READY;
}

static size_t work_of(const struct watch_host *host)
{
    return host->queued + host->in_flight;
}

/* Insert a host into the sorted list of the busiest hosts, if it belongs there. */
static void insert_host(struct watch_numbers *numbers, const struct watch_host *host)
{
    struct watch_host *hosts = numbers->hosts;
    size_t at = numbers->listed;

    if (at == WATCH_HOSTS && work_of(&hosts[at - 1]) >= work_of(host))
        return;
    if (at < WATCH_HOSTS)
        numbers->listed++;
    else
        at--;
    for (; at > 0 && work_of(&hosts[at - 1]) < work_of(host); at--)
        hosts[at] = hosts[at - 1];
    hosts[at] = *host;
}

static void count_hosts(struct watch_numbers *numbers, const struct frontier *frontier)
{
    int64_t now = coil_now();

    for (size_t i = 0; i < frontier->hosts.capacity; i++) {
        const struct host *host = frontier->hosts.slots[i].value;
        struct watch_host listed;

        if (host == NULL)
            continue;
        listed = (struct watch_host){.origin = host->origin,
                                     .queued = host->queue.count,
                                     .in_flight = host->in_flight,
                                     .delay_ns = frontier_spacing_ns(host),
                                     .state = state_of(host, now),
                                     .is_troubled = host->pace.is_troubled};
        if (host->pace.next_ns > now)
            listed.wait_ns = host->pace.next_ns - now;
        numbers->host_count++;
        numbers->delayed_count += listed.state == WATCH_DELAYED;
        insert_host(numbers, &listed);
    }
}

void watch_count(struct watch_numbers *numbers, const struct crawler *crawler)
{
    const struct frontier *frontier = &crawler->frontier;
    const struct record_summary *summary = &crawler->verdicts.summary;

    *numbers = (struct watch_numbers){
        .elapsed_ns =
            crawler->result.begin_ns != 0 ? coil_now() - crawler->result.begin_ns : 0,
        .urls = crawler_progress(crawler),
        .queued = frontier_queued_count(frontier),
        .retrying = frontier->delays.retries.count,
        .pages = summary->pages,
        .links = summary->links,
        .received_bytes = summary->bytes,
        .resident_bytes = resident_bytes()};
    memcpy(numbers->in_flight, frontier->in_flight, sizeof numbers->in_flight);
    memcpy(numbers->verdicts, summary->verdicts, sizeof numbers->verdicts);
    count_hosts(numbers, frontier);
}
