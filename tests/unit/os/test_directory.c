/* test_directory.c - listing the contents of a directory. */
#include "../../harness/harness.h"
#include "places.h"

#include <coil.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static void types(void)
{
    coil_directory_entry e;
    coil_directory *d;
    unsigned seen = 0;
    int rc;

    put_file("file", "");
    CHECK(mkdir("directory", 0700) == 0);
    CHECK(mkfifo("pipe", 0600) == 0);
    CHECK(symlink("nowhere", "link") == 0);
    CHECK_INT(coil_directory_open(".", &d), 0);
    CHECK(coil_directory_fd(d) >= 0);
    while ((rc = coil_directory_next(d, &e)) > 0) {
        const char *const names[] = {"file", "directory", "pipe", "link"};
        const unsigned char kinds[] = {DT_REG, DT_DIR, DT_FIFO, DT_LNK};

        for (int i = 0; i < 4; i++)
            if (strcmp(e.name, names[i]) == 0 && e.type == kinds[i] && e.inode != 0)
                seen += 1u << 4 * i;
        CHECK(e.name[0] != '.');
    }
    CHECK_INT(rc, 0);
    CHECK_INT(seen, 0x1111);
    CHECK_INT(coil_directory_next(d, &e), 0);
    CHECK_INT(coil_directory_rewind(d), 0);
    CHECK_INT(coil_directory_next(d, &e), 1);
    coil_directory_destroy(d);
}

IO_TEST(directory_tells_names_and_types)
{
    in_each_place(types);
    coil_directory_destroy(NULL);
}

#define MANY 3000

static void large(void)
{
    static unsigned char seen[MANY];
    coil_directory_entry e;
    coil_directory *d;
    char name[64];
    int rc, all = 0;

    memset(seen, 0, sizeof seen);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%d-%040d", i, 0);
        put_file(name, "");
    }
    CHECK_INT(coil_directory_open(".", &d), 0);
    while ((rc = coil_directory_next(d, &e)) > 0) {
        int i = atoi(e.name);

        CHECK(seen[i]++ == 0);
        /* Change the directory during the listing. */
        CHECK(unlink(e.name) == 0);
        snprintf(name, sizeof name, "%d-%040d", i, 0);
        CHECK_STR(e.name, name);
        all++;
    }
    CHECK_INT(rc, 0);
    CHECK_INT(all, MANY);
    coil_directory_destroy(d);
    CHECK_INT(count_names(), 0);
}

IO_TEST(directory_that_changes_meanwhile)
{
    in_each_place(large);
}

static void no_directory(void)
{
    coil_directory_entry e;
    coil_directory *d;

    put_file("a", "");
    CHECK_INT(coil_directory_open("a", &d), -ENOTDIR);
    CHECK_INT(coil_directory_open("missing", &d), -ENOENT);
    CHECK(mkdir("d", 0700) == 0);
    CHECK_INT(coil_directory_open("d", &d), 0);
    CHECK(rmdir("d") == 0);
    CHECK_INT(coil_directory_next(d, &e), 0);
    coil_directory_destroy(d);
}

IO_TEST(directory_that_is_none_or_is_removed)
{
    in_each_place(no_directory);
}

/* ---- two tasks --------------------------------------------------------------------- */

static int next_of(void *arg)
{
    coil_directory_entry e;

    return coil_directory_next(arg, &e);
}

static int begin_next(coil_directory *d, coil_task **task)
{
    return coil_spawn(next_of, d, &(coil_spawn_opts){.eager = true}, task);
}

static void busy(void)
{
    coil_directory_entry e;
    coil_directory *d;
    coil_task *task;
    int rc;

    put_file("a", "");
    CHECK_INT(coil_directory_open(".", &d), 0);
    CHECK_INT(begin_next(d, &task), 0);
    if (!coil_future_done(coil_task_future(task))) {
        CHECK_INT(coil_directory_next(d, &e), -EBUSY);
        CHECK_INT(coil_directory_rewind(d), -EBUSY);
    }
    CHECK_INT(coil_task_await(task), 1);
    coil_task_release(task);
    coil_directory_destroy(d);

    CHECK_INT(coil_directory_open(".", &d), 0);
    CHECK_INT(begin_next(d, &task), 0);
    coil_directory_destroy(d);
    rc = coil_task_await(task);
    CHECK(rc == -EBADF || rc == 1);
    coil_task_release(task);
}

IO_TEST(directory_in_use)
{
    in_a_place(busy);
}

/* ---- failures ---------------------------------------------------------------------- */

static int list(int *names)
{
    coil_directory_entry e;
    coil_directory *d;
    int rc = coil_directory_open(".", &d);

    if (rc < 0)
        return rc;
    for (*names = 0; (rc = coil_directory_next(d, &e)) > 0; ++*names)
        ;
    coil_directory_destroy(d);
    return rc;
}

/*
 * Make each system call of a listing fail once. Returns the number of failed calls that
 * read the directory, not counting those in which the loop waits.
 */
static int each_call_fails(void)
{
    int rc, names = 0, failures = 0;

    for (uint64_t nth = 1;; nth++) {
        coil_testing_fail_system_call(nth, 0);
        rc = list(&names);
        if (coil_testing_failed() == NULL)
            break;
        if (strstr(coil_testing_failed(), "op->fd") != NULL) {
            CHECK(rc < 0);
            failures++;
        }
    }
    coil_testing_fail_system_call(0, 0);
    CHECK_INT(rc, 0);
    CHECK_INT(names, 2);
    return failures;
}

static void nth_fails(void)
{
    int rc, names;

    put_file("a", "");
    put_file("b", "");
    /*
     * Repeat until a call that reads the directory has failed. This may take several
     * attempts, because the number of waits varies.
     */
    while (each_call_fails() == 0)
        ;
    for (uint64_t nth = 1;; nth++) {
        coil_testing_fail_allocation(nth);
        rc = list(&names);
        if (coil_testing_failed() == NULL)
            break;
        CHECK_INT(rc, -ENOMEM);
    }
    coil_testing_fail_allocation(0);
}

TASK_TEST(directory_whose_nth_call_fails)
{
    in_a_place(nth_fails);
}
