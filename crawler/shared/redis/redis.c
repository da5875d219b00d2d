/*
 * redis.c - see redis.h
 *
 *     redis_command() -> unsent -> write_commands() -> sent -> read_replies() -> caller
 *                                                    |
 *                                                    '-> failed, if the connection breaks
 *
 * Invariants
 *   1. A call is in `unsent` or in `sent` until it is done. Replies arrive in the order
 *      of `sent`.
 *   2. The waiting task frees its call. If the task stops waiting for a call that was sent,
 *      the call is marked `is_abandoned`, and is freed when it is removed from `sent`.
 *   3. After redis_open(), only redis_serve() and its writer task use the link.
 *
 * Start reading at redis_command() and redis_serve().
 */
#include "redis.h"

#include "redis_greeting.h"
#include "redis_link.h"

#include <coil/event.h>
#include <coil/group.h>
#include <coil/scope.h>
#include <coil/task.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WRITE_BYTES ((size_t)256 * 1024) /* approximate number of bytes per write */
#define FIRST_PAUSE_NS COIL_MSEC(50)
#define LONGEST_PAUSE_NS COIL_SEC(2)

struct redis_call {
    char *bytes; /* the encoded command; NULL once it is sent */
    size_t n;
    struct redis_call *next;
    coil_event done;
    redisReply *reply;
    int rc;
    bool is_abandoned;
};

struct redis_calls {
    struct redis_call *first, **end;
};

struct redis {
    struct redis_link link;
    struct redis_greeting greeting;
    int64_t timeout_ns;
    void (*notify)(const char *message);
    struct redis_calls unsent, sent;
    coil_event has_unsent;
    struct text out; /* commands that are being written */
    unsigned restarts;
    int failure; /* the error that ended redis_serve() */
};

const char *redis_message(const struct redis *redis)
{
    return redis->link.message;
}

unsigned redis_restarts(const struct redis *redis)
{
    return redis->restarts;
}

bool redis_may_pass(int rc)
{
    static const int passing[] = {-ECONNRESET, -ETIMEDOUT,    -EPIPE,      -ECONNABORTED,
                                  -EBUSY,      -EHOSTUNREACH, -ENETUNREACH};

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (rc == passing[i])
            return true;
    return false;
}

/* ---- calls ------------------------------------------------------------------------- */

static void calls_init(struct redis_calls *calls)
{
    calls->first = NULL;
    calls->end = &calls->first;
}

static void calls_add(struct redis_calls *calls, struct redis_call *call)
{
    call->next = NULL;
    *calls->end = call;
    calls->end = &call->next;
}

static struct redis_call *calls_take(struct redis_calls *calls)
{
    struct redis_call *call = calls->first;

    if (call == NULL)
        return NULL;
    calls->first = call->next;
    if (calls->first == NULL)
        calls->end = &calls->first;
    return call;
}

/* Remove a call from a list. Returns true if the list contained it. */
static bool calls_remove(struct redis_calls *calls, const struct redis_call *call)
{
    struct redis_call **at = &calls->first;

    while (*at != NULL && *at != call)
        at = &(*at)->next;
    if (*at == NULL)
        return false;
    *at = call->next;
    if (*at == NULL)
        calls->end = at;
    return true;
}

static struct redis_call *create_call(const struct redis_words *words)
{
    struct redis_call *call = calloc(1, sizeof *call);
    int n = call != NULL ? redis_words_format(words, &call->bytes) : -ENOMEM;

    if (n < 0) {
        free(call);
        return NULL;
    }
    call->n = (size_t)n;
    coil_event_init(&call->done);
    return call;
}

static void destroy_call(struct redis_call *call)
{
    if (call->bytes != NULL)
        redisFreeCommand(call->bytes);
    if (call->reply != NULL)
        freeReplyObject(call->reply);
    coil_event_finish(&call->done);
    free(call);
}

