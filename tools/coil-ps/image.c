/*
 * image.c - reading an image: the parts that processes and cores have in common.
 */
#include "image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

/* The bytes up to the next multiple of this are readable if the first one is. */
#define PAGE 4096u

bool image_read(struct image *image, uint64_t address, void *to, size_t bytes)
{
    return image->read(image, &(struct piece){address, to, bytes}, 1);
}

bool image_add_start(struct image *image, uint64_t start)
{
    uint64_t *starts;

    if ((image->start_count & (image->start_count - 1)) == 0) { /* 0 or a power of two */
        starts =
            realloc(image->starts, (image->start_count > 0 ? image->start_count * 2 : 1) *
                                       sizeof *starts);
        if (starts == NULL)
            return false;
        image->starts = starts;
    }
    image->starts[image->start_count++] = start;
    return true;
}

void registers_set(struct registers *registers, const struct user_regs_struct *from)
{
#if defined __x86_64__
    *registers = (struct registers){
        .words = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi,
                  from->rbp, from->rsp, from->r8, from->r9, from->r10, from->r11,
                  from->r12, from->r13, from->r14, from->r15, from->rip},
        .count = 17,
        .sp = from->rsp,
        .pc = from->rip};
#elif defined __aarch64__
    *registers = (struct registers){.count = 32, .sp = from->sp, .pc = from->pc};
    memcpy(registers->words, from->regs, sizeof from->regs);
    registers->words[31] = from->sp;
#endif
}

void image_close(struct image *image)
{
    if (image == NULL)
        return;
    if (image->close != NULL)
        image->close(image);
    free(image->starts);
    free(image);
}

static bool is_plain(char c)
{
    return c >= ' ' && c <= '~';
}

bool image_read_text(struct image *image, uint64_t address, char *text, size_t size)
{
    size_t length = 0, room = size - 1;

    while (length < room) {
        size_t n = PAGE - (size_t)((address + length) % PAGE);

        n = n < room - length ? n : room - length;
        if (!image_read(image, address + length, text + length, n))
            return false;
        if (memchr(text + length, '\0', n) != NULL)
            break;
        length += n;
    }
    text[room] = '\0';
    for (char *c = text; *c != '\0'; c++)
        if (!is_plain(*c))
            *c = '?';
    return true;
}
