/*
 * test_backend_post.c - posts from other threads end a poll, in order, each once.
 */
#include "../harness/harness.h"

#include <coil.h>

#include <pthread.h>

#define POSTERS 4
#define POSTS 10000

struct poster {
    pthread_t thread;
    coil_loop *loop;
    coil_task *waiting;
    int failures;             /* the poster's */
    int received, disordered; /* the loop's */
    struct posted {
        struct poster *poster;
        int number;
    } posts[POSTS];
};

static struct poster posters[POSTERS];
static int posters_left;

static void receive(void *arg)
{
    struct posted *posted = arg;
    struct poster *poster = posted->poster;

    if (posted->number != poster->received)
        poster->disordered++;
    if (++poster->received == POSTS && --posters_left == 0)
        coil_unpark(poster->waiting, 0);
}

static void *post_all(void *arg)
{
    struct poster *poster = arg;

    for (int i = 0; i < POSTS; i++) {
        poster->posts[i].poster = poster;
        poster->posts[i].number = i;
        poster->failures += coil_post(poster->loop, receive, &poster->posts[i]) != 0;
    }
    coil_loop_release(poster->loop);
    return NULL;
}

IO_TEST(post_from_several_threads_arrives_in_order)
{
    posters_left = POSTERS;
    for (int i = 0; i < POSTERS; i++) {
        posters[i].loop = coil_loop_retain(coil_loop_current());
        posters[i].waiting = coil_task_current();
        pthread_create(&posters[i].thread, NULL, post_all, &posters[i]);
    }
    CHECK_INT(coil_park(), 0);
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(posters[i].thread, NULL);
        CHECK_INT(posters[i].failures, 0);
        CHECK_INT(posters[i].received, POSTS);
        CHECK_INT(posters[i].disordered, 0);
    }
}