/* Pass the result to the waiting task. If the task no longer waits, free the call. */
static void finish_call(struct redis_call *call, int rc, redisReply *reply)
{
    call->rc = rc;
    call->reply = reply;
    if (call->is_abandoned)
        destroy_call(call);
    else
        coil_event_set(&call->done);
}

static void fail_calls(struct redis_calls *calls, int rc)
{
    struct redis_call *call;

    while ((call = calls_take(calls)) != NULL)
        finish_call(call, rc, NULL);
}

/* ---- a command --------------------------------------------------------------------- */

/*
 * Stop waiting for a call, because of the error `rc`, which is returned. After a timeout,
 * also break the connection, because the replies to later calls would be late too. Do not
 * do this if the call was not sent because there was no connection.
 */
static int abandon_call(struct redis *redis, struct redis_call *call, int rc)
{
    bool was_unsent = calls_remove(&redis->unsent, call);

    if (was_unsent)
        destroy_call(call);
    else
        call->is_abandoned = true;
    if (rc == -ETIMEDOUT && (!was_unsent || redis->link.stream != NULL))
        redis_link_break(&redis->link);
    return rc;
}

static int take_reply(struct redis *redis, struct redis_call *call, redisReply **reply)
{
    int rc = call->rc;

    if (rc == 0 && call->reply->type == REDIS_REPLY_ERROR)
        rc = redis_link_refused(&redis->link, call->reply);
    if (rc == 0) {
        *reply = call->reply;
        call->reply = NULL;
    }
    destroy_call(call);
    return rc;
}

static int await_call(struct redis *redis, struct redis_call *call, redisReply **reply)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(redis->timeout_ns));

    if (rc == 0)
        rc = coil_scope_exit(&scope, coil_event_wait(&call->done));
    if (!coil_event_is_set(&call->done))
        return abandon_call(redis, call, rc);
    if (rc != -ECANCELED)
        return take_reply(redis, call, reply);
    destroy_call(call);
    return rc;
}

static int send_call(struct redis *redis, const struct redis_words *words,
                     struct redis_call **out)
{
    if (redis->failure < 0)
        return redis->failure;
    *out = create_call(words);
    if (*out == NULL)
        return -ENOMEM;
    calls_add(&redis->unsent, *out);
    coil_event_set(&redis->has_unsent);
    return 0;
}

int redis_command(struct redis *redis, const struct redis_words *words,
                  redisReply **reply)
{
    struct redis_call *call;
    int rc = send_call(redis, words, &call);

    *reply = NULL;
    return rc < 0 ? rc : await_call(redis, call, reply);
}

static int run_command(struct redis *redis, const char *command, const char *script,
                       const char *key, const struct redis_words *arguments,
                       redisReply **reply)
{
    struct redis_words words = {.count = 0};
    int rc;

    redis_words_add(&words, command);
    redis_words_add(&words, script);
    redis_words_add(&words, "1");
    redis_words_add(&words, key);
    redis_words_append(&words, arguments, 0, arguments->count);
    rc = redis_command(redis, &words, reply);
    redis_words_finish(&words);
    return rc;
}

/*
 * Run the script by its hash. EVALSHA fails with -ENOEXEC if Redis has lost the script,
 * for example because of SCRIPT FLUSH. In that case, EVAL sends the script again.
 */
int redis_run(struct redis *redis, size_t script, const char *key,
              const struct redis_words *arguments, redisReply **reply)
{
    const struct redis_greeting *greeting = &redis->greeting;
    int rc = run_command(redis, "EVALSHA", greeting->shas[script], key, arguments, reply);

    if (rc == -ENOEXEC)
        rc = run_command(redis, "EVAL", greeting->scripts[script].text, key, arguments,
                         reply);
    return rc;
}

/*
 * Finish a call that was sent before another call, which has ended with `rc`. Returns
 * this call's error if it has one and the task was not cancelled, or else rc. Replies
 * arrive in order, so the call has no reply only if the task has stopped waiting for the
 * other call. If that was a time-out, abandon_call() has already closed the connection.
 */
