/*
 * redis_words.h - build a Redis command word by word.
 *
 *     struct redis_words words = {0};
 *     redis_words_add(&words, "SET");
 *     redis_words_add_bytes(&words, key, key_n);
 *     redis_words_add_number(&words, 42);
 *     rc = redis_command(redis, &words, &reply);
 *     redis_words_finish(&words);
 *
 * All words are copied. If memory runs out, words.bytes.failed is set, and
 * redis_command() fails.
 */
#ifndef CRAWLER_REDIS_WORDS_H
#define CRAWLER_REDIS_WORDS_H

#include "../../base/text.h"

/* Initialize with zeroes. */
struct redis_words {
    struct text bytes;
    size_t *ends; /* offset of the end of each word in `bytes` */
    size_t count, capacity;
};

void redis_words_add(struct redis_words *words, const char *word);
void redis_words_add_bytes(struct redis_words *words, const void *bytes, size_t n);
void redis_words_add_number(struct redis_words *words, int64_t number);

/* Append `count` words of `from`, beginning with its word number `first`. */
void redis_words_append(struct redis_words *words, const struct redis_words *from,
                        size_t first, size_t count);

/* Remove all words, but keep the memory for reuse. */
void redis_words_clear(struct redis_words *words);
void redis_words_finish(struct redis_words *words);

/*
 * Encode the command. The caller frees *out with redisFreeCommand(). Returns the length
 * of *out, or -ENOMEM.
 */
int redis_words_format(const struct redis_words *words, char **out);

#endif
