/*
 * prefetch.c - an image that reads ahead, so that a process is stopped only briefly.
 *
 * 1. While the process runs, take a snapshot, and record which pieces are read.
 * 2. Stop the process, and read these pieces again, with few system calls.
 * 3. Take the final snapshot, which finds nearly all pieces among the copies.
 * 4. Let the process continue.
 *
 * The second snapshot reads nearly the same pieces as the first, in the same order. So a
 * piece is first compared with the next record, and only then looked up in a hash table.
 */
#include "prefetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_BYTES_MAX ((size_t)64 << 10) /* longer pieces are not recorded */
#define BATCH 1024
#define THREADS_MAX 4
#define PART_MIN 5000    /* with fewer ranges, another thread does not pay off */
#define GAP_BYTES_MAX 64 /* maximum gap between two records of a range */
#define RANGE_BYTES_MAX ((size_t)64 << 10)

struct record {
    uint64_t address;
    uint32_t bytes;
    uint32_t range;
};

/*
 * A range of memory that is read as a whole, and contains records that are close to each
 * other.
 */
struct range {
    uint64_t address;
    size_t offset; /* in `copies` */
    size_t bytes;
    bool is_read;
};

struct prefetch {
    struct image image;
    struct image *inner;
    struct record *records;
    size_t count, room;
    struct range *ranges;
    size_t range_count;
    uint32_t *index;
    size_t index_size;
    unsigned char *copies;
    size_t copy_bytes, cursor;
    bool is_recording;
};

#define NO_RECORD UINT32_MAX

/* ---- the index --------------------------------------------------------------------- */

static size_t place_of(const struct prefetch *p, uint64_t address, size_t bytes)
{
    uint64_t h = (address ^ (uintptr_t)p) * UINT64_C(0x9e3779b97f4a7c15) + bytes;

    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(h >> 32) & (p->index_size - 1);
}

static size_t find_place(const struct prefetch *p, uint64_t address, size_t bytes)
{
    size_t at = place_of(p, address, bytes);

    for (; p->index[at] != NO_RECORD; at = (at + 1) & (p->index_size - 1)) {
        const struct record *r = &p->records[p->index[at]];

        if (r->address == address && r->bytes == bytes)
            break;
    }
    return at;
}

static bool grow(struct prefetch *p)
{
    size_t room = p->room == 0 ? 1024 : p->room * 2;
    struct record *records = realloc(p->records, room * sizeof *records);

    if (records == NULL)
        return false;
    p->records = records;
    free(p->index);
    p->index = malloc(2 * room * sizeof *p->index);
    if (p->index == NULL)
        return false;
    p->room = room;
    p->index_size = 2 * room;
    memset(p->index, 0xff, p->index_size * sizeof *p->index);
    for (size_t i = 0; i < p->count; i++)
        p->index[find_place(p, p->records[i].address, p->records[i].bytes)] = (uint32_t)i;
    return true;
}

static void record(struct prefetch *p, const struct piece *piece)
{
    size_t place;

    if (piece->bytes == 0 || piece->bytes > RECORD_BYTES_MAX ||
        p->count >= NO_RECORD / 2 || (p->count == p->room && !grow(p)))
        return;
    place = find_place(p, piece->address, piece->bytes);
    if (p->index[place] != NO_RECORD)
        return;
    p->index[place] = (uint32_t)p->count;
    p->records[p->count++] =
        (struct record){.address = piece->address, .bytes = (uint32_t)piece->bytes};
}

/* ---- reading ----------------------------------------------------------------------- */

static bool is_record(const struct prefetch *p, size_t i, const struct piece *piece)
{
    return i < p->count && p->records[i].address == piece->address &&
           p->records[i].bytes == piece->bytes;
}

/* Return the copy of a piece, or NULL. */
static void *find_copy(struct prefetch *p, const struct piece *piece)
{
    const struct range *range;
    size_t i = p->cursor + 1;

    if (!is_record(p, i, piece)) {
        uint32_t found = p->index[find_place(p, piece->address, piece->bytes)];

        if (found == NO_RECORD)
            return NULL;
        i = found;
    }
    if (i > p->cursor) /* several tasks share the piece of an earlier record */
        p->cursor = i;
    range = &p->ranges[p->records[i].range];
    return range->is_read ? p->copies + range->offset + (piece->address - range->address)
                          : NULL;
}

static bool read_ahead(struct image *image, const struct piece *pieces, size_t count)
{
    struct prefetch *p = (struct prefetch *)image;
    void *copies[PIECES_MAX];

    for (size_t i = 0; i < count && p->is_recording; i++)
        record(p, &pieces[i]);
    for (size_t i = 0; i < count; i++) {
        copies[i] = p->is_recording ? NULL : find_copy(p, &pieces[i]);
        if (copies[i] == NULL)
            return p->inner->read(p->inner, pieces, count);
    }
    for (size_t i = 0; i < count; i++)
        memcpy(pieces[i].to, copies[i], pieces[i].bytes);
    return true;
}

static void *borrow(struct image *image, uint64_t address, size_t bytes)
{
    struct prefetch *p = (struct prefetch *)image;

    return p->is_recording ? NULL : find_copy(p, &(struct piece){address, NULL, bytes});
}

