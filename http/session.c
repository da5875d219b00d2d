/*
 * session.c - libcurl's multi interface on coil's loop.
 *
 *     task                       loop                        libcurl
 *     coil__http_start --------- add_handle ---------------> "wake me in 0 ms"
 *       parked                   on_timer  ----------------> socket_action
 *         :                      add_reader/add_writer <---- "watch this socket"
 *         :                      on_readable --------------> socket_action
 *         :      <-- wake ------ headers, body  <----------- callbacks of response.c
 *         :      <-- wake ------ finish_transfers <--------- "that one is done"
 *     coil__http_stop ---------- remove_handle
 *
 * libcurl never blocks and never waits: it says which sockets to watch and when to be
 * called at the latest, and reports what has ended. All of that happens in callbacks of
 * the loop; tasks only start transfers, wait, and take them away.
 *
 * Invariants
 *   1. libcurl has a transfer exactly while it is in `running`.
 *   2. socket_action is called from the loop alone, never from within a callback of
 *      libcurl's, which it forbids. For the same reason a failure that is noticed within
 *      one is only noted, and the transfer taken away by its task.
 *   3. A watched socket exists from the first CURL_POLL_IN or _OUT to CURL_POLL_REMOVE,
 *      which libcurl sends before it closes the descriptor.
 *   4. The memory outlives every response: a destroyed session has no multi handle any
 *      more, and whoever is about to start a transfer sees that.
 *
 * No signal is ever touched (CURLOPT_NOSIGNAL); libcurl sends with MSG_NOSIGNAL.
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

/* Left to the rest of the program when there are few: files, the loop, look-ups. */
#define SPARE_DESCRIPTORS 32

/* A socket that libcurl wants watched. */
struct watched {
    coil_http_session *session;
    curl_socket_t fd;
    bool reading, writing;
};

/* ---- from the loop into libcurl ---------------------------------------------------- */

void coil__http_wake(coil_http_response *response)
{
    if (response->waiter != NULL)
        coil_unpark(response->waiter, 0);
}

void coil__http_fail(coil_http_response *response, int rc)
{
    if (response->failure == 0)
        response->failure = rc;
    response->done = true;
    coil__http_wake(response);
}

static void fail_all(coil_http_session *session, int rc)
{
    coil_http_response *response;

    LIST_FOREACH(response, &session->running, link)
    coil__http_fail(response, rc);
}

static coil_http_response *response_of(CURL *easy)
{
    char *response = NULL;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &response);
    return (coil_http_response *)response;
}

static void finish_transfers(coil_http_session *session)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(session->multi, &left)) != NULL) {
        coil_http_response *response = response_of(message->easy_handle);
        if (message->msg != CURLMSG_DONE)
            continue;
        response->code = message->data.result;
        response->done = true;
        coil__http_stop(response);
        coil__http_wake(response);
    }
}

static void act(coil_http_session *session, curl_socket_t fd, int events)
{
    int running;
    CURLMcode code = curl_multi_socket_action(session->multi, fd, events, &running);

    finish_transfers(session);
    if (code != CURLM_OK)
        fail_all(session, code == CURLM_OUT_OF_MEMORY ? -ENOMEM : -EIO);
}

static void on_readable(void *arg)
{
    struct watched *watched = arg; /* may be gone when act() returns */

    act(watched->session, watched->fd, CURL_CSELECT_IN);
}

static void on_writable(void *arg)
{
    struct watched *watched = arg;

    act(watched->session, watched->fd, CURL_CSELECT_OUT);
}

static void drop_timer(coil_http_session *session)
{
    if (session->timer != NULL)
        coil_handle_cancel(session->timer);
    coil_handle_release(session->timer);
    session->timer = NULL;
}

static void on_timer(void *arg)
{
    coil_http_session *session = arg;

    drop_timer(session);
    act(session, CURL_SOCKET_TIMEOUT, 0);
}

/* ---- what libcurl asks of the loop ------------------------------------------------- */

/*
 * CURLMOPT_TIMERFUNCTION. One timer a session; the latest request counts. Returning -1
 * would make the multi handle unusable for good, so a timer that cannot be had fails the
 * requests under way instead.
 */
static int on_timer_wanted(CURLM *multi, long timeout_ms, void *arg)
{
    coil_http_session *session = arg;
    int rc = 0;

    (void)multi;
    drop_timer(session);
    if (timeout_ms >= 0)
        rc = coil_call_later(COIL_MSEC(timeout_ms), on_timer, session, &session->timer);
    if (rc < 0)
        fail_all(session, rc);
    return 0;
}

static int watch(struct watched *watched, int what)
{
    bool reading = what == CURL_POLL_IN || what == CURL_POLL_INOUT;
    bool writing = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
    int rc = 0;

    if (reading && !watched->reading)
        rc = coil_add_reader(watched->fd, on_readable, watched);
    else if (!reading && watched->reading)
        coil_remove_reader(watched->fd);
    watched->reading = reading && rc == 0;
    if (writing && !watched->writing && rc == 0)
        rc = coil_add_writer(watched->fd, on_writable, watched);
    else if (!writing && watched->writing)
        coil_remove_writer(watched->fd);
    watched->writing = writing && rc == 0;
    return rc;
}

static struct watched *create_watched(coil_http_session *session, curl_socket_t fd)
{
    struct watched *watched = calloc(1, sizeof *watched);