static int finish_earlier_call(struct redis *redis, struct redis_call *call, int rc)
{
    redisReply *reply = NULL;
    int earlier;

    if (!coil_event_is_set(&call->done)) {
        abandon_call(redis, call, rc == -ETIMEDOUT ? -ECANCELED : rc);
        return rc;
    }
    if (rc == -ECANCELED) {
        destroy_call(call);
        return rc;
    }
    earlier = take_reply(redis, call, &reply);
    if (earlier < 0)
        return earlier;
    freeReplyObject(reply);
    return rc;
}

int redis_run_after(struct redis *redis, const struct redis_words *command, size_t script,
                    const char *key, const struct redis_words *arguments,
                    redisReply **reply)
{
    struct redis_call *call;
    int rc = send_call(redis, command, &call), earlier;

    *reply = NULL;
    if (rc < 0)
        return rc;
    rc = redis_run(redis, script, key, arguments, reply);
    earlier = finish_earlier_call(redis, call, rc);
    return rc < 0 ? earlier : 0;
}

/* ---- a connection ------------------------------------------------------------------ */

/* Read replies until the connection breaks. Returns a negative errno. */
static int read_replies(struct redis *redis)
{
    redisReply *reply;
    int rc;

    while ((rc = redis_link_read(&redis->link, &reply)) == 0) {
        struct redis_call *call = calls_take(&redis->sent);

        if (call == NULL) {
            freeReplyObject(reply);
            return redis_link_fail(&redis->link, -EPROTO, "a reply without a command");
        }
        finish_call(call, 0, reply);
    }
    return rc;
}

/*
 * Move commands from `unsent` to `sent`, and append their bytes to redis->out. The
 * commands are moved before they are written, because a reply may arrive before
 * redis_link_write() returns.
 */
static int gather_commands(struct redis *redis)
{
    redis->out.n = 0;
    while (redis->out.n < WRITE_BYTES && redis->unsent.first != NULL) {
        struct redis_call *call = calls_take(&redis->unsent);

        text_add(&redis->out, call->bytes, call->n);
        redisFreeCommand(call->bytes);
        call->bytes = NULL;
        calls_add(&redis->sent, call);
    }
    return redis->out.failed ? -ENOMEM : 0;
}

static int write_commands(void *arg)
{
    struct redis *redis = arg;
    int rc = 0;

    while (rc == 0) {
        rc = coil_event_wait(&redis->has_unsent);
        if (rc < 0)
            break;
        coil_event_clear(&redis->has_unsent);
        while (rc == 0 && redis->unsent.first != NULL) {
            rc = gather_commands(redis);
            if (rc == 0)
                rc = redis_link_write(&redis->link, redis->out.at, redis->out.n);
        }
    }
    return rc;
}

/* Serve a connection until it breaks. Returns a negative errno. */
static int serve_link(struct redis *redis)
{
    coil_spawn_opts opts = {.name = "redis writer"};
    coil_group group;
    int rc;

    /* some commands may already be waiting */
    coil_event_set(&redis->has_unsent);
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, write_commands, redis, &opts, NULL);
    if (rc == 0)
        rc = read_replies(redis);
    return coil_group_exit(&group, rc);
}

/* ---- reconnecting ------------------------------------------------------------------ */

static int open_and_greet(struct redis *redis)
{
    char run_id[REDIS_RUN_ID_BYTES];
    int rc = redis_link_open(&redis->link);

    memcpy(run_id, redis->greeting.run_id, sizeof run_id);
    if (rc == 0)
        rc = redis_greet(&redis->link, &redis->greeting);
    redis->restarts += run_id[0] != '\0' && strcmp(run_id, redis->greeting.run_id) != 0;
    return rc;
}

int redis_open(struct redis *redis)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(redis->timeout_ns));

    if (rc < 0)
        return rc;
    rc = coil_scope_exit(&scope, open_and_greet(redis));
    if (rc == -ETIMEDOUT && coil_scope_expired(&scope))
        redis_link_fail(&redis->link, rc, "no answer in time");
    if (rc < 0)
        redis_link_close(&redis->link);
    return rc;
}

