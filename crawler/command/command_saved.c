/*
 * command_saved.c - coil-crawl resume, recheck and report: use a saved crawl.
 */
#include "command_saved.h"

#include "command_crawl.h"
#include "notice.h"

#include <errno.h>
#include <stdio.h>

int command_saved_options(struct options *options, const struct options *now,
                          const struct saved_crawl *saved)
{
    const struct store_setup *setup = saved_crawl_setup(saved);
    struct text_list settings = {setup->settings.at, setup->settings.count};
    struct text_list starts = {setup->starts.at, setup->starts.count};
    int rc = options_init(options);

    return rc == 0 ? options_restore(options, now, &settings, &starts, stderr) : rc;
}

enum exit_status command_saved(const struct options *now)
{
    struct options options = {0};
    struct saved_crawl saved;
    char *message;
    enum exit_status status = STATUS_USAGE;
    int rc = saved_crawl_open(&saved, now->command, now->state, now->state_interval_ns,
                              &message);

    if (rc < 0) {
        notice_failure(message, rc);
        saved_crawl_close(&saved, false, &message);
        return rc == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
    }
    if (saved.notice != NULL) {
        notice_failure(saved.notice, 0);
        saved.notice = NULL;
    }
    rc = command_saved_options(&options, now, &saved);
    if (rc == -ENOMEM)
        /* the option parser has printed a message for any other error */
        notice_failure(NULL, rc);
    if (rc == 0)
        status = command_crawl_with(&options, &saved);
    else
        saved_crawl_close(&saved, false, &message);
    options_finish(&options);
    return rc == -ENOMEM ? STATUS_FAILED : status;
}
