/*
 * replay.h - a crawl that is kept in a file, made again in memory.
 *
 * Each page that the file has is digested as if its answer had come just now: so the crawl knows what
 * it knew when the last of them was written, and every report is told of all of it.
 */
#ifndef CRAWLER_REPLAY_H
#define CRAWLER_REPLAY_H

#include "../fetch/answer.h"
#include "crawl.h"
#include "../saved/saved_urls.h"

/* Digests a page; below 0 ends it. `book` has the URLs of its links. */
typedef int (*replay_function)(void *arg, struct target *target,
                               const struct store_page *page,
                               const struct saved_urls *book);

/*
 * The starts are placed, and the frontier has only noted them (frontier_note_only()). Afterwards it has
 * noted what is left. 0, -ECANCELED, -ENOMEM, -EBADMSG, or as digest() and the store; where that is
 * about the file, crawler->complaint tells it.
 */
COIL_SUSPENDS int replay(struct crawler *crawler, struct store *store,
                         replay_function digest, void *arg);

/* The answer that a page of the file is; its texts are the page's. */
void replay_answer(const struct store_page *page, struct answer *answer);

#endif
