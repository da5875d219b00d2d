/* libgit2.c - each task clones a repository from git daemon. */
#include "foreign.h"

#include <git2.h>
#include <stdio.h>
#include <stdlib.h>

static bool start(void)
{
    return git_libgit2_init() > 0;
}

static bool has_its_commit(git_repository *repository)
{
    git_object *commit = NULL;
    bool has = git_revparse_single(&commit, repository, "HEAD^{commit}") == 0;

    git_object_free(commit);
    return has;
}

static bool use(int number)
{
    char url[100], folder[300];
    git_clone_options options = GIT_CLONE_OPTIONS_INIT;
    git_repository *repository = NULL;
    bool right;

    snprintf(url, sizeof url, "git://127.0.0.1:%d/repository", foreign_port);
    snprintf(folder, sizeof folder, "%s/clone%d", getenv("FOREIGN_FOLDER"), number);
    options.bare = 1;
    if (git_clone(&repository, url, folder, &options) < 0)
        return foreign_failed("%s", git_error_last()->message);
    right = has_its_commit(repository);
    git_repository_free(repository);
    return right;
}

static bool stop(void)
{
    return git_libgit2_shutdown() == 0;
}

const struct foreign foreign = {.name = "libgit2",
                                .tested = "clones from git's daemon",
                                .server = true,
                                .start = start,
                                .use = use,
                                .stop = stop};
