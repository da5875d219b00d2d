/*
 * test_file_watch.c - watching files and folders for changes.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[32];
static coil_watch *watch;

static const char *path_of(const char *name)
{
    static char path[200];

    snprintf(path, sizeof path, "%s/%s", top, name);
    return path;
}

static void begin(enum coil_watch_depth depth)
{
    strcpy(top, "/tmp/coil-watch-XXXXXX");
    CHECK(mkdtemp(top) != NULL);
    CHECK_INT(coil_watch_create(&watch), 0);
    if (depth == COIL_WATCH_TREE) {
        CHECK_INT(mkdir(path_of("old"), 0700), 0);
        CHECK_INT(mkdir(path_of("old/inner"), 0700), 0);
    }
    CHECK_INT(coil_watch_add(watch, top, depth), 0);
}

static void end(void)
{
    char command[64];

    coil_watch_destroy(watch);
    snprintf(command, sizeof command, "rm -rf %s", top);
    CHECK_INT(system(command), 0);
}

static void write_file(const char *name)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, "x", 1), 1);
    CHECK_INT(close(fd), 0);
}

static const char *inside(const char *path)
{
    size_t length = strlen(top);

    return strncmp(path, top, length) == 0 ? path + length : path;
}

static void trace_change(const coil_change *change)
{
    if (change->old_path != NULL)
        test_trace("%s ", inside(change->old_path));
    test_trace("%s%s %s; ", coil_change_name(change->kind),
               change->is_directory ? "/" : "", inside(change->path));
}

/* Write changes to the trace until there has been none for 50 ms. */
static void trace_changes(void)
{
    coil_change change;
    int rc = 0;

    while (rc == 0) {
        COIL_WITH_DEADLINE(COIL_MSEC(50), rc)
        rc = coil_watch_next(watch, &change);
        if (rc == 0)
            trace_change(&change);
    }
    CHECK_INT(rc, -ETIMEDOUT);
}

IO_TEST(watch_of_a_folder)
{
    begin(COIL_WATCH_ONE);
    write_file("a");
    CHECK_INT(chmod(path_of("a"), 0644), 0);
    CHECK_INT(unlink(path_of("a")), 0);
    CHECK_INT(mkdir(path_of("d"), 0700), 0);
    write_file("d/not-watched");
    trace_changes();
    CHECK_TRACE("created /a; modified /a; attributes /a; deleted /a; created/ /d; ");
    end();
}

static int make_file_later(void *arg)
{
    coil_sleep(COIL_MSEC(10));
    write_file(arg);
    return 0;
}

IO_TEST(watch_waits_for_a_change)
{
    coil_change change;
    coil_task *task;

    begin(COIL_WATCH_ONE);
    task = test_spawn(make_file_later, "late");
    CHECK_INT(coil_watch_next(watch, &change), 0);
    trace_change(&change);
    CHECK_TRACE("created /late; ");
    CHECK_INT(test_join(task), 0);
    end();
}

IO_TEST(watch_pairs_renames)
{
    char from[200];

    begin(COIL_WATCH_TREE);
    write_file("old/a");
    trace_changes();
    test_trace_clear();
    strcpy(from, path_of("old/a"));
    CHECK_INT(rename(from, path_of("b")), 0);
    strcpy(from, path_of("old"));
    CHECK_INT(rename(from, path_of("new")), 0);
    write_file("new/inner/c"); /* the folders inside the renamed folder have new paths */
    trace_changes();
    CHECK_TRACE("/old/a moved /b; /old moved/ /new; created /new/inner/c; "
                "modified /new/inner/c; ");
    end();
}

IO_TEST(watch_reports_what_leaves_and_comes)
{
    char elsewhere[] = "/tmp/coil-watch-XXXXXX", outside[64], from[200];

    begin(COIL_WATCH_TREE);
    CHECK(mkdtemp(elsewhere) != NULL);
    snprintf(outside, sizeof outside, "%s/moved", elsewhere);
    strcpy(from, path_of("old"));
    CHECK_INT(rename(from, outside), 0);
    trace_changes();
    CHECK_TRACE("deleted/ /old; ");
    snprintf(from, sizeof from, "%s/inner/ignored", outside);
    CHECK_INT(mkdir(from, 0700), 0); /* the folder is no longer watched */
    trace_changes();
    CHECK_TRACE("");
    CHECK_INT(rename(outside, path_of("back")), 0);
    trace_changes();
    CHECK_TRACE("created/ /back; created/ /back/inner; created/ /back/inner/ignored; ");
    write_file("back/inner/ignored/x");
    trace_changes();
    CHECK_TRACE("created /back/inner/ignored/x; modified /back/inner/ignored/x; ");
    CHECK_INT(rmdir(elsewhere), 0);
    end();
}

