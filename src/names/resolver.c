/*
 * resolver.c - a loop's resolver: its options, its engine, and its open channels.
 *
 * Each loop has one resolver, which is created when a name is first looked up. When the
 * loop closes, the resolver and all its questions are destroyed, whether answered or not.
 * A look-up checks, at most once a second, whether resolv.conf or the hosts file has
 * changed.
 */
#include "resolver.h"

#include "../base/fault.h"

#include <coil/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CACHE_ENTRIES 256
#define LOOK_AGAIN COIL_SEC(1)
#define HOSTS_FILE "/etc/hosts"
#define NSSWITCH_FILE "/etc/nsswitch.conf"

static COIL__THREAD_LOCAL struct coil__resolver *this_resolver;

/* ---- settings ---------------------------------------------------------------------- */

static void finish_settings(struct coil__resolver_settings *s)
{
    coil__free(s->servers);
    coil__free(s->hosts_file);
    coil__free(s->resolv_conf_file);
}

/*
 * True if the line is the "hosts" line, such as "hosts: files dns", and contains a source
 * that c-ares does not support.
 */
static bool is_foreign_line(char *line)
{
    char *save, *word = strtok_r(line, " \t\n", &save);

    if (word == NULL || strcmp(word, "hosts:") != 0)
        return false;
    while ((word = strtok_r(NULL, " \t\n", &save)) != NULL && *word != '#')
        /*
         * "resolve" is systemd-resolved, which is also the server in resolv.conf. Actions
         * in brackets are not sources.
         */
        if (*word != '[' && strcmp(word, "files") != 0 && strcmp(word, "dns") != 0 &&
            strcmp(word, "resolve") != 0 && strchr(word, ']') == NULL)
            return true;
    return false;
}

/* Set *found if there are sources of names other than files and name servers. */
static int find_foreign_sources(bool *found)
{
    char line[512];
    FILE *file;
    int rc = coil__config_file_open(NSSWITCH_FILE, &file);

    *found = false;
    while (file != NULL && !*found && fgets(line, sizeof line, file) != NULL)
        *found = is_foreign_line(line);
    rc = coil__config_file_close(file, rc);
    if (rc < 0)
        return coil_fail(rc, "cannot read %s: %s", NSSWITCH_FILE, strerror(-rc));
    return 0;
}

/*
 * Check the name of the chosen engine. Returns 0, -EINVAL or -EOPNOTSUPP. For the
 * message, `from` names the setting from which the engine was taken.
 */
static int take_engine(const char *from, const char *engine, bool *uses_channel)
{
    *uses_channel = strcmp(engine, "c-ares") == 0;
    if (*uses_channel && coil__channel_engine == NULL)
        return coil_fail(-EOPNOTSUPP, "%s: coil was built without c-ares", from);
    if (!*uses_channel && strcmp(engine, "getaddrinfo") != 0)
        return coil_fail(-EINVAL, "%s: '%.20s' is not a resolver; use %sgetaddrinfo",
                         from, engine, coil__channel_engine != NULL ? "c-ares or " : "");
    return 0;
}

static int choose_engine(const char *engine, bool *uses_channel)
{
    bool has_foreign = false;
    int rc = 0;

    if (engine != NULL && *engine != '\0')
        return take_engine("coil_resolver_opts.engine", engine, uses_channel);
    if (engine == NULL)
        engine = getenv("COIL_RESOLVER");
    if (engine != NULL && *engine != '\0')
        return take_engine("COIL_RESOLVER", engine, uses_channel);
    if (coil__channel_engine != NULL)
        rc = find_foreign_sources(&has_foreign);
    *uses_channel = coil__channel_engine != NULL && !has_foreign;
    return rc;
}

static int copy_text(char **out, const char *text)
{
    size_t n;

    if (text == NULL)
        return 0;
    n = strlen(text) + 1;
    *out = coil__alloc(n);
    if (*out == NULL)
        return coil__failed(-ENOMEM);
    memcpy(*out, text, n);
    return 0;
}

static int fill_settings(struct coil__resolver_settings *s,
                         const coil_resolver_opts *opts)
{
    int rc = choose_engine(opts->engine, &s->uses_channel);

    if (rc < 0)
        return rc;
    if (opts->timeout_ns < 0 || (!s->uses_channel && opts->servers != NULL))
        return coil__failed(-EINVAL);
    if (opts->servers != NULL) {
        rc = (int)coil__result(coil__channel_check_servers(opts->servers));
        if (rc < 0)
            return rc;
    }
    if ((rc = copy_text(&s->servers, opts->servers)) < 0 ||
        (rc = copy_text(&s->hosts_file, opts->hosts_file)) < 0 ||
        (rc = copy_text(&s->resolv_conf_file, opts->resolv_conf_file)) < 0)
        return rc;
    s->timeout_ns = opts->timeout_ns;
    s->tries = opts->tries;
    s->cache_entries = opts->cache_entries != 0 ? opts->cache_entries : CACHE_ENTRIES;
    if (opts->no_cache)
        s->cache_entries = 0;
    return 0;
}

