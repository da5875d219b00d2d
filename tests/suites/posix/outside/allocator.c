/*
 * allocator.c - a library with a malloc() that locks a mutex, and sometimes yields while
 * it holds the mutex. Compiled with PROGRAM, this file is a program with tasks and
 * threads that allocate.
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#ifndef PROGRAM
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void)
{
    static unsigned calls;

    pthread_mutex_lock(&lock);
    if (++calls % 8 == 0 && !__libc_single_threaded)
        sched_yield();
}

static void *leave(void *result)
{
    pthread_mutex_unlock(&lock);
    return result;
}

void *malloc(size_t size)
{
    enter();
    return leave(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    enter();
    return leave(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
    enter();
    return leave(__libc_realloc(old, size));
}

void free(void *old)
{
    enter();
    __libc_free(old);
    leave(NULL);
}
#else
#include <coil.h>
#include <coil/posix.h>

#define TASKS 20

static atomic_bool over;

/* The calls go through pointers, because the compiler would remove direct calls. */
static void *(*volatile get)(size_t size) = malloc;
static void (*volatile put)(void *old) = free;

static void *allocate_in_a_thread(void *unused)
{
    while (!atomic_load(&over))
        put(get(100));
    return unused;
}

static int allocate_in_a_task(void *unused)
{
    (void)unused;
    for (int i = 0; i < 300; i++) {
        put(get(100));
        if (i % 10 == 0)
            usleep(100);
    }
    return 0;
}

static int app(void *unused)
{
    coil_task *tasks[TASKS];
    pthread_t thread;

    (void)unused;
    if (!coil_posix_active() ||
        pthread_create(&thread, NULL, allocate_in_a_thread, NULL) != 0)
        return -1;
    for (int i = 0; i < TASKS; i++)
        if (coil_spawn(allocate_in_a_task, NULL, NULL, &tasks[i]) < 0)
            return -1;
    for (int i = 0; i < TASKS; i++) {
        coil_task_await(tasks[i]);
        coil_task_release(tasks[i]);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    puts("all allocated");
    return 0;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
#endif
