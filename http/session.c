/*
 * session.c - libcurl's multi interface on coil's loop.
 *
 *     task                       loop                        libcurl
 *     coil__http_start --------- add_handle ---------------> "wake me in 0 ms"
 *       parked                   on_timer  ----------------> socket_action
 *         :                      add_reader/add_writer <---- "watch this socket"
 *         :                      on_socket_event ----------> socket_action
 *         :      <-- wake ------ headers, body  <----------- callbacks of response.c
 *         :      <-- wake ------ finish_transfers <--------- "that one is done"
 *     coil__http_stop ---------- remove_handle
 *
 * libcurl never blocks: it tells the loop which sockets to watch and when to call libcurl
 * again, and reports which transfers have ended. libcurl runs only in callbacks of the
 * loop. Tasks only start, await and remove transfers.
 *
 * Invariants
 *   1. A transfer is in `running` if and only if libcurl has it.
 *   2. Only the loop calls socket_action, because libcurl's callbacks must not call it.
 *      For the same reason, a callback that fails only records the failure, and the task
 *      removes the transfer later.
 *   3. No socket is watched after libcurl has closed it (watched.c).
 *   4. The session's memory outlives every response. Destroying a session destroys the
 *      multi handle, and coil__http_start() then fails with -ESHUTDOWN.
 *
 * libcurl changes no signal handlers, because CURLOPT_NOSIGNAL is set, and it sends with
 * MSG_NOSIGNAL.
 */
#include "session.h"

#include "body.h"
#include "coding.h"
#include "easy.h"
#include "idle.h"

#include <coil/error.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

/* number of descriptors reserved for files, the loop, name lookups, and other code */
#define SPARE_DESCRIPTORS 32

/* ---- calls from the loop into libcurl ---------------------------------------------- */

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

void coil__http_fail_all(coil_http_session *session, int rc)
{
    coil_http_response *response;

    LIST_FOREACH(response, &session->running, link)
    coil__http_fail(response, rc);
}

/*
 * Return the response that uses a handle, or NULL for libcurl's own handle, with which it
 * closes connections.
 */
static coil_http_response *response_of(CURL *easy)
{
    char *handle = NULL;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &handle);
    return handle != NULL ? ((struct http_easy *)(void *)handle)->response : NULL;
}

/*
 * Finish the transfers that have ended. `error` is the value of errno after libcurl's
 * call.
 */
static void finish_transfers(coil_http_session *session, int error)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(session->multi, &left)) != NULL) {
        coil_http_response *response = response_of(message->easy_handle);
        if (message->msg != CURLMSG_DONE)
            continue;
        response->code = message->data.result;
        response->no_memory = error == ENOMEM;
        response->done = true;
        coil__http_stop(response);
        coil__http_wake(response);
    }
}

static void run_socket_action(coil_http_session *session, curl_socket_t fd, int events)
{
    int running, error;
    CURLMcode code;

    session->inside = true;
    errno = 0;
    code = curl_multi_socket_action(session->multi, fd, events, &running);
    error = errno;
    session->inside = false;
    finish_transfers(session, error);
    if (code != CURLM_OK)
        coil__http_fail_all(session, code == CURLM_OUT_OF_MEMORY ? -ENOMEM : -EIO);
}

static void on_socket_event(void *arg, curl_socket_t fd, int event)
{
    run_socket_action(arg, fd, event);
}

static void on_timer(void *arg)
{
    run_socket_action(arg, CURL_SOCKET_TIMEOUT, 0);
}

/* ---- requests of libcurl to the loop ----------------------------------------------- */

/*
 * CURLMOPT_TIMERFUNCTION. Set the session's timer to the time that libcurl requests. If
 * the timer cannot be set, all running requests fail. Returning -1 instead would make the
 * multi handle unusable.
 */
static int on_timer_wanted(CURLM *multi, long timeout_ms, void *arg)
{
    coil_http_session *session = arg;
    int rc = 0;

    (void)multi;
    if (timeout_ms < 0)
        coil_timer_stop(&session->timer);
    else
        rc = coil_timer_start(&session->timer, coil_in(COIL_MSEC(timeout_ms)));
    if (rc < 0)
        coil__http_fail_all(session, rc);
    return 0;
}

/*
 * CURLMOPT_SOCKETFUNCTION. If a new socket cannot be watched, its request fails. If a
 * known socket can no longer be watched, all requests fail, because any requests that
 * share the socket (HTTP/2) would otherwise wait forever.
 */
