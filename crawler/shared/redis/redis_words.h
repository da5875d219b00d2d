/*
 * redis_words.h - the words of a command to Redis.
 *
 *     struct redis_words words = {0};
 *     redis_words_add(&words, "SET");
 *     redis_words_add_bytes(&words, key, key_n);
 *     redis_words_add_number(&words, 42);
 *     rc = redis_command(redis, &words, &reply);
 *     redis_words_finish(&words);
 *
 * All is copied. What memory is missing for is seen at the end: words.bytes.failed.
 */
#ifndef CRAWLER_REDIS_WORDS_H
#define CRAWLER_REDIS_WORDS_H

#include "../../base/text.h"

/* Zeroes are an empty one. */
struct redis_words {
    struct text bytes;
    size_t *ends; /* of each word, in bytes */
    size_t count, capacity;
};

void redis_words_add(struct redis_words *words, const char *word);
void redis_words_add_bytes(struct redis_words *words, const void *bytes, size_t n);
void redis_words_add_number(struct redis_words *words, int64_t number);

/* So many words of `from`, from the first'th on, behind those of `words`. */
void redis_words_append(struct redis_words *words, const struct redis_words *from,
                        size_t first, size_t count);

/* Forget them, and keep the memory for the next. */
void redis_words_clear(struct redis_words *words);
void redis_words_finish(struct redis_words *words);

/* The command in Redis' protocol, for redisFreeCommand(). Its length, or -ENOMEM. */
int redis_words_format(const struct redis_words *words, char **out);

#endif
