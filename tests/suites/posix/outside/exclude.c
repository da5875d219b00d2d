/*
 * exclude.c - a library with a function that sleeps, and returns whether it was called
 * while another call was in progress. Compiled with PROGRAM, this file is a program with
 * tasks that call the library before and after it is excluded with coil_posix_exclude().
 */
#include <unistd.h>

#ifndef PROGRAM
int work(void)
{
    static int entered;
    int already_entered = entered++;

    usleep(1000);
    entered--;
    return already_entered;
}
#else
#include <coil.h>
#include <coil/posix.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#define TASKS 10
#define MOST_LIBRARIES 8

int work(void);

static int overlaps;

static int call_library(void *unused)
{
    (void)unused;
    overlaps += work() > 0;
    return 0;
}

/* Return the number of calls that began while another call was in progress. */
static int count_overlaps(void)
{
    coil_group group;

    overlaps = 0;
    coil_group_enter(&group);
    for (int i = 0; i < TASKS; i++)
        if (coil_group_spawn(&group, call_library, NULL, NULL, NULL) < 0)
            return -1;
    return coil_group_exit(&group, 0) < 0 ? -1 : overlaps;
}

/*
 * Exclude copies of the library until coil_posix_exclude() fails. Returns the number of
 * excluded copies.
 */
static int exclude_copies(char **paths, int *rc)
{
    int n = 0;

    while (*paths != NULL) {
        void *library = dlopen(*paths++, RTLD_NOW);

        if (library == NULL || (*rc = coil_posix_exclude(dlsym(library, "work"))) < 0)
            break;
        n++;
    }
    return n;
}

static int app(void *copies)
{
    int local, rc = 0;

    if (coil_posix_exclude((const void *)app) != -EINVAL ||
        coil_posix_exclude(NULL) != -EINVAL || coil_posix_exclude(&local) != -EINVAL)
        return puts("an address outside of libraries was accepted");
    if (count_overlaps() != TASKS - 1)
        return puts("a call did not suspend before the library was excluded");
    if (coil_posix_exclude((const void *)work) != 0 || count_overlaps() != 0)
        return puts("a call suspended after the library was excluded");
    if (coil_posix_exclude((const void *)work) != 0)
        return puts("the library could not be excluded again");
    if (exclude_copies(copies, &rc) != MOST_LIBRARIES - 1 || rc != -ENOSPC)
        return puts("not exactly eight libraries can be excluded");
    puts("excluded");
    return 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    return coil_run(app, argv + 1, NULL) < 0;
}
#endif
