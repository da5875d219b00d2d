/*
 * ruby.c - Ruby in a single task. Ruby supports only one stack per thread. So one task
 * initialises Ruby, and runs the scripts of all other tasks one after the other. The
 * scripts wait, read from a socket, and run the garbage collector.
 */
#include "foreign.h"

#include <coil.h>

#include <ruby.h>
#include <stdio.h>
#include <unistd.h>

#define ROUNDS 20

struct script {
    int number, result;
    coil_event done;
};

static coil_queue scripts;

static VALUE wait_a_moment(VALUE self, VALUE us)
{
    usleep(NUM2UINT(us));
    return self;
}

static VALUE collect(VALUE self)
{
    rb_gc();
    return self;
}

static int evaluate(int number)
{
    static const char script[] = "texts = []\n"
                                 "%d.times { |i| wait_a_moment(200)\n"
                                 "            texts << (i + %d).to_s }\n"
                                 "collect\n"
                                 "texts.map(&:to_i).sum";
    char text[sizeof script + 40];
    int state = 0;
    VALUE result;

    snprintf(text, sizeof text, script, ROUNDS, number);
    result = rb_eval_string_protect(text, &state);
    rb_set_errinfo(Qnil);
    return state == 0 ? NUM2INT(result) : -1;
}

static bool run_scripts(void)
{
    struct script *script;

    RUBY_INIT_STACK;
    ruby_init();
    rb_define_global_function("wait_a_moment", wait_a_moment, 1);
    rb_define_global_function("collect", collect, 0);
    for (int i = 0; i < FOREIGN_USES; i++) {
        if (coil_queue_get(&scripts, (void *)&script) < 0)
            return false;
        script->result = evaluate(script->number);
        coil_event_set(&script->done);
    }
    ruby_cleanup(0);
    return true;
}

static bool start(void)
{
    coil_queue_init(&scripts, sizeof(struct script *), 0);
    return true;
}

static bool use(int number)
{
    int expected = ROUNDS * number + ROUNDS * (ROUNDS - 1) / 2;
    struct script script = {.number = number}, *pointer = &script;

    coil_event_init(&script.done);
    coil_queue_put(&scripts, (void *)&pointer);
    coil_event_wait(&script.done);
    coil_event_finish(&script.done);
    return script.result == expected ||
           foreign_failed("%d, not %d", script.result, expected);
}

static bool stop(void)
{
    coil_queue_finish(&scripts);
    return true;
}

const struct foreign foreign = {
    .name = "Ruby",
    .tested = "evaluation, garbage collection",
    .option = "in one task, which initialises it: see Ruby in posix.md",
    .start = start,
    .use = use,
    .other_side = run_scripts,
    .stop = stop};