/* Create folders and files in a new folder before coil watches that folder. */
IO_TEST(watch_follows_new_folders_without_a_race)
{
    begin(COIL_WATCH_TREE);
    CHECK_INT(mkdir(path_of("n"), 0700), 0);
    CHECK_INT(mkdir(path_of("n/m"), 0700), 0);
    write_file("n/m/f");
    trace_changes();
    CHECK_TRACE("created/ /n; created/ /n/m; created /n/m/f; ");
    write_file("n/m/g");
    CHECK_INT(unlink(path_of("n/m/g")), 0);
    trace_changes();
    CHECK_TRACE("created /n/m/g; modified /n/m/g; deleted /n/m/g; ");
    end();
}

/* Rename a new folder before coil watches it. */
IO_TEST(watch_follows_new_folders_that_are_renamed)
{
    char from[200];

    begin(COIL_WATCH_TREE);
    CHECK_INT(mkdir(path_of("n"), 0700), 0);
    CHECK_INT(mkdir(path_of("n/m"), 0700), 0);
    write_file("n/m/f");
    strcpy(from, path_of("n"));
    CHECK_INT(rename(from, path_of("r")), 0);
    trace_changes();
    CHECK_TRACE("created/ /n; /n moved/ /r; created/ /r/m; created /r/m/f; ");
    write_file("r/m/g");
    trace_changes();
    CHECK_TRACE("created /r/m/g; modified /r/m/g; ");
    CHECK_INT(mkdir(path_of("r/m/deep"), 0700), 0);
    strcpy(from, path_of("r"));
    CHECK_INT(rename(from, path_of("s")), 0);
    CHECK_INT(mkdir(path_of("s/m/deep/er"), 0700), 0);
    trace_changes();
    CHECK_TRACE("created/ /r/m/deep; /r moved/ /s; created/ /s/m/deep/er; ");
    end();
}

static int count_creations(int count)
{
    coil_change change;
    int seen = 0;

    while (seen < count) {
        int rc;

        COIL_WITH_DEADLINE(COIL_SEC(5), rc)
        rc = coil_watch_next(watch, &change);
        if (rc < 0)
            break;
        seen += change.kind == COIL_CREATED;
    }
    return seen;
}

static int make_many(void *arg)
{
    char name[64];

    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "deep%d", i);
        CHECK_INT(mkdir(path_of(name), 0700), 0);
        for (int j = 0; j < 5; j++) {
            snprintf(name, sizeof name, "deep%d/f%d", i, j);
            write_file(name);
            if (j % 2 == 0)
                coil_yield();
        }
    }
    (void)arg;
    return 0;
}

/*
 * Each new file must be reported once, whether it was created before or after coil has
 * begun to watch its folder.
 */
IO_TEST(watch_reports_each_new_file_once)
{
    coil_task *task;
    coil_change change;
    int rc = 0, extra = 0;

    begin(COIL_WATCH_TREE);
    task = test_spawn(make_many, NULL);
    CHECK_INT(count_creations(120), 120);
    CHECK_INT(test_join(task), 0);
    while (rc == 0) {
        COIL_WITH_DEADLINE(COIL_MSEC(50), rc)
        rc = coil_watch_next(watch, &change);
        extra += rc == 0 && change.kind == COIL_CREATED;
    }
    CHECK_INT(extra, 0);
    end();
}

IO_TEST(watch_of_a_file)
{
    strcpy(top, "/tmp/coil-watch-XXXXXX");
    CHECK(mkdtemp(top) != NULL);
    CHECK_INT(coil_watch_create(&watch), 0);
    write_file("f");
    CHECK_INT(coil_watch_add(watch, path_of("f"), COIL_WATCH_ONE), 0);
    write_file("f");
    trace_changes();
    CHECK_TRACE("modified /f; ");
    CHECK_INT(coil_watch_remove(watch, path_of("f")), 0);
    CHECK_INT(coil_watch_remove(watch, path_of("f")), -ENOENT);
    write_file("f");
    trace_changes();
    CHECK_TRACE("");
    CHECK_INT(coil_watch_add(watch, path_of("none"), COIL_WATCH_ONE), -ENOENT);
    end();
}

/* Return a number of events that does not fit into the kernel's queue. */
static int queue_length(void)
{
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    int length = 0;

    if (file == NULL || fscanf(file, "%d", &length) != 1 || length > 100000)
        test_skip("the length of the kernel's queue is unknown or too large");
    fclose(file);
    return length + 100;
}

