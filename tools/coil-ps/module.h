/*
 * module.h - reads notes of ELF modules, in an image and in files.
 */
#ifndef COIL_PS_MODULE_H
#define COIL_PS_MODULE_H

#include "image.h"

#define MODULE_NOTE_MAX 64

/* a note, without its name */
struct module_note {
    uint64_t address; /* address in the image, or offset in the file */
    unsigned char bytes[MODULE_NOTE_MAX];
    size_t size;
};

/*
 * Find a note by its name and type in the module that begins at this address. Returns
 * false if the note is missing, or longer than MODULE_NOTE_MAX bytes.
 */
bool module_find_note(struct image *image, uint64_t start, const char *name,
                      uint32_t type, struct module_note *note);

/* Find the build-id of the module that begins at this address. */
bool module_find_id(struct image *image, uint64_t start, struct module_note *note);

/*
 * Open a regular file for reading. File names in an image are not trusted, and opening
 * another kind of file may block or have side effects. On failure, returns -1 with errno
 * set; EINVAL means that the file is not a regular file.
 */
int module_open(const char *path);

/*
 * Open a regular file that has this build-id. If `id` is NULL, any build-id matches.
 * Returns -1 if the file does not match.
 */
int module_open_with_id(const char *path, const struct module_note *id);

#endif
