/*
 * replay.h - repeat a saved crawl in memory.
 *
 * Each page in the file is processed as if its answer had just arrived. Afterwards the
 * crawl has the state that it had when the last page was saved, and every report has
 * received all records.
 */
#ifndef CRAWLER_REPLAY_H
#define CRAWLER_REPLAY_H

#include "../fetch/answer.h"
#include "../saved/saved_urls.h"
#include "crawl.h"

/*
 * Process the pages of crawler->saving.earlier. Before the call, call
 * frontier_note_only() and enqueue the starts. After the call, the noted targets are
 * those that still have to be fetched. Returns 0, -ECANCELED, -ENOMEM, -EBADMSG, or the
 * error of the file or of a sink. If the file fails, crawler->result.complaint is set to
 * an error message.
 */
COIL_SUSPENDS int replay(struct crawler *crawler);

/* Convert a saved page into an answer. The strings of the answer point into the page. */
void replay_answer(const struct store_page *page, struct answer *answer);

#endif