static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *arg,
                            void *socket_arg)
{
    coil_http_session *session = arg;
    coil_http_response *response = response_of(easy);
    bool is_new = !coil__http_socket_wanted(&session->sockets, fd);
    int rc = coil__http_socket_want(&session->sockets, fd, what);

    (void)socket_arg;
    if (response != NULL)
        response->fd = fd;
    if (rc < 0 && is_new && response != NULL)
        coil__http_fail(response, rc);
    else if (rc < 0)
        coil__http_fail_all(session, rc);
    return 0;
}

/* Record that libcurl has begun the transfer, which counts as progress. */
static void begin(coil_http_response *response)
{
    if (!response->begun)
        coil__http_idle_note(response);
    response->begun = true;
}

/* CURLOPT_OPENSOCKETFUNCTION. `arg` is the handle that needs a connection. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    coil_http_response *response = ((struct http_easy *)arg)->response;
    const coil_http_session *session = response->session;
    int fd;

    (void)purpose;
    begin(response);
    if (session->allows_address != NULL &&
        !session->allows_address(&address->addr, session->allows_address_arg)) {
        if (!response->had_socket) /* otherwise report the error of the allowed socket */
            response->socket_errno = EACCES;
        return CURL_SOCKET_BAD;
    }
    fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                address->protocol);
    if (fd >= 0 && coil__http_socket_opened(&response->session->sockets, fd) < 0) {
        close(fd);
        fd = -1;
        errno = ENOMEM;
    }
    if (fd < 0)
        response->socket_errno = errno;
    else if (response->socket_errno == EACCES)
        response->socket_errno = 0;
    response->had_socket = response->had_socket || fd >= 0;
    return fd >= 0 ? fd : CURL_SOCKET_BAD;
}

/* CURLOPT_CLOSESOCKETFUNCTION. */
static int close_socket(void *arg, curl_socket_t fd)
{
    coil_http_session *session = arg;

    coil__http_socket_forget(&session->sockets, fd);
    return close(fd);
}

/* CURLOPT_PREREQFUNCTION. Called when a request is about to be sent. */
static int on_connection(void *arg, char *remote, char *local, int remote_port,
                         int local_port)
{
    coil_http_response *response = ((struct http_easy *)arg)->response;

    (void)remote, (void)local, (void)remote_port, (void)local_port;
    begin(response);
    return CURL_PREREQFUNC_OK;
}

void coil__http_session_apply(const coil_http_session *session, struct http_easy *handle)
{
    CURL *easy = handle->easy;

    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, handle);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, session);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connection);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, handle);
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

/* ---- fork(2) ----------------------------------------------------------------------- */

/*
 * The number of forks between the first process and this one. Comparing process IDs
 * instead would cost a system call, getpid(2), for each request.
 */
static unsigned forks;

static void count_fork(void)
{
    forks++;
}

static void prepare_for_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

/* ---- sessions ---------------------------------------------------------------------- */