/* True if reconnecting cannot fix the error. */
static bool is_final(int rc)
{
    return rc == -ECANCELED || rc == -ENOMEM || rc == -EACCES || rc == -EINVAL ||
           rc == -EPROTO;
}

/*
 * Return the error of the calls in progress after the connection failed with `rc`. Unless
 * the error is final, this is -ECONNRESET, after which calls can be repeated on the next
 * connection.
 */
static int failure_after(int rc)
{
    if (rc == -ECANCELED)
        return -ESHUTDOWN;
    return is_final(rc) ? rc : -ECONNRESET;
}

static void notify(const struct redis *redis, const char *message)
{
    if (redis->notify != NULL)
        redis->notify(message);
}

/*
 * Try to connect until this succeeds or fails with a final error. Returns 0 or this
 * error. The first failure is reported, and *has_notified is set.
 */
static int try_to_open(struct redis *redis, bool *has_notified)
{
    int64_t pause_ns = FIRST_PAUSE_NS;
    int rc;

    while ((rc = redis_open(redis)) < 0 && !is_final(rc)) {
        if (!*has_notified)
            notify(redis, redis->link.message);
        *has_notified = true;
        rc = coil_sleep(pause_ns);
        if (rc < 0)
            return rc;
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
    }
    return rc;
}

static int open_again(struct redis *redis)
{
    bool has_notified = false;
    int rc = try_to_open(redis, &has_notified);

    if (rc < 0)
        return rc;
    if (has_notified)
        notify(redis, NULL);
    /* drop the message about the lost connection */
    redis->link.message[0] = '\0';
    return 0;
}

int redis_serve(void *arg)
{
    struct redis *redis = arg;
    int rc = 0;

    while (!is_final(rc)) {
        rc = redis->link.stream != NULL ? 0 : open_again(redis);
        if (rc < 0)
            break;
        rc = serve_link(redis);
        redis_link_close(&redis->link);
        fail_calls(&redis->sent, failure_after(rc));
    }
    redis->failure = failure_after(rc);
    fail_calls(&redis->unsent, redis->failure);
    return rc;
}

/* ---- life cycle -------------------------------------------------------------------- */

static int create_tls(struct redis_link *link, const struct redis_options *options)
{
    coil_tls_opts opts = {.ca_file = options->ca_file, .no_verify = options->insecure};
    int rc = link->address.is_tls ? coil_tls_create(&opts, &link->tls) : 0;

    if (rc < 0)
        link->tls = NULL;
    return rc;
}

static int init_redis(struct redis *redis, const struct redis_options *options)
{
    int rc;

    redis->timeout_ns = options->timeout_ns;
    redis->notify = options->tell;
    redis->greeting.scripts = options->scripts;
    redis->greeting.script_count = options->script_count;
    calls_init(&redis->unsent);
    calls_init(&redis->sent);
    coil_event_init(&redis->has_unsent);
    redis->greeting.shas =
        calloc(options->script_count + 1, sizeof *redis->greeting.shas);
    if (redis->greeting.shas == NULL)
        return -ENOMEM;
    rc = redis_address_parse(options->url, &redis->link.address);
    return rc == 0 ? create_tls(&redis->link, options) : rc;
}

int redis_create(const struct redis_options *options, struct redis **out)
{
    struct redis *redis = calloc(1, sizeof *redis);
    int rc = redis != NULL ? init_redis(redis, options) : -ENOMEM;

    *out = redis;
    if (rc < 0) {
        redis_destroy(redis);
        *out = NULL;
    }
    return rc;
}

/* Also free abandoned calls, which may still be in `sent`. */
void redis_destroy(struct redis *redis)
{
    if (redis == NULL)
        return;
    redis_link_close(&redis->link);
    fail_calls(&redis->sent, -ESHUTDOWN);
    coil_event_finish(&redis->has_unsent);
    coil_tls_release(redis->link.tls);
    redis_address_finish(&redis->link.address);
    text_finish(&redis->out);
    free(redis->greeting.shas);
    free(redis);
}
