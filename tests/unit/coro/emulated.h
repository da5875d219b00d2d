/*
 * emulated.h - detects qemu-user, whose own memory and signals disturb some tests.
 */
#ifndef COIL_TESTS_CORO_EMULATED_H
#define COIL_TESTS_CORO_EMULATED_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool emulated(void)
{
    char line[64] = "";
    FILE *file = fopen("/proc/self/status", "r");

    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    return strstr(line, "qemu") != NULL;
}

#endif
