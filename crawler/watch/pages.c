/*
 * pages.c - see pages.h
 */
#include "pages.h"

#include "../report/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1e9

static void put_piece(void *to, const char *piece, size_t n)
{
    text_add(to, piece, n);
}

static double in_seconds(int64_t ns)
{
    return (double)ns / NS_PER_S;
}

static double in_mib(int64_t bytes)
{
    return (double)bytes / (1024 * 1024);
}

/* ---- a terminal -------------------------------------------------------------------- */

#define LINES_HOSTS 10

static void put_verdict_list(struct text *text, const struct watch_numbers *numbers)
{
    const char *before = "  ";

    for (enum verdict v = VERDICT_OPEN + 1; v < VERDICT_COUNT; v++)
        if (numbers->verdicts[v] > 0) {
            text_print(text, "%s%s %zu", before, verdict_word(v), numbers->verdicts[v]);
            before = ", ";
        }
    if (before[0] == ',')
        text_print(text, "\n");
}

static void put_host_line(struct text *text, const struct watch_host *host)
{
    text_print(text, "  ");
    escape_plain(host->origin, put_piece, text);
    text_print(text, "  %s%s, %zu queued, %u in flight", watch_state_word(host->state),
               host->is_troubled ? ", troubled" : "", host->queued, host->in_flight);
    if (host->delay_ns > 0)
        text_print(text, ", delay %.3g s", in_seconds(host->delay_ns));
    if (host->wait_ns > 0)
        text_print(text, ", waits %.3g s", in_seconds(host->wait_ns));
    text_print(text, "\n");
}

void watch_lines(struct text *text, const struct watch_numbers *numbers, double rate)
{
    size_t shown = numbers->listed < LINES_HOSTS ? numbers->listed : LINES_HOSTS;

    text_print(text,
               "%zu of %zu checked, %zu bad, %zu queued, %u in flight, %.0f/s, %.1f s, "
               "%.1f MiB in memory\n",
               numbers->urls.done, numbers->urls.known, numbers->urls.bad,
               numbers->queued,
               numbers->in_flight[FRONTIER_SITE] + numbers->in_flight[FRONTIER_EXTERNAL],
               rate, in_seconds(numbers->elapsed_ns), in_mib(numbers->resident_bytes));
    text_print(text, "  %zu pages, %zu links, %.1f MiB received\n", numbers->pages,
               numbers->links, in_mib(numbers->received_bytes));
    put_verdict_list(text, numbers);
    for (size_t i = 0; i < shown; i++)
        put_host_line(text, &numbers->hosts[i]);
    if (numbers->host_count > shown)
        text_print(text, "  and %zu more hosts\n", numbers->host_count - shown);
}

/* ---- HTML -------------------------------------------------------------------------- */

