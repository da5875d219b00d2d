/*
 * local.h - find and read web pages and Markdown in local folders as a server would.
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
    const struct options *options; /* for base_url, index_files and clean_urls */
    char *root_url; /* URL of the root folder, to which "/" refers; ends in "/" */
    /* URL at which the root folder will be served, ending in "/"; or NULL */
    char *base_url;
};

/*
 * Initialize the struct. `start` is the file or folder to check. The root folder is the
 * option root_dir if set, otherwise `start` or, if that is a file, its folder. Fails with
 * the errors of stat(2) or with -ENOMEM. After a failure, do not call local_finish().
 * Blocks the thread briefly.
 */
int local_init(struct local *local, const struct options *options, const char *start);
void local_finish(struct local *local);

/* ---- URLs -------------------------------------------------------------------------- */

/*
 * Return the URL of a path, without resolving symbolic links. The caller frees it.
 * Returns NULL if memory runs out or the working directory was deleted.
 */
char *local_url(const char *path);

/*
 * Return the path of a file URL, without query and fragment. The caller frees it. Fails
 * with -ENOENT if there is no such path (because of a host, an encoded slash or a NUL),
 * or with -ENOMEM.
 */
int local_path(const char *url, char **out);

/*
 * Return the base URL for the links of a file: its own URL, or the URL at which it will
 * be served. The caller frees it. Returns NULL if memory runs out.
 */
char *local_base(const struct local *local, const char *url);

/*
 * Adjust `url`, the result of resolving `reference` against local_base(). If the
 * reference leads to a local file, `url` becomes the URL of that file. As on a server,
 * "/x" is in the root folder, and "/../x" cannot leave it. "//host/x" and "//host:8443/x"
 * become https URLs. For the latter, the caller passes NULL as url->href, because file
 * URLs cannot have a port.
 *
 * Fails with -EINVAL or -ENOMEM, leaving *url unchanged.
 */
int local_rebase(const struct local *local, const char *reference, struct url *url);

/* True for a file URL outside the root folder. */
bool local_is_outside(const struct local *local, const char *url);

/* ---- files ------------------------------------------------------------------------- */

enum local_kind {
    LOCAL_FILE,
    LOCAL_FOLDER, /* a folder without an index file */
    LOCAL_PIPE,   /* a FIFO, opened only if the user named it */
    LOCAL_OTHER   /* a device or socket, never opened */
};

struct local_file {
    enum local_kind kind;
    char *path;
    /*
     * URL of the file that was found, for example the index file of a folder. Links in
     * the file are relative to this URL.
     */
    char *url;
    int64_t size;
    const char *content_type; /* string constant; NULL if the suffix is unknown */
};

/*
 * Find the file to which a URL refers: the file itself, the index file of a folder, or
 * (with clean_urls) "a.html" for "a". Fails with -ENOENT if the file does not exist, or
 * with another error of stat(2). Errors such as -EACCES, -ELOOP and -EIO do not mean that
 * the link is broken. The caller must pass *out to local_file_finish().
 */
COIL_SUSPENDS int local_find(const struct local *local, const char *url,
                             struct local_file *out);
void local_file_finish(struct local_file *file);

/* True if a folder without an index file counts as found: --index-files includes ".". */
bool local_allows_folders(const struct local *local);

/*
 * Read a LOCAL_FILE or LOCAL_PIPE, and pass its bytes to feed() in pieces. If feed()
 * returns a negative value, stop and return this value. If `feed` is NULL, only check
 * that the file is readable. Opening a pipe waits for a writer. Fails with -EFBIG if
 * there are more than `max` bytes (0: no limit), with the errors of open(2) and read(2),
 * or with -ECANCELED.
 */
COIL_SUSPENDS int local_read(const struct local_file *file, size_t max,
                             int (*feed)(const char *bytes, size_t n, void *arg),
                             void *arg);

/*
 * Return the content type for the suffix of a file name, such as "text/html", or NULL if
 * the suffix is unknown.
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
 * Call visit() for each page and style sheet in a folder and its subfolders, sorted by
 * name, until visit() returns nonzero. Hidden files and folders, node_modules and
 * symbolic links to folders are skipped. If a folder cannot be listed, visit() is called
 * with its path and a negative `rc`. Returns the last value that visit() returned,
 * -ENOMEM or -ECANCELED.
 */
COIL_SUSPENDS int local_walk(const char *folder,
                             int (*visit)(const char *path, int rc, void *arg),
                             void *arg);

#endif
