/*
 * table.c - finds coil in an image, and reads its table.
 *
 * The image may be damaged or belong to any program, so every number is checked before it
 * is used.
 */
#include "module.h"
#include "table.h"

#include "../../src/coro/outside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BYTES_MAX ((size_t)16384)
#define OWN_MAX ((size_t)4096)
#define LOOPS_MAX 4096

/* ---- the note ---------------------------------------------------------------------- */

struct note {
    uint64_t table, resume;
};

static bool find_note(struct image *image, uint64_t start, struct note *note)
{
    struct module_note found;
    int32_t words[2];

    if (!module_find_note(image, start, "coil", 1, &found) || found.size < sizeof words)
        return false;
    memcpy(words, found.bytes, sizeof words);
    note->table = found.address + (uint64_t)(int64_t)words[0];
    note->resume = found.address + 4 + (uint64_t)(int64_t)words[1];
    return true;
}

/* ---- the table --------------------------------------------------------------------- */

static bool complain(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return false;
}

/* Return the reason for an error: `text`, unless the image is known to be damaged. */
static const char *damage(const struct image *image, const char *text)
{
    return image->damage != NULL ? image->damage : text;
}

static bool read_rows(struct image *image, struct table *table, uint64_t begin,
                      uint64_t end)
{
    struct coil__outside_row rows[ROW_BYTES_MAX / sizeof(struct coil__outside_row)];
    size_t bytes = (size_t)(end - begin);

    if (end < begin || end - begin > sizeof rows ||
        !image_read(image, begin, rows, bytes))
        return false;
    for (size_t i = 0; i < bytes / sizeof rows[0]; i++)
        if (rows[i].key != 0 && rows[i].key < KEYS) {
            table->has[rows[i].key] = true;
            table->values[rows[i].key] = rows[i].value;
        }
    return true;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *left = a, *right = b;

    return (left->begin > right->begin) - (left->begin < right->begin);
}

/*
 * Read the records of coil's own code. With link-time optimisation, the range of each
 * record is the whole program, so such records are ignored, as in error/symbol.c.
 */
static void read_own_text(struct image *image, struct table *table, uint64_t begin,
                          uint64_t end)
{
    struct record {
        int32_t begin;
        uint32_t size;
    } * records;
    size_t count = (size_t)(end - begin) / sizeof *records, n = 0;

    if (end < begin || count == 0 || count > OWN_MAX)
        return;
    records = calloc(count, sizeof *records);
    table->own = calloc(count, sizeof *table->own);
    if (records != NULL && table->own != NULL &&
        image_read(image, begin, records, count * sizeof *records))
        for (size_t i = 0; i < count; i++) {
            uint64_t at =
                begin + i * sizeof *records + (uint64_t)(int64_t)records[i].begin;

            if (records[i].size > 0)
                table->own[n++] = (struct range){at, at + records[i].size};
        }
    free(records);
    if (n > 1 && table->own[0].begin == table->own[1].begin)
        n = 0;
    if (n > 1)
        qsort(table->own, n, sizeof *table->own, compare_ranges);
    table->own_count = n;
}

