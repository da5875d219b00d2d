/*
 * leak.c - in debug mode, reports objects that are not freed when their loop closes.
 *
 * Each object has a note in a list. There is one list for the whole process, because an
 * object may be created on one thread and freed on another. The list may contain notes
 * for a million tasks, so a hash table finds a note by the address of its object. If
 * there is no memory for an object's note, the object is not reported.
 *
 * Notes are allocated by the C library, not by the allocator of coil_set_allocator(). So
 * a test that makes the n-th allocation fail gives the same result with and without debug
 * mode.
 */
#include "leak.h"

#include "../error/backtrace.h"
#include "../error/symbol.h"

#include <pthread.h>
#include <stdlib.h>

#define FRAMES 16
#define BUCKET_BITS 14 /* generous, because untouched pages of the table use no memory */

struct note {
    struct coil__list link; /* in `notes` */
    struct note *next;      /* the next note in the same bucket */
    const struct coil__leak_kind *kind;
    const void *thing;
    const coil_loop *loop;
    int number;
    char name[32];
    size_t n;
    void *addresses[FRAMES]; /* the call stack that created the object */
};

_Atomic size_t coil__leak_notes;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct coil__list notes = {&notes, &notes};

/* Return the head of the hash bucket for `thing`. */
static struct note **bucket_of(const void *thing)
{
    static struct note *buckets[1 << BUCKET_BITS];
    uint64_t hash = (uint64_t)(uintptr_t)thing * UINT64_C(0x9e3779b97f4a7c15);

    return &buckets[hash >> (64 - BUCKET_BITS)];
}

/*
 * Return the address of the pointer to the note of `thing`, or of the NULL pointer at the
 * end of its bucket. The caller holds `lock`.
 */
static struct note **find_note(const void *thing)
{
    struct note **place = bucket_of(thing);

    while (*place != NULL && (*place)->thing != thing)
        place = &(*place)->next;
    return place;
}

/* Add the note. The caller holds `lock`. */
static void enter(struct note *note)
{
    struct note **bucket = bucket_of(note->thing);

    note->next = *bucket;
    *bucket = note;
    coil__list_push(&notes, &note->link);
    atomic_fetch_add(&coil__leak_notes, 1);
}

/*
 * Unlink and return the note of `thing`, or return NULL if there is none. The caller
 * holds `lock`.
 */
static struct note *take_note(const void *thing)
{
    struct note **place = find_note(thing), *note = *place;

    if (note == NULL)
        return NULL;
    *place = note->next;
    coil__list_remove(&note->link);
    atomic_fetch_sub(&coil__leak_notes, 1);
    return note;
}

void coil__leak_remove(const void *thing)
{
    struct note *note;

    pthread_mutex_lock(&lock);
    note = take_note(thing);
    pthread_mutex_unlock(&lock);
    free(note);
}

void coil__leak_add(const struct coil__leak_kind *kind, const void *thing, int number,
                    const char *name)
{
    struct note *note = calloc(1, sizeof *note);

    coil__leak_remove(thing);
    if (note == NULL)
        return;
    note->kind = kind;
    note->thing = thing;
    note->loop = coil__loop_of_thread;
    note->number = number;
    if (name != NULL)
        snprintf(note->name, sizeof note->name, "%s", name);
    note->n = coil__backtrace(note->addresses, FRAMES, NULL);
    pthread_mutex_lock(&lock);
    enter(note);
    pthread_mutex_unlock(&lock);
}

static void print(struct coil__report *report, const struct note *note)
{
    coil__report_words(report, "The loop closes, and %s", note->kind->noun);
    if (note->name[0] != '\0')
        coil__report_words(report, " '%s'", note->name);
    if (note->kind->number != NULL)
        coil__report_words(report, " (%s %d)", note->kind->number, note->number);
    coil__report_words(report, " was not %s", note->kind->verb);
    if (note->n == 0)
        return;
    coil__report_words(report, "; created by ");
    coil__symbol_print_caller(report, NULL, note->addresses, note->n);
}

static void report(const struct note *note)
{
    char message[512];
    struct coil__report text;

    if (!coil__report_begin_text(&text, message, sizeof message))
        return;
    print(&text, note);
    coil__report_end_text(&text);
    coil_call_exception_handler(&(coil_exception){.message = message});
}

/*
 * Unlink and return the loop's first note. A note is unlinked before it is reported,
 * because the exception handler may free the object, or create other objects.
 */
static struct note *take_first_of(const coil_loop *loop)
{
    struct note *found = NULL;

    pthread_mutex_lock(&lock);
    COIL__LIST_EACH (link, &notes) {
        found = COIL__CONTAINER(link, struct note, link);
        if (found->loop == loop)
            break;
        found = NULL;
    }
    if (found != NULL)
        take_note(found->thing);
    pthread_mutex_unlock(&lock);
    return found;
}

void coil__leak_report(const coil_loop *loop)
{
    struct note *note;

    if (atomic_load(&coil__leak_notes) == 0)
        return;
    coil__symbols_begin();
    while ((note = take_first_of(loop)) != NULL) {
        report(note);
        free(note);
    }
    coil__symbols_end();
}
