/*
 * replay.h - repeat a saved crawl in memory.
 *
 * Each page in the file is processed as if its answer had just arrived. After that, the
 * crawl is in the same state as when the last page was saved, and all reports have
 * received all records.
 */
#ifndef CRAWLER_REPLAY_H
#define CRAWLER_REPLAY_H

#include "../fetch/answer.h"
#include "../saved/saved_urls.h"
#include "crawl.h"

/*
 * Process the pages of crawler->saving.earlier. Before the call, the starts must be
 * enqueued and noted (see frontier_note_only()). After it, the noted targets are those
 * that still have to be fetched. Returns 0, -ECANCELED, -ENOMEM, -EBADMSG, or the error
 * of the file or of a sink. If the file fails, crawler->result.complaint is the error
 * message.
 */
COIL_SUSPENDS int replay(struct crawler *crawler);

/* Convert a saved page into an answer, whose strings point into the page. */
void replay_answer(const struct store_page *page, struct answer *answer);

#endif
