/*
 * trace_file.c - writes the trace of a loop of this process to a file.
 */
#include "trace_file.h"

#include "loop.h"
#include "trace_writer.h"

#include <errno.h>
#include <string.h>

/* ---- the format -------------------------------------------------------------------- */

/* Return the text after `prefix` and a number, or `text` if it begins otherwise. */
static const char *skip_number(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    size_t digits = strncmp(text, prefix, n) == 0 ? strspn(text + n, "0123456789") : 0;

    return digits > 0 ? text + n + digits : text;
}

/*
 * True if `path` ends with `suffix`. In addition, COIL_TRACE may have appended the id of
 * a forked child, and the number of a copy of coil: .pftrace.1234.copy2.
 */
static bool has_suffix(const char *path, const char *suffix)
{
    const char *found = strrchr(path, '/');

    for (found = strstr(found != NULL ? found : path, suffix); found != NULL;
         found = strstr(found + 1, suffix)) {
        const char *rest = found + strlen(suffix);

        if (*skip_number(skip_number(rest, "."), ".copy") == '\0')
            return true;
    }
    return false;
}

static const struct coil__trace_format *format_for(const char *path)
{
    if (path != NULL &&
        (has_suffix(path, ".pftrace") || has_suffix(path, ".perfetto-trace")))
        return &coil__trace_perfetto;
    return &coil__trace_json;
}

bool coil__trace_begin_file(struct coil__trace_writer *writer, FILE *out,
                            const char *path, bool append)
{
    *writer = (struct coil__trace_writer){.out = out, .format = format_for(path)};
    return writer->format->begin_file(writer, append);
}

void coil__trace_end_file(struct coil__trace_writer *writer)
{
    writer->format->end_file(writer);
}

/* ---- the trace of this process ----------------------------------------------------- */

static bool copy_text(void *arg, uint64_t address, char *text, size_t size)
{
    (void)arg;
    snprintf(text, size, "%s", (const char *)(uintptr_t)address);
    return true;
}

static void each_task(void *arg, coil__trace_visit_task *visit, void *visit_arg)
{
    const struct coil__task_layer *tasks = coil__task_layer;

    if (tasks != NULL)
        tasks->each(arg, visit, visit_arg);
}

/* Copy the records, oldest first. Returns NULL if there is no memory. */
static struct coil__trace_record *copy_records(const struct coil__trace *trace,
                                               struct coil__trace_copy *copy)
{
    uint64_t count = trace->count;
    uint64_t first = count > trace->mask ? count - trace->mask - 1 : 0;
    struct coil__trace_record *records =
        coil__alloc((size_t)(count - first + 1) * sizeof *records);

    if (records == NULL)
        return NULL;
    if (first > 0)
        records[copy->count++] = (struct coil__trace_record){
            .word = first, .kind_and_value = COIL__TRACE_LOST};
    for (uint64_t i = first; i < count; i++)
        records[copy->count++] = trace->records[i & trace->mask];
    copy->records = records;
    return records;
}

static int write_copy(FILE *out, const char *path, bool append,
                      const struct coil__trace_copy *copy)
{
    struct coil__trace_writer writer;
    int rc;

    if (!coil__trace_begin_file(&writer, out, path, append))
        return -errno;
    rc = coil__trace_write_events(&writer, copy);
    coil__trace_end_file(&writer);
    errno = 0;
    if ((fflush(out) != 0 || ferror(out)) && rc == 0)
        rc = errno > 0 ? -errno : -EIO;
    return rc;
}

int coil__trace_write_file(coil_loop *loop, const char *path, bool append)
{
    const struct coil__trace *trace = loop->trace_kept;
    struct coil__trace_copy copy = {.clock = trace->clock,
                                    .id = loop->number,
                                    .loop = loop->number,
                                    .pid = loop->pid,
                                    .thread = loop->thread,
                                    .arg = loop,
                                    .text = copy_text,
                                    .each_task = each_task};
    struct coil__trace_record *records = copy_records(trace, &copy);
    FILE *out = records != NULL ? fopen(path, append ? "r+e" : "we") : NULL;
    int rc = records == NULL ? -ENOMEM : out == NULL ? -errno : 0;

    if (out != NULL) {
        rc = write_copy(out, path, append, &copy);
        if (fclose(out) != 0 && rc == 0)
            rc = -errno;
    }
    coil__free(records);
    return rc;
}
