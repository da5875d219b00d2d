/*
 * light_table.c - a table of all threads' light slabs, for the handler of SIGSEGV.
 *
 * The handler may read the table at any time, because entries are never freed. Storing a
 * slab's address in an entry publishes it. Storing NULL withdraws the slab, and the entry
 * can be reused.
 */
#include "light_slab.h"

#include "../kernel/memory.h"
#include "coroutine.h"

#include <pthread.h>
#include <stdatomic.h>

#define ENTRY_COUNT 126

struct entries {
    struct coil__light_entry entries[ENTRY_COUNT];
    struct entries *_Atomic next;
};

static struct entries first_entries;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

static struct coil__light_entry *find_unused(struct entries *entries)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (atomic_load_explicit(&entries->entries[i].slab, memory_order_relaxed) == NULL)
            return &entries->entries[i];
    return NULL;
}

/*
 * Return an unused entry, after mapping memory for more entries if there is none. Returns
 * NULL if memory runs out. Called with the lock held.
 */
static struct coil__light_entry *make_entry(void)
{
    struct entries *entries = &first_entries, *next;
    struct coil__light_entry *entry;

    while ((entry = find_unused(entries)) == NULL) {
        next = atomic_load_explicit(&entries->next, memory_order_relaxed);
        if (next == NULL) {
            next = coil__memory_map((sizeof *next + coil__light_page_bytes - 1) &
                                    ~(coil__light_page_bytes - 1));
            if (next == NULL)
                return NULL;
            atomic_store_explicit(&entries->next, next, memory_order_release);
        }
        entries = next;
    }
    return entry;
}

bool coil__light_publish(struct coil__light_slab *slab)
{
    struct coil__light_entry *entry;

    pthread_mutex_lock(&entries_lock);
    entry = make_entry();
    if (entry != NULL) {
        entry->owner = &coil__coro_thread;
        entry->low = slab->slots;
        entry->high = slab->slots + slab->slot_count * slab->slot_bytes;
        atomic_store_explicit(&entry->slab, slab, memory_order_release);
    }
    pthread_mutex_unlock(&entries_lock);
    slab->entry = entry;
    return entry != NULL;
}

struct coil__light_entry *coil__light_find(const char *address)
{
    for (struct entries *e = &first_entries; e != NULL;
         e = atomic_load_explicit(&e->next, memory_order_acquire))
        for (size_t i = 0; i < ENTRY_COUNT; i++)
            if (atomic_load_explicit(&e->entries[i].slab, memory_order_acquire) != NULL &&
                address >= e->entries[i].low && address < e->entries[i].high)
                return &e->entries[i];
    return NULL;
}
