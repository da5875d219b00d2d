/* test_guest_glib.c - runs coil inside GLib's main loop, as a GSource. */
#include "guest.h"

#include "../../harness/harness.h"

#include <glib.h>

struct source {
    GSource source;
    coil_loop *loop;
    GMainLoop *main_loop;
    gpointer tag;
};

static gboolean prepare(GSource *source, gint *timeout_ms)
{
    int64_t timeout = coil_guest_timeout(((struct source *)source)->loop);

    /* Round up, because GLib's timeouts are in milliseconds. */
    *timeout_ms =
        timeout == COIL_NEVER ? -1 : (gint)((timeout + COIL_MSEC(1) - 1) / COIL_MSEC(1));
    return timeout == 0;
}

static gboolean check(GSource *source)
{
    struct source *s = (struct source *)source;

    return g_source_query_unix_fd(source, s->tag) != 0 ||
           coil_guest_timeout(s->loop) == 0;
}

static gboolean dispatch(GSource *source, GSourceFunc fn, gpointer data)
{
    struct source *s = (struct source *)source;
    int rc = coil_guest_step(s->loop);

    (void)fn;
    (void)data;
    CHECK(rc >= 0);
    if (rc == 1)
        g_main_loop_quit(s->main_loop);
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs functions = {prepare, check, dispatch, NULL, NULL, NULL};

/* The test has its own context, because GLib never frees the default context. */
static GMainContext *context;

/* Make GLib call fn(data) every millisecond, as long as fn returns true. */
static void call_every_ms(GSourceFunc fn, void *data)
{
    GSource *timer = g_timeout_source_new(1);

    g_source_set_callback(timer, fn, data, NULL);
    g_source_attach(timer, context);
    g_source_unref(timer);
}

/* Run GLib's main loop, with coil's loop as a guest, until coil's loop is stopped. */
static void run_inside_glib(coil_loop *loop)
{
    struct source *s = (struct source *)g_source_new(&functions, sizeof *s);

    s->loop = loop;
    s->main_loop = g_main_loop_new(context, FALSE);
    s->tag = g_source_add_unix_fd(&s->source, coil_guest_fd(loop), G_IO_IN);
    g_source_attach(&s->source, context);
    g_main_loop_run(s->main_loop);
    g_main_loop_unref(s->main_loop);
    g_source_destroy(&s->source);
    g_source_unref(&s->source);
}

/* ---- a server and its clients, while GLib ticks ------------------------------------ */

struct world {
    coil_listener *listener;
    int answered, ticks;
};

static int serve(void *arg)
{
    coil_stream *stream = arg;
    char buf[32];
    ssize_t n;

    while ((n = coil_read(stream, buf, sizeof buf)) > 0)
        coil_write(stream, buf, (size_t)n);
    coil_stream_destroy(stream);
    return 0;
}

static int accept_all(void *arg)
{
    struct world *w = arg;
    coil_stream *stream;

    while (coil_accept(w->listener, &stream) == 0)
        CHECK_INT(coil_spawn(serve, stream, NULL, NULL), 0);
    return 0;
}

static int be_client(void *arg)
{
    struct world *w = arg;
    coil_stream *stream;
    char port[8], buf[8];

    snprintf(port, sizeof port, "%u", coil_listener_port(w->listener));
    CHECK_INT(coil_connect("127.0.0.1", port, &stream), 0);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(coil_write(stream, "12345678", 8), 8);
        CHECK_INT(coil_read_exact(stream, buf, 8), 8);
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    }
    w->answered++;
    coil_stream_destroy(stream);
    return 0;
}

static int app(void *arg)
{
    struct world *w = arg;
    coil_group group;

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &w->listener), 0);
    CHECK_INT(coil_spawn(accept_all, w, NULL, NULL), 0);
    coil_group_enter(&group);
    for (int i = 0; i < 10; i++)
        CHECK_INT(coil_group_spawn(&group, be_client, w, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_INT(coil_listener_close(w->listener), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    coil_loop_stop(coil_loop_current());
    return 0;
}

static gboolean tick(gpointer data)
{
    struct world *w = data;

    w->ticks++;
    return G_SOURCE_CONTINUE;
}

static void serves_inside_glib(coil_loop *loop)
{
    struct world w = {.answered = 0};

    context = g_main_context_new();
    call_every_ms(tick, &w);
    CHECK_INT(coil_spawn(app, &w, NULL, NULL), 0);
    run_inside_glib(loop);
    CHECK_INT(w.answered, 10);
    CHECK(w.ticks > 1); /* GLib's own callbacks also ran */
    coil_listener_destroy(w.listener);
    g_main_context_unref(context);
}

TEST(guest_serves_inside_glib)
{
    for_each_guest(serves_inside_glib);
}

/* ---- GLib's callbacks wake tasks --------------------------------------------------- */

static gboolean click(gpointer clicked)
{
    coil_future_set(clicked, 3, NULL, NULL);
    return G_SOURCE_REMOVE;
}

static int await_click(void *arg)
{
    call_every_ms(click, arg);
    CHECK_INT(coil_await(arg), 3);
    coil_loop_stop(coil_loop_current());
    return 0;
}

static void is_woken_by_glib(coil_loop *loop)
{
    coil_future *clicked;

    context = g_main_context_new();
    CHECK_INT(coil_future_create(&clicked), 0);
    CHECK_INT(coil_spawn(await_click, clicked, NULL, NULL), 0);
    run_inside_glib(loop);
    coil_future_release(clicked);
    g_main_context_unref(context);
}

TEST(guest_awaits_what_a_callback_of_glib_sets)
{
    for_each_guest(is_woken_by_glib);
}
