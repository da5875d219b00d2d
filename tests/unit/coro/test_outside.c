/*
 * test_outside.c - the data that tools read from outside the process (coro/outside.h):
 * the ELF note, the rows of the table, and the list of loops.
 */
#include "../../../src/coro/outside.h"
#include "../../../src/task/task.h"
#include "../../harness/harness.h"

#include <coil.h>

#include <link.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the note ---------------------------------------------------------------------- */

static const int32_t *words_of(const char *segment, size_t bytes)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(segment + at);
        const char *name = (const char *)(note + 1);

        at +=
            sizeof *note + (note->n_namesz + 3u) / 4 * 4 + (note->n_descsz + 3u) / 4 * 4;
        if (note->n_namesz == 5 && memcmp(name, "coil", 5) == 0)
            return (const int32_t *)(name + 8);
    }
    return NULL;
}

static int look_for_note(struct dl_phdr_info *info, size_t size, void *arg)
{
    const int32_t **words = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum && *words == NULL; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            *words = words_of((const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                              info->dlpi_phdr[i].p_memsz);
    return *words != NULL;
}

TEST(outside_the_note_leads_to_the_table_and_to_the_place_of_resumption)
{
    const int32_t *words = NULL;
    const char *table, *resume;

    CHECK(dl_iterate_phdr(look_for_note, &words) == 1);
    table = (const char *)words + words[0];
    resume = (const char *)(words + 1) + words[1];
    CHECK(table == (const char *)&coil__debug);
    CHECK(strcmp(table, COIL__OUTSIDE_COOKIE) == 0);
    CHECK(resume != NULL);
    CHECK(coil__debug.bytes == sizeof coil__debug);
}

/* ---- the rows ---------------------------------------------------------------------- */

static int value_of(unsigned key)
{
    int found = -1;

    for (const struct coil__outside_row *r = coil__debug.rows; r < coil__debug.rows_end;
         r++)
        if (r->key == key) {
            CHECK(found == -1);
            found = r->value;
        }
    return found;
}

TEST(outside_the_rows_have_the_offsets_of_members)
{
    CHECK(value_of(COIL__AT_TASK_STEPS) == offsetof(coil_task, steps));
    CHECK(value_of(COIL__AT_CORO_SP) == offsetof(coil__coro, sp));
    CHECK(value_of(COIL__AT_LOCK_OWNER) == offsetof(coil_lock, owner));
    CHECK(value_of(COIL__TASK_BYTES) == sizeof(coil_task));
    CHECK(value_of(COIL__AT_GEN_ENTRY) > 0);
    CHECK(value_of(COIL__AT_GROUP_CHILDREN) > 0);
    CHECK(value_of(COIL__AT_JOB_THREAD) > 0);
    CHECK(value_of(9999) == -1);
}

static int end_at_once(void *arg)
{
    (void)arg;
    return 0;
}

static bool is_started(const coil_task *task)
{
    return (((const unsigned char *)task)[value_of(COIL__AT_TASK_FLAGS)] &
            value_of(COIL__TASK_IS_STARTED)) != 0;
}

static int run_flags(void *arg)
{
    coil_task *child;

    (void)arg;
    CHECK_INT(coil_spawn(end_at_once, NULL, NULL, &child), 0);
    CHECK(!is_started(child) && is_started(coil_task_current()));
    coil_task_cancel(child, "to see that this does not change the flag");
    CHECK(!is_started(child));
    coil_task_release(child);
    return 0;
}

TEST(outside_the_bits_of_the_flags_are_right)
{
    CHECK(coil_run(run_flags, NULL, NULL) == 0);
}

static int run_kind(void *arg)
{
    coil_group group;
    const struct group_seen {
        const struct coil__region *region;
    } seen = {(coil_group_enter(&group), coil_task_current()->regions)};
    const unsigned short *kind = (const unsigned short *)((const char *)seen.region +
                                                          value_of(COIL__AT_REGION_KIND));

    (void)arg;
    CHECK(*kind == value_of(COIL__REGION_IS_GROUP));
    return coil_group_exit(&group, 0);
}

TEST(outside_the_kind_of_a_region_is_where_the_row_says)
{
    CHECK(coil_run(run_kind, NULL, NULL) == 0);
}

/* ---- the loops --------------------------------------------------------------------- */

static size_t count_loops(const coil_loop *loop)
{
    size_t n = 0;

    for (size_t i = 0; i < coil__debug.loop_count; i++)
        n += coil__debug.loops[i] == loop;
    return n;
}

TEST(outside_a_loop_is_listed_until_it_is_closed)
{
    coil_loop *loop;

    CHECK(coil_loop_create(NULL, &loop) == 0);
    CHECK(count_loops(loop) == 1);
    CHECK(loop->thread == gettid());
    CHECK(loop->scheduler == NULL);
    coil_loop_close(loop);
    CHECK(count_loops(loop) == 0);
}

static int look_as_child(void *arg)
{
    uint32_t before = coil__debug.inherited;
    coil_loop *loop = coil_loop_current();
    pid_t pid;
    int status;

    (void)arg;
    CHECK(loop->scheduler == &coil__scheduler);
    pid = fork();
    if (pid == 0)
        _exit(count_loops(loop) == 0 && coil__debug.inherited == before + 1 ? 0 : 1);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(count_loops(loop) == 1);
    return 0;
}

TEST(outside_a_forked_child_lists_none_of_its_parents_loops)
{
    CHECK(coil_run(look_as_child, NULL, NULL) == 0);
}

/* ---- tasks ------------------------------------------------------------------------- */

static int yield_thrice(void *arg)
{
    for (int i = 0; i < 3; i++)
        CHECK(coil_yield() == 0);
    *(uint32_t *)arg = coil_task_current()->spawned_by;
    return 0;
}

static int count_steps(void *arg)
{
    uint32_t spawned_by = 0;
    coil_task *task;
    unsigned before;

    (void)arg;
    CHECK(coil_spawn(yield_thrice, &spawned_by, NULL, &task) == 0);
    before = task->steps;
    CHECK(task->coro.number == coil_task_current()->coro.number + 1);
    CHECK(coil_task_await(task) == 0);
    CHECK(task->steps - before == 3);
    CHECK(spawned_by == coil_task_current()->coro.number);
    coil_task_release(task);
    CHECK(coil_spawn(yield_thrice, &spawned_by, &(coil_spawn_opts){.eager = true},
                     &task) == 0);
    before = task->steps;
    CHECK(coil_task_await(task) == 0);
    CHECK(task->steps - before == 2);
    coil_task_release(task);
    return 0;
}

TEST(outside_a_task_counts_its_steps_and_knows_its_spawner)
{
    CHECK(coil_run(count_steps, NULL, NULL) == 0);
}

/* ---- locks and jobs ---------------------------------------------------------------- */

static coil_lock lock = COIL_LOCK_INIT;

static int take_lock(void *arg)
{
    (void)arg;
    CHECK(coil_lock_acquire(&lock) == 0);
    CHECK(lock.owner == coil_task_current()->coro.number);
    CHECK(coil_lock_release(&lock) == 0);
    return 0;
}

static int run_lock(void *arg)
{
    coil_task *task;

    (void)arg;
    CHECK(lock.owner == 0);
    CHECK(coil_lock_acquire(&lock) == 0);
    CHECK(lock.owner == coil_task_current()->coro.number);
    CHECK(coil_spawn(take_lock, NULL, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    CHECK(lock.owner == coil_task_current()->coro.number);
    CHECK(coil_lock_release(&lock) == 0);
    CHECK(lock.owner == 0);
    CHECK(coil_task_await(task) == 0);
    coil_task_release(task);
    CHECK(lock.owner == 0);
    return 0;
}

TEST(outside_a_lock_knows_its_owner)
{
    CHECK(coil_run(run_lock, NULL, NULL) == 0);
}

static int look_at_job(void *arg)
{
    coil_task *task = arg;
    const struct coil__wait *wait;
    const char *job;

    /* The job may run before its task has begun to wait for it. */
    while ((wait = __atomic_load_n(&task->wait, __ATOMIC_ACQUIRE)) == NULL)
        usleep(100);
    CHECK(wait->class->job.steps == 1);
    memcpy(&job, (const char *)wait + wait->class->job.at[0], sizeof job);
    CHECK(*(const pid_t *)(job + value_of(COIL__AT_JOB_THREAD)) == gettid());
    return 0;
}

static int run_job(void *arg)
{
    (void)arg;
    return coil_blocking(COIL_LANE_FILE, look_at_job, coil_task_current());
}

TEST(outside_a_job_knows_its_thread)
{
    CHECK(coil_run(run_job, NULL, NULL) == 0);
}
