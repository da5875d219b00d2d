/*
 * image.h - the memory of a process or of a core file.
 */
#ifndef COIL_PS_IMAGE_H
#define COIL_PS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of the image, and the memory to which it is copied. */
struct piece {
    uint64_t address;
    void *to;
    size_t bytes;
};

#define PIECES_MAX 8

/* The registers of a thread, numbered as in DWARF. */
#define REGISTERS_MAX 33

struct registers {
    uint64_t words[REGISTERS_MAX];
    unsigned count;
    uint64_t sp, pc;
};

struct user_regs_struct;
void registers_set(struct registers *registers, const struct user_regs_struct *from);

/*
 * The limits for reading the tasks of an image once. A damaged image may contain endless
 * lists. So the number of steps is limited to what a process of this size can need, and
 * reading stops at a deadline.
 */
struct budget {
    uint64_t steps;     /* remaining steps: one per access, or per 64 bytes */
    int64_t deadline;   /* a time of CLOCK_MONOTONIC, in ns */
    unsigned countdown; /* steps until the clock is read again */
    bool is_over;
    const char *cut; /* why reading ended early, or NULL */
};

struct frozen;

/* A part of a file that is mapped into the image. */
struct mapping {
    uint64_t begin, end, offset;
    uint64_t start; /* address of the file's first byte */
    const char *path;
    int fd; /* -1 if it cannot be opened, -2 if it was not opened yet */
};

struct image {
    /* Copy up to PIECES_MAX pieces, in order. Returns true if all bytes were read. */
    bool (*read)(struct image *image, const struct piece *pieces, size_t count);
    /* Copy many pieces, and set `bytes` of unreadable ones to 0. May be NULL. */
    void (*read_many)(struct image *image, struct piece *pieces, size_t count);
    /*
     * Return a pointer that stays valid while the image is open, or NULL if the bytes
     * must be copied. The member may be NULL.
     */
    void *(*borrow)(struct image *image, uint64_t address, size_t bytes);
    /* Read the registers of a stopped thread. NULL if registers are not available. */
    bool (*registers)(struct image *image, int thread, struct registers *out);
    void (*close)(struct image *image); /* or NULL */
    /*
     * Open the file of the module that begins at this address, if its build-id matches.
     * Returns -1 if there is no such file. NULL for the image of a process.
     */
    int (*open_module)(struct image *image, uint64_t start);
    struct mapping *mappings; /* a core's mappings, sorted by address */
    size_t mapping_count;
    const char *damage;          /* why parts of the image may be missing, or NULL */
    const struct frozen *frozen; /* the stopped threads */
    size_t frozen_count;
    bool is_constant; /* true if the image cannot change: a core, or a stopped process */
    uint64_t bytes;   /* size of the memory; determines the budget */
    struct budget budget;
    /*
     * The addresses at which the first page of a file is mapped. A module may begin
     * there.
     */
    uint64_t *starts;
    size_t start_count;
};

/* Begin to read, with a new budget and a deadline after `limit_ns`. */
void image_begin(struct image *image, int64_t limit_ns);

/* End reading early, and store `why` as the reason in the budget. */
void image_end(struct image *image, const char *why);

/* Set a new budget without a deadline, for processing the data that was read. */
void image_grant(struct image *image, uint64_t steps);

/* Take steps from the budget. Returns false if the budget is exhausted. */
bool image_spend(struct image *image, uint64_t steps);

/* Copy pieces. Returns true if all bytes were read within the budget. */
bool image_read_pieces(struct image *image, const struct piece *pieces, size_t count);

/* Copy one piece. */
bool image_read(struct image *image, uint64_t address, void *to, size_t bytes);

/*
 * Return a pointer to the bytes that stays valid while the image is open, or NULL if the
 * caller must use image_read().
 */
void *image_borrow(struct image *image, uint64_t address, size_t bytes);

/* Add to `starts`. Returns false if memory ran out. */
bool image_add_start(struct image *image, uint64_t start);

/*
 * Copy a string with its terminating NUL, truncated to `size` bytes. Bytes that are not
 * printable ASCII are replaced with '?'. Returns false if the string cannot be read.
 */
bool image_read_text(struct image *image, uint64_t address, char *text, size_t size);

/* Return the value of e_machine in ELF files for this machine. */
unsigned short image_machine(void);

/*
 * Open the memory of a process. On failure, returns NULL with a message in `why`, which
 * names the missing permission.
 */
struct image *image_of_process(int pid, char *why, size_t size);

/* Return the size of a process's memory in bytes, in RAM and in swap space. */
uint64_t process_memory_bytes(int pid);

/*
 * Open a core file. `program` is the file of the program that dumped the core; NULL means
 * the file that the core names. On failure, returns NULL with a message in `why`.
 */
struct image *image_of_core(const char *path, const char *program, char *why,
                            size_t size);

void image_close(struct image *image);

/* Make an array larger if `count` has reached `*room`. Returns false if memory ran out. */
bool array_grow(void *array, size_t *room, size_t count, size_t bytes);

#endif
