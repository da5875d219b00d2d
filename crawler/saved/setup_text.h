/*
 * setup_text.h - encode the options and start URLs of a crawl as one text, which the
 * processes of a shared crawl compare.
 *
 *     setup_text_write(&text, &settings, &starts);
 *
 *     rc = setup_text_read(text, &setup);
 *     ... setup.settings, setup.starts ...
 *     setup_text_finish(&setup);
 *
 * Equal inputs produce equal texts.
 */
#ifndef CRAWLER_SETUP_TEXT_H
#define CRAWLER_SETUP_TEXT_H

#include "../base/text.h"
#include "store.h"

/* Append the text and a NUL. If memory runs out, text->failed is set. */
void setup_text_write(struct text *text, const struct store_texts *settings,
                      const struct store_texts *starts);

struct setup_text {
    struct store_texts settings, starts; /* copies */
};

/*
 * Decode a text. Fails with -EBADMSG if the text is invalid, or with -ENOMEM.
 * setup_text_finish() must be called even after an error.
 */
int setup_text_read(const char *text, struct setup_text *out);

/* Free the setup. A zeroed struct is accepted. */
void setup_text_finish(struct setup_text *setup);

#endif
