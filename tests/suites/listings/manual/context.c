/* context.c - compiles and runs the examples in docs/manual/context.md. */
#include "listings.h"

struct request {
    char *id;
};

static int serve(struct request *request);
static void *user_retain(void *value);
static void user_release(void *value);

#include "context.md/contexts-task-local-variables"
#include "context.md/values"

static int references;

static int serve(struct request *request)
{
    CHECK(coil_var_get(&request_id) == request->id);
    log_line("serving");
    return coil_yield();
}

static void *user_retain(void *value)
{
    references++;
    return value;
}

static void user_release(void *value)
{
    (void)value;
    references--;
}

static int worker(void *arg)
{
    (void)arg;
    return coil_var_set(&user, "worker", NULL);
}

static int print_results(void *arg)
{
    (void)arg;
    CHECK(strcmp(coil_var_get(&user), "worker") == 0);
    return 0;
}

static int app(void *arg)
{
    char id[] = "r7";
    struct request request = {id};
    coil_task *task;
    int rc = handle(&request);

    (void)arg;
    CHECK(rc == 0 && coil_var_get(&request_id) == NULL);
#include "context.md/which-context-applies"
    coil_task_release(task);
    return rc;
}

int main(void)
{
    RUN(app, NULL);
    CHECK(references == 0);
    return 0;
}
