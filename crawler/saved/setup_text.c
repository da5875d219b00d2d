/*
 * setup_text.c - see setup_text.h
 *
 * Each entry consists of "o" for a setting or "s" for a start URL, its length in bytes,
 * ":", its bytes, and a newline for human readers.
 */
#include "setup_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put_all(struct text *text, char letter, const struct store_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        size_t n = strlen(texts->at[i]);

        text_print(text, "%c%zu:", letter, n);
        text_add(text, texts->at[i], n);
        text_add(text, "\n", 1);
    }
}

void setup_text_write(struct text *text, const struct store_texts *settings,
                      const struct store_texts *starts)
{
    put_all(text, 'o', settings);
    put_all(text, 's', starts);
    text_add(text, "", 1);
}

static int append_copy(struct store_texts *texts, const char *at, size_t n)
{
    const char **longer = realloc(texts->at, (texts->count + 1) * sizeof *longer);

    if (longer == NULL)
        return -ENOMEM;
    texts->at = longer;
    longer[texts->count] = strndup(at, n);
    return longer[texts->count++] != NULL ? 0 : -ENOMEM;
}

/* Read the first entry, and advance *text to the next one. */
static int read_entry(const char **text, struct setup_text *out)
{
    char letter = **text, *colon;
    size_t n;
    const char *at;

    if ((letter != 'o' && letter != 's') || (*text)[1] < '0' || (*text)[1] > '9')
        return -EBADMSG;
    n = strtoul(*text + 1, &colon, 10);
    at = colon + 1;
    if (*colon != ':' || strnlen(at, n) < n || at[n] != '\n')
        return -EBADMSG;
    *text = at + n + 1;
    return append_copy(letter == 'o' ? &out->settings : &out->starts, at, n);
}

int setup_text_read(const char *text, struct setup_text *out)
{
    int rc = 0;

    *out = (struct setup_text){.settings = {.count = 0}};
    while (rc == 0 && *text != '\0')
        rc = read_entry(&text, out);
    return rc;
}

static void finish_texts(struct store_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free((char *)texts->at[i]);
    free(texts->at);
}

void setup_text_finish(struct setup_text *setup)
{
    finish_texts(&setup->settings);
    finish_texts(&setup->starts);
    *setup = (struct setup_text){.settings = {.count = 0}};
}
