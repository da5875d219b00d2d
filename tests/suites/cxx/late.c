/*
 * late.c - late PLUGIN [OTHER]: a C program whose tasks load a C++ plugin with dlopen(3),
 * and immediately suspend in the plugin's catch blocks. Before that, OTHER is loaded,
 * used and closed.
 */
#include <coil.h>

#include <dlfcn.h>
#include <stdio.h>

static const char *plugin;
static int failures;

static int catch_in_plugin(void *arg)
{
    void *object = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    int (*catch_and_sleep)(int) = NULL;

    if (object == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return -ENOENT;
    }
    *(void **)&catch_and_sleep = dlsym(object, "catch_and_sleep");
    failures += catch_and_sleep(*(int *)arg);
    return 0;
}

static int sleep_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++)
        coil_sleep(COIL_MSEC(1));
    return 0;
}

static int app(void *arg)
{
    int numbers[] = {1, 2, 3};
    coil_group group;

    (void)arg;
    coil_yield();
    coil_group_enter(&group);
    coil_group_spawn(&group, sleep_often, NULL, NULL, NULL);
    for (int i = 0; i < 3; i++)
        coil_group_spawn(&group, catch_in_plugin, &numbers[i], NULL, NULL);
    return coil_group_exit(&group, 0);
}

static int use_other(const char *name)
{
    void *object = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (object == NULL || coil_run(sleep_often, NULL, NULL) < 0)
        return -1;
    dlclose(object);
    return coil_run(sleep_often, NULL, NULL);
}

int main(int argc, char **argv)
{
    plugin = argv[1];
    if (dlsym(RTLD_DEFAULT, "__cxa_get_globals") != NULL)
        puts("C++ is there before it is opened: this shows nothing");
    if ((argc > 2 && use_other(argv[2]) < 0) || coil_run(app, NULL, NULL) < 0)
        return 1;
    puts(failures == 0 ? "ok" : "wrong exceptions");
    return failures != 0;
}
