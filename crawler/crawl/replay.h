/*
 * replay.h - repeat a saved crawl in memory.
 *
 * Each page in the file is processed as if its answer had just arrived. Afterwards, the
 * crawl is in the same state as when the last page was saved, and all sinks have received
 * its records.
 */
#ifndef CRAWLER_REPLAY_H
#define CRAWLER_REPLAY_H

#include "../fetch/answer.h"
#include "../saved/saved_urls.h"
#include "crawl.h"

/*
 * Process the pages of crawler->saving.earlier. The caller first calls
 * frontier_note_only(), then enqueues the start URLs, then calls this function.
 * Afterwards, the targets that still have to be fetched are in state TARGET_NOTED.
 * Returns 0,
 * -ECANCELED, -ENOMEM, -EBADMSG, or the error of the file or of a sink. If reading the
 * file fails, crawler->result.complaint is set to an error message.
 */
COIL_SUSPENDS int replay(struct crawler *crawler);

/* Convert a saved page into an answer. The strings of the answer point into the page. */
void replay_answer(const struct store_page *page, struct answer *answer);

#endif
