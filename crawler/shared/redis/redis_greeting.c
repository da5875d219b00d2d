/* redis_greeting.c - see redis_greeting.h */
#include "redis_greeting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Send a command of at most three words, and wait for its reply. If there are fewer
 * words, NULL follows the last one.
 */
static int query(struct redis_link *link, const char *const given[3], redisReply **reply)
{
    struct redis_words words = {.count = 0};
    int rc;

    for (int i = 0; i < 3 && given[i] != NULL; i++)
        redis_words_add(&words, given[i]);
    rc = redis_link_query(link, &words, reply);
    redis_words_finish(&words);
    return rc;
}

static int run_command(struct redis_link *link, const char *const given[3])
{
    redisReply *reply;
    int rc = query(link, given, &reply);

    if (rc == 0)
        freeReplyObject(reply);
    return rc;
}

static int authenticate(struct redis_link *link)
{
    const struct redis_address *address = &link->address;
    int rc;

    if (address->password == NULL)
        return 0;
    if (address->user == NULL)
        rc = run_command(link, (const char *const[3]){"AUTH", address->password});
    else
        rc = run_command(
            link, (const char *const[3]){"AUTH", address->user, address->password});
    if (rc == -EREMOTEIO) /* the server's message may contain the password */
        rc = redis_link_fail(link, -EACCES, "the server refused AUTH");
    return rc;
}

static int select_db(struct redis_link *link)
{
    char digits[12];

    if (link->address.db == 0)
        return 0;
    snprintf(digits, sizeof digits, "%u", link->address.db);
    return run_command(link, (const char *const[3]){"SELECT", digits});
}

/* ---- server ------------------------------------------------------------------------ */

static int request_info(struct redis_link *link, const char *section, redisReply **reply)
{
    int rc = query(link, (const char *const[3]){"INFO", section}, reply);

    if (rc < 0 || (*reply)->type == REDIS_REPLY_STRING)
        return rc;
    freeReplyObject(*reply);
    return redis_link_fail(link, -EPROTO, "the reply to INFO is not a text");
}

/* Copy the text after `key`, up to the end of the line, or "" if the key is missing. */
static void copy_info(const redisReply *info, const char *key, char *out, size_t room)
{
    const char *at = strstr(info->str, key);

    out[0] = '\0';
    if (at == NULL)
        return;
    at += strlen(key);
    snprintf(out, room, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static int check_version(struct redis_link *link, const redisReply *info)
{
    char version[32];
    unsigned major = 0, minor = 0;

    copy_info(info, "redis_version:", version, sizeof version);
    if (sscanf(version, "%u.%u", &major, &minor) == 2 &&
        (major > 6 || (major == 6 && minor >= 2)))
        return 0;
    return redis_link_fail(link, -EINVAL,
                           "the server is older than Redis 6.2, which a crawl needs");
}

static int check_server(struct redis_link *link, char run_id[REDIS_RUN_ID_BYTES])
{
    redisReply *info;
    int rc = request_info(link, "server", &info);

    if (rc < 0)
        return rc;
    rc = check_version(link, info);
    copy_info(info, "run_id:", run_id, REDIS_RUN_ID_BYTES);
    freeReplyObject(info);
    return rc;
}

/*
 * Fail if Redis is configured to evict keys. If keys were missing, a crawl would repeat
 * requests or never end.
 */
static int check_policy(struct redis_link *link)
{
    char policy[32], words[160];
    redisReply *info;
    int rc = request_info(link, "memory", &info);

    if (rc < 0)
        return rc;
    copy_info(info, "maxmemory_policy:", policy, sizeof policy);
    freeReplyObject(info);
    if (strcmp(policy, "noeviction") == 0)
        return 0;
    snprintf(words, sizeof words,
             "its maxmemory-policy is '%s', which may drop parts of a crawl; it must be "
             "'noeviction'",
             policy);
    return redis_link_fail(link, -EINVAL, words);
}

/* ---- scripts ----------------------------------------------------------------------- */

static int load_script(struct redis_link *link, const char *text,
                       char sha[REDIS_SHA_BYTES])
{
    redisReply *reply;
    int rc = query(link, (const char *const[3]){"SCRIPT", "LOAD", text}, &reply);

    if (rc < 0)
        return rc;
    if (reply->type == REDIS_REPLY_STRING && reply->len == REDIS_SHA_BYTES - 1)
        memcpy(sha, reply->str, REDIS_SHA_BYTES);
    else
        rc = redis_link_fail(link, -EPROTO, "the reply to SCRIPT LOAD is not a hash");
    freeReplyObject(reply);
    return rc;
}

int redis_greet(struct redis_link *link, struct redis_greeting *greeting)
{
    int rc = authenticate(link);

    if (rc == 0)
        rc = select_db(link);
    if (rc == 0)
        rc = check_server(link, greeting->run_id);
    if (rc == 0)
        rc = check_policy(link);
    for (size_t i = 0; i < greeting->script_count && rc == 0; i++)
        rc = load_script(link, greeting->scripts[i].text, greeting->shas[i]);
    return rc;
}