IO_TEST(watch_reports_an_overflow)
{
    int events = queue_length(), rc = 0;
    coil_change change = {.kind = COIL_CREATED};

    if (!test_has_turn(0))
        return;
    begin(COIL_WATCH_TREE);
    for (int i = 0; i < events; i += 2) { /* the kernel merges equal events in a row */
        CHECK_INT(mkdir(path_of("a"), 0700), 0);
        CHECK_INT(rmdir(path_of("a")), 0);
    }
    CHECK_INT(mkdir(path_of("late"), 0700), 0);
    while (rc == 0 && change.kind != COIL_OVERFLOW)
        rc = coil_watch_next(watch, &change);
    CHECK_INT(rc, 0);
    CHECK_STR(change.path, "");
    trace_changes();
    CHECK_TRACE("");
    write_file("late/f"); /* the folder is watched, although its event was lost */
    trace_changes();
    CHECK_TRACE("created /late/f; modified /late/f; ");
    end();
}

/*
 * Get the next change, and write it to the trace. The task itself must write the change,
 * because the task's result is -ECANCELED if it is cancelled after it has got the change.
 */
static int trace_next_change(void *arg)
{
    coil_change change;
    int rc = coil_watch_next(watch, &change);

    (void)arg;
    if (rc == 0)
        trace_change(&change);
    return rc;
}

IO_TEST(watch_cancelled_loses_no_change)
{
    coil_change change;
    coil_task *task;

    begin(COIL_WATCH_TREE);
    task = test_spawn(trace_next_change, NULL);
    coil_sleep(COIL_MSEC(2));
    CHECK_INT(coil_watch_next(watch, &change), -EBUSY);
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_INT(mkdir(path_of("n"), 0700), 0);
    write_file("n/f");
    for (int steps = 0; steps < 12; steps++) { /* cancel the task at each of its waits */
        task = test_spawn(trace_next_change, NULL);
        for (int i = 0; i < steps; i++)
            coil_yield();
        coil_task_cancel(task, NULL);
        test_join(task);
    }
    trace_changes();
    CHECK_TRACE("created/ /n; created /n/f; ");
    end();
}

static int destroy_under_a_task(void *arg)
{
    coil_task *task;

    (void)arg;
    CHECK_INT(coil_watch_create(&watch), 0);
    task = test_spawn(trace_next_change, NULL);
    coil_yield();
    coil_watch_destroy(watch);
    return test_join(task);
}

/* Runs in a child of fork(2), which needs its own loop. */
static void run_and_destroy(void *backend)
{
    coil_run_opts opts = {.loop = {.backend = backend}};

    coil_run(destroy_under_a_task, NULL, &opts);
}

IO_TEST(watch_destroyed_under_a_task_aborts)
{
    test_dies(run_and_destroy, (void *)coil_backend_name(),
              "a task is still in a call on the watch");
}

/* If there is no memory, the call fails, and the next call returns the change. */
IO_TEST(watch_loses_no_change_without_memory)
{
    coil_change change;

    begin(COIL_WATCH_TREE);
    CHECK_INT(mkdir(path_of("n"), 0700), 0);
    write_file("n/f");
    for (int n = 1; n < 30; n++) {
        int rc;

        test_fail_allocation(n);
        COIL_WITH_DEADLINE(COIL_MSEC(20), rc)
        rc = coil_watch_next(watch, &change);
        test_fail_allocation(0);
        if (rc == 0)
            trace_change(&change);
        else
            CHECK(rc == -ENOMEM || rc == -ETIMEDOUT);
    }
    trace_changes();
    CHECK_TRACE("created/ /n; created /n/f; ");
    end();
}

IO_TEST(watch_without_memory)
{
    int rc = -ENOMEM;

    strcpy(top, "/tmp");
    for (int n = 1; rc == -ENOMEM; n++) {
        test_fail_allocation(n);
        rc = coil_watch_create(&watch);
        test_fail_allocation(0);
    }
    CHECK_INT(rc, 0);
    rc = -ENOMEM;
    strcpy(top, "/tmp/coil-watch-XXXXXX");
    CHECK(mkdtemp(top) != NULL);
    CHECK_INT(mkdir(path_of("d"), 0700), 0);
    for (int n = 1; rc == -ENOMEM; n++) {
        test_fail_allocation(n);
        rc = coil_watch_add(watch, top, COIL_WATCH_TREE);
        test_fail_allocation(0);
    }
    CHECK_INT(rc, 0);
    write_file("d/f");
    trace_changes();
    CHECK_TRACE("created /d/f; modified /d/f; ");
    end();
    coil_watch_destroy(NULL);
}
