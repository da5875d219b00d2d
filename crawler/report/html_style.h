/*
 * html_style.h - the style and the script of the report for browsers.
 *
 * The report's policy (Content-Security-Policy) allows these two and no others, by their SHA-256: so
 * a text that slipped through as a tag would still run nothing. tests/crawler/test_formats.py
 * tells the hashes after a change.
 */
#ifndef CRAWLER_HTML_STYLE_H
#define CRAWLER_HTML_STYLE_H

#define HTML_STYLE_HASH "sha256-yknl+ukW7vVN8dGksGo2NdvOt8+usvmrU9GPb8cHXVo="
#define HTML_SCRIPT_HASH "sha256-G4a0Gejsgp21BbvEXkmQd8bSeK0OcHhozlMXC7rAOX4="

extern const char *const html_style[]; /* pieces, NULL at the end */
extern const char *const html_script[];

#endif
