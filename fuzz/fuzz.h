/*
 * fuzz.h - macros and functions for fuzz targets.
 *
 * A target is a function that is called with each input, and aborts the program if a
 * check fails. A target is linked with libFuzzer (make fuzz), or with replay.c, which
 * runs the target on the inputs in its corpus (make test T=fuzz).
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* If the condition is false, print it and abort. */
#define CLAIM(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                     \
        }                                                                                \
    } while (0)

/* the bytes of an input that are not consumed yet */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* Return the next byte, or 0 at the end. */
static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

/*
 * Return a NUL-terminated copy of n bytes in a separate allocation, so that ASan detects
 * reads past its end.
 */
static inline char *fuzz_text(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1);

    if (text == NULL)
        abort();
    if (n > 0)
        memcpy(text, data, n);
    text[n] = '\0';
    return text;
}

/* Like fuzz_text(), but without the terminating NUL. */
static inline uint8_t *fuzz_bytes(const uint8_t *data, size_t n)
{
    uint8_t *bytes = malloc(n > 0 ? n : 1);

    if (bytes == NULL)
        abort();
    if (n > 0)
        memcpy(bytes, data, n);
    return bytes;
}

#endif
