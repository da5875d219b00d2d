/*
 * holding.c - which task of this thread holds a recursive or error-checking mutex.
 *
 * Such a mutex records the thread that holds it, and all tasks of a thread are that
 * thread to it. So this file records the task: a hash table per thread, keyed by the
 * mutex's address, open addressing with linear probing, at most half full. It shrinks
 * when it is empty, and grows by mmap(2): malloc() itself may be locking the mutex.
 */
#include "holding.h"

#include <coil/task.h>

#include <stdint.h>
#include <sys/mman.h>

#define FEW 64      /* a power of two */
#define KIND_MASK 3 /* of glibc's pthread_mutex_t.__data.__kind */

struct holding {
    const pthread_mutex_t *mutex; /* NULL: an empty place */
    const coil_task *task;
};

static THREAD_LOCAL struct holding few[FEW];
static THREAD_LOCAL struct {
    struct holding *places; /* NULL before the first use */
    size_t count, room;
} held;

static bool records_owner(const pthread_mutex_t *mutex)
{
    int kind = mutex->__data.__kind & KIND_MASK;

    return kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK;
}

static size_t first_place(const pthread_mutex_t *mutex)
{
    return (size_t)(((uintptr_t)mutex >> 3) * 0x9E3779B97F4A7C15u >> 32);
}

/* The mutex's place in the table, or the empty place where it would be added. */
static struct holding *place_of(const pthread_mutex_t *mutex)
{
    size_t mask, i;

    if (held.places == NULL) {
        held.places = few;
        held.room = FEW;
    }
    mask = held.room - 1;
    for (i = first_place(mutex) & mask; held.places[i].mutex != NULL; i = (i + 1) & mask)
        if (held.places[i].mutex == mutex)
            break;
    return &held.places[i];
}

static void free_places(struct holding *places, size_t room)
{
    if (places != few)
        munmap(places, room * sizeof *places);
}

static bool double_table(void)
{
    struct holding *old = held.places;
    size_t old_room = held.room;
    void *more = mmap(NULL, 2 * old_room * sizeof *old, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (more == MAP_FAILED)
        return false;
    held.places = more;
    held.room = 2 * old_room;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].mutex != NULL) {
            *place_of(old[i].mutex) = old[i];
            old[i].mutex = NULL;
        }
    free_places(old, old_room);
    return true;
}

/* Entries behind the emptied place move up if probing would no longer reach them. */
static void remove_holding(struct holding *place)
{
    size_t mask = held.room - 1, hole = (size_t)(place - held.places);

    for (size_t i = (hole + 1) & mask; held.places[i].mutex != NULL; i = (i + 1) & mask) {
        size_t home = first_place(held.places[i].mutex) & mask;

        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        held.places[hole] = held.places[i];
        hole = i;
    }
    held.places[hole].mutex = NULL;
    if (--held.count == 0 && held.places != few) {
        free_places(held.places, held.room);
        held.places = few;
        held.room = FEW;
    }
}

/* The entry of a locked mutex, else NULL. An entry of an unlocked mutex is stale: a call
 * that does not go through this library unlocked it, or it is a new mutex at the address
 * of an old one. */
static struct holding *holding_of(const pthread_mutex_t *mutex)
{
    struct holding *place;

    if (held.count == 0 || !records_owner(mutex))
        return NULL;
    place = place_of(mutex);
    if (place->mutex == NULL)
        return NULL;
    if (mutex->__data.__owner != 0)
        return place;
    remove_holding(place);
    return NULL;
}

bool posix__is_another_tasks(const pthread_mutex_t *mutex)
{
    const struct holding *place = holding_of(mutex);

    return place != NULL && place->task != coil_task_current();
}

bool posix__is_own_errorcheck(const pthread_mutex_t *mutex)
{
    const struct holding *place = holding_of(mutex);

    return place != NULL && place->task == coil_task_current() &&
           (mutex->__data.__kind & KIND_MASK) == PTHREAD_MUTEX_ERRORCHECK;
}

bool posix__note_locked(const pthread_mutex_t *mutex)
{
    struct holding *place;

    if (!records_owner(mutex))
        return true;
    place = place_of(mutex);
    if (place->mutex != NULL)
        return true;
    if (2 * (held.count + 1) > held.room && !double_table())
        return false;
    *place_of(mutex) = (struct holding){.mutex = mutex, .task = coil_task_current()};
    held.count++;
    return true;
}

void posix__note_unlocked(const pthread_mutex_t *mutex)
{
    struct holding *place = mutex->__data.__count > 1 ? NULL : holding_of(mutex);

    if (place != NULL)
        remove_holding(place);
}
