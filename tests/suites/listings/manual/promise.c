/* promise.c - compiles and runs the examples in docs/manual/promise.md. */
#include "listings.h"

struct decoder {
    coil_promise *promise;
};

static void decoder_submit(struct decoder *decoder, const char *image,
                           coil_promise *promise);

static int shown;

static void show(const char *pixels)
{
    CHECK(strcmp(pixels, "pixels") == 0);
    shown++;
}

static int await_image(struct decoder *decoder, const char *image)
{
#include "promise.md/a-thread-sets-the-result-a-task-waits"
    return rc;
}

static char *text_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);

    CHECK(copy != NULL);
    return strcpy(copy, text);
}

static void *decode(void *arg)
{
    coil_promise *promise = arg;
    char *pixels = text_of("pixels");

#include "promise.md/a-thread-sets-the-result-a-task-waits-2"
    return NULL;
}

static char *await_page(coil_future *future)
{
    char *page = NULL;
    int rc;

#include "promise.md/a-thread-sets-the-result-a-task-waits-3"
    return page;
}

static int fetch(void *url)
{
    CHECK(strcmp(*(const char **)url, "http://example.org/") == 0);
    return coil_yield();
}

static int fetch_from_a_thread(coil_loop *loop, const char *url)
{
#include "promise.md/a-thread-spawns-a-task-and-waits"
    return rc;
}

#include <pthread.h>

static void decoder_submit(struct decoder *decoder, const char *image,
                           coil_promise *promise)
{
    pthread_t thread;

    CHECK(image != NULL);
    decoder->promise = promise;
    CHECK(pthread_create(&thread, NULL, decode, promise) == 0);
    pthread_detach(thread);
}

static int call_from_a_thread(void *loop)
{
    return fetch_from_a_thread(loop, "http://example.org/");
}

static int app(void *arg)
{
    struct decoder decoder;
    coil_future *future;
    char *page;

    (void)arg;
    CHECK(await_image(&decoder, "image") == 0 && shown == 1);
    CHECK(coil_future_create(&future) == 0);
    CHECK(coil_future_set(future, 0, text_of("a page"), free) == 0);
    page = await_page(future);
    CHECK(page != NULL && strcmp(page, "a page") == 0);
    free(page);
    return coil_blocking(COIL_LANE_CPU, call_from_a_thread, coil_loop_current());
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
