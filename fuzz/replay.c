/*
 * replay.c - runs a target on the named inputs, one after another: replay FILE...
 *
 * This main() replaces libFuzzer's. It prints `N passed, 0 failed`. If a check fails, the
 * program aborts, and the last line of its output names the input.
 */
#include "fuzz.h"

#include <errno.h>

#define INPUT_BYTES_MAX ((size_t)1 << 20)

static int replay(const char *path)
{
    uint8_t *input = malloc(INPUT_BYTES_MAX);
    FILE *file = fopen(path, "rb");
    size_t n;

    if (input == NULL || file == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    n = fread(input, 1, INPUT_BYTES_MAX, file);
    fclose(file);
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(input, n);
    free(input);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;

    for (int i = 1; i < argc; i++)
        failed += replay(argv[i]);
    printf("%d passed, %d failed\n", argc - 1 - failed, failed);
    return failed > 0;
}
