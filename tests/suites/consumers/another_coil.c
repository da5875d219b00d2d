/*
 * another_coil.c - imitates a libcoil-testing that does not match this libcoil. With an
 * argument, its version differs; without one, its structs differ.
 */
#include <coil.h>

#include <stddef.h>

struct build {
    unsigned version[3];
    size_t sizes[5];
};

const void *coil__testing_register(const struct build *build, const void *hooks);

int main(int argc, char **argv)
{
    struct build build = {
        .version = {COIL_VERSION_MAJOR, COIL_VERSION_MINOR, COIL_VERSION_PATCH}};

    (void)argv;
    if (argc > 1)
        build.version[1] = 99;
    return coil__testing_register(&build, NULL) != NULL;
}
