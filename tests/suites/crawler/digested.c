/* digested.c - see digested.h */
#include "digested.h"

#include "../../harness/harness.h"

#include <sys/mman.h>
#include <unistd.h>

void digested_init(struct digested *digested)
{
    char *const argv[] = {(char *)"coil-crawl", (char *)"--no-config",
                          (char *)"http://h/", NULL};

    memset(digested, 0, sizeof *digested);
    CHECK_INT(options_init(&digested->options), 0);
    CHECK_INT(options_parse(&digested->options, 3, argv, stdout, stderr), 0);
    digest_init(&digested->digest, &digested->options, 1795356000);
    digested->sink = digest_sink(&digested->digest);
}

void digested_finish(struct digested *digested)
{
    digest_finish(&digested->digest);
    options_finish(&digested->options);
}

void digested_link(struct digested *digested, const char *page, unsigned line,
                   unsigned column, const char *text, const char *target,
                   const char *fragment)
{
    struct record_link link = {.page = page,
                               .text = text,
                               .element = "a",
                               .attribute = "href",
                               .line = line,
                               .column = column,
                               .target = target,
                               .fragment = fragment};

    CHECK_INT(digested->sink.link(digested->sink.arg, &link), 0);
}

void digested_verdict(struct digested *digested, const char *target, const char *fragment,
                      enum verdict verdict, enum reason reason, int status,
                      const char *message)
{
    struct record_verdict record = {.target = target,
                                    .fragment = fragment,
                                    .verdict = verdict,
                                    .reason = reason,
                                    .status = status,
                                    .message = message};

    CHECK_INT(digested->sink.verdict(digested->sink.arg, &record), 0);
    digested->targets++;
    digested->findings += digested->options.fail_on[verdict];
}

void digested_missing(struct digested *digested, const char *target)
{
    digested_verdict(digested, target, NULL, VERDICT_BROKEN, REASON_STATUS, 404,
                     "404 Not Found");
}

void digested_redirect(struct digested *digested, const char *url, int status,
                       const char *target)
{
    struct record_redirect record = {
        .url = url, .location = target, .status = status, .target = target};

    CHECK_INT(digested->sink.redirect(digested->sink.arg, &record), 0);
}

void digested_page(struct digested *digested, const char *url)
{
    struct record_page record = {.url = url, .status = 200, .searched = true};

    CHECK_INT(digested->sink.page(digested->sink.arg, &record), 0);
}

void digested_end(struct digested *digested, int exit_status)
{
    struct record_summary summary = {.urls = 7,
                                     .pages = 3,
                                     .links = 50,
                                     .targets = digested->targets,
                                     .verdict_urls = {[VERDICT_BROKEN] = 20},
                                     .verdict_links = {[VERDICT_BROKEN] = 40},
                                     .findings = digested->findings,
                                     .finding_links = 41,
                                     .bytes = 56789,
                                     .duration_ns = 1500000000,
                                     .exit_status = exit_status};

    CHECK_INT(digested->sink.summary(digested->sink.arg, &summary), 0);
    CHECK_INT(digest_arrange(&digested->digest), 0);
}

static char content[1 << 24];

const char *digested_report(struct digested *digested,
                            int (*write)(struct out *out, const struct digest *digest))
{
    int fd = memfd_create("report", MFD_CLOEXEC);
    struct out out;
    ssize_t n;

    digested_end(digested, 2);
    CHECK_INT(out_open_fd(&out, fd, "memory"), 0);
    CHECK_INT(write(&out, &digested->digest), 0);
    CHECK_INT(out_close(&out), 0);
    n = pread(fd, content, sizeof content - 1, 0);
    content[n > 0 ? n : 0] = '\0';
    close(fd);
    return content;
}