static bool find_registers(struct image *image, int thread, struct registers *out)
{
    struct prefetch *p = (struct prefetch *)image;

    return p->inner->registers(p->inner, thread, out);
}

static void close_prefetch(struct image *image)
{
    struct prefetch *p = (struct prefetch *)image;

    free(p->records);
    free(p->index);
    free(p->ranges);
    free(p->copies);
}

struct image *prefetch_open(struct image *inner)
{
    struct prefetch *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->image.read = read_ahead;
    p->image.registers = inner->registers != NULL ? find_registers : NULL;
    p->image.borrow = borrow;
    p->image.close = close_prefetch;
    p->image.bytes = inner->bytes;
    p->inner = inner;
    p->is_recording = true;
    return &p->image;
}

/* ---- reading ahead ----------------------------------------------------------------- */

static const struct record *sorted_records;

static int compare(const void *a, const void *b)
{
    uint64_t left = sorted_records[*(const uint32_t *)a].address;
    uint64_t right = sorted_records[*(const uint32_t *)b].address;

    return (left > right) - (left < right);
}

/*
 * Return true if the record can be added to the range. A gap between records is smaller
 * than a page, so it is readable if the records on both sides are readable.
 */
static bool is_near(const struct range *range, const struct record *r)
{
    return r->address - range->address <= range->bytes + GAP_BYTES_MAX &&
           r->address - range->address + r->bytes <= RANGE_BYTES_MAX;
}

/*
 * Combine records into ranges. `order` has the indices of the records, sorted by address.
 */
static void find_ranges(struct prefetch *p, const uint32_t *order)
{
    for (size_t i = 0; i < p->count; i++) {
        struct record *r = &p->records[order[i]];
        struct range *range = p->range_count > 0 ? &p->ranges[p->range_count - 1] : NULL;
        uint64_t end = r->address + r->bytes;

        if (range == NULL || !is_near(range, r)) {
            range = &p->ranges[p->range_count++];
            *range = (struct range){.address = r->address};
        }
        if (end - range->address > range->bytes)
            range->bytes = end - range->address;
        r->range = (uint32_t)(p->range_count - 1);
    }
    for (size_t i = 0; i < p->range_count; i++) {
        p->ranges[i].offset = p->copy_bytes;
        p->copy_bytes += (p->ranges[i].bytes + 7) / 8 * 8;
    }
}

/*
 * Combine the records into ranges, and allocate memory for the copies. Write to this
 * memory now, because the first write to each page is slow.
 */
bool prefetch_prepare(struct image *image)
{
    struct prefetch *p = (struct prefetch *)image;
    uint32_t *order = malloc((p->count + 1) * sizeof *order);

    p->ranges = malloc((p->count + 1) * sizeof *p->ranges);
    if (order == NULL || p->ranges == NULL || p->index == NULL) {
        free(order);
        return false;
    }
    for (size_t i = 0; i < p->count; i++)
        order[i] = (uint32_t)i;
    sorted_records = p->records;
    qsort(order, p->count, sizeof *order, compare);
    find_ranges(p, order);
    free(order);
    p->copies = malloc(p->copy_bytes + 1);
    if (p->copies != NULL)
        memset(p->copies, 1, p->copy_bytes + 1);
    return p->copies != NULL;
}

/* the ranges that one thread reads */
struct part {
    struct prefetch *p;
    size_t begin, end;
    pthread_t thread;
    bool has_thread;
};

static void *read_part(void *arg)
{
    const struct part *part = arg;
    struct prefetch *p = part->p;
    struct piece pieces[BATCH];

    for (size_t i = part->begin; i < part->end; i += BATCH) {
        size_t n = part->end - i < BATCH ? part->end - i : BATCH;
        struct range *ranges = &p->ranges[i];

        for (size_t k = 0; k < n; k++)
            pieces[k] = (struct piece){ranges[k].address, p->copies + ranges[k].offset,
                                       ranges[k].bytes};
        p->inner->read_many(p->inner, pieces, n);
        for (size_t k = 0; k < n; k++)
            ranges[k].is_read = pieces[k].bytes != 0;
    }
    return NULL;
}

void prefetch_refresh(struct image *image)
{
    struct prefetch *p = (struct prefetch *)image;
    struct part parts[THREADS_MAX];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = p->range_count / PART_MIN + 1;

    if (n > THREADS_MAX)
        n = THREADS_MAX;
    if (processors > 0 && n > (size_t)processors)
        n = (size_t)processors;
    p->image.is_constant = true;
    p->is_recording = false;
    for (size_t i = n; i-- > 0;) { /* the first part is read last, by this thread */
        parts[i] = (struct part){
            .p = p, .begin = p->range_count * i / n, .end = p->range_count * (i + 1) / n};
        parts[i].has_thread =
            i > 0 && pthread_create(&parts[i].thread, NULL, read_part, &parts[i]) == 0;
        if (!parts[i].has_thread)
            read_part(&parts[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (parts[i].has_thread)
            pthread_join(parts[i].thread, NULL);
}
