/*
 * fetch.c - libcurl's multi interface on coil's loop.
 *
 *     task                       loop                        libcurl
 *     fetch_get ---------------- add_handle ---------------> "wake me in 0 ms"
 *       parked                   on_timer  ----------------> socket_action
 *         :                      add_reader/add_writer <---- "watch this socket"
 *         :                      on_readable --------------> socket_action
 *         :      <-- unpark ---- finish_transfers <--------- "that one is done"
 *       remove_handle
 *
 * libcurl never blocks and never waits: it says which sockets to watch and when to be
 * called at the latest, and reports what has ended. All of that happens in callbacks of
 * the loop. The task only starts its request, parks, and takes it away again, in the same
 * way whether it is done, failed or was cancelled: one road back.
 *
 * Invariants
 *   1. A transfer lies in the frame of its fetch_get(). libcurl knows it from add_handle
 *      to remove_handle, both in that frame.
 *   2. socket_action is called from the loop alone, never from within a callback of
 *      libcurl's, which it forbids.
 *   3. A watched socket exists from the first CURL_POLL_IN or _OUT to CURL_POLL_REMOVE,
 *      which libcurl sends before it closes the descriptor.
 *
 * Where to start reading: fetch_get(), then on_socket_wanted().
 */
#include "fetch.h"

#include "addresses.h"

#include <coil/loop.h>
#include <coil/task.h>

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/select.h>

/* A body that nobody wants is worth reading up to here, to keep the connection. */
#define DRAIN_BYTES (128 * 1024)

/* Left to the rest of the program when there are few: files, the loop, look-ups. */
#define SPARE_DESCRIPTORS 32

struct fetch_session {
    CURLM *multi;
    coil_handle *timer;
    struct curl_slist *addresses; /* "host:port:address,address", for CURLOPT_RESOLVE */
    struct fetch_options options;
    LIST_HEAD(, transfer) transfers; /* under way */
};

/* A socket that libcurl wants watched. */
struct watched {
    fetch_session *session;
    curl_socket_t fd;
    bool reading, writing;
};

struct transfer {
    fetch_session *session;
    LIST_ENTRY(transfer) link; /* fetch_session.transfers */
    coil_task *task;
    const struct fetch_request *request;
    struct fetch_response *response;
    CURL *easy;
    CURLcode code;
    size_t capacity; /* of response->body */
    int64_t drained;
    int failure; /* of ours rather than libcurl's: a negative errno */
    bool decided, wanted, cut_off, done;
};

/* ---- from the loop into libcurl ---------------------------------------------------- */

static void finish(struct transfer *transfer)
{
    transfer->done = true;
    coil_unpark(transfer->task, 0);
}

/* Something on our side failed, such as watching a socket: the transfer will not end. */
static void fail(struct transfer *transfer, int rc)
{
    transfer->failure = rc;
    finish(transfer);
}

static void fail_all(fetch_session *session, int rc)
{
    struct transfer *transfer;

    LIST_FOREACH(transfer, &session->transfers, link)
    fail(transfer, rc);
}

static void finish_transfers(fetch_session *session)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(session->multi, &left)) != NULL) {
        struct transfer *transfer = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        transfer->code = message->data.result;
        finish(transfer);
    }
}

static void act(fetch_session *session, curl_socket_t fd, int events)
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

static void drop_timer(fetch_session *session)
{
    if (session->timer != NULL)
        coil_handle_cancel(session->timer);
    coil_handle_release(session->timer);
    session->timer = NULL;
}

static void on_timer(void *arg)
{
    fetch_session *session = arg;

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
    fetch_session *session = arg;
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

static int find_or_create(fetch_session *session, curl_socket_t fd, struct watched **out)
{
    struct watched *watched = *out;

    if (watched == NULL)
        watched = calloc(1, sizeof *watched);
    if (watched == NULL)
        return -ENOMEM;
    watched->session = session;
    watched->fd = fd;
    curl_multi_assign(session->multi, fd, watched);
    *out = watched;
    return 0;
}

/* CURLMOPT_SOCKETFUNCTION. */
static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *arg,
                            void *socket_arg)
{
    fetch_session *session = arg;
    struct watched *watched = socket_arg;
    struct transfer *transfer = NULL;
    int rc;

    if (what == CURL_POLL_REMOVE) {
        if (watched != NULL)
            watch(watched, CURL_POLL_NONE);
        free(watched);
        return 0;
    }
    rc = find_or_create(session, fd, &watched);
    if (rc == 0)
        rc = watch(watched, what);
    if (rc < 0) {
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
        if (transfer != NULL)
            fail(transfer, rc);
    }
    return 0;
}

