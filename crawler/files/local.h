/*
 * local.h - web pages and Markdown that lie in folders, as if a server served them.
 *
 *     rc = local_init(&local, options, "site");
 *     rc = local_walk("site", visit, arg);          // visits site/a.html, site/docs/b.md, ...
 *
 *     base = local_base(&local, file.url);          // to resolve the links of a file against
 *     rc = local_rebase(&local, reference, &url);   // "/x" is site/x, and so is BASE_URL/x
 *
 *     rc = local_find(&local, url.href, &file);     // -ENOENT: there is no such file
 *     rc = local_read(&file, max_bytes, feed, arg);
 *     local_file_finish(&file);
 *
 * Files have URLs as url_parse() makes them: "file:///home/me/site/a%20b.html".
 */
#ifndef CRAWLER_LOCAL_H
#define CRAWLER_LOCAL_H

#include "../options/options.h"
#include "../url/url.h"

#include <coil/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct local {
    const struct options *options; /* borrowed: base_url, index_files, clean_urls */
    char *root_url;                /* of the folder that "/" is; ends in "/" */
    char *base_url;                /* the URL that it will have; ends in "/"; or NULL */
};

/*
 * `start` is the file or folder that is checked; its folder is what "/" means, unless root_dir says
 * otherwise. Fails as stat(2), or with -ENOMEM; then it is finished. Blocks for a moment.
 */
int local_init(struct local *local, const struct options *options, const char *start);
void local_finish(struct local *local);

/* ---- URLs -------------------------------------------------------------------------- */

/* The URL of a path, for free(); symbolic links stay. NULL without memory or working directory. */
char *local_url(const char *path);

/*
 * The path that a file's URL means, for free(), without query and fragment. -ENOENT for what
 * no path can be: another host, an encoded slash or NUL. -ENOMEM.
 */
int local_path(const char *url, char **out);

/*
 * The URL that the links of a file are relative to, for free(): its own, or the one at which it
 * will be served. NULL without memory.
 */
char *local_base(const struct local *local, const char *url);

/*
 * `reference` became `url`, relative to local_base(). If it means a file, make that its URL:
 * "/x" lies in the root folder, and no ".." leads out of it, as on a server. "//host/x" is
 * taken for https; as the URL of a file cannot have a port, "//host:8443/x" became none, and
 * url->href is NULL. 0, -EINVAL or -ENOMEM; then *url is as it was.
 */
int local_rebase(const struct local *local, const char *reference, struct url *url);

/* True for the URL of a file that is not below the root folder. */
bool local_is_outside(const struct local *local, const char *url);

/* ---- files ------------------------------------------------------------------------- */

enum local_kind {
    LOCAL_FILE,
    LOCAL_FOLDER, /* without an index file */
    LOCAL_PIPE, /* a FIFO: it is there, and must not be opened unless the user has named it */
    LOCAL_OTHER /* a device, a socket: it is there, and must not be opened */
};

struct local_file {
    enum local_kind kind;
    char *path;
    /* of this very file, whose links are relative to it: of a folder's index, say */
    char *url;
    int64_t size;
    const char *content_type; /* by its suffix, static; NULL: unknown */
};

/*
 * The file that a URL means: itself, the index file of a folder, or with clean_urls "a.html"
 * for "a". -ENOENT if there is none; whatever else stat(2) says is no statement about the
 * link (-EACCES, -ELOOP, -EIO). *out is for local_file_finish().
 */
COIL_SUSPENDS int local_find(const struct local *local, const char *url,
                             struct local_file *out);
void local_file_finish(struct local_file *file);

/* A folder without an index file is there as well: --index-files has "." */
bool local_allows_folders(const struct local *local);

/*
 * Give the bytes of a LOCAL_FILE or a LOCAL_PIPE to feed(), piece by piece, until it returns below 0, and
 * return that. -EFBIG: it has more than `max` bytes (0: no limit), of which feed() has got the
 * first. `feed` may be NULL: is it
 * readable? Waits for the other end of a pipe alone. Fails as open(2) and read(2), or with
 * -ECANCELED.
 */
COIL_SUSPENDS int local_read(const struct local_file *file, size_t max,
                             int (*feed)(const char *bytes, size_t n, void *arg),
                             void *arg);

/* "text/html", "text/markdown" and others, by the suffix of a name; NULL: unknown. */
const char *local_content_type(const char *name);

/* True for the content types of HTML and Markdown, of style sheets, and of plain text. */
bool local_is_page(const char *content_type);
bool local_is_sheet(const char *content_type);
bool local_is_text(const char *content_type);

/*
 * Call visit() for each page and style sheet in a folder and those below, in the order of their names; but for
 * what is hidden, node_modules, and folders behind symbolic links. `rc` is below 0 for a folder
 * that could not be listed. Ends when visit() returns other than 0, and returns that. -ENOMEM,
 * -ECANCELED.
 */
COIL_SUSPENDS int local_walk(const char *folder,
                             int (*visit)(const char *path, int rc, void *arg),
                             void *arg);

#endif
