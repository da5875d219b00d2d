/*
 * another_coil.c - registers with libcoil like a libcoil-testing that does not match it:
 * with an argument, its version is different, and without one, its structs are.
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