/* ---- receiving --------------------------------------------------------------------- */

static void decide(struct transfer *transfer)
{
    const struct fetch_request *request = transfer->request;
    char *content_type = NULL;
    long status = 0;

    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &content_type);
    transfer->wanted =
        request->want_body == NULL || request->want_body((int)status, content_type);
    transfer->decided = true;
}

/* Swallow what nobody wants, as long as that is cheaper than a new connection. */
static bool drain(struct transfer *transfer, size_t n)
{
    curl_off_t announced = -1;

    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    transfer->drained += (int64_t)n;
    transfer->cut_off = announced > DRAIN_BYTES || transfer->drained > DRAIN_BYTES;
    return !transfer->cut_off;
}

static int append(struct transfer *transfer, const char *bytes, size_t n)
{
    struct fetch_response *response = transfer->response;
    size_t limit = transfer->request->body_limit;
    size_t needed = response->body_bytes + n + 1;

    if (limit > 0 && needed - 1 > limit)
        return -EFBIG;
    if (needed > transfer->capacity) {
        size_t capacity = needed > 8192 ? needed + needed / 2 : 8192;
        char *body = realloc(response->body, capacity);
        if (body == NULL)
            return -ENOMEM;
        response->body = body;
        transfer->capacity = capacity;
    }
    memcpy(response->body + response->body_bytes, bytes, n);
    response->body_bytes += n;
    response->body[response->body_bytes] = '\0';
    return 0;
}

/* CURLOPT_WRITEFUNCTION: anything but `n` ends the transfer with CURLE_WRITE_ERROR. */
static size_t on_body(char *bytes, size_t one, size_t n, void *arg)
{
    struct transfer *transfer = arg;

    (void)one;
    if (!transfer->decided)
        decide(transfer);
    if (!transfer->wanted)
        return drain(transfer, n) ? n : 0;
    transfer->failure = append(transfer, bytes, n);
    return transfer->failure == 0 ? n : 0;
}

/* ---- the result -------------------------------------------------------------------- */

static int errno_of_connection(CURL *easy)
{
    long error = 0;

    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &error);
    return error > 0 ? -(int)error : -ECONNREFUSED;
}

static int errno_of(CURLcode code, CURL *easy)
{
    switch (code) {
    case CURLE_OK:
        return 0;
    case CURLE_OUT_OF_MEMORY:
        return -ENOMEM;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return -EINVAL;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return -ENOENT;
    case CURLE_COULDNT_CONNECT:
        return errno_of_connection(easy);
    case CURLE_OPERATION_TIMEDOUT:
        return -ETIMEDOUT;
    case CURLE_PARTIAL_FILE:
        return -ENODATA;
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return -ECONNRESET;
    default:
        return -EPROTO;
    }
}

static char *copy_header(CURL *easy, const char *name, int *rc)
{
    struct curl_header *header;
    char *copy;

    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return NULL;
    copy = strdup(header->value);
    if (copy == NULL)
        *rc = -ENOMEM;
    return copy;
}

static int fill_response(struct transfer *transfer)
{
    struct fetch_response *response = transfer->response;
    CURL *easy = transfer->easy;
    curl_off_t announced = -1, received = 0;
    long status = 0, header_bytes = 0;
    int rc = 0;

    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &header_bytes);
    response->status = (int)status;
    response->size = announced >= 0 ? announced : received;
    response->received_bytes = received + header_bytes;
    response->content_type = copy_header(easy, "Content-Type", &rc);
    response->location = copy_header(easy, "Location", &rc);
    return rc;
}