bool table_is_own(const struct table *table, uint64_t address)
{
    size_t low = 0, high = table->own_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (address < table->own[middle].begin)
            high = middle;
        else if (address >= table->own[middle].end)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

/* the keys that are needed to read a task */
static const uint8_t needed[] = {
    COIL__AT_STACK_LOW,         COIL__AT_STACK_HIGH,      COIL__AT_CORO_SP,
    COIL__AT_CORO_CALLER,       COIL__AT_CORO_NUMBER,     COIL__AT_CORO_CLASS,
    COIL__AT_LOOP_PID,          COIL__AT_LOOP_SCHEDULER,  COIL__AT_LOOP_CLOCK_READ,
    COIL__AT_SCHEDULER_CURRENT, COIL__AT_SCHEDULER_TASKS, COIL__AT_LIST_NEXT,
    COIL__TASK_BYTES,           COIL__AT_TASK_CORO,       COIL__AT_TASK_LINK,
    COIL__AT_TASK_STEP_LINK,    COIL__AT_TASK_LEAF,       COIL__AT_TASK_WAIT,
    COIL__AT_TASK_FLAGS,        COIL__TASK_IS_STARTED,    COIL__AT_TASK_STEPS,
    COIL__AT_TASK_FUTURE,       COIL__AT_TASK_NAME,       COIL__AT_FUTURE_RC,
    COIL__NAME_BYTES_IN_PLACE,  COIL__AT_WAIT_CLASS,      COIL__AT_WAIT_SINCE,
    COIL__AT_WAIT_SOURCE,       COIL__AT_WAIT_DONE,       COIL__AT_CLASS_WHAT,
};

/* members of a task's control block, and their sizes */
static const struct {
    uint8_t key, bytes;
} members[] = {
    {COIL__AT_TASK_CORO, 96},      {COIL__AT_TASK_FN, 8},
    {COIL__AT_TASK_LINK, 16},      {COIL__AT_TASK_STEP_LINK, 16},
    {COIL__AT_TASK_LEAF, 8},       {COIL__AT_TASK_WAIT, 8},
    {COIL__AT_TASK_FLAGS, 1},      {COIL__AT_TASK_STEPS, 2},
    {COIL__AT_TASK_FUTURE, 8},     {COIL__AT_TASK_NAME, 16},
    {COIL__AT_TASK_SPAWNED_AT, 8}, {COIL__AT_TASK_SPAWNED_BY, 4},
    {COIL__AT_TASK_REGIONS, 8},    {COIL__AT_TASK_GROUP_LINK, 16},
    {COIL__AT_TASK_CANCELLING, 4},
};

/* members of a coroutine, whose offsets must be less than CORO_BYTES */
static const uint8_t coro_members[] = {
    COIL__AT_STACK_LOW,   COIL__AT_STACK_HIGH,         COIL__AT_STACK_SIZE_CLASS,
    COIL__AT_STACK_STATE, COIL__AT_STACK_STORED_STEPS, COIL__AT_STACK_CELL,
    COIL__AT_CORO_SP,     COIL__AT_CORO_CALLER,        COIL__AT_CORO_NUMBER,
    COIL__AT_CORO_CLASS,
};

#define TASK_BYTES_MAX 4096

static bool is_complete(const struct table *table)
{
    size_t bytes = table->values[COIL__TASK_BYTES];

    for (size_t i = 0; i < sizeof needed; i++)
        if (!table->has[needed[i]])
            return false;
    if (bytes > TASK_BYTES_MAX || table->values[COIL__NAME_BYTES_IN_PLACE] != 16)
        return false;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (table->values[members[i].key] + members[i].bytes > bytes)
            return false;
    for (size_t i = 0; i < sizeof coro_members; i++)
        if (table->values[coro_members[i]] + 8 > 96)
            return false;
    return table->values[COIL__AT_TASK_FUTURE] + table->values[COIL__AT_FUTURE_RC] + 4 <=
               (int)bytes &&
           table->values[COIL__AT_CLASS_WHAT] == 0 &&
           table->values[COIL__CLASS_BYTES] <= 512;
}

bool table_read(struct image *image, uint64_t address, struct table *table, char *why,
                size_t size)
{
    struct {
        char cookie[8];
        uint32_t version, bytes;
        uint64_t own_text, own_text_end, rows, rows_end, loops;
        uint32_t loop_count, inherited;
    } head;

    *table = (struct table){.address = address};
    if (!image_read(image, address, &head, sizeof head) ||
        memcmp(head.cookie, COIL__OUTSIDE_COOKIE, sizeof head.cookie) != 0)
        return complain(why, size, damage(image, "the table of libcoil cannot be read"));
    if (head.version != COIL__OUTSIDE_VERSION || head.bytes < sizeof head) {
        snprintf(why, size,
                 "libcoil's table has version %u, and this coil-ps reads version %d: use "
                 "the coil-ps of that libcoil",
                 head.version, COIL__OUTSIDE_VERSION);
        return false;
    }
    table->loops = head.loops;
    table->loop_count = head.loop_count;
    table->inherited = head.inherited;
    if (head.loop_count > LOOPS_MAX || !read_rows(image, table, head.rows, head.rows_end))
        return complain(why, size, damage(image, "the table of libcoil is damaged"));
    if (!is_complete(table))
        return complain(why, size,
                        "the process contains coil, but has no tasks that "
                        "this coil-ps can read");
    read_own_text(image, table, head.own_text, head.own_text_end);
    return true;
}

void table_free(struct table *table)
{
    free(table->own);
    table->own = NULL;
}

static bool has_loops(struct image *image, const struct table *table)
{
    uint64_t loop;

    for (uint32_t i = 0; i < table->loop_count; i++)
        if (image_read(image, table->loops + i * sizeof loop, &loop, sizeof loop) &&
            loop != 0)
            return true;
    return false;
}

size_t table_find(struct image *image, bool with_loops, struct table tables[TABLES_MAX],
                  char *why, size_t size)
{
    bool is_first_empty = false;
    size_t n = 0;
    struct note note;

    if (image->damage != NULL)
        snprintf(why, size, "no libcoil was found in it: %s", image->damage);
    else
        snprintf(why, size, "no libcoil was found in it, or one from before coil-ps");
    for (size_t i = 0; i < image->start_count && n < TABLES_MAX; i++) {
        struct table table;
        bool is_empty;

        if (!find_note(image, image->starts[i], &note))
            continue;
        if (!table_read(image, note.table, &table, why, size)) {
            table_free(&table);
            continue;
        }
        table.resume = note.resume;
        is_empty = with_loops && !has_loops(image, &table);
        if (n > 0 && is_first_empty && !is_empty)
            table_free(&tables[--n]);
        if (n > 0 && is_empty) {
            table_free(&table);
            continue;
        }
        is_first_empty = is_empty;
        tables[n++] = table;
    }
    return n;
}
