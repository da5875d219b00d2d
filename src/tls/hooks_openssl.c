/*
 * hooks_openssl.c - a separate OpenSSL error queue for each task: see coil/hooks.h.
 *
 * OpenSSL does not provide a function that replaces a thread's queue. So when a task is
 * switched out, its errors are removed from the queue one by one, and they are put back
 * when the task continues. OpenSSL reuses the memory of their texts, so the texts are
 * copied. The queue is nearly always empty.
 */
#include "../base/base.h"

#include <coil/hooks.h>

#include <openssl/err.h>
#include <string.h>

#define ERRORS_MAX 16 /* the length of OpenSSL's queue */

struct kept_error {
    unsigned long code;
    int line;
    unsigned file, function, text; /* see kept_text() */
};

struct kept_errors {
    unsigned count;
    char *texts;
    size_t text_bytes;
    struct kept_error errors[ERRORS_MAX];
};

/*
 * Append a copy of the text to `kept->texts`. Returns the copy's offset plus 1, or 0 if
 * the text is NULL or empty, or if memory ran out.
 */
static unsigned keep_text(struct kept_errors *kept, const char *text)
{
    size_t at = kept->text_bytes, bytes = text != NULL ? strlen(text) + 1 : 0;
    char *texts = bytes > 1 ? coil__realloc(kept->texts, at + bytes) : NULL;

    if (texts == NULL)
        return 0;
    memcpy(texts + at, text, bytes);
    kept->texts = texts;
    kept->text_bytes += bytes;
    return (unsigned)at + 1;
}

static const char *kept_text(const struct kept_errors *kept, unsigned at)
{
    return at != 0 ? kept->texts + at - 1 : NULL;
}

static void keep_errors(void *state, void *data)
{
    struct kept_errors *kept = state;
    const char *file, *function, *text;
    int flags;

    (void)data;
    for (kept->count = 0; kept->count < ERRORS_MAX; kept->count++) {
        struct kept_error *error = &kept->errors[kept->count];

        error->code = ERR_get_error_all(&file, &error->line, &function, &text, &flags);
        if (error->code == 0)
            break;
        error->file = keep_text(kept, file);
        error->function = keep_text(kept, function);
        error->text = keep_text(kept, (flags & ERR_TXT_STRING) != 0 ? text : NULL);
    }
}

static void put_back_error(const struct kept_errors *kept, const struct kept_error *error)
{
    const char *text = kept_text(kept, error->text);

    ERR_new();
    ERR_set_debug(kept_text(kept, error->file), error->line,
                  kept_text(kept, error->function));
    ERR_set_error(ERR_GET_LIB(error->code), ERR_GET_REASON(error->code),
                  text != NULL ? "%s" : NULL, text);
}

/*
 * Put the task's errors back into the queue. Any errors that are still in the queue
 * belong to no task with these hooks, so they are discarded first.
 */
static void put_back_errors(void *state, void *data)
{
    struct kept_errors *kept = state;

    (void)data;
    if (ERR_peek_error() != 0)
        ERR_clear_error();
    for (unsigned i = 0; i < kept->count; i++)
        put_back_error(kept, &kept->errors[i]);
    coil__free(kept->texts);
    kept->texts = NULL;
    kept->text_bytes = 0;
}

static void clear_errors(void *state, void *data)
{
    (void)state, (void)data;
    ERR_clear_error();
}

const coil_task_hooks *coil_hooks_openssl_errors(void)
{
    static const coil_task_hooks hooks = {.state_bytes = sizeof(struct kept_errors),
                                          .enter = put_back_errors,
                                          .leave = keep_errors,
                                          .end = clear_errors};

    return &hooks;
}
