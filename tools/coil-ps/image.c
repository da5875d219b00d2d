/*
 * image.c - reads an image. Images of processes and of cores share this code.
 */
#include "image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>
#include <time.h>

/* Memory is readable or unreadable in units of this size. */
#define PAGE 4096u

/*
 * The budget grows with the image. A task takes a thousand bytes or more of the image,
 * and is read at most 16 times, in about 40 steps each. STEPS_MIN is for small images in
 * which many tasks await the same futures.
 */
#define STEPS_MIN (UINT64_C(1) << 23)
#define STEPS_PER_BYTE(bytes) ((bytes) / 2)
#define STEP_BYTES 64
#define STEPS_PER_LOOK 64

static int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void image_begin(struct image *image, int64_t limit_ns)
{
    int64_t now = clock_ns();

    image->budget = (struct budget){
        .steps = STEPS_MIN + STEPS_PER_BYTE(image->bytes),
        .deadline = limit_ns < INT64_MAX - now ? now + limit_ns : INT64_MAX};
}

static bool end_read(struct budget *b, const char *why)
{
    b->is_over = true;
    if (b->cut == NULL)
        b->cut = why;
    return false;
}

bool image_spend(struct image *image, uint64_t steps)
{
    struct budget *b = &image->budget;

    if (b->is_over)
        return false;
    if (b->steps < steps)
        return end_read(b, "the lists are longer than its memory can hold");
    b->steps -= steps;
    if (b->countdown > steps) {
        b->countdown -= (unsigned)steps;
        return true;
    }
    b->countdown = STEPS_PER_LOOK;
    return clock_ns() < b->deadline || end_read(b, "the read took too long");
}

void image_end(struct image *image, const char *why)
{
    end_read(&image->budget, why);
}

void image_grant(struct image *image, uint64_t steps)
{
    image->budget.steps = steps;
    image->budget.deadline = INT64_MAX;
    image->budget.is_over = false;
}

bool image_read_pieces(struct image *image, const struct piece *pieces, size_t count)
{
    uint64_t steps = count;

    for (size_t i = 0; i < count; i++)
        steps += pieces[i].bytes / STEP_BYTES;
    return image_spend(image, steps) && image->read(image, pieces, count);
}

bool image_read(struct image *image, uint64_t address, void *to, size_t bytes)
{
    return image_read_pieces(image, &(struct piece){address, to, bytes}, 1);
}

void *image_borrow(struct image *image, uint64_t address, size_t bytes)
{
    if (image->borrow == NULL || !image_spend(image, 1 + bytes / STEP_BYTES))
        return NULL;
    return image->borrow(image, address, bytes);
}

bool image_add_start(struct image *image, uint64_t start)
{
    uint64_t *starts;

    if ((image->start_count & (image->start_count - 1)) == 0) { /* the array is full */
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

unsigned short image_machine(void)
{
#if defined __x86_64__
    return EM_X86_64;
#elif defined __aarch64__
    return EM_AARCH64;
#else
    return EM_NONE;
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

bool array_grow(void *array, size_t *room, size_t count, size_t bytes)
{
    size_t wanted = *room == 0 ? 64 : *room * 2;
    void *larger;

    if (count < *room)
        return true;
    larger = realloc(*(void **)array, wanted * bytes);
    if (larger == NULL)
        return false;
    *(void **)array = larger;
    *room = wanted;
    return true;
}
