/*
 * notices.c - receives the kernel's notices of changes to files. (inotify(7))
 */
#include "../notices.h"

#include "../../base/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#define EVENTS                                                                           \
    (IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE | IN_MOVE |          \
     IN_DELETE_SELF | IN_MOVE_SELF)

_Static_assert(sizeof(struct inotify_event) + 256 <= COIL__NOTICES_BYTES,
               "the kernel returns whole events");

int coil__notices_open(void)
{
    return COIL__CALL(EMFILE, inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
}

int coil__notices_add(int fd, const char *path, bool inside)
{
    uint32_t mask = EVENTS | (inside ? IN_ONLYDIR | IN_DONT_FOLLOW : 0);

    return COIL__CALL(ENOSPC, inotify_add_watch(fd, path, mask));
}

int coil__notices_remove(int fd, int watch)
{
    return inotify_rm_watch(fd, watch);
}

static enum coil__notice_kind kind_of(uint32_t mask)
{
    static const struct {
        uint32_t mask;
        enum coil__notice_kind kind;
    } kinds[] = {
        {IN_Q_OVERFLOW, COIL__NOTICE_OVERFLOW},
        {IN_IGNORED, COIL__NOTICE_IGNORED},
        {IN_CREATE, COIL__NOTICE_CREATED},
        {IN_MODIFY | IN_CLOSE_WRITE, COIL__NOTICE_MODIFIED},
        {IN_ATTRIB, COIL__NOTICE_ATTRIBUTES},
        {IN_DELETE, COIL__NOTICE_DELETED},
        {IN_MOVED_FROM, COIL__NOTICE_MOVED_FROM},
        {IN_MOVED_TO, COIL__NOTICE_MOVED_TO},
        {IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT, COIL__NOTICE_GONE},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (mask & kinds[i].mask)
            return kinds[i].kind;
    return COIL__NOTICE_OTHER;
}

void coil__notices_take(const char *buf, size_t *position, struct coil__notice *out)
{
    struct inotify_event event;

    memcpy(&event, buf + *position, sizeof event);
    *out = (struct coil__notice){.watch = event.wd,
                                 .kind = kind_of(event.mask),
                                 .is_directory = (event.mask & IN_ISDIR) != 0,
                                 .cookie = event.cookie,
                                 .name = ""};
    if (event.len > 0)
        out->name = buf + *position + sizeof event;
    *position += sizeof event + event.len;
}
