/*
 * keep_stacks.c - stores copies of stacks, which are unwound after the process continues.
 *
 * Finding the functions on a stack takes longer than copying it. So while the process is
 * stopped, stacks are only copied. Each task has one entry, with its coroutines, the
 * pieces of its stacks, their bytes, and the registers if the task is running. Entries
 * are stored in chunks of memory.
 */
#include "reading.h"

#include <stdlib.h>

#define CHUNK_BYTES ((size_t)1 << 20)

struct entry {
    size_t bytes; /* size of the whole entry */
    uint32_t task, coroutine_count, piece_count;
    bool runs; /* the entry ends with the registers of the thread */
};

struct chunk {
    struct chunk *next;
    size_t used, bytes;
    unsigned char memory[];
};

static void *reserve(struct private *p, size_t bytes)
{
    struct chunk *last = p->kept_last;

    if (last == NULL || last->bytes - last->used < bytes) {
        size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct chunk *chunk = malloc(sizeof *chunk + size);

        if (chunk == NULL)
            return NULL;
        *chunk = (struct chunk){.bytes = size};
        if (last == NULL)
            p->kept_first = chunk;
        else
            last->next = chunk;
        last = p->kept_last = chunk;
    }
    last->used += bytes;
    return last->memory + (last->used - bytes);
}

/*
 * Return how many bytes of a piece must be copied: 0 if the piece is in borrowed memory.
 */
static size_t own_bytes(const struct private *p, const struct piece *piece)
{
    const unsigned char *at = piece->to;

    return at >= p->memory && at < p->memory + COPY_BYTES ? (piece->bytes + 7) / 8 * 8
                                                          : 0;
}

/* Skip the first piece: it is the control block, which does not contain frames. */
void stacks_keep(const struct reading *r, uint32_t task)
{
    struct private *p = r->snapshot->private;
    const struct piece *pieces = r->copies.pieces + 1;
    size_t coroutine_bytes = r->coroutine_count * sizeof r->coroutines[0];
    size_t n = r->copies.count - 1, bytes = 0;
    struct entry *entry;
    struct piece *kept;
    unsigned char *at;
    bool runs = false;

    for (size_t i = 0; i < n; i++)
        bytes += sizeof *kept + own_bytes(p, &pieces[i]);
    for (size_t i = 0; i < r->coroutine_count; i++)
        runs = runs || r->coroutines[i].runs;
    bytes += sizeof *entry + coroutine_bytes + (runs ? sizeof(struct registers) : 0);
    entry = reserve(p, bytes);
    if (entry == NULL) {
        p->failed = true;
        return;
    }
    *entry = (struct entry){bytes, task, (uint32_t)r->coroutine_count, (uint32_t)n, runs};
    at = (unsigned char *)(entry + 1);
    memcpy(at, r->coroutines, coroutine_bytes);
    kept = (struct piece *)(void *)(at + coroutine_bytes);
    at = (unsigned char *)(kept + n);
    for (size_t i = 0; i < n; i++) {
        size_t own = own_bytes(p, &pieces[i]);

        kept[i] = pieces[i];
        if (own == 0)
            continue;
        memcpy(at, pieces[i].to, pieces[i].bytes);
        kept[i].to = at;
        at += own;
    }
    if (runs)
        memcpy((unsigned char *)entry + bytes - sizeof(struct registers),
               &r->loop->registers, sizeof(struct registers));
}

static void use_entry(struct snapshot *s, const struct entry *entry,
                      struct copies *copies)
{
    const struct snapshot_options *how = s->options;
    struct task *task = &s->tasks[entry->task];
    struct registers registers;
    const struct coroutine *coroutines = (const void *)(entry + 1);

    copies->count = entry->piece_count;
    memcpy(copies->pieces, coroutines + entry->coroutine_count,
           copies->count * sizeof copies->pieces[0]);
    if (entry->runs)
        memcpy(&registers, (const char *)entry + entry->bytes - sizeof registers,
               sizeof registers);
    copies->registers = &registers;
    task->stack = how->on_stack(how->on_stack_arg, task, coroutines,
                                entry->coroutine_count, copies);
}

void stacks_use(struct snapshot *s)
{
    struct image closed = {.read = NULL}; /* never read: its budget is 0 */
    struct copies copies = {.image = &closed};

    for (struct chunk *chunk = s->private->kept_first; chunk != NULL; chunk = chunk->next)
        for (size_t at = 0; at < chunk->used;) {
            struct entry *entry = (struct entry *)(void *)(chunk->memory + at);

            at += entry->bytes;
            if (image_spend(s->image, STACK_STEPS))
                use_entry(s, entry, &copies);
        }
}

void stacks_forget(struct private *p)
{
    while (p->kept_first != NULL) {
        struct chunk *chunk = p->kept_first;

        p->kept_first = chunk->next;
        free(chunk);
    }
    p->kept_last = NULL;
}
