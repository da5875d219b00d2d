/*
 * proc.c - figures of this process from /proc.
 */
#include "harness.h"

long test_proc_kib(const char *path, const char *key)
{
    FILE *file = fopen(path, "r");
    size_t n = strlen(key);
    char line[256];
    long kib = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, n) == 0)
            sscanf(line + n, ": %ld", &kib);
    if (file != NULL)
        fclose(file);
    return kib;
}

long test_mapping_count(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    long count = 0;
    int c;

    while (file != NULL && (c = getc(file)) != EOF)
        count += c == '\n';
    if (file != NULL)
        fclose(file);
    return count;
}
