/*
 * opened.c - a program that opens libcoil.so at run time, as bindings for other languages
 * do, and closes it again.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*function)(void *arg);

static int (*blocking)(int lane, function fn, void *arg);

static int job(void *arg)
{
    (void)arg;
    return 7;
}

static int app(void *arg)
{
    (void)arg;
    return blocking(2, job, NULL); /* COIL_LANE_CPU */
}

/* Look up a function of the library. ISO C has no cast from `void *` to a function. */
static void look_up(void *library, const char *name, void *out)
{
    void *address = dlsym(library, name);

    memcpy(out, &address, sizeof address);
}

static int use(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*run)(function fn, void *arg, const void *opts);
    int rc;

    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    look_up(library, "coil_run", &run);
    look_up(library, "coil_blocking", &blocking);
    rc = run(app, NULL, NULL);
    dlclose(library);
    return rc;
}

int main(int argc, char *argv[])
{
    if (argc < 2 || use(argv[1]) != 7 || use(argv[1]) != 7)
        return 1;
    puts("opened twice");
    return 0;
}
