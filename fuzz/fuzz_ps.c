/*
 * fuzz_ps.c - checks that coil-ps neither crashes nor hangs when it reads damaged memory.
 *
 * coil-ps reads this process, which has a loop with tasks. The input selects which reads
 * return damaged data, and how the data is damaged: bytes are changed, or pointers refer
 * to other objects, so that lists become endless or contain cycles.
 */
#include "ps_claims.h"

#include "../src/coro/outside.h"

#include <coil.h>

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- the tasks --------------------------------------------------------------------- */

static pthread_barrier_t ready;
static coil_lock lock = COIL_LOCK_INIT;

static int sleep_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(100000));
}

static int use_lock(void *arg)
{
    (void)arg;
    return coil_lock_acquire(&lock) < 0 ? -1 : coil_sleep(COIL_SEC(100000));
}

static int generate(coil_gen *self, void *arg)
{
    (void)self, (void)arg;
    return coil_sleep(COIL_SEC(100000));
}

static int use_generator(void *arg)
{
    coil_gen *gen;
    void *value;

    (void)arg;
    return coil_gen_create(generate, NULL, NULL, &gen) < 0 ? -1
                                                           : coil_gen_next(gen, &value);
}

static void must(int rc)
{
    CLAIM(rc >= 0);
}

static int own_group(void *arg)
{
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    for (int i = 0; i < 3; i++)
        must(coil_group_spawn(&group, sleep_long, NULL, NULL, NULL));
    return coil_group_exit(&group, 0);
}

static int gather_tasks(void *arg)
{
    coil_future *futures[3];
    coil_task *task;

    (void)arg;
    for (int i = 0; i < 3; i++) {
        if (coil_spawn(sleep_long, NULL, NULL, &task) < 0)
            return -1;
        futures[i] = coil_task_future(task);
    }
    return coil_gather(futures, 3, 0, NULL);
}

static int body(void *arg)
{
    (void)arg;
    must(coil_spawn(use_lock, NULL, NULL, NULL));
    must(coil_spawn(use_lock, NULL,
                    &(coil_spawn_opts){.name = "a name that is not short"}, NULL));
    must(coil_spawn(use_generator, NULL, NULL, NULL));
    must(coil_spawn(own_group, NULL, &(coil_spawn_opts){.name = "owner"}, NULL));
    must(coil_spawn(gather_tasks, NULL, NULL, NULL));
    for (int i = 0; i < 5; i++)
        coil_yield();
    pthread_barrier_wait(&ready);
    return coil_sleep(COIL_SEC(100000));
}

/*
 * Disables LeakSanitizer, which does not search the stacks of tasks that are still
 * waiting. NULL if the program is built without LeakSanitizer.
 */
__attribute__((weak)) void __lsan_disable(void);

static void *run(void *arg)
{
    if (__lsan_disable != NULL)
        __lsan_disable();
    must(coil_run(body, NULL, NULL));
    return arg;
}

static void begin(void)
{
    pthread_t thread;

    pthread_barrier_init(&ready, NULL, 2);
    CLAIM(pthread_create(&thread, NULL, run, NULL) == 0);
    pthread_barrier_wait(&ready);
    usleep(1000); /* wait until the main task sleeps */
}

/* ---- damaged memory ---------------------------------------------------------------- */

#define SEEN 16
#define MEMORY_BYTES ((uint64_t)1 << 20) /* determines the budget; the tasks need less */

struct damaged {
    struct image image;
    struct fuzz_input in;
    unsigned countdown;
    uint64_t seen[SEEN]; /* addresses that were read recently */
    unsigned reads;
};

static void damage(struct damaged *d, unsigned char *bytes, size_t n)
{
    unsigned how = fuzz_byte(&d->in);
    size_t at = n > 0 ? (fuzz_byte(&d->in) * 256u + fuzz_byte(&d->in)) % n : 0;
    uint64_t value = d->seen[how / 8 % SEEN] + (int8_t)fuzz_byte(&d->in);

    if (n == 0)
        return;
    switch (how % 8) {
    case 0:
    case 1:
        bytes[at] ^= (unsigned char)(1u << how / 8 % 8);
        break;
    case 2:
        bytes[at] = (unsigned char)value;
        break;
    case 3:
        memset(bytes + at, how, n - at < 64 ? n - at : 64);
        break;
    default: /* damage a pointer, at its usual alignment */
        at &= ~(size_t)7;
        if (at + sizeof value <= n)
            memcpy(bytes + at, &value, sizeof value);
    }
}

static bool read_damaged(struct image *image, const struct piece *pieces, size_t count)
{
    struct damaged *d = (struct damaged *)image;

    for (size_t i = 0; i < count; i++) {
        struct iovec to = {pieces[i].to, pieces[i].bytes};
        struct iovec from = {(void *)(uintptr_t)pieces[i].address, pieces[i].bytes};

        if (pieces[i].bytes > 0 &&
            process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)pieces[i].bytes)
            return false;
        d->seen[d->reads++ % SEEN] = pieces[i].address;
        if (d->in.left > 0 && d->countdown-- == 0) {
            damage(d, pieces[i].to, pieces[i].bytes);
            d->countdown = fuzz_byte(&d->in);
        }
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    struct damaged d = {.image = {.read = read_damaged, .bytes = MEMORY_BYTES},
                        .in = {data, size}};
    const struct snapshot_options options = {.pid = getpid(),
                                             .monotonic = 1,
                                             .limit_ns = INT64_MAX,
                                             .on_stack = read_stack,
                                             .unwinds_later = size % 2 == 1};
    double begin_seconds;
    struct snapshot snapshot;
    struct table table;
    char why[300];

    if (!begun)
        begin();
    begun = true;
    d.image.is_constant = fuzz_byte(&d.in) % 2 == 0;
    d.countdown = fuzz_byte(&d.in);
    begin_seconds = cpu_seconds();
    image_begin(&d.image, INT64_MAX);
    if (table_read(&d.image, (uintptr_t)&coil__debug, &table, why, sizeof why)) {
        CLAIM(snapshot_take(&d.image, &table, &options, &snapshot));
        CLAIM(size % 4 != 3 || snapshot_take_again(&snapshot));
        CLAIM(snapshot_finish(&snapshot));
        CLAIM(size > 0 || snapshot.task_count == 12);
        claim_snapshot(&snapshot);
        snapshot_free(&snapshot);
    }
    table_free(&table);
    CLAIM(cpu_seconds() - begin_seconds < SECONDS_MAX);
    return 0;
}
