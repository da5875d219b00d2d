/*
 * test_path.c - calls that take the name of a file: stat, rename, links, directories.
 */
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
