/*
 * local.h - check web pages and Markdown in local folders, as if a server delivered them.
 *
 *     rc = local_init(&local, options, "site");
 *     rc = local_walk("site", visit, arg);          // visits site/a.html, ...
 *
 *     base = local_base(&local, file.url);          // the base URL of the links of a file
 *     rc = local_rebase(&local, reference, &url);   // maps "/x" and BASE_URL/x to site/x
 *
 *     rc = local_find(&local, url.href, &file);     // -ENOENT: there is no such file
 *     rc = local_read(&file, max_bytes, feed, arg);
 *     local_file_finish(&file);
 *
 * URLs of files have the form that url_parse() returns:
 * "file:///home/me/site/a%20b.html".
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
    const struct options *options; /* borrowed; uses base_url, index_files, clean_urls */
    char *root_url; /* URL of the root folder, which "/" refers to; ends in "/" */
    /* the URL at which the root folder will be served, ending in "/"; or NULL */
    char *base_url;
};

/*
 * `start` is the file or folder to check. Its folder is the root folder, unless the
 * option root_dir is set. Fails with the errors of stat(2), or with -ENOMEM; then
 * local_finish() is not needed. Blocks briefly.
 */
int local_init(struct local *local, const struct options *options, const char *start);
void local_finish(struct local *local);

/* ---- URLs -------------------------------------------------------------------------- */

/*
 * Return the URL of a path, without resolving symbolic links. The caller frees it. NULL
 * without memory or working directory.
 */
char *local_url(const char *path);

/*
 * Return the path of a file URL, ignoring query and fragment. The caller frees it. Fails
 * with -ENOENT if a path cannot express the URL (another host, an encoded slash or NUL),
 * or with -ENOMEM.
 */
int local_path(const char *url, char **out);

/*
 * Return the base URL for the links of a file: its own URL, or the URL at which it will
 * be served. The caller frees it. Returns NULL if memory runs out.
 */
char *local_base(const struct local *local, const char *url);

/*
 * Adjust `url`, the result of resolving `reference` against local_base(). If it refers to
 * a file, it becomes the URL of that file: "/x" is in the root folder, and ".." cannot
 * leave the root folder, as on a server. "//host/x" becomes an https URL. Since file URLs
 * cannot have a port, "//host:8443/x" was not parsed, and url->href is NULL; this is
 * corrected, too.
 *
 * Fails with -EINVAL or -ENOMEM, and then leaves *url unchanged.
 */
int local_rebase(const struct local *local, const char *reference, struct url *url);

/* True for a file URL outside the root folder. */
bool local_is_outside(const struct local *local, const char *url);

/* ---- files ------------------------------------------------------------------------- */

enum local_kind {
    LOCAL_FILE,
    LOCAL_FOLDER, /* a folder without an index file */
    LOCAL_PIPE, /* a FIFO: exists, but must not be opened unless the user has named it */
    LOCAL_OTHER /* a device or socket: exists, but must not be opened */
};

struct local_file {
    enum local_kind kind;
    char *path;
    /*
     * URL of the file that was found, for example of a folder's index. Its links are
     * relative to it.
     */
    char *url;
    int64_t size;
    const char *content_type; /* a constant for the file's suffix; NULL: unknown */
};

/*
 * Find the file that a URL refers to: the file itself, the index file of a folder, or
 * with clean_urls "a.html" for "a". Fails with -ENOENT if it does not exist. Other errors
 * of stat(2), such as -EACCES, -ELOOP and -EIO, do not mean that the link is broken. The
 * caller passes *out to local_file_finish().
 */
COIL_SUSPENDS int local_find(const struct local *local, const char *url,
                             struct local_file *out);
void local_file_finish(struct local_file *file);

/* True if a folder without an index file counts as found: --index-files contains ".". */
bool local_allows_folders(const struct local *local);

/*
 * Read a LOCAL_FILE or LOCAL_PIPE, passing its bytes to feed() in pieces. If feed()
 * returns a negative value, stops and returns it. Fails with -EFBIG if there are more
 * than `max` bytes (0: no limit), with the errors of open(2) and read(2), or with
 * -ECANCELED. `feed` may be NULL, to check that the file is readable. Only a pipe makes
 * the task wait for the other end.
 */
COIL_SUSPENDS int local_read(const struct local_file *file, size_t max,
                             int (*feed)(const char *bytes, size_t n, void *arg),
                             void *arg);

/*
 * Return the content type for a file name's suffix, such as "text/html"; NULL: unknown.
 */
const char *local_content_type(const char *name);

/*
 * local_is_page() is true for HTML and Markdown, local_is_sheet() for style sheets, and
 * local_is_text() for plain text.
 */
bool local_is_page(const char *content_type);
bool local_is_sheet(const char *content_type);
bool local_is_text(const char *content_type);

/*
 * Call visit() for each page and style sheet in a folder and its subfolders, in order of
 * their names. Hidden names, node_modules and symbolic links to folders are skipped. If a
 * folder cannot be listed, visit() gets its path and a negative `rc`. Stops when visit()
 * returns nonzero, and returns that value. Fails with -ENOMEM or -ECANCELED.
 */
COIL_SUSPENDS int local_walk(const char *folder,
                             int (*visit)(const char *path, int rc, void *arg),
                             void *arg);

#endif
