/*
 * watched.c - watch libcurl's descriptors in coil's loop.
 *
 * Between two requests on a connection, libcurl stops watching the descriptor, and soon
 * watches it again. In the meantime coil leaves the descriptor registered with the loop
 * as a reader, which saves two system calls per request. If an idle connection becomes
 * readable, usually because the peer closed it, coil removes the reader, whose callback
 * would otherwise run in every turn of the loop. libcurl detects the event when it next
 * uses the connection.
 *
 * The table has an entry for each descriptor. The entry of a connection exists until
 * libcurl closes the descriptor through coil's callback (CURLOPT_CLOSESOCKETFUNCTION).
 * libcurl closes other descriptors itself, such as those of its own lookups, but before
 * that it stops watching them, which frees their entries. libcurl 7.88 also closes the
 * socket of an unfinished connection itself, and then stops watching it; this entry is
 * freed when the next socket with the same number is opened. Therefore no closed
 * descriptor stays registered, and no new descriptor gets an old entry.
 */
#include "watched.h"

#include <coil/loop.h>

#include <stdlib.h>
#include <string.h>

struct http_socket {
    struct http_sockets *sockets;
    curl_socket_t fd;
    int wanted;            /* events for which libcurl waits: CURL_CSELECT_IN, _OUT */
    bool reading, writing; /* registered with the loop */
    bool is_connection;    /* libcurl closes the descriptor through coil's callback */
    int64_t last_event;
};

void coil__http_sockets_init(struct http_sockets *sockets, http_socket_event on_event,
                             void *arg)
{
    *sockets = (struct http_sockets){.on_event = on_event, .arg = arg};
}

void coil__http_sockets_finish(struct http_sockets *sockets)
{
    for (size_t i = 0; i < sockets->capacity; i++)
        coil__http_socket_forget(sockets, (curl_socket_t)i);
    free(sockets->by_fd);
    *sockets = (struct http_sockets){.by_fd = NULL};
}

/* ---- the table --------------------------------------------------------------------- */

static struct http_socket *find_socket(const struct http_sockets *sockets,
                                       curl_socket_t fd)
{
    return (size_t)fd < sockets->capacity ? sockets->by_fd[fd] : NULL;
}

static bool make_room(struct http_sockets *sockets, size_t count)
{
    size_t capacity = sockets->capacity > 0 ? sockets->capacity : 64;
    struct http_socket **longer;

    if (count <= sockets->capacity)
        return true;
    while (capacity < count)
        capacity *= 2;
    longer = realloc(sockets->by_fd, capacity * sizeof *longer);
    if (longer == NULL)
        return false;
    memset(longer + sockets->capacity, 0,
           (capacity - sockets->capacity) * sizeof *longer);
    sockets->by_fd = longer;
    sockets->capacity = capacity;
    return true;
}

static struct http_socket *create(struct http_sockets *sockets, curl_socket_t fd)
{
    struct http_socket *entry;

    if (!make_room(sockets, (size_t)fd + 1))
        return NULL;
    entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    *entry = (struct http_socket){.sockets = sockets, .fd = fd, .last_event = INT64_MIN};
    return sockets->by_fd[fd] = entry;
}

/* ---- events ------------------------------------------------------------------------ */

/* Pass an event to libcurl. libcurl may close the descriptor, which frees the entry. */
static void pass_on(struct http_socket *entry, int event)
{
    entry->last_event = coil_now();
    entry->sockets->on_event(entry->sockets->arg, entry->fd, event);
}

static void on_readable(void *arg)
{
    struct http_socket *entry = arg;

    if ((entry->wanted & CURL_CSELECT_IN) != 0) {
        pass_on(entry, CURL_CSELECT_IN);
        return;
    }
    coil_remove_reader(entry->fd);
    entry->reading = false;
}

static void on_writable(void *arg)
{
    pass_on(arg, CURL_CSELECT_OUT);
}

/* ---- registering ------------------------------------------------------------------- */

static int start_reading(struct http_socket *entry)
{
    int rc;

    if (entry->reading)
        return 0;
    rc = coil_add_reader(entry->fd, on_readable, entry);
    entry->reading = rc == 0;
    return rc;
}

static int set_writing(struct http_socket *entry, bool writing)
{
    int rc = 0;

    if (writing && !entry->writing)
        rc = coil_add_writer(entry->fd, on_writable, entry);
    else if (!writing && entry->writing)
        coil_remove_writer(entry->fd);
    entry->writing = writing && rc == 0;
    return rc;
}

static int wanted_by(int what)
{
    switch (what) {
    case CURL_POLL_IN:
        return CURL_CSELECT_IN;
    case CURL_POLL_OUT:
        return CURL_CSELECT_OUT;
    case CURL_POLL_INOUT:
        return CURL_CSELECT_IN | CURL_CSELECT_OUT;
    default:
        return 0;
    }
}

int coil__http_socket_opened(struct http_sockets *sockets, curl_socket_t fd)
{
    struct http_socket *entry;

    coil__http_socket_forget(sockets, fd);
    entry = create(sockets, fd);
    if (entry == NULL)
        return -ENOMEM;
    entry->is_connection = true;
    return 0;
}

int coil__http_socket_want(struct http_sockets *sockets, curl_socket_t fd, int what)
{
    struct http_socket *entry = find_socket(sockets, fd);
    int wanted = wanted_by(what), in = 0, out;

    if (wanted == 0 && (entry == NULL || !entry->is_connection)) {
        coil__http_socket_forget(sockets, fd);
        return 0;
    }
    if (entry == NULL)
        entry = create(sockets, fd);
    if (entry == NULL)
        return -ENOMEM;
    entry->wanted = wanted;
    if ((wanted & CURL_CSELECT_IN) != 0)
        in = start_reading(entry);
    out = set_writing(entry, (wanted & CURL_CSELECT_OUT) != 0);
    return in < 0 ? in : out;
}

bool coil__http_socket_wanted(const struct http_sockets *sockets, curl_socket_t fd)
{
    const struct http_socket *entry = find_socket(sockets, fd);

    return entry != NULL && entry->wanted != 0;
}

int64_t coil__http_socket_last_event(const struct http_sockets *sockets, curl_socket_t fd)
{
    const struct http_socket *entry = find_socket(sockets, fd);

    return entry != NULL ? entry->last_event : INT64_MIN;
}

void coil__http_socket_forget(struct http_sockets *sockets, curl_socket_t fd)
{
    struct http_socket *entry = find_socket(sockets, fd);

    if (entry == NULL)
        return;
    if (entry->reading)
        coil_remove_reader(fd);
    set_writing(entry, false);
    sockets->by_fd[fd] = NULL;
    free(entry);
}
