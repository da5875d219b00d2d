/*
 * image.h - the memory of a process or of a core file.
 */
#ifndef COIL_PS_IMAGE_H
#define COIL_PS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the image, and the memory for a copy. */
struct piece {
    uint64_t address;
    void *to;
    size_t bytes;
};

#define PIECES_MAX 8

/* The registers of a thread, in the order of DWARF. */
#define REGISTERS_MAX 33

struct registers {
    uint64_t words[REGISTERS_MAX];
    unsigned count;
    uint64_t sp, pc;
};

struct user_regs_struct;
void registers_set(struct registers *registers, const struct user_regs_struct *from);

struct image {
    /*
     * Copy at most PIECES_MAX pieces, in this order. Returns false unless all bytes could
     * be read.
     */
    bool (*read)(
        struct image *image, const struct piece *pieces,
        size_t count); /* Return the registers of a stopped thread. NULL: unknown. */
    bool (*registers)(struct image *image, int thread, struct registers *out);
    void (*close)(struct image *image); /* or NULL */
    bool stands; /* the image cannot change: a core, or a stopped process */
    /* Where a module may begin: the first bytes of files in memory. */
    uint64_t *starts;
    size_t start_count;
};

/* Copy one piece. */
bool image_read(struct image *image, uint64_t address, void *to, size_t bytes);

/* Add to `starts`. Returns false if memory ran out. */
bool image_add_start(struct image *image, uint64_t start);

/*
 * Copy a text with its null byte, at most `size` bytes. Replaces bytes that are not
 * printable ASCII. Returns false if it cannot be read.
 */
bool image_read_text(struct image *image, uint64_t address, char *text, size_t size);

/*
 * Open the memory of a process. Returns NULL with a message in `why`, which names the
 * missing permission.
 */
struct image *image_of_process(int pid, char *why, size_t size);

/* Open a core file. Returns NULL with a message in `why`. */
struct image *image_of_core(const char *path, char *why, size_t size);

void image_close(struct image *image);

#endif