static const char *sentence(const struct transfer *transfer, int rc)
{
    if (rc == -EFBIG)
        return "the body is longer than the limit";
    if (transfer->failure == 0 && transfer->response->error[0] != '\0')
        return transfer->response->error;
    if (transfer->failure == 0 && transfer->code != CURLE_OK)
        return curl_easy_strerror(transfer->code);
    return strerror(-rc);
}

static int conclude(struct transfer *transfer)
{
    int rc = fill_response(transfer);

    if (rc == 0)
        rc = transfer->failure;
    if (rc == 0 && !transfer->cut_off)
        rc = errno_of(transfer->code, transfer->easy);
    if (rc < 0) {
        char text[FETCH_ERROR_BYTES];
        snprintf(text, sizeof text, "%s", sentence(transfer, rc));
        memcpy(transfer->response->error, text, sizeof text);
    }
    return rc;
}

/* ---- requests ---------------------------------------------------------------------- */

static CURL *create_easy(struct transfer *transfer)
{
    fetch_session *session = transfer->session;
    CURL *easy = curl_easy_init();

    if (easy == NULL)
        return NULL;
    /* Signals and alarms belong to the program, not to one of its requests. */
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* Taking a request back must not wait for a look-up of libcurl's own to end. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, session->options.user_agent);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, session->addresses);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->response->error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    if (curl_easy_setopt(easy, CURLOPT_URL, transfer->request->url) == CURLE_OK)
        return easy;
    curl_easy_cleanup(easy);
    return NULL;
}

/* Start it, wait for its end or for a cancellation, and take it away. */
static int perform(struct transfer *transfer)
{
    fetch_session *session = transfer->session;
    int rc = 0;

    if (curl_multi_add_handle(session->multi, transfer->easy) != CURLM_OK)
        return -ENOMEM;
    while (rc == 0 && !transfer->done)
        rc = coil_park();
    /* Read what there is to know while libcurl still has the connection at hand. */
    if (transfer->done)
        rc = conclude(transfer);
    curl_multi_remove_handle(session->multi, transfer->easy);
    return rc;
}

int fetch_get(fetch_session *session, const struct fetch_request *request,
              struct fetch_response *response)
{
    struct transfer transfer = {.session = session,
                                .task = coil_task_current(),
                                .request = request,
                                .response = response};
    int rc;

    *response = (struct fetch_response){.status = 0};
    transfer.easy = create_easy(&transfer);
    if (transfer.easy == NULL)
        return -ENOMEM;
    LIST_INSERT_HEAD(&session->transfers, &transfer, link);
    rc = perform(&transfer);
    LIST_REMOVE(&transfer, link);
    curl_easy_cleanup(transfer.easy);
    return rc;
}

void fetch_response_finish(struct fetch_response *response)
{
    free(response->content_type);
    free(response->location);
    free(response->body);
    *response = (struct fetch_response){.status = 0};
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

int fetch_session_create(const struct fetch_options *options, fetch_session **out)
{
    fetch_session *session = calloc(1, sizeof *session);
    long connections = connection_limit(options->max_connections);

    if (session == NULL)
        return -ENOMEM;
    session->options = *options;
    session->multi = curl_multi_init();
    if (session->multi == NULL) {
        free(session);
        return -ENOMEM;
    }
    LIST_INIT(&session->transfers);
    curl_multi_setopt(session->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
    curl_multi_setopt(session->multi, CURLMOPT_TIMERDATA, session);
    curl_multi_setopt(session->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    curl_multi_setopt(session->multi, CURLMOPT_SOCKETDATA, session);
    curl_multi_setopt(session->multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections);
    curl_multi_setopt(session->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
    curl_multi_setopt(session->multi, CURLMOPT_MAXCONNECTS, connections);
    *out = session;
    return 0;
}

int fetch_session_resolve(fetch_session *session, const char *url)
{
    return addresses_look_up(url, &session->addresses);
}

void fetch_session_destroy(fetch_session *session)
{
    if (session == NULL)
        return;
    curl_multi_cleanup(session->multi);
    drop_timer(session);
    curl_slist_free_all(session->addresses);
    free(session);
}
