/*
 * another_coil.c - registers with libcoil as an incompatible libcoil-testing would. With
 * an argument, the version differs; without one, the sizes of the structs differ.
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
