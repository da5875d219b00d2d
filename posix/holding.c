/*
 * holding.c - record which task of this thread holds a recursive or error-checking mutex,
 * or has locked a read-write lock for writing.
 *
 * Such a lock contains only the thread that holds it, so the C library cannot distinguish
 * the tasks of a thread. This file records the task in a hash table per thread, keyed by
 * the lock's address. The table uses open addressing with linear probing, and is at most
 * half full. An empty table shrinks. A table grows with mmap(2), because malloc() itself
 * may be locking the mutex.
 */
#include "holding.h"

#include <coil/task.h>

#include <stdint.h>
#include <sys/mman.h>

/* A power of two. Not more, because thread-local memory is scarce: see THREAD_LOCAL. */
#define FEW 16
#define KIND_MASK 3 /* the mask for glibc's pthread_mutex_t.__data.__kind */

struct holding {
    const void *lock; /* NULL if the slot is empty */
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

static size_t first_place(const void *lock)
{
    return (size_t)(((uintptr_t)lock >> 3) * 0x9E3779B97F4A7C15u >> 32);
}

/* Return the lock's slot in the table, or the empty slot where it would be added. */
static struct holding *place_of(const void *lock)
{
    size_t mask, i;

    if (held.places == NULL) {
        held.places = few;
        held.room = FEW;
    }
    mask = held.room - 1;
    for (i = first_place(lock) & mask; held.places[i].lock != NULL; i = (i + 1) & mask)
        if (held.places[i].lock == lock)
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
        if (old[i].lock != NULL) {
            *place_of(old[i].lock) = old[i];
            old[i].lock = NULL;
        }
    free_places(old, old_room);
    return true;
}

/*
 * Empty a slot, and move up the later entries that probing could otherwise no longer
 * find.
 */
static void remove_holding(struct holding *place)
{
    size_t mask = held.room - 1, hole = (size_t)(place - held.places);

    for (size_t i = (hole + 1) & mask; held.places[i].lock != NULL; i = (i + 1) & mask) {
        size_t home = first_place(held.places[i].lock) & mask;

        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        held.places[hole] = held.places[i];
        hole = i;
    }
    held.places[hole].lock = NULL;
    if (--held.count == 0 && held.places != few) {
        free_places(held.places, held.room);
        held.places = few;
        held.room = FEW;
    }
}

/* Return the entry of a locked mutex, or NULL. If the mutex is not locked, the entry is
 * out of date: the mutex was unlocked by a call that did not go through this library, or
 * a new mutex has the address of an old one. */
static struct holding *holding_of(const pthread_mutex_t *mutex)
{
    struct holding *place;

    if (held.count == 0 || !records_owner(mutex))
        return NULL;
    place = place_of(mutex);
    if (place->lock == NULL)
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

/* Add an entry. Returns false if memory ran out. */
static bool add_holding(const void *lock)
{
    if (2 * (held.count + 1) > held.room && !double_table())
        return false;
    *place_of(lock) = (struct holding){.lock = lock, .task = coil_task_current()};
    held.count++;
    return true;
}

bool posix__note_locked(const pthread_mutex_t *mutex)
{
    return !records_owner(mutex) || place_of(mutex)->lock != NULL || add_holding(mutex);
}

void posix__note_unlocked(const pthread_mutex_t *mutex)
{
    struct holding *place = mutex->__data.__count > 1 ? NULL : holding_of(mutex);

    if (place != NULL)
        remove_holding(place);
}

/* ---- read-write locks -------------------------------------------------------------- */

void posix__note_write_locked(const pthread_rwlock_t *lock)
{
    struct holding *place = place_of(lock);

    if (place->lock != NULL)
        place->task = coil_task_current();
    else
        add_holding(lock);
}

void posix__note_rwlock_unlocked(const pthread_rwlock_t *lock)
{
    struct holding *place = held.count > 0 ? place_of(lock) : NULL;

    if (place != NULL && place->lock != NULL)
        remove_holding(place);
}

/*
 * Also check the state of the lock itself, because the entry is out of date if the unlock
 * bypassed this library.
 */
bool posix__is_own_for_writing(const pthread_rwlock_t *lock)
{
    const struct holding *place = held.count > 0 ? place_of(lock) : NULL;

    return place != NULL && place->lock != NULL && place->task == coil_task_current() &&
           lock->__data.__cur_writer == gettid();
}
