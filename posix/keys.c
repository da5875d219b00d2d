/*
 * keys.c - give each task its own values of pthread_getspecific(3):
 * coil_hooks_thread_keys().
 *
 * The hooks exchange the values of all keys when a task is entered and left: the thread
 * holds one set of values, and the task's state holds the other. pthread_getspecific()
 * and pthread_setspecific() are not interposed, and cost no more than without coil. Only
 * pthread_key_create() and pthread_key_delete() are interposed, to record which keys
 * exist and their destructors. glibc assigns the lowest free key, so keys are small
 * numbers.
 *
 * The hooks do not exchange libcoil's own keys, or keys that were created before this
 * library's constructor ran: allocators and sanitizers identify their threads by such
 * keys.
 *
 * The number of a deleted key may be reused. Therefore each created key gets a unique
 * number, which is stored with its values. A value whose number differs belongs to a
 * deleted key, and is dropped.
 */
#include "interpose.h"

#include <coil/posix.h>

#include <stdatomic.h>

/*
 * The number of keys is limited by COIL_HOOK_STATES_BYTES, the memory for a task's hooks.
 */
#define KEYS 128

struct key {
    _Atomic unsigned creation; /* 0 if the key does not exist */
    void (*_Atomic destroy)(void *value);
};

struct value {
    void *value; /* the task's value while the task waits, otherwise the thread's */
    unsigned creation;
};

static struct key keys[KEYS];
static _Atomic unsigned key_count; /* the largest key plus one */
static bool takes_keys;

__attribute__((constructor)) static void take_keys(void)
{
    takes_keys = true;
}

INTERPOSE int pthread_key_create(pthread_key_t *key, void (*destroy)(void *value))
{
    static _Atomic unsigned creations;
    const void *caller = __builtin_return_address(0);
    int rc = NEXT(pthread_key_create)(key, destroy);
    unsigned count = atomic_load(&key_count);

    if (rc != 0 || *key >= KEYS || !takes_keys || posix__may_block(caller))
        return rc;
    atomic_store(&keys[*key].destroy, destroy);
    atomic_store(&keys[*key].creation, atomic_fetch_add(&creations, 1) + 1);
    while (count <= *key && !atomic_compare_exchange_weak(&key_count, &count, *key + 1))
        continue;
    return 0;
}

INTERPOSE int pthread_key_delete(pthread_key_t key)
{
    if (key < KEYS)
        atomic_store(&keys[key].creation, 0);
    return NEXT(pthread_key_delete)(key);
}

/* ---- the hooks --------------------------------------------------------------------- */

static void exchange(void *state, void *data)
{
    struct value *values = state;

    (void)data;
    for (unsigned key = 0; key < atomic_load(&key_count); key++) {
        unsigned creation = atomic_load(&keys[key].creation);
        void *value;

        if (creation == 0)
            continue;
        value = pthread_getspecific(key);
        if (values[key].creation != creation)
            values[key] = (struct value){.value = NULL, .creation = creation};
        if (value != values[key].value)
            pthread_setspecific(key, values[key].value);
        values[key].value = value;
    }
}

static bool destroy_values(void)
{
    bool any = false;

    for (unsigned key = 0; key < atomic_load(&key_count); key++) {
        void (*destroy)(void *value) = atomic_load(&keys[key].destroy);
        void *value;

        if (atomic_load(&keys[key].creation) == 0 ||
            (value = pthread_getspecific(key)) == NULL)
            continue;
        pthread_setspecific(key, NULL);
        any = any || destroy != NULL;
        if (destroy != NULL)
            destroy(value);
    }
    return any;
}

/*
 * Call the destructors of the task's values, as when a thread ends. A destructor may set
 * values again.
 */
static void end(void *state, void *data)
{
    for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS && destroy_values(); i++)
        continue;
    exchange(state, data);
}

const coil_task_hooks *coil_hooks_thread_keys(void)
{
    static const coil_task_hooks hooks = {.state_bytes = KEYS * sizeof(struct value),
                                          .enter = exchange,
                                          .leave = exchange,
                                          .end = end};

    return &hooks;
}
