/*
 * test_redis.c - crawler/shared/redis/redis.h: tasks share a connection to a simulated
 * server, and to a redis-server if one is installed.
 */
#include "../../../../../crawler/shared/redis/redis.h"
#include "../../../../harness/harness.h"
#include "redis_process.h"

#include <coil.h>

#include <errno.h>
#include <stdio.h>

/* ---- a server ---------------------------------------------------------------------- */

/*
 * A simulated server that answers the greeting and these commands:
 *
 *     ECHO word      replies with the word
 *     REFUSE words   replies with an error
 *     DROP           closes the connection
 *     HANG           never replies, to this or later commands
 *     RUBBISH        sends bytes that are not a reply
 *     EVALSHA        replies with an error: it has forgotten all scripts
 *     EVAL           replies with the key
 */
struct fake {
    coil_listener *listener;
    coil_task *task;
    const char *policy, *version, *password;
    char run; /* letter that is repeated 40 times to form the run id */
    unsigned connections, commands;
};

static int reply_with(coil_stream *stream, const char *format, const char *word)
{
    char bytes[512];
    ssize_t n = snprintf(bytes, sizeof bytes, format, word);

    n = coil_write(stream, bytes, (size_t)n);
    return n < 0 ? (int)n : 0;
}

static int reply_bulk(coil_stream *stream, const char *text)
{
    char bytes[512];
    ssize_t n = snprintf(bytes, sizeof bytes, "$%zu\r\n%s\r\n", strlen(text), text);

    n = coil_write(stream, bytes, (size_t)n);
    return n < 0 ? (int)n : 0;
}

static int reply_info(const struct fake *fake, coil_stream *stream, const char *section)
{
    char text[256], run_id[41] = "";

    memset(run_id, fake->run, 40);
    if (strcmp(section, "server") == 0)
        snprintf(text, sizeof text, "# Server\r\nredis_version:%s\r\nrun_id:%s\r\n",
                 fake->version, run_id);
    else
        snprintf(text, sizeof text, "# Memory\r\nmaxmemory_policy:%s\r\n", fake->policy);
    return reply_bulk(stream, text);
}

static int reply_auth(const struct fake *fake, coil_stream *stream, const char *password)
{
    bool is_right = fake->password != NULL && strcmp(fake->password, password) == 0;

    return reply_with(stream, is_right ? "+OK\r\n" : "-WRONGPASS %s is wrong\r\n",
                      "the password");
}

/* Answer a command. Returns nonzero if the server should close the connection. */
static int answer(struct fake *fake, coil_stream *stream, const redisReply *command)
{
    const char *name = command->element[0]->str;
    const char *word = command->elements > 1 ? command->element[1]->str : "";

    fake->commands++;
    if (strcmp(name, "INFO") == 0)
        return reply_info(fake, stream, word);
    if (strcmp(name, "AUTH") == 0)
        return reply_auth(fake, stream, word);
    if (strcmp(name, "SELECT") == 0)
        return reply_with(stream, "+OK\r\n", NULL);
    if (strcmp(name, "SCRIPT") == 0)
        return reply_bulk(stream, "0123456789012345678901234567890123456789");
    if (strcmp(name, "ECHO") == 0)
        return reply_bulk(stream, word);
    if (strcmp(name, "REFUSE") == 0)
        return reply_with(stream, "-%s\r\n", word);
    if (strcmp(name, "RUBBISH") == 0)
        return reply_with(stream, "?what\r\n", NULL);
    if (strcmp(name, "EVALSHA") == 0)
        return reply_with(stream, "-NOSCRIPT No matching script.\r\n", NULL);
    if (strcmp(name, "EVAL") == 0)
        return reply_bulk(stream, command->element[3]->str);
    if (strcmp(name, "HANG") == 0)
        return coil_sleep(COIL_SEC(3600));
    return -ECONNRESET; /* DROP */
}

static int next_command(coil_stream *stream, redisReader *reader, void **command)
{
    char bytes[256];
    ssize_t n = 1;

    *command = NULL;
    while (redisReaderGetReply(reader, command) == REDIS_OK && *command == NULL &&
           n > 0) {
        n = coil_read(stream, bytes, sizeof bytes);
        if (n > 0)
            redisReaderFeed(reader, bytes, (size_t)n);
    }
    return *command != NULL ? 0 : -ECONNRESET;
}

static void serve_one(struct fake *fake, coil_stream *stream)
{
    redisReader *reader = redisReaderCreate();
    void *command;
    int rc = 0;

    while (rc == 0 && (rc = next_command(stream, reader, &command)) == 0) {
        rc = answer(fake, stream, command);
        freeReplyObject(command);
    }
    redisReaderFree(reader);
    coil_stream_destroy(stream);
}

