/* crawled.c - see crawled.h */
#include "crawled.h"

#include "../../harness/harness.h"

#include <sys/mman.h>
#include <unistd.h>

void crawled_init(struct crawled *crawled)
{
    char *const argv[] = {(char *)"coil-crawl", (char *)"http://h/", NULL};

    memset(crawled, 0, sizeof *crawled);
    CHECK_INT(options_init(&crawled->options), 0);
    CHECK_INT(options_parse(&crawled->options, 2, argv, stdout, stderr), 0);
    crawled->summary = (struct record_summary){.pages = 3,
                                               .links = 1234,
                                               .targets = 321,
                                               .bytes = 56789,
                                               .duration_ns = 120000000};
}

void crawled_finish(struct crawled *crawled)
{
    options_finish(&crawled->options);
    references_finish(&crawled->references);
    targets_finish(&crawled->targets);
}

static struct target *get(struct crawled *crawled, const char *path)
{
    char url[512];
    const char *sign;
    struct target *target;
    bool is_new;

    snprintf(url, sizeof url, "%s%s", path[0] == '/' ? "http://h" : "", path);
    sign = strchr(url, '#');
    target = targets_get(&crawled->targets, url,
                         sign != NULL ? (size_t)(sign + 1 - url) : 0, &is_new);
    if (is_new) {
        target->kind = TARGET_SITE;
        target->verdict = VERDICT_OK;
    }
    if (target->page->verdict == VERDICT_OPEN)
        target->page->verdict = VERDICT_OK;
    return target;
}

struct target *crawled_target(struct crawled *crawled, const char *path)
{
    struct target *target = get(crawled, path);

    target->is_wanted = true;
    return target;
}

struct target *crawled_bad(struct crawled *crawled, const char *path,
                           enum verdict verdict, enum reason reason, int status)
{
    struct target *target = crawled_target(crawled, path);

    target->verdict = (uint8_t)verdict;
    target->reason = (uint8_t)reason;
    target->status = (int16_t)status;
    return target;
}

struct target *crawled_missing(struct crawled *crawled, const char *path)
{
    return crawled_bad(crawled, path, VERDICT_BROKEN, REASON_STATUS, 404);
}

void crawled_link(struct crawled *crawled, struct target *target, const char *page,
                  unsigned line, unsigned column, const char *text)
{
    struct reference_place place = {.page = crawled_target(crawled, page),
                                    .text = text,
                                    .line = line,
                                    .column = column,
                                    .is_known = crawled->links_are_known};

    CHECK_INT(references_add(&crawled->references, &crawled->targets, target, &place), 0);
}

static struct out out;
static char content[1 << 16];

struct out *crawled_out(void)
{
    CHECK_INT(out_open_fd(&out, memfd_create("report", MFD_CLOEXEC), "memory"), 0);
    return &out;
}

const char *crawled_written(void)
{
    int fd = out.fd;
    ssize_t n;

    CHECK_INT(out_close(&out), 0);
    n = pread(fd, content, sizeof content - 1, 0);
    content[n > 0 ? n : 0] = '\0';
    close(fd);
    return content;
}
