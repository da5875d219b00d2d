/* test_path.c - calls that take a path: stat, rename, links, directories. */
#include "../../harness/harness.h"
#include "places.h"

#include <coil.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void stat_paths(void)
{
    struct statx st;

    put_file("a", "123");
    CHECK_INT(coil_stat("a", 0, &st), 0);
    CHECK(S_ISREG(st.stx_mode));
    CHECK_INT(st.stx_size, 3);
    CHECK_INT(coil_symlink("a", "link"), 0);
    CHECK_INT(coil_stat("link", 0, &st), 0);
    CHECK(S_ISREG(st.stx_mode));
    CHECK_INT(coil_stat("link", AT_SYMLINK_NOFOLLOW, &st), 0);
    CHECK(S_ISLNK(st.stx_mode));
    CHECK_INT(coil_stat("missing", 0, &st), -ENOENT);
    CHECK_INT(coil_stat(".", 0, &st), 0);
    CHECK(S_ISDIR(st.stx_mode));
}

IO_TEST(path_is_looked_at)
{
    in_each_place(stat_paths);
}

static void rename_paths(void)
{
    put_file("a", "a");
    put_file("b", "b");
    CHECK_INT(coil_rename("a", "b", RENAME_NOREPLACE), -EEXIST);
    CHECK_INT(coil_rename("a", "b", RENAME_EXCHANGE), 0);
    check_file("a", "b");
    CHECK_INT(coil_rename("a", "b", 0), 0);
    check_file("b", "b");
    CHECK_INT(count_names(), 1);
    CHECK_INT(coil_rename("b", "c", RENAME_NOREPLACE), 0);
    CHECK_INT(coil_rename("b", "c", 0), -ENOENT);
    CHECK_INT(coil_rename("c", "c/d", 0), -ENOTDIR);
}

IO_TEST(path_is_renamed)
{
    in_each_place(rename_paths);
}

static void directories(void)
{
    CHECK_INT(coil_mkdir("d", 0700), 0);
    CHECK_INT(coil_mkdir("d", 0700), -EEXIST);
    put_file("d/a", "1");
    CHECK_INT(coil_rmdir("d"), -ENOTEMPTY);
    CHECK(coil_unlink("d") < 0);
    CHECK_INT(coil_rmdir("d/a"), -ENOTDIR);
    CHECK_INT(coil_unlink("d/a"), 0);
    CHECK_INT(coil_unlink("d/a"), -ENOENT);
    CHECK_INT(coil_rmdir("d"), 0);
    CHECK_INT(count_names(), 0);
}

IO_TEST(path_of_directories)
{
    in_each_place(directories);
}

static void links(void)
{
    char target[16];
    struct statx st;

    put_file("a", "1");
    CHECK_INT(coil_link("a", "b"), 0);
    CHECK_INT(coil_link("a", "b"), -EEXIST);
    CHECK_INT(coil_stat("a", 0, &st), 0);
    CHECK_INT(st.stx_nlink, 2);
    CHECK_INT(coil_symlink("some/where", "s"), 0);
    CHECK_INT(coil_symlink("some/where", "s"), -EEXIST);
    CHECK_INT(coil_readlink("s", target, sizeof target), 10);
    CHECK_STR(target, "some/where");
    CHECK_INT(coil_readlink("s", target, 11), 10);
    CHECK_INT(coil_readlink("s", target, 10), -ENAMETOOLONG);
    CHECK_INT(coil_readlink("a", target, sizeof target), -EINVAL);
}

IO_TEST(path_is_linked)
{
    in_each_place(links);
}

/* ---- owners and times -------------------------------------------------------------- */

static void check_times(const char *path, int64_t access, int64_t change)
{
    struct statx st;

    CHECK_INT(coil_stat(path, AT_SYMLINK_NOFOLLOW, &st), 0);
    CHECK_INT(st.stx_atime.tv_sec, access);
    CHECK_INT(st.stx_mtime.tv_sec, change);
}