static int serve_fake(void *arg)
{
    struct fake *fake = arg;
    coil_stream *stream;
    int rc;

    while ((rc = coil_accept(fake->listener, &stream)) == 0) {
        fake->connections++;
        serve_one(fake, stream);
    }
    return rc;
}

static void start(struct fake *fake)
{
    *fake = (struct fake){.policy = "noeviction", .version = "7.0.15", .run = 'a'};
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &fake->listener), 0);
    fake->task = test_spawn(serve_fake, fake);
}

static void stop(struct fake *fake)
{
    coil_task_cancel(fake->task, "test");
    CHECK_INT(test_join(fake->task), -ECANCELED);
    coil_listener_destroy(fake->listener);
}

/* ---- a client ---------------------------------------------------------------------- */

static const struct redis_script scripts[] = {{"first", "return 1"},
                                              {"second", "return KEYS[1]"}};

static struct redis *create(const struct fake *fake, const char *credentials,
                            int64_t timeout_ns)
{
    struct redis_options options = {
        .timeout_ns = timeout_ns, .scripts = scripts, .script_count = 2};
    struct redis *redis;
    char url[64];

    snprintf(url, sizeof url, "redis://%s127.0.0.1:%u/1", credentials,
             (unsigned)coil_listener_port(fake->listener));
    options.url = url;
    CHECK_INT(redis_create(&options, &redis), 0);
    return redis;
}

/* A client with an open connection, and its task. */
struct client {
    struct redis *redis;
    coil_task *task;
};

static void begin(struct client *client, const struct fake *fake, int64_t timeout_ns)
{
    client->redis = create(fake, "", timeout_ns);
    CHECK_INT(redis_open(client->redis), 0);
    client->task = test_spawn(redis_serve, client->redis);
}

static void end(struct client *client)
{
    coil_task_cancel(client->task, "test");
    CHECK_INT(test_join(client->task), -ECANCELED);
    redis_destroy(client->redis);
}

static int ask(struct redis *redis, const char *name, const char *word,
               redisReply **reply)
{
    struct redis_words words = {.count = 0};
    int rc;

    redis_words_add(&words, name);
    if (word != NULL)
        redis_words_add(&words, word);
    rc = redis_command(redis, &words, reply);
    redis_words_finish(&words);
    return rc;
}

static int run_command(struct redis *redis, const char *name, const char *word)
{
    redisReply *reply;
    int rc = ask(redis, name, word, &reply);

    if (rc == 0)
        freeReplyObject(reply);
    return rc;
}

static void check_echo(struct redis *redis, const char *word)
{
    redisReply *reply;

    CHECK_INT(ask(redis, "ECHO", word, &reply), 0);
    if (reply == NULL)
        return;
    CHECK_STR(reply->str, word);
    freeReplyObject(reply);
}

static void check_message(const struct redis *redis, const char *part)
{
    if (strstr(redis_message(redis), part) == NULL)
        CHECK_STR(redis_message(redis), part);
}

/* ---- commands ---------------------------------------------------------------------- */

NET_TEST(redis_command_has_its_reply)
{
    struct fake fake;
    struct client client;

    start(&fake);
    begin(&client, &fake, COIL_SEC(10));
    check_echo(client.redis, "one");
    check_echo(client.redis, "two");
    end(&client);
    stop(&fake);
}

struct echo {
    struct redis *redis;
    int number;
};

static int echo_some(void *arg)
{
    struct echo *echo = arg;
    char word[32];

    for (int i = 0; i < 10; i++) {
        snprintf(word, sizeof word, "%d of %d", i, echo->number);
        check_echo(echo->redis, word);
    }
    return 0;
}

NET_TEST(redis_replies_are_those_of_the_task_that_has_asked)
{
    enum { COUNT = 20 };
    struct fake fake;
    struct client client;
    struct echo echoes[COUNT];
    coil_task *tasks[COUNT];

    start(&fake);
    begin(&client, &fake, COIL_SEC(60));
    for (int i = 0; i < COUNT; i++) {
        echoes[i] = (struct echo){client.redis, i};
        tasks[i] = test_spawn(echo_some, &echoes[i]);
    }
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(test_join(tasks[i]), 0);
    CHECK_INT(fake.connections, 1);
    end(&client);
    stop(&fake);
}

NET_TEST(redis_error_is_a_failure_with_a_sentence_and_others_go_on)
{
    struct fake fake;
    struct client client;

    start(&fake);
    begin(&client, &fake, COIL_SEC(10));
    CHECK_INT(run_command(client.redis, "REFUSE", "OOM no memory"), -ENOSPC);
    check_message(client.redis, "OOM no memory");
    check_message(client.redis, "redis://127.0.0.1:");
    CHECK_INT(run_command(client.redis, "REFUSE", "NOCRAWL there is none"), -ENOENT);
    CHECK_INT(run_command(client.redis, "REFUSE", "NOPERM no"), -EACCES);
    CHECK_INT(run_command(client.redis, "REFUSE", "READONLY no"), -EROFS);
    CHECK_INT(run_command(client.redis, "REFUSE", "ERR syntax"), -EREMOTEIO);
    check_echo(client.redis, "well");
    end(&client);
    stop(&fake);
}

