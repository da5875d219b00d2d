/* places.c - see places.h. */
#include "places.h"

#include "../../harness/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static bool in_place(const char *parent, void (*test)(void))
{
    char path[64];
    int before;

    snprintf(path, sizeof path, "%s/coil-test-XXXXXX", parent);
    if (mkdtemp(path) == NULL)
        return false;
    before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(chdir(path) == 0);
    test();
    CHECK(fchdir(before) == 0);
    close(before);
    CHECK_INT(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    return true;
}

void in_each_place(void (*test)(void))
{
    bool in_memory = in_place("/dev/shm", test);
    bool on_disk = in_place("/var/tmp", test);

    CHECK(in_memory || on_disk);
}

void in_a_place(void (*test)(void))
{
    CHECK(in_place("/tmp", test));
}

void put_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), (long long)strlen(text));
    close(fd);
}

void check_file(const char *path, const char *text)
{
    char found[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, found, sizeof found - 1) : -1;

    CHECK(n >= 0);
    found[n > 0 ? n : 0] = '\0';
    CHECK_STR(found, text);
    close(fd);
}

int count_names(void)
{
    DIR *dir = opendir(".");
    int n = 0;

    CHECK(dir != NULL);
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        closedir(dir);
    return n - 2;
}