/*
 * Return the maximum number of connections: `wanted`, unless that is 0 or more than the
 * process's limit of descriptors allows; otherwise the number that this limit allows.
 * Once this number is reached, requests wait for a connection. Without a maximum,
 * socket(2) would fail, and libcurl would report that the server does not answer.
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

/* Copy a string that may be NULL. Returns false if memory runs out. */
static bool copy(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

/* Return the value of the first variable that is set and not empty, or NULL. */
static const char *from_environment(const char *const names[])
{
    for (; *names != NULL; names++) {
        const char *value = secure_getenv(*names);
        if (value != NULL && *value != '\0')
            return value;
    }
    return NULL;
}

/*
 * Copy the options for certificates. Environment variables may replace the system's
 * certificates, as in OpenSSL (SSL_CTX_set_default_verify_paths(3)). libcurl itself
 * ignores these variables.
 */
static bool copy_trust(coil_http_session *session, const coil_http_session_opts *opts)
{
    session->insecure = opts->insecure;
    session->allows_address = opts->allows_address;
    session->allows_address_arg = opts->allows_address_arg;
    if (opts->ca_file != NULL)
        return copy(&session->ca_file, opts->ca_file);
    session->system_ca_folder = true;
    return copy(&session->ca_file,
                from_environment((const char *[]){"SSL_CERT_FILE", NULL})) &&
           copy(&session->ca_folder,
                from_environment((const char *[]){"SSL_CERT_DIR", NULL}));
}

/*
 * HTTP_PROXY in upper case is not used, because in a CGI script it may come from a
 * request header.
 */
const char *coil_http_proxy_of_environment(const char *scheme)
{
    static const char *const for_http[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
    static const char *const for_https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy",
                                            "ALL_PROXY", NULL};

    return from_environment(strcmp(scheme, "https") == 0 ? for_https : for_http);
}

static bool copy_proxy(struct http_proxy *to, const char *proxy, const char *scheme)
{
    if (proxy == NULL)
        proxy = coil_http_proxy_of_environment(scheme);
    return copy(&to->url, proxy != NULL ? proxy : "");
}

static bool add_default_header(coil_http_session *session, const char *header)
{
    struct curl_slist *longer = curl_slist_append(session->headers, header);

    if (longer == NULL)
        return false;
    session->headers = longer;
    return true;
}

/* Make the list of default headers. Returns false if memory runs out. */
static bool make_headers(coil_http_session *session, const char *user_agent)
{
    const char *product = user_agent != NULL ? "" : "coil/";
    char codings[64], *agent;
    bool made;

    if (user_agent == NULL)
        user_agent = coil_version();
    if (asprintf(&agent, "User-Agent: %s%s", product, user_agent) < 0)
        return false;
    coil__http_print_accept_encoding(codings, sizeof codings);
    made = add_default_header(session, agent) && add_default_header(session, codings);
    free(agent);
    return made;
}

static bool copy_opts(coil_http_session *session, const coil_http_session_opts *opts)
{
    return make_headers(session, opts->user_agent) &&
           copy_proxy(&session->http_proxy, opts->proxy, "http") &&
           copy_proxy(&session->https_proxy, opts->proxy, "https") &&
           copy_trust(session, opts);
}

static bool share_cookies(coil_http_session *session)
{
    session->cookies = curl_share_init();
    return session->cookies != NULL &&
           curl_share_setopt(session->cookies, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE) ==
               CURLSHE_OK;
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
    COIL__HTTP_REQUIRE(out, "an output pointer");
    static const coil_http_session_opts defaults;
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;
    coil_http_session *session = calloc(1, sizeof *session);

    *out = NULL;
    if (opts == NULL)
        opts = &defaults;
    if (session == NULL)
        return coil_fail(-ENOMEM, "no memory for an HTTP session");
    session->holders = 1;
    pthread_once(&prepared, prepare_for_forks);
    session->forks = forks;
    LIST_INIT(&session->running);
    coil__http_names_init(&session->names);
    coil__http_sockets_init(&session->sockets, on_socket_event, session);
    coil_timer_init(&session->timer, on_timer, session);
    coil__http_idle_init(session);
    session->multi = curl_multi_init();
    if (session->multi == NULL || !copy_opts(session, opts) ||
        (opts->cookies && !share_cookies(session))) {
        coil_http_session_destroy(session);
        return coil_fail(-ENOMEM, "no memory for an HTTP session");
    }
    set_up_multi(session, connection_limit(opts->max_connections));
    *out = session;
    return 0;
}

/* True in a child of fork(2), where libcurl would close connections of the parent. */
bool coil__http_is_parents(const coil_http_session *session)
{
    return session->forks != forks;
}

void coil__http_gone(const char *caller)
{
    fprintf(stderr, "coil: %s: the object was destroyed before\n", caller);
    abort();
}

void coil__http_misuse_null(const char *function, const char *argument)
{
    fprintf(stderr, "coil: %s() was called with %s that is NULL\n", function, argument);
    abort();
}

void coil__http_check_outside(const coil_http_session *session, const char *caller)
{
    if (!session->inside)
        return;
    fprintf(stderr, "coil: %s: called inside an on_body or allows_address callback\n",
            caller);
    abort();
}

void coil_http_session_destroy(coil_http_session *session)
{
    if (session == NULL)
        return;
    if (session->destroyed)
        coil__http_gone("coil_http_session_destroy");
    if (coil__http_is_parents(session))
        return;
    coil__http_check_outside(session, "coil_http_session_destroy");
    session->destroyed = true;
    while (!LIST_EMPTY(&session->running)) {
        coil_http_response *response = LIST_FIRST(&session->running);
        coil__http_stop(response);
        coil__http_fail(response, -ESHUTDOWN);
    }
    coil__http_easies_finish(session);
    coil__http_buffers_finish(session);
    curl_multi_cleanup(session->multi);
    session->multi = NULL;
    coil__http_sockets_finish(&session->sockets);
    coil_timer_stop(&session->timer);
    coil__http_idle_finish(session);
    coil__http_session_drop(session);
}

void coil__http_session_hold(coil_http_session *session)
{
    session->holders++;
}

static void free_proxy(struct http_proxy *proxy)
{
    coil__http_target_finish(&proxy->target);
    free(proxy->url);
}

void coil__http_session_drop(coil_http_session *session)
{
    if (--session->holders > 0)
        return;
    coil__http_names_finish(&session->names);
    curl_slist_free_all(session->headers);
    free_proxy(&session->http_proxy);
    free_proxy(&session->https_proxy);
    free(session->ca_file);
    free(session->ca_folder);
    if (session->cookies != NULL)
        curl_share_cleanup(session->cookies);
    free(session);
}