NET_TEST(redis_script_that_was_forgotten_is_sent_again)
{
    struct fake fake;
    struct client client;
    struct redis_words none = {.count = 0};
    redisReply *reply;

    start(&fake);
    begin(&client, &fake, COIL_SEC(10));
    CHECK_INT(redis_run(client.redis, 1, "key", &none, &reply), 0);
    CHECK_STR(reply->str, "key");
    freeReplyObject(reply);
    end(&client);
    stop(&fake);
}

/* ---- failures ---------------------------------------------------------------------- */

struct asker {
    struct redis *redis;
    const char *name, *word;
};

static int ask_once(void *arg)
{
    struct asker *asker = arg;

    return run_command(asker->redis, asker->name, asker->word);
}

NET_TEST(redis_that_drops_the_connection_is_connected_to_again)
{
    struct fake fake;
    struct client client;

    start(&fake);
    begin(&client, &fake, COIL_SEC(10));
    CHECK_INT(run_command(client.redis, "DROP", NULL), -ECONNRESET);
    check_echo(client.redis, "again");
    CHECK_INT(fake.connections, 2);
    CHECK_INT(redis_restarts(client.redis), 0);
    fake.run = 'b';
    CHECK_INT(run_command(client.redis, "DROP", NULL), -ECONNRESET);
    check_echo(client.redis, "and again");
    CHECK_INT(redis_restarts(client.redis), 1);
    end(&client);
    stop(&fake);
}

NET_TEST(redis_that_does_not_answer_in_time_is_connected_to_again)
{
    struct fake fake;
    struct client client;

    start(&fake);
    begin(&client, &fake, COIL_SEC(1));
    CHECK_INT(run_command(client.redis, "HANG", NULL), -ETIMEDOUT);
    check_message(client.redis, "no answer in time");
    coil_task_cancel(fake.task, "it hangs");
    CHECK_INT(test_join(fake.task), -ECANCELED);
    fake.task = test_spawn(serve_fake, &fake);
    check_echo(client.redis, "again");
    end(&client);
    stop(&fake);
}

/* Run a script after a command. Returns the error. */
static int run_after(struct redis *redis, const char *name)
{
    struct redis_words command = {.count = 0}, none = {.count = 0};
    redisReply *reply;
    int rc;

    redis_words_add(&command, name);
    rc = redis_run_after(redis, &command, 1, "key", &none, &reply);
    if (rc == 0)
        freeReplyObject(reply);
    redis_words_finish(&command);
    return rc;
}

NET_TEST(redis_script_after_a_command_times_out_like_a_command)
{
    struct fake fake;
    struct client client;

    start(&fake);
    begin(&client, &fake, COIL_SEC(1));
    CHECK_INT(run_after(client.redis, "ECHO"), 0);
    CHECK(redis_may_pass(run_after(client.redis, "HANG")));
    coil_task_cancel(fake.task, "it hangs");
    CHECK_INT(test_join(fake.task), -ECANCELED);
    coil_sleep(
        COIL_MSEC(10)); /* the connection is gone, and the server does not accept */
    CHECK_INT(run_after(client.redis, "ECHO"), -ETIMEDOUT);
    fake.task = test_spawn(serve_fake, &fake);
    check_echo(client.redis, "again");
    end(&client);
    stop(&fake);
}

NET_TEST(redis_command_that_is_cancelled_leaves_the_others_their_replies)
{
    struct fake fake;
    struct client client;
    struct asker asker;
    coil_task *task;

    start(&fake);
    begin(&client, &fake, COIL_SEC(10));
    asker = (struct asker){client.redis, "ECHO", "nobody's"};
    task = test_spawn(ask_once, &asker);
    CHECK_INT(coil_yield(), 0);
    coil_task_cancel(task, "test");
    check_echo(client.redis, "mine");
    CHECK_INT(test_join(task), -ECANCELED);
    end(&client);
    stop(&fake);
}

NET_TEST(redis_replies_that_are_none_end_it)
{
    struct fake fake;
    struct client client;

    start(&fake);
    begin(&client, &fake, COIL_SEC(10));
    CHECK_INT(run_command(client.redis, "RUBBISH", NULL), -EPROTO);
    check_message(client.redis, "rotocol error");
    CHECK_INT(test_join(client.task), -EPROTO);
    CHECK_INT(run_command(client.redis, "ECHO", "x"), -EPROTO);
    redis_destroy(client.redis);
    stop(&fake);
}

