/*
 * proc.c - allocates large buffers for tests, and reads numbers about this process from
 * /proc.
 */
#include "harness.h"

#include <sys/mman.h>

void *test_memory(size_t n)
{
    void *memory =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

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
