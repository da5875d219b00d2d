/*
 * lease_inside.h - declarations shared by lease.c, lease_items.c and lease_results.c: read
 * replies of Redis, and read and write items and results.
 */
#ifndef CRAWLER_LEASE_INSIDE_H
#define CRAWLER_LEASE_INSIDE_H

#include "lease.h"

#define HEAD_BYTES 6
#define HASH_BYTES 10
#define SEEDS_BYTES 49
#define LENGTH_BYTES 4 /* size of a result's number or length in Redis */
/* Flag in a length: SCRIPT_COMPLETE refused the result, but did not remove its bytes. */
#define LENGTH_SKIPPED 0x80000000u
#define REAPED_AT_ONCE 64
#define LINK_WORDS 3
/* maximum number of words for links in one call of a script */
#define LINK_WORDS_AT_ONCE ((size_t)2000 * LINK_WORDS)
/* lifetime of sent results in Redis, unless SCRIPT_COMPLETE stores them */
#define SENT_MILLISECONDS "60000"
#define FORGOTTEN_AT_ONCE "1000"
/* how long Redis remembers that a deleted crawl is over */
#define OVER_SECONDS "3600"

static const char class_letters[LEASE_CLASSES + 1] = "sxh";

/* Return the i-th string of a list, or "". */
const char *lease_text_at(const redisReply *reply, size_t i);

int64_t lease_number_at(const redisReply *reply, size_t i);

/* Read a duration in milliseconds. Returns nanoseconds, at most an hour. */
int64_t lease_span_at(const redisReply *reply, size_t i);

int64_t lease_to_ms(int64_t span_ns);

int lease_run_script(struct leases *leases, enum crawl_script script,
                     struct redis_words *words, redisReply **reply);

void lease_add_item(struct redis_words *words, const struct lease_url *url,
                    size_t origin_n);

/*
 * Return the class of a host, which its first letter indicates, or LEASE_CLASSES if the
 * letter is invalid.
 */
enum lease_class lease_class_of(const char *host);

bool lease_is_web(const char *url);

/*
 * Append the items in a reply to the lease. From element i on, the reply consists of
 * pairs of a number and an item.
 */
int lease_take_items(struct lease *lease, const redisReply *reply, size_t i);

void lease_drop_number(struct lease *lease, int64_t number);

void lease_drop_all(struct lease *lease);

/*
 * Append the length of all results, and the numbers and lengths of the results, for
 * SCRIPT_COMPLETE. Returns the length of all results.
 */
size_t lease_add_results(struct redis_words *words, const struct lease_done *done);

/*
 * Build the command that sends the bytes of the results before SCRIPT_COMPLETE. If the
 * script does not store them, they expire.
 */
void lease_add_sending(struct redis_words *words, const struct leases *leases,
                       const struct lease_done *done);

/* Record that the lease has ended in Redis. If it still has items, it was lost. */
void lease_end(struct lease *lease);

#endif