NET_TEST(redis_serve_that_is_cancelled_sends_away_who_waits)
{
    struct fake fake;
    struct client client;
    struct asker asker;
    coil_task *task;

    start(&fake);
    begin(&client, &fake, COIL_SEC(1000));
    asker = (struct asker){client.redis, "HANG", NULL};
    task = test_spawn(ask_once, &asker);
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0);
    coil_task_cancel(client.task, "test");
    CHECK_INT(test_join(client.task), -ECANCELED);
    CHECK_INT(test_join(task), -ESHUTDOWN);
    redis_destroy(client.redis);
    stop(&fake);
}

/* ---- connecting -------------------------------------------------------------------- */

NET_TEST(redis_open_tells_what_is_wrong)
{
    struct fake fake;
    struct redis *redis;

    start(&fake);
    redis = create(&fake, "", COIL_SEC(10));
    fake.policy = "allkeys-lru";
    CHECK_INT(redis_open(redis), -EINVAL);
    check_message(redis, "allkeys-lru");
    fake.policy = "noeviction";
    fake.version = "6.0.16";
    CHECK_INT(redis_open(redis), -EINVAL);
    check_message(redis, "6.2");
    fake.version = "6.2.0";
    CHECK_INT(redis_open(redis), 0);
    redis_destroy(redis);
    stop(&fake);
}

NET_TEST(redis_open_says_the_password)
{
    struct fake fake;
    struct redis *redis;

    start(&fake);
    fake.password = "secret";
    redis = create(&fake, ":secret@", COIL_SEC(10));
    CHECK_INT(redis_open(redis), 0);
    redis_destroy(redis);
    redis = create(&fake, ":wrong@", COIL_SEC(10));
    CHECK_INT(redis_open(redis), -EACCES);
    check_message(redis, "the password is wrong");
    CHECK(strstr(redis_message(redis), ":wrong") == NULL);
    redis_destroy(redis);
    stop(&fake);
}

NET_TEST(redis_that_is_not_there_is_an_error_at_once_and_a_command_waits_for_it)
{
    struct fake fake;
    struct redis *redis;
    coil_task *task;

    start(&fake);
    redis = create(&fake, "", COIL_SEC(1));
    stop(&fake);
    CHECK_INT(redis_open(redis), -ECONNREFUSED);
    task = test_spawn(redis_serve, redis);
    CHECK_INT(run_command(redis, "ECHO", "x"), -ETIMEDOUT);
    check_message(redis, "127.0.0.1");
    coil_task_cancel(task, "test");
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_INT(run_command(redis, "ECHO", "x"), -ESHUTDOWN);
    redis_destroy(redis);
}

TEST(redis_create_refuses_what_is_no_url_of_it)
{
    struct redis_options options = {.url = "http://example.org/", .timeout_ns = 1};
    struct redis *redis;

    CHECK_INT(redis_create(&options, &redis), -EINVAL);
    CHECK_PTR(redis, NULL);
}

/* ---- redis-server ------------------------------------------------------------------ */

static void run_script(struct redis *redis, enum crawl_script script,
                       const char *const arguments[], redisReply **reply)
{
    struct redis_words words = {.count = 0};

    for (int i = 0; arguments[i] != NULL; i++)
        redis_words_add(&words, arguments[i]);
    CHECK_INT(redis_run(redis, script, "coil:{x}", &words, reply), 0);
    redis_words_finish(&words);
}

/* Run a crawl that has no pages. */
static void crawl_nothing(struct redis *redis, bool is_new)
{
    static const char *const setup[] = {"1", "seed", "setup", "0", "0", "0", "1", NULL};
    static const char *const add[] = {"1", NULL};
    static const char *const acquire[] = {"s", "worker", "1000", "1", NULL};
    redisReply *reply;

    run_script(redis, SCRIPT_BEGIN, setup, &reply);
    CHECK_INT(reply->element[0]->integer, is_new);
    freeReplyObject(reply);
    run_script(redis, SCRIPT_ADD, add, &reply);
    freeReplyObject(reply);
    run_script(redis, SCRIPT_ACQUIRE, acquire, &reply);
    CHECK_STR(reply->element[0]->str, "over");
    freeReplyObject(reply);
}

IO_TEST(redis_server_takes_the_scripts)
{
    struct redis_process process;
    struct client client;

    redis_process_start(&process);
    redis_process_open(&process, COIL_SEC(15), &client.redis);
    client.task = test_spawn(redis_serve, client.redis);
    crawl_nothing(client.redis, true);
    CHECK_INT(run_command(client.redis, "SCRIPT", "FLUSH"), 0);
    crawl_nothing(client.redis, false);
    end(&client);
    redis_process_stop(&process);
}
