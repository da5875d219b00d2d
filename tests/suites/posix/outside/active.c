/*
 * active.c - prints the results of coil_posix_active() in a program, and in a library
 * that it opens with and without RTLD_DEEPBIND. With RTLD_DEEPBIND the result is false.
 * Compiled with PLUGIN, this file is the library.
 */
#define _GNU_SOURCE
#include <coil/posix.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int plugin_is_active(void);

#ifdef PLUGIN
int plugin_is_active(void)
{
    return coil_posix_active();
}
#else
static int ask_plugin(const char *path, int flags)
{
    void *plugin = dlopen(path, RTLD_NOW | flags);
    int (*ask)(void);
    int answer;

    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&ask = dlsym(plugin, "plugin_is_active");
    answer = ask();
    dlclose(plugin);
    return answer;
}

int main(int argc, char *argv[])
{
    int program = coil_posix_active() && (coil_posix_active)();

    if (argc < 2)
        return 1;
    printf("program %d, plugin %d, ", program, ask_plugin(argv[1], 0));
    printf("bound deeply %d\n", ask_plugin(argv[1], RTLD_DEEPBIND));
    return 0;
}
#endif
