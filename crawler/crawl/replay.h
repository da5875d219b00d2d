/*
 * replay.h - repeat a saved crawl in memory.
 *
 * Each page of the file is processed as if its answer had come just now. Afterwards the
 * crawl knows what it knew when the last page was saved, and every report has all
 * records.
 */
#ifndef CRAWLER_REPLAY_H
#define CRAWLER_REPLAY_H

#include "../fetch/answer.h"
#include "../saved/saved_urls.h"
#include "crawl.h"

/*
 * Process the pages of crawler->saving.earlier. The starts are enqueued, and the frontier
 * has only noted them: frontier_note_only(). Afterwards it has noted the targets that are
 * left. 0, -ECANCELED, -ENOMEM, -EBADMSG, or the failure of the file or of a sink; if the
 * file fails, crawler->result.complaint is the message.
 */
COIL_SUSPENDS int replay(struct crawler *crawler);

/* The answer of a saved page. Its texts are those of the page. */
void replay_answer(const struct store_page *page, struct answer *answer);

#endif