static int create_settings(const coil_resolver_opts *opts,
                           struct coil__resolver_settings *out)
{
    static const coil_resolver_opts none = {.engine = NULL};
    int rc;

    memset(out, 0, sizeof *out);
    rc = fill_settings(out, opts != NULL ? opts : &none);
    if (rc < 0)
        finish_settings(out);
    return rc;
}

/* ---- creating and destroying ------------------------------------------------------- */

/* Drop all data that was derived from the settings and the files. */
static void reset_resolver(struct coil__resolver *r)
{
    coil__questions_forget(r);
    coil__channel_retire(r->channel);
    r->channel = NULL;
    coil__hosts_destroy(r->hosts);
    r->hosts = NULL;
    r->looked_at_files = COIL_NEVER;
}

static void close_resolver(coil_loop *loop)
{
    struct coil__resolver *r = this_resolver;

    (void)loop;
    this_resolver = NULL;
    coil__questions_forget(r);
    coil__channel_destroy(r->channel);
    coil__channels_destroy_retired(r);
    coil__questions_trim(r);
    coil__hosts_destroy(r->hosts);
    finish_settings(&r->settings);
    coil__free(r);
}

static int create_resolver(coil_loop *loop, struct coil__resolver **out)
{
    struct coil__resolver *r = coil__alloc_zeroed(sizeof *r);
    int rc;

    if (r == NULL)
        return coil__failed(-ENOMEM);
    rc = create_settings(NULL, &r->settings);
    if (rc < 0) {
        coil__free(r);
        return rc;
    }
    for (size_t i = 0; i < COIL__QUESTION_BUCKETS; i++)
        coil__list_init(&r->table[i]);
    coil__list_init(&r->by_use);
    coil__list_init(&r->spare);
    coil__list_init(&r->retired);
    r->loop = loop;
    r->looked_at_files = COIL_NEVER;
    coil__list_init(&r->hook.link);
    r->hook.closing = close_resolver;
    coil__loop_add_close_hook(loop, &r->hook);
    *out = r;
    return 0;
}

int coil__resolver_get(struct coil__resolver **out, const char *caller)
{
    coil_loop *loop = coil__loop_require(caller);
    int rc = 0;

    /* In a forked child, which has a new loop, this_resolver may be the parent's. */
    if (this_resolver == NULL || this_resolver->loop != loop)
        rc = create_resolver(loop, &this_resolver);
    *out = this_resolver;
    return rc;
}

int coil_resolver_configure(const coil_resolver_opts *opts)
{
    struct coil__resolver_settings settings;
    struct coil__resolver *r;
    int rc = coil__resolver_get(&r, "coil_resolver_configure");

    if (rc == 0)
        rc = create_settings(opts, &settings);
    if (rc < 0)
        return rc;
    finish_settings(&r->settings);
    r->settings = settings;
    reset_resolver(r);
    return 0;
}

void coil_resolver_flush(void)
{
    struct coil__resolver *r;

    if (coil__resolver_get(&r, "coil_resolver_flush") < 0)
        return;
    coil__questions_forget(r);
    coil__questions_trim(r);
}

const char *coil_resolver_name(void)
{
    struct coil__resolver *r;

    if (coil__resolver_get(&r, "coil_resolver_name") < 0 || !r->settings.uses_channel)
        return "getaddrinfo";
    return coil__channel_engine;
}

/* ---- files that change ------------------------------------------------------------- */

static bool has_changed(const char *path, struct timespec *before)
{
    struct stat now = {.st_mtime = 0};
    bool same;

    if (COIL__CALL(EACCES, stat(path, &now)) < 0)
        now.st_mtim = (struct timespec){.tv_sec = 0};
    same = now.st_mtim.tv_sec == before->tv_sec && now.st_mtim.tv_nsec == before->tv_nsec;
    *before = now.st_mtim;
    return !same;
}

static int look_at_files(struct coil__resolver *r)
{
    const struct coil__resolver_settings *s = &r->settings;
    const char *resolv_conf =
        s->resolv_conf_file != NULL ? s->resolv_conf_file : COIL__RESOLV_CONF_FILE;

    /* The open channel was configured with the old file. */
    if (has_changed(resolv_conf, &r->resolv_conf_changed)) {
        coil__questions_forget(r);
        coil__channel_retire(r->channel);
        r->channel = NULL;
    }
    return coil__hosts_refresh(&r->hosts,
                               s->hosts_file != NULL ? s->hosts_file : HOSTS_FILE);
}

int coil__resolver_prepare(struct coil__resolver *r)
{
    int64_t now = r->loop->clock_read; /* in this turn, or shortly before */
    int rc = 0;

    if (r->looked_at_files == COIL_NEVER || now - r->looked_at_files >= LOOK_AGAIN) {
        rc = look_at_files(r);
        if (rc == 0)
            r->looked_at_files = now;
    }
    if (rc == 0 && r->channel == NULL && r->settings.uses_channel)
        rc = coil__channel_open(r, &r->channel);
    return rc;
}
