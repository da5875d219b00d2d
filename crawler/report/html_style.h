/*
 * html_style.h - the style sheet and the script of the HTML report.
 *
 * The report's Content-Security-Policy allows only this style sheet and this script,
 * identified by their SHA-256 hashes. So even if untrusted text became a tag, it could
 * not run anything. If the style sheet or the script changes,
 * tests/suites/crawler/test_formats.py prints the new hashes.
 */
#ifndef CRAWLER_HTML_STYLE_H
#define CRAWLER_HTML_STYLE_H

#define HTML_STYLE_HASH "sha256-scFk2+mUVuX91YGr0C+XTqrh7T9FX56qFyazNNrsfTY="
#define HTML_SCRIPT_HASH "sha256-fOkr7sYF1kMs7xckC5RCG0xjcfbSJeoW28NL3kiJJPk="

extern const char *const html_style[]; /* pieces of text, NULL at the end */
extern const char *const html_script[];

#endif
