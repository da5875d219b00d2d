/*
 * trace_json.c - writes a trace as Chrome's trace events, in JSON.
 *
 * Each loop is represented as a process, and each track as a thread of this process.
 *
 * Format: "Trace Event Format", Google, 2016.
 */
#include "trace_writer.h"

#include <inttypes.h>

static const char file_begin[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
static const char file_end[] = "\n]}\n";

/* An existing file already has events. Overwrite its end. */
static bool begin_file(struct coil__trace_writer *w, bool append)
{
    w->report = (struct coil__report){.out = w->out, .json = true};
    w->follows = append;
    if (append)
        return fseek(w->out, -(long)(sizeof file_end - 1), SEEK_END) == 0;
    fputs(file_begin, w->out);
    return true;
}

static void end_file(struct coil__trace_writer *w)
{
    fputs(file_end, w->out);
}

/* ---- events ------------------------------------------------------------------------ */

static void open_event(struct coil__trace_writer *w, const char *phase, const char *name,
                       uint32_t track)
{
    if (w->follows)
        fputs(",\n", w->out);
    w->follows = true;
    w->report.follows = false;
    coil__report_open(&w->report, NULL, '{');
    coil__report_value(&w->report, "ph", "%s", phase);
    coil__report_value(&w->report, "name", "%s", name);
    coil__report_value(&w->report, "pid", "%zu", (size_t)w->loop);
    coil__report_value(&w->report, "tid", "%zu", (size_t)track);
}

static void close_event(struct coil__trace_writer *w)
{
    coil__report_close(&w->report, '}');
}

/*
 * Add a time in microseconds, with three decimals, because rounded spans might overlap.
 */
static void put_micros(struct coil__trace_writer *w, const char *key, int64_t ns)
{
    uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

    fprintf(w->out, ",\"%s\":%s%" PRIu64 ".%03u", key, ns < 0 ? "-" : "", n / 1000,
            (unsigned)(n % 1000));
}

static void put_argument(struct coil__trace_writer *w,
                         const struct coil__trace_argument *argument)
{
    if (argument->text != NULL)
        coil__report_value(&w->report, argument->key, "%s", argument->text);
    else if (argument->number < 0)
        coil__report_value(&w->report, argument->key, "%d", (int)argument->number);
    else
        coil__report_value(&w->report, argument->key, "%zu", (size_t)argument->number);
}

static void put_arguments(struct coil__trace_writer *w,
                          const struct coil__trace_argument *arguments, size_t count)
{
    if (count == 0 || arguments[0].key == NULL)
        return;
    coil__report_open(&w->report, "args", '{');
    for (size_t i = 0; i < count && arguments[i].key != NULL; i++)
        put_argument(w, &arguments[i]);
    coil__report_close(&w->report, '}');
}

static void put_span(struct coil__trace_writer *w, const struct coil__trace_span *span)
{
    open_event(w, "X", span->name, span->track);
    coil__report_value(&w->report, "cat", "%s", span->category);
    put_micros(w, "ts", span->begin);
    put_micros(w, "dur", span->end - span->begin);
    put_arguments(w, &span->argument, 1);
    close_event(w);
}

static void put_instant(struct coil__trace_writer *w,
                        const struct coil__trace_instant *instant)
{
    open_event(w, "i", instant->name, instant->track);
    coil__report_value(&w->report, "s", "%s", instant->is_global ? "p" : "t");
    put_micros(w, "ts", instant->at);
    put_arguments(w, instant->arguments, 2);
    close_event(w);
}

/* ---- arrows ------------------------------------------------------------------------ */

static void put_end_of_arrow(struct coil__trace_writer *w, const char *phase,
                             const struct coil__trace_arrow *arrow, uint32_t track,
                             int64_t at)
{
    open_event(w, phase, arrow->name, track);
    coil__report_value(&w->report, "cat", "%s", "wake");
    coil__report_value(&w->report, "id", "%zu",
                       (size_t)((uint64_t)w->loop << 32 | arrow->number));
    put_micros(w, "ts", at);
    if (*phase == 'f')
        coil__report_value(&w->report, "bp", "%s", "e");
    close_event(w);
}

/*
 * Write both ends of the arrow. A viewer attaches each end to the span that contains the
 * end's time.
 */
static void put_arrow(struct coil__trace_writer *w, const struct coil__trace_arrow *arrow)
{
    put_end_of_arrow(w, "s", arrow, arrow->from_track, arrow->from);
    put_end_of_arrow(w, "f", arrow, arrow->to_track, arrow->to);
}

/* ---- names ------------------------------------------------------------------------- */

static void put_name(struct coil__trace_writer *w, const char *kind, uint32_t track,
                     const char *name)
{
    open_event(w, "M", kind, track);
    coil__report_open(&w->report, "args", '{');
    coil__report_value(&w->report, "name", "%s", name);
    coil__report_close(&w->report, '}');
    close_event(w);
}

static bool begin_loop(struct coil__trace_writer *w, const char *name)
{
    put_name(w, "process_name", 0, name);
    return true;
}

static void end_loop(struct coil__trace_writer *w)
{
    (void)w;
}

/* Name the track, and make viewers sort tracks by their numbers. */
static void put_track(struct coil__trace_writer *w, uint32_t track, const char *name)
{
    put_name(w, "thread_name", track, name);
    open_event(w, "M", "thread_sort_index", track);
    coil__report_open(&w->report, "args", '{');
    coil__report_value(&w->report, "sort_index", "%zu", (size_t)track);
    coil__report_close(&w->report, '}');
    close_event(w);
}

const struct coil__trace_format coil__trace_json = {.begin_file = begin_file,
                                                    .end_file = end_file,
                                                    .begin_loop = begin_loop,
                                                    .end_loop = end_loop,
                                                    .track = put_track,
                                                    .span = put_span,
                                                    .instant = put_instant,
                                                    .arrow = put_arrow};