static void put_row(struct text *text, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put_row(struct text *text, const char *name, const char *format, ...)
{
    char value[64];
    va_list args;

    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    text_print(text, "<tr><th scope=row>%s<td>%s\n", name, value);
}

static void put_host_row(struct text *text, const struct watch_host *host)
{
    text_print(text, "<tr><th scope=row>");
    escape_markup(host->origin, put_piece, text);
    text_print(text, "<td>%s%s<td>%zu<td>%u<td>%.3g<td>%.3g\n",
               watch_state_word(host->state), host->is_troubled ? ", troubled" : "",
               host->queued, host->in_flight, in_seconds(host->delay_ns),
               in_seconds(host->wait_ns));
}

static void put_hosts_table(struct text *text, const struct watch_numbers *numbers)
{
    text_print(
        text,
        "<h2>Hosts</h2>\n<p>%zu, of which %zu wait for their delay; the busiest first."
        "\n<table><thead><tr><th>host<th>state<th>queued<th>in flight<th>delay, s"
        "<th>waits, s<tbody>\n",
        numbers->host_count, numbers->delayed_count);
    for (size_t i = 0; i < numbers->listed; i++)
        put_host_row(text, &numbers->hosts[i]);
    text_print(text, "</table>\n");
}

void watch_page(struct text *text, const struct watch_numbers *numbers, double rate)
{
    text_print(
        text,
        "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>"
        "<meta http-equiv=refresh content=2>\n<title>coil-crawl: %zu of %zu</title>\n",
        numbers->urls.done, numbers->urls.known);
    text_print(
        text,
        "<style>body{font:1rem/1.4 system-ui,sans-serif;margin:2rem;max-width:60rem}"
        "th{text-align:left;font-weight:normal;padding-right:2rem}"
        "td{text-align:right;padding-right:1rem}progress{width:100%%}</style>\n");
    text_print(text,
               "<h1>coil-crawl</h1>\n<progress max=%zu value=%zu></progress>\n<table>\n",
               numbers->urls.known, numbers->urls.done);
    put_row(text, "checked", "%zu of %zu", numbers->urls.done, numbers->urls.known);
    put_row(text, "bad", "%zu", numbers->urls.bad);
    put_row(text, "queued", "%zu", numbers->queued);
    put_row(text, "of these to be tried again", "%zu", numbers->retrying);
    put_row(text, "in flight, of the site", "%u", numbers->in_flight[FRONTIER_SITE]);
    put_row(text, "in flight, elsewhere", "%u", numbers->in_flight[FRONTIER_EXTERNAL]);
    put_row(text, "rate", "%.0f/s", rate);
    put_row(text, "time", "%.1f s", in_seconds(numbers->elapsed_ns));
    put_row(text, "pages", "%zu", numbers->pages);
    put_row(text, "links", "%zu", numbers->links);
    put_row(text, "received", "%.1f MiB", in_mib(numbers->received_bytes));
    put_row(text, "memory", "%.1f MiB", in_mib(numbers->resident_bytes));
    text_print(text, "</table>\n<h2>Verdicts</h2>\n<table>\n");
    for (enum verdict v = VERDICT_OPEN + 1; v < VERDICT_COUNT; v++)
        put_row(text, verdict_word(v), "%zu", numbers->verdicts[v]);
    text_print(text, "</table>\n");
    put_hosts_table(text, numbers);
    text_print(
        text,
        "<p><a href=status.json>JSON</a> <a href=metrics>Prometheus</a>\n</html>\n");
}

/* ---- JSON -------------------------------------------------------------------------- */

static void put_host_object(struct text *text, const struct watch_host *host)
{
    text_print(text, "{\"origin\":\"");
    escape_json(host->origin, put_piece, text);
    text_print(text,
               "\",\"state\":\"%s\",\"troubled\":%s,\"queued\":%zu,\"in_flight\":%u,"
               "\"delay\":%.3f,\"wait\":%.3f}",
               watch_state_word(host->state), host->is_troubled ? "true" : "false",
               host->queued, host->in_flight, in_seconds(host->delay_ns),
               in_seconds(host->wait_ns));
}

void watch_json(struct text *text, const struct watch_numbers *numbers, double rate)
{
    text_print(
        text,
        "{\"schema\":1,\"seconds\":%.3f,\"known\":%zu,\"checked\":%zu,\"bad\":%zu,"
        "\"queued\":%zu,\"retrying\":%zu,\"in_flight\":{\"site\":%u,\"external\":%u},"
        "\"rate\":%.1f,\"pages\":%zu,\"links\":%zu,\"received_bytes\":%" PRId64
        ",\"memory_bytes\":%" PRId64 ",\"verdicts\":{",
        in_seconds(numbers->elapsed_ns), numbers->urls.known, numbers->urls.done,
        numbers->urls.bad, numbers->queued, numbers->retrying,
        numbers->in_flight[FRONTIER_SITE], numbers->in_flight[FRONTIER_EXTERNAL], rate,
        numbers->pages, numbers->links, numbers->received_bytes, numbers->resident_bytes);
    for (enum verdict v = VERDICT_OPEN + 1; v < VERDICT_COUNT; v++)
        text_print(text, "%s\"%s\":%zu", v > VERDICT_OPEN + 1 ? "," : "", verdict_word(v),
                   numbers->verdicts[v]);
    text_print(text, "},\"hosts\":%zu,\"delayed_hosts\":%zu,\"busiest\":[",
               numbers->host_count, numbers->delayed_count);
    for (size_t i = 0; i < numbers->listed; i++) {
        text_print(text, i > 0 ? "," : "");
        put_host_object(text, &numbers->hosts[i]);
    }
    text_print(text, "]}\n");
}

/* ---- Prometheus -------------------------------------------------------------------- */

static void put_metric(struct text *text, const char *name, const char *type,
                       const char *help)
{
    text_print(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_number(struct text *text, const char *name, const char *type,
                       const char *help, double value)
{
    put_metric(text, name, type, help);
    text_print(text, "%s %.15g\n", name, value);
}

static void put_of_hosts(struct text *text, const struct watch_numbers *numbers,
                         const char *name, const char *help,
                         double (*value)(const struct watch_host *host))
{
    put_metric(text, name, "gauge", help);
    for (size_t i = 0; i < numbers->listed; i++) {
        text_print(text, "%s{host=\"", name);
        /* labels need the same escapes as JSON */
        escape_json(numbers->hosts[i].origin, put_piece, text);
        text_print(text, "\"} %.15g\n", value(&numbers->hosts[i]));
    }
}

static double queued_of(const struct watch_host *host)
{
    return (double)host->queued;
}

static double in_flight_of(const struct watch_host *host)
{
    return host->in_flight;
}

static double delay_of(const struct watch_host *host)
{
    return in_seconds(host->delay_ns);
}

void watch_metrics(struct text *text, const struct watch_numbers *numbers, double rate)
{
    put_number(text, "coil_crawl_seconds", "gauge", "How long the crawl has taken.",
               in_seconds(numbers->elapsed_ns));
    put_number(text, "coil_crawl_urls_known", "gauge", "URLs that are to be checked.",
               (double)numbers->urls.known);
    put_number(text, "coil_crawl_urls_checked_total", "counter",
               "URLs that were checked.", (double)numbers->urls.done);
    put_number(text, "coil_crawl_urls_queued", "gauge", "URLs that wait.",
               (double)numbers->queued);
    put_number(text, "coil_crawl_urls_retrying", "gauge",
               "Waiting URLs that will be tried again.", (double)numbers->retrying);
    put_number(text, "coil_crawl_urls_per_second", "gauge", "Of late.", rate);
    put_number(text, "coil_crawl_pages_total", "counter", "Pages that were requested.",
               (double)numbers->pages);
    put_number(text, "coil_crawl_links_total", "counter", "Links on these pages.",
               (double)numbers->links);
    put_number(text, "coil_crawl_received_bytes_total", "counter",
               "Of all answers, as they came.", (double)numbers->received_bytes);
    put_metric(text, "coil_crawl_requests_in_flight", "gauge", "Requests in flight.");
    text_print(text, "coil_crawl_requests_in_flight{class=\"site\"} %u\n",
               numbers->in_flight[FRONTIER_SITE]);
    text_print(text, "coil_crawl_requests_in_flight{class=\"external\"} %u\n",
               numbers->in_flight[FRONTIER_EXTERNAL]);
    put_metric(text, "coil_crawl_verdicts", "gauge", "Targets of each verdict so far.");
    for (enum verdict v = VERDICT_OPEN + 1; v < VERDICT_COUNT; v++)
        text_print(text, "coil_crawl_verdicts{verdict=\"%s\"} %zu\n", verdict_word(v),
                   numbers->verdicts[v]);
    put_number(text, "coil_crawl_hosts", "gauge", "Hosts that are known.",
               (double)numbers->host_count);
    put_number(text, "coil_crawl_hosts_delayed", "gauge",
               "Hosts whose delay has not passed yet.", (double)numbers->delayed_count);
    put_of_hosts(text, numbers, "coil_crawl_host_queued",
                 "URLs that wait, of the busiest hosts.", queued_of);
    put_of_hosts(text, numbers, "coil_crawl_host_in_flight",
                 "Requests in flight, of the busiest hosts.", in_flight_of);
    put_of_hosts(text, numbers, "coil_crawl_host_delay_seconds",
                 "Between two requests, of the busiest hosts.", delay_of);
    put_number(text, "process_resident_memory_bytes", "gauge", "Resident memory.",
               (double)numbers->resident_bytes);
}
