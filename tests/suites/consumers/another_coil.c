/*
 * another_coil.c - imitates a libcoil-testing that does not match this libcoil. With an
 * argument, its version differs; without one, its structs differ.
 */
#include <coil.h>

#include <stddef.h>

struct border {
    unsigned version[3];
    size_t sizes[5];
};

const void *coil__testing_register(const struct border *border, const void *hooks);

int main(int argc, char **argv)
{
    struct border border = {
        .version = {COIL_VERSION_MAJOR, COIL_VERSION_MINOR, COIL_VERSION_PATCH}};

    (void)argv;
    if (argc > 1)
        border.version[1] = 99;
    return coil__testing_register(&border, NULL) != NULL;
}
