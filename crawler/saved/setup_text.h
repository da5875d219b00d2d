/*
 * setup_text.h - what a crawl is begun with, as one text: for those who share it.
 *
 *     setup_text_write(&text, &settings, &starts);
 *
 *     rc = setup_text_read(text, &setup);
 *     ... setup.settings, setup.starts ...
 *     setup_text_finish(&setup);
 *
 * Two texts are the same if what is in them is.
 */
#ifndef CRAWLER_SETUP_TEXT_H
#define CRAWLER_SETUP_TEXT_H

#include "../base/text.h"
#include "store.h"

/* Append it, with a NUL at its end. What memory is missing for is seen at the end: text->failed. */
void setup_text_write(struct text *text, const struct store_texts *settings,
                      const struct store_texts *starts);

struct setup_text {
    struct store_texts settings, starts; /* copies */
};

/* 0, -EBADMSG or -ENOMEM; finish it in any case. */
int setup_text_read(const char *text, struct setup_text *out);

/* Zeroes are accepted. */
void setup_text_finish(struct setup_text *setup);

#endif
