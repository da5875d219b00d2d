/*
 * file_line.c - reads files line by line.
 *
 *      offset          position                         offset + count
 *        | returned       | a line \n, another \n, a par |
 *
 * A large piece is read ahead with pread(2), which does not change the file's position.
 * Returning a line from that piece needs no backend operation, only one memchr(3) and two
 * calls to lseek(2), which does not block. The kernel's position is always right after
 * the last line that was returned. So coil_file_read_line() can be mixed with all other
 * calls on the file, in this process and in others that share the open file. The bytes
 * that were read ahead are discarded if the position is no longer among them, or if a
 * call on this coil_file has changed the file.
 *
 * There is no separate reader object, because it would have a second position, which
 * users would have to keep in mind.
 */
#include "file.h"

#include "../base/base.h"
#include "../task/budget.h"

#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)64 * 1024)

/*
 * Drop the bytes before `position`, and append more bytes from the file. Returns the
 * number of bytes appended, which is 0 at the end of the file.
 */
static ssize_t fill(coil_file *file, struct coil__ahead *a, int64_t position)
{
    size_t done = (size_t)(position - a->offset), size = a->size;
    ssize_t result;

    if (done > 0)
        memmove(a->bytes, a->bytes + done, a->count - done);
    a->count -= done;
    a->offset = position;
    if (a->count == size) {
        char *bytes = coil__realloc(a->bytes, size > 0 ? size * 2 : PIECE);

        if (bytes == NULL)
            return coil__failed(-ENOMEM);
        a->bytes = bytes;
        a->size = size > 0 ? size * 2 : PIECE;
    }
    result =
        coil__file_step(file, &(struct coil__op){.kind = COIL__OP_PREAD,
                                                 .buf = a->bytes + a->count,
                                                 .len = a->size - a->count,
                                                 .offset = position + (int64_t)a->count});
    if (result > 0)
        a->count += (size_t)result;
    return result;
}

/*
 * Return the length of the line at `position`, including its '\n'. Fails with -EMSGSIZE
 * if the line has more than `most` bytes, and with -ENODATA if the file ends before a
 * '\n'.
 */
static ssize_t find_end(coil_file *file, struct coil__ahead *a, int64_t position,
                        size_t most)
{
    size_t searched = 0;

    if (a->seen != a->changes || position < a->offset ||
        position > a->offset + (int64_t)a->count) {
        a->count = 0;
        a->offset = position;
    }
    /* stored before the read, so that a change during the read makes the bytes stale */
    a->seen = a->changes;
    for (;;) {
        size_t begin = (size_t)(position - a->offset), there = a->count - begin;
        const char *line = a->bytes + begin, *found = NULL;
        ssize_t result;

        if (there > most)
            there = most;
        if (there > searched)
            found = memchr(line + searched, '\n', there - searched);
        if (found != NULL)
            return found - line + 1;
        if (there == most)
            return coil__failed(-EMSGSIZE);
        searched = there;
        result = fill(file, a, position);
        if (result <= 0)
            return result < 0 ? result : coil__failed(-ENODATA);
    }
}

static ssize_t take_line(coil_file *file, struct coil__ahead *a, char *line, size_t size,
                         size_t *taken)
{
    int64_t position = lseek(coil_file_fd(file), 0, SEEK_CUR);
    ssize_t end;

    if (position < 0)
        return coil__failed(-errno);
    end = find_end(file, a, position, size);
    if (end < 0 && end != -ENODATA)
        return end;
    *taken = end > 0 ? (size_t)end : (size_t)(a->offset + (int64_t)a->count - position);
    if (*taken > 0)
        memcpy(line, a->bytes + (position - a->offset), *taken);
    if (lseek(coil_file_fd(file), position + (int64_t)*taken, SEEK_SET) < 0) {
        *taken = 0;
        return coil__failed(-errno);
    }
    if (end > 0)
        end--; /* the '\0' replaces the '\n' */
    line[end >= 0 ? (size_t)end : *taken] = '\0';
    return end;
}

ssize_t coil_file_read_line(coil_file *file, char *line, size_t size)
{
    COIL__REQUIRE(file, "a file");
    COIL__REQUIRE_IF(size > 0, line, "a buffer");
    struct coil__ahead *ahead;
    size_t taken = 0;
    ssize_t result;

    if (size == 0)
        return coil__failed(-EINVAL);
    result = coil__task_spend("coil_file_read_line");
    if (result == 0)
        result = coil__file_enter_position(file, &ahead, "coil_file_read_line");
    if (result < 0)
        return result;
    result = take_line(file, ahead, line, size, &taken);
    coil__file_leave_position(file, taken);
    return result;
}
