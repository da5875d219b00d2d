/* redis_words.c - see redis_words.h */
#include "redis_words.h"

#include "../../base/array.h"

#include <errno.h>
#include <hiredis.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void redis_words_add_bytes(struct redis_words *words, const void *bytes, size_t n)
{
    if (words->count == words->capacity &&
        array_grow(&words->ends, &words->capacity, sizeof *words->ends) < 0) {
        words->bytes.failed = true;
        return;
    }
    text_add(&words->bytes, bytes, n);
    words->ends[words->count++] = words->bytes.n;
}

void redis_words_add(struct redis_words *words, const char *word)
{
    redis_words_add_bytes(words, word, strlen(word));
}

void redis_words_add_number(struct redis_words *words, int64_t number)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRId64, number);
    redis_words_add(words, digits);
}

static size_t begin_of(const struct redis_words *words, size_t i)
{
    return i > 0 ? words->ends[i - 1] : 0;
}

void redis_words_append(struct redis_words *words, const struct redis_words *from,
                        size_t first, size_t count)
{
    words->bytes.failed |= from->bytes.failed;
    for (size_t i = first; i < first + count && !words->bytes.failed; i++)
        redis_words_add_bytes(words, from->bytes.at + begin_of(from, i),
                              from->ends[i] - begin_of(from, i));
}

void redis_words_clear(struct redis_words *words)
{
    words->bytes.n = words->count = 0;
    words->bytes.failed = false;
}

void redis_words_finish(struct redis_words *words)
{
    text_finish(&words->bytes);
    free(words->ends);
    *words = (struct redis_words){.count = 0};
}

int redis_words_format(const struct redis_words *words, char **out)
{
    const char **words_at = NULL;
    size_t *lengths = NULL;
    int n = -1;

    if (!words->bytes.failed && words->count <= INT_MAX) {
        words_at = calloc(words->count + 1, sizeof *words_at);
        lengths = calloc(words->count + 1, sizeof *lengths);
    }
    if (words_at != NULL && lengths != NULL) {
        for (size_t i = 0; i < words->count; i++) {
            words_at[i] =
                words->bytes.at != NULL ? words->bytes.at + begin_of(words, i) : "";
            lengths[i] = words->ends[i] - begin_of(words, i);
        }
        n = redisFormatCommandArgv(out, (int)words->count, words_at, lengths);
    }
    free(words_at);
    free(lengths);
    return n >= 0 ? n : -ENOMEM;
}