static void change_times(void)
{
    const struct timespec times[2] = {{1000, 5}, {2000, 6}};
    const struct timespec one[2] = {{0, UTIME_OMIT}, {3000, 0}};
    const struct timespec wrong[2] = {{0, -1}, {0, 0}};
    struct statx st;
    coil_file *f;

    put_file("a", "1");
    CHECK_INT(coil_symlink("a", "link"), 0);
    CHECK_INT(coil_utimens("link", times, 0), 0);
    check_times("a", 1000, 2000);
    CHECK_INT(coil_utimens("a", one, 0), 0);
    check_times("a", 1000, 3000);
    CHECK_INT(coil_utimens("link", times, AT_SYMLINK_NOFOLLOW), 0);
    check_times("link", 1000, 2000);
    check_times("a", 1000, 3000);
    CHECK_INT(coil_utimens("a", NULL, 0), 0);
    CHECK_INT(coil_stat("a", 0, &st), 0);
    CHECK(st.stx_mtime.tv_sec > 1000000);
    CHECK_INT(coil_utimens("a", wrong, 0), -EINVAL);
    CHECK_INT(coil_utimens("missing", times, 0), -ENOENT);
    CHECK_INT(coil_file_open("a", O_RDONLY, 0, &f), 0);
    CHECK_INT(coil_file_utimens(f, times), 0);
    check_times("a", 1000, 2000);
    CHECK_INT(coil_file_close(f), 0);
    CHECK_INT(coil_file_utimens(f, times), -EBADF);
    coil_file_destroy(f);
}

IO_TEST(path_times_are_set)
{
    in_each_place(change_times);
}

static void check_owner(const char *path, uid_t user, gid_t group)
{
    struct statx st;

    CHECK_INT(coil_stat(path, AT_SYMLINK_NOFOLLOW, &st), 0);
    CHECK_INT(st.stx_uid, user);
    CHECK_INT(st.stx_gid, group);
}

static void change_owner(void)
{
    uid_t user = geteuid(), other = user == 0 ? 12345 : user;
    gid_t group = getegid();
    struct statx st;
    coil_file *f;

    put_file("a", "1");
    CHECK_INT(coil_symlink("a", "link"), 0);
    CHECK_INT(coil_chown("link", other, (gid_t)-1, 0), 0);
    check_owner("a", other, group);
    check_owner("link", user, group);
    CHECK_INT(coil_chown("link", other, group, AT_SYMLINK_NOFOLLOW), 0);
    check_owner("link", other, group);
    CHECK_INT(coil_chown("missing", user, group, 0), -ENOENT);
    if (user != 0)
        CHECK_INT(coil_chown("a", 0, (gid_t)-1, 0), -EPERM);
    CHECK_INT(coil_file_open("a", O_RDONLY, 0, &f), 0);
    CHECK_INT(coil_file_chown(f, user, group), 0);
    check_owner("a", user, group);
    CHECK_INT(coil_file_close(f), 0);
    CHECK_INT(coil_file_chown(f, user, group), -EBADF);
    coil_file_destroy(f);
    CHECK_INT(coil_chmod("link", 0640), 0);
    CHECK_INT(coil_stat("a", 0, &st), 0);
    CHECK_INT(st.stx_mode & 07777, 0640);
    CHECK_INT(coil_chmod("missing", 0640), -ENOENT);
}

IO_TEST(path_owner_and_mode_are_changed)
{
    in_each_place(change_owner);
}

static int change_all(const char *path)
{
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    int rc = coil_chmod(path, 0600);

    if (rc == 0)
        rc = coil_chown(path, geteuid(), getegid(), 0);
    return rc == 0 ? coil_utimens(path, times, 0) : rc;
}

static int change_when_cancelled(void *path)
{
    CHECK_INT(coil_chmod(path, 0700), -ECANCELED);
    CHECK_INT(coil_chown(path, geteuid(), getegid(), 0), -ECANCELED);
    CHECK_INT(coil_utimens(path, NULL, 0), -ECANCELED);
    return -ECANCELED;
}

/*
 * Make each system call of change_all() fail once. Returns the number of failed calls
 * that take a path, not counting those in which the loop waits.
 */
static int each_change_fails(void)
{
    int rc, failures = 0;

    for (uint64_t nth = 1;; nth++) {
        coil_testing_fail_system_call(nth, 0);
        rc = change_all("a");
        if (coil_testing_failed() == NULL)
            break;
        if (strstr(coil_testing_failed(), "op->fd") != NULL) {
            CHECK(rc < 0);
            failures++;
        }
    }
    coil_testing_fail_system_call(0, 0);
    CHECK_INT(rc, 0);
    return failures;
}

static void fail_to_change(void)
{
    coil_task *task = NULL;
    struct statx st;

    put_file("a", "1");
    while (each_change_fails() == 0) /* the number of waits varies */
        continue;
    CHECK_INT(coil_spawn(change_when_cancelled, (char[]){"a"}, NULL, &task), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    CHECK_INT(coil_stat("a", 0, &st), 0);
    CHECK_INT(st.stx_mode & 07777, 0600);
}

IO_TEST(path_changes_that_fail_or_are_cancelled)
{
    in_each_place(fail_to_change);
}
