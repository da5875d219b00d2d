/*
 * module.c - reads notes of ELF modules, in an image and in files.
 *
 * In an image, a module begins with its ELF header, at the address where the first page
 * of its file is mapped. The program headers contain the addresses of the notes.
 */
#include "module.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS_MAX 64
#define NOTES_MAX ((size_t)4096) /* maximum size of a segment of notes */

struct wanted {
    const char *name;
    uint32_t type;
};

static size_t padded(size_t n)
{
    return (n + 3) / 4 * 4;
}

/*
 * Find the wanted note in a segment of notes. Returns false if the segment does not
 * contain it.
 */
static bool search(const char *notes, size_t bytes, const struct wanted *wanted,
                   struct module_note *found)
{
    size_t at = 0, name_size = strlen(wanted->name) + 1;

    while (at + sizeof(Elf64_Nhdr) <= bytes) {
        Elf64_Nhdr note;
        size_t name, data;

        memcpy(&note, notes + at, sizeof note);
        name = at + sizeof note;
        if (note.n_namesz > bytes || note.n_descsz > bytes)
            return false;
        data = name + padded(note.n_namesz);
        at = data + padded(note.n_descsz);
        if (note.n_namesz == name_size && note.n_type == wanted->type &&
            data + note.n_descsz <= bytes && note.n_descsz <= sizeof found->bytes &&
            memcmp(notes + name, wanted->name, name_size) == 0) {
            found->address = data;
            found->size = note.n_descsz;
            memcpy(found->bytes, notes + data, note.n_descsz);
            return true;
        }
    }
    return false;
}

static bool search_segment(struct image *image, uint64_t segment, uint64_t bytes,
                           const struct wanted *wanted, struct module_note *found)
{
    char notes[NOTES_MAX];

    if (bytes > sizeof notes || !image_read(image, segment, notes, (size_t)bytes) ||
        !search(notes, (size_t)bytes, wanted, found))
        return false;
    found->address += segment;
    return true;
}

/*
 * Read a module's program headers. Returns the number of headers, or 0 if this is not a
 * module.
 */
static size_t read_headers(struct image *image, uint64_t start,
                           Elf64_Phdr headers[SEGMENTS_MAX])
{
    Elf64_Ehdr head;

    if (!image_read(image, start, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_phentsize != sizeof *headers || head.e_phnum > SEGMENTS_MAX ||
        !image_read(image, start + head.e_phoff, headers, head.e_phnum * sizeof *headers))
        return 0;
    return head.e_phnum;
}

bool module_find_note(struct image *image, uint64_t start, const char *name,
                      uint32_t type, struct module_note *note)
{
    const struct wanted wanted = {name, type};
    Elf64_Phdr headers[SEGMENTS_MAX];
    size_t n = read_headers(image, start, headers);
    const Elf64_Phdr *first = NULL;

    for (size_t i = 0; i < n && first == NULL; i++)
        if (headers[i].p_type == PT_LOAD)
            first = &headers[i];
    for (size_t i = 0; i < n && first != NULL; i++)
        if (headers[i].p_type == PT_NOTE &&
            search_segment(
                image, start + headers[i].p_vaddr - (first->p_vaddr - first->p_offset),
                headers[i].p_memsz, &wanted, note))
            return true;
    return false;
}

bool module_find_id(struct image *image, uint64_t start, struct module_note *note)
{
    return module_find_note(image, start, "GNU", NT_GNU_BUILD_ID, note);
}

/* ---- files ------------------------------------------------------------------------- */

/* An image whose contents are those of a file; an address is an offset in the file. */
struct file_image {
    struct image image;
    int fd;
};

static bool read_file(struct image *image, const struct piece *pieces, size_t count)
{
    const struct file_image *file = (const struct file_image *)image;

    for (size_t i = 0; i < count; i++)
        if (pieces[i].address > INT64_MAX ||
            pread(file->fd, pieces[i].to, pieces[i].bytes, (off_t)pieces[i].address) !=
                (ssize_t)pieces[i].bytes)
            return false;
    return true;
}

static bool find_id_of_file(int fd, struct module_note *note)
{
    const struct wanted wanted = {"GNU", NT_GNU_BUILD_ID};
    struct file_image file = {.image = {.read = read_file}, .fd = fd};
    Elf64_Phdr headers[SEGMENTS_MAX];
    size_t n;

    image_begin(&file.image, INT64_MAX);
    n = read_headers(&file.image, 0, headers);
    for (size_t i = 0; i < n; i++)
        if (headers[i].p_type == PT_NOTE &&
            search_segment(&file.image, headers[i].p_offset, headers[i].p_filesz, &wanted,
                           note))
            return true;
    return false;
}

int module_open(const char *path)
{
    struct stat status;
    int fd;

    if (stat(path, &status) < 0)
        return -1;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))) {
        close(fd); /* the file has been replaced since the process mapped it */
        errno = EINVAL;
        return -1;
    }
    return fd;
}

int module_open_with_id(const char *path, const struct module_note *id)
{
    int fd = module_open(path);
    struct module_note other;

    if (fd < 0 || id == NULL ||
        (find_id_of_file(fd, &other) && other.size == id->size &&
         memcmp(other.bytes, id->bytes, id->size) == 0))
        return fd;
    close(fd);
    return -1;
}