    if (watched == NULL)
        return NULL;
    watched->session = session;
    watched->fd = fd;
    curl_multi_assign(session->multi, fd, watched);
    return watched;
}

/*
 * CURLMOPT_SOCKETFUNCTION. A socket that was watched before may carry many transfers of
 * HTTP/2, none of which would ever hear of it again.
 */
static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *arg,
                            void *socket_arg)
{
    coil_http_session *session = arg;
    struct watched *watched = socket_arg;
    bool is_new = watched == NULL;
    int rc;

    if (what == CURL_POLL_REMOVE) {
        if (watched != NULL)
            watch(watched, CURL_POLL_NONE);
        free(watched);
        return 0;
    }
    if (is_new)
        watched = create_watched(session, fd);
    rc = watched != NULL ? watch(watched, what) : -ENOMEM;
    if (rc < 0 && is_new && response_of(easy) != NULL)
        coil__http_fail(response_of(easy), rc);
    else if (rc < 0)
        fail_all(session, rc);
    return 0;
}

/* CURLOPT_OPENSOCKETFUNCTION. `arg` is the response that needs a connection. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    coil_http_response *response = arg;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    address->protocol);

    (void)purpose;
    if (fd < 0)
        response->socket_errno = errno;
    return fd >= 0 ? fd : CURL_SOCKET_BAD;
}

/* CURLOPT_CLOSESOCKETFUNCTION. Should libcurl not have said so before, nobody watches. */
static int close_socket(void *arg, curl_socket_t fd)
{
    (void)arg;
    coil_remove_reader(fd);
    coil_remove_writer(fd);
    return close(fd);
}

void coil__http_session_apply(coil_http_response *response)
{
    curl_easy_setopt(response->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(response->easy, CURLOPT_OPENSOCKETDATA, response);
    curl_easy_setopt(response->easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
}

/* ---- transfers --------------------------------------------------------------------- */

int coil__http_start(coil_http_response *response)
{
    coil_http_session *session = response->session;

    if (session->multi == NULL)
        return -ESHUTDOWN;
    response->running = true;
    LIST_INSERT_HEAD(&session->running, response, link);
    if (curl_multi_add_handle(session->multi, response->easy) == CURLM_OK)
        return 0;
    LIST_REMOVE(response, link);
    response->running = false;
    return -ENOMEM;
}

void coil__http_stop(coil_http_response *response)
{
    if (!response->running)
        return;
    response->running = false;
    LIST_REMOVE(response, link);
    curl_multi_remove_handle(response->session->multi, response->easy);
}

/* ---- sessions ---------------------------------------------------------------------- */

/*
 * No more connections than there are descriptors for: libcurl makes requests wait for a
 * connection, but takes a socket that it cannot have for a server that does not answer.
 */
static long connection_limit(unsigned wanted)
{
    struct rlimit files;
    long limit = 1000000;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < (rlim_t)limit)
        limit = (long)files.rlim_cur;
    if (strcmp(coil_backend_name(), "select") == 0 && limit > FD_SETSIZE)
        limit = FD_SETSIZE;
    limit -= limit > 2 * SPARE_DESCRIPTORS ? SPARE_DESCRIPTORS : limit / 2;
    if (limit < 1)
        limit = 1;
    return wanted > 0 && wanted < limit ? (long)wanted : limit;
}

/* Copy a string that may be NULL; false for want of memory. */
static bool copy(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

static bool copy_opts(coil_http_session *session, const coil_http_session_opts *opts)
{
    char agent[32] = "coil/";
    const char *wanted = opts->user_agent;

    strncat(agent, coil_version(), sizeof agent - strlen(agent) - 1);
    return copy(&session->user_agent, wanted != NULL ? wanted : agent) &&
           copy(&session->proxy, opts->proxy) && copy(&session->ca_file, opts->ca_file);
}

static void set_up_multi(coil_http_session *session, long connections)
{
    CURLM *multi = session->multi;

    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, session);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, session);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections);
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections);
}

int coil_http_session_create(const coil_http_session_opts *opts, coil_http_session **out)
{
    static const coil_http_session_opts defaults;
    coil_http_session *session = calloc(1, sizeof *session);

    if (opts == NULL)
        opts = &defaults;
    if (session == NULL)
        return -ENOMEM;
    session->holders = 1;
    LIST_INIT(&session->running);
    coil__http_names_init(&session->names);
    session->multi = curl_multi_init();
    if (session->multi == NULL || !copy_opts(session, opts)) {
        coil_http_session_destroy(session);
        return -ENOMEM;
    }
    set_up_multi(session, connection_limit(opts->max_connections));
    *out = session;
    return 0;
}

void coil_http_session_destroy(coil_http_session *session)
{
    if (session == NULL)
        return;
    while (!LIST_EMPTY(&session->running)) {
        coil_http_response *response = LIST_FIRST(&session->running);
        coil__http_stop(response);
        coil__http_fail(response, -ESHUTDOWN);
    }
    curl_multi_cleanup(session->multi);
    session->multi = NULL;
    drop_timer(session);
    coil__http_session_drop(session);
}

void coil__http_session_hold(coil_http_session *session)
{
    session->holders++;
}

void coil__http_session_drop(coil_http_session *session)
{
    if (--session->holders > 0)
        return;
    coil__http_names_finish(&session->names);
    free(session->user_agent);
    free(session->proxy);
    free(session->ca_file);
    free(session);
}
