/*
 * choice.c - creates a loop's backend: the one named in the options or by COIL_BACKEND,
 * otherwise the first one that works.
 */
#include "backend.h"

#include "../loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *coil_backend_name(void)
{
    return coil__loop_of_thread != NULL ? coil__loop_of_thread->backend->class->name
                                        : NULL;
}

/*
 * epoll is the default. On systems that forbid epoll, poll is used, which works
 * everywhere. The other backends are used only on request
 * (docs/decisions/0007-epoll-by-default.md).
 */
static const struct coil__backend_class *const backends[] = {
    &coil__backend_epoll,
    &coil__backend_poll,
    &coil__backend_select,
    &coil__backend_io_uring,
};

#define BACKEND_COUNT (sizeof backends / sizeof backends[0])

#define SIMULATED "simulated" /* the backend of libcoil-testing */

static const struct coil__backend_class *class_of(const char *name)
{
    const struct coil__loop_hooks *hooks = coil__loop_hooks;

    for (size_t i = 0; i < BACKEND_COUNT; i++)
        if (strcmp(name, backends[i]->name) == 0)
            return backends[i];
    return hooks != NULL && strcmp(name, SIMULATED) == 0 ? hooks->backend : NULL;
}

/* Fails with -EINVAL if no backend has that name. */
static int create_by_name(coil_loop *loop, const char *name)
{
    const struct coil__backend_class *class = class_of(name);

    return class != NULL ? class->create(&loop->backend) : coil__failed(-EINVAL);
}

/* Write the names of the backends: "epoll, poll", and so on. */
static const char *list_backends(char *names, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < BACKEND_COUNT && n < size; i++)
        n += (size_t)snprintf(names + n, size - n, "%s%s", i > 0 ? ", " : "",
                              backends[i]->name);
    return names;
}

/*
 * Report to the exception handler that the backend named by COIL_BACKEND cannot be
 * created: the error code alone would not lead a user to the variable. If a backend fails
 * with -EINVAL, it has already reported the invalid value of its own environment
 * variable.
 */
static int refuse_environment(const char *name, int rc)
{
    char message[160], names[64];
    bool unknown = class_of(name) == NULL;
    const char *format = "COIL_BACKEND=%.20s: this backend is not available";

    if (rc == -EINVAL && !unknown)
        return rc;
    if (unknown && strcmp(name, SIMULATED) == 0)
        format =
            "COIL_BACKEND=%.20s: this program is not linked with libcoil-testing, or "
            "calls none of its functions";
    else if (unknown)
        format = "COIL_BACKEND=%.20s: must be %s or " SIMULATED;
    snprintf(message, sizeof message, format, name, list_backends(names, sizeof names));
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = rc});
    return rc;
}

static int create_first_that_works(coil_loop *loop)
{
    int rc = -ENOSYS;

    for (size_t i = 0; i < BACKEND_COUNT && rc == -ENOSYS; i++)
        rc = backends[i]->create(&loop->backend);
    return rc;
}

int coil__backend_create(coil_loop *loop, const char *name)
{
    const struct coil__loop_hooks *hooks = coil__loop_hooks;
    int rc;

    if (name == NULL && hooks != NULL && hooks->backend_is_wanted())
        name = SIMULATED;
    if (name != NULL && *name != '\0')
        return create_by_name(loop, name);
    if (name == NULL)
        name = getenv("COIL_BACKEND");
    if (name == NULL || *name == '\0')
        return create_first_that_works(loop);
    rc = create_by_name(loop, name);
    return rc < 0 ? refuse_environment(name, rc) : 0;
}

/* Free the table of descriptors last, because destroying the backend reads it. */
void coil__backend_destroy(coil_loop *loop)
{
    struct coil__descriptors all = *loop->descriptors;

    loop->backend->class->destroy(loop->backend);
    coil__descriptors_finish(&all);
}
