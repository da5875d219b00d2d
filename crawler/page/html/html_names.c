/*
 * html_names.c - hash tables of the elements and attributes that matter to coil-crawl.
 *
 * The key of a name consists of its last eight bytes, so it is the whole name if the name
 * is short. The tokenizer computes the key while it reads the name. The tables are built
 * once.
 */
#include "html_names.h"

#include <pthread.h>
#include <string.h>

/* clang-format off */
const struct html_known html_elements[ELEMENT_COUNT] = {
    [ELEMENT_A] = {"a", 0, HTML_DATA},
    [ELEMENT_ADDRESS] = {"address", 0, HTML_DATA},
    [ELEMENT_ANNOTATION_XML] = {"annotation-xml", 0, HTML_DATA},
    [ELEMENT_APPLET] = {"applet", RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_AREA] = {"area", IS_VOID | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_ARTICLE] = {"article", 0, HTML_DATA},
    [ELEMENT_ASIDE] = {"aside", 0, HTML_DATA},
    [ELEMENT_AUDIO] = {"audio", 0, HTML_DATA},
    [ELEMENT_B] = {"b", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_BASE] = {"base", IS_VOID | STAYS_IN_HEAD, HTML_DATA},
    [ELEMENT_BASEFONT] = {"basefont", IS_VOID | STAYS_IN_HEAD, HTML_DATA},
    [ELEMENT_BGSOUND] = {"bgsound", IS_VOID | STAYS_IN_HEAD, HTML_DATA},
    [ELEMENT_BIG] = {"big", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_BLOCKQUOTE] = {"blockquote", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_BODY] = {"body", LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_BR] = {"br", IS_VOID | LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_BUTTON] = {"button", RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_CAPTION] = {"caption", IS_OF_TABLE, HTML_DATA},
    [ELEMENT_CENTER] = {"center", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_CODE] = {"code", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_COL] = {"col", IS_VOID, HTML_DATA},
    [ELEMENT_COLGROUP] = {"colgroup", 0, HTML_DATA},
    [ELEMENT_DD] = {"dd", LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_DESC] = {"desc", 0, HTML_DATA},
    [ELEMENT_DETAILS] = {"details", 0, HTML_DATA},
    [ELEMENT_DIALOG] = {"dialog", 0, HTML_DATA},
    [ELEMENT_DIR] = {"dir", 0, HTML_DATA},
    [ELEMENT_DIV] = {"div", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_DL] = {"dl", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_DT] = {"dt", LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_EM] = {"em", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_EMBED] = {"embed", IS_VOID | LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_FIELDSET] = {"fieldset", 0, HTML_DATA},
    [ELEMENT_FIGCAPTION] = {"figcaption", 0, HTML_DATA},
    [ELEMENT_FIGURE] = {"figure", 0, HTML_DATA},
    [ELEMENT_FONT] = {"font", 0, HTML_DATA},
    [ELEMENT_FOOTER] = {"footer", 0, HTML_DATA},
    [ELEMENT_FOREIGNOBJECT] = {"foreignobject", 0, HTML_DATA},
    [ELEMENT_FORM] = {"form", HAS_RULES, HTML_DATA},
    [ELEMENT_FRAME] = {"frame", IS_VOID | HAS_RULES, HTML_DATA},
    [ELEMENT_FRAMESET] = {"frameset", STAYS_IN_HEAD | HAS_RULES, HTML_DATA},
    [ELEMENT_H1] = {"h1", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_H2] = {"h2", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_H3] = {"h3", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_H4] = {"h4", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_H5] = {"h5", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_H6] = {"h6", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_HEAD] = {"head", LEAVES_FOREIGN | STAYS_IN_HEAD, HTML_DATA},
    [ELEMENT_HEADER] = {"header", 0, HTML_DATA},
    [ELEMENT_HR] = {"hr", IS_VOID | LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_HTML] = {"html", STAYS_IN_HEAD, HTML_DATA},
    [ELEMENT_I] = {"i", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_IFRAME] = {"iframe", RULES_OUT_FRAMES, HTML_RAWTEXT},
    [ELEMENT_IMAGE] = {"image", IS_VOID | RULES_OUT_FRAMES | HAS_RULES, HTML_DATA},
    [ELEMENT_IMG] = {"img", IS_VOID | LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_INPUT] = {"input", IS_VOID | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_KEYGEN] = {"keygen", IS_VOID | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_LABEL] = {"label", 0, HTML_DATA},
    [ELEMENT_LI] = {"li", LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_LINK] = {"link", IS_VOID | STAYS_IN_HEAD, HTML_DATA},
    [ELEMENT_LISTING] = {"listing", LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_MAIN] = {"main", 0, HTML_DATA},
    [ELEMENT_MALIGNMARK] = {"malignmark", 0, HTML_DATA},
    [ELEMENT_MARQUEE] = {"marquee", RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_MATH] = {"math", HAS_RULES, HTML_DATA},
    [ELEMENT_MENU] = {"menu", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_META] = {"meta", IS_VOID | LEAVES_FOREIGN | STAYS_IN_HEAD, HTML_DATA},
    [ELEMENT_MGLYPH] = {"mglyph", 0, HTML_DATA},
    [ELEMENT_MI] = {"mi", 0, HTML_DATA},
    [ELEMENT_MN] = {"mn", 0, HTML_DATA},
    [ELEMENT_MO] = {"mo", 0, HTML_DATA},
    [ELEMENT_MS] = {"ms", 0, HTML_DATA},
    [ELEMENT_MTEXT] = {"mtext", 0, HTML_DATA},
    [ELEMENT_NAV] = {"nav", 0, HTML_DATA},
    [ELEMENT_NOBR] = {"nobr", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_NOEMBED] = {"noembed", 0, HTML_RAWTEXT},
    [ELEMENT_NOFRAMES] = {"noframes", STAYS_IN_HEAD, HTML_RAWTEXT},
    [ELEMENT_NOSCRIPT] = {"noscript", STAYS_IN_HEAD, HTML_DATA},
    [ELEMENT_OBJECT] = {"object", RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_OL] = {"ol", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_OPTGROUP] = {"optgroup", 0, HTML_DATA},
    [ELEMENT_OPTION] = {"option", 0, HTML_DATA},
    [ELEMENT_P] = {"p", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_PARAM] = {"param", IS_VOID, HTML_DATA},
    [ELEMENT_PLAINTEXT] = {"plaintext", 0, HTML_PLAINTEXT},
    [ELEMENT_PRE] = {"pre", LEAVES_FOREIGN | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_RUBY] = {"ruby", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_S] = {"s", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_SCRIPT] = {"script", STAYS_IN_HEAD, HTML_SCRIPT},
    [ELEMENT_SECTION] = {"section", 0, HTML_DATA},
    [ELEMENT_SELECT] = {"select", RULES_OUT_FRAMES | HAS_RULES, HTML_DATA},
    [ELEMENT_SMALL] = {"small", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_SOURCE] = {"source", IS_VOID, HTML_DATA},
    [ELEMENT_SPAN] = {"span", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_STRIKE] = {"strike", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_STRONG] = {"strong", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_STYLE] = {"style", STAYS_IN_HEAD, HTML_RAWTEXT},
    [ELEMENT_SUB] = {"sub", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_SUP] = {"sup", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_SVG] = {"svg", HAS_RULES, HTML_DATA},
    [ELEMENT_TABLE] = {"table", LEAVES_FOREIGN | RULES_OUT_FRAMES | IS_OF_TABLE, HTML_DATA},
    [ELEMENT_TBODY] = {"tbody", IS_OF_TABLE, HTML_DATA},
    [ELEMENT_TD] = {"td", IS_OF_TABLE, HTML_DATA},
    [ELEMENT_TEMPLATE] = {"template", STAYS_IN_HEAD | HAS_RULES, HTML_DATA},
    [ELEMENT_TEXTAREA] = {"textarea", RULES_OUT_FRAMES, HTML_RCDATA},
    [ELEMENT_TFOOT] = {"tfoot", IS_OF_TABLE, HTML_DATA},
    [ELEMENT_TH] = {"th", IS_OF_TABLE, HTML_DATA},
    [ELEMENT_THEAD] = {"thead", IS_OF_TABLE, HTML_DATA},
    [ELEMENT_TITLE] = {"title", STAYS_IN_HEAD, HTML_RCDATA},
    [ELEMENT_TR] = {"tr", IS_OF_TABLE, HTML_DATA},
    [ELEMENT_TRACK] = {"track", IS_VOID, HTML_DATA},
    [ELEMENT_TT] = {"tt", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_U] = {"u", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_UL] = {"ul", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_USE] = {"use", HAS_RULES, HTML_DATA},
    [ELEMENT_VAR] = {"var", LEAVES_FOREIGN, HTML_DATA},
    [ELEMENT_VIDEO] = {"video", 0, HTML_DATA},
    [ELEMENT_WBR] = {"wbr", IS_VOID | RULES_OUT_FRAMES, HTML_DATA},
    [ELEMENT_XMP] = {"xmp", RULES_OUT_FRAMES, HTML_RAWTEXT},
};

static const struct html_known attributes[ATTRIBUTE_COUNT] = {
    [ATTRIBUTE_ACTION] = {"action", 0, HTML_DATA},
    [ATTRIBUTE_BACKGROUND] = {"background", 0, HTML_DATA},
    [ATTRIBUTE_COLOR] = {"color", 0, HTML_DATA},
    [ATTRIBUTE_CONTENT] = {"content", 0, HTML_DATA},
    [ATTRIBUTE_DATA] = {"data", 0, HTML_DATA},
    [ATTRIBUTE_ENCODING] = {"encoding", 0, HTML_DATA},
    [ATTRIBUTE_FACE] = {"face", 0, HTML_DATA},
    [ATTRIBUTE_FORMACTION] = {"formaction", 0, HTML_DATA},
    [ATTRIBUTE_FORMMETHOD] = {"formmethod", 0, HTML_DATA},
    [ATTRIBUTE_HREF] = {"href", 0, HTML_DATA},
    [ATTRIBUTE_HTTP_EQUIV] = {"http-equiv", 0, HTML_DATA},
    [ATTRIBUTE_ID] = {"id", 0, HTML_DATA},
    [ATTRIBUTE_IMAGESRCSET] = {"imagesrcset", 0, HTML_DATA},
    [ATTRIBUTE_METHOD] = {"method", 0, HTML_DATA},
    [ATTRIBUTE_NAME] = {"name", 0, HTML_DATA},
    [ATTRIBUTE_POSTER] = {"poster", 0, HTML_DATA},
    [ATTRIBUTE_REL] = {"rel", 0, HTML_DATA},
    [ATTRIBUTE_SHADOWROOTMODE] = {"shadowrootmode", 0, HTML_DATA},
    [ATTRIBUTE_SIZE] = {"size", 0, HTML_DATA},
    [ATTRIBUTE_SRC] = {"src", 0, HTML_DATA},
    [ATTRIBUTE_SRCDOC] = {"srcdoc", 0, HTML_DATA},
    [ATTRIBUTE_SRCSET] = {"srcset", 0, HTML_DATA},
    [ATTRIBUTE_STYLE] = {"style", 0, HTML_DATA},
    [ATTRIBUTE_TYPE] = {"type", 0, HTML_DATA},
    [ATTRIBUTE_XLINK_HREF] = {"xlink:href", 0, HTML_DATA},
};
/* clang-format on */

struct html_index html_element_index = {.all = html_elements, .count = ELEMENT_COUNT};
struct html_index html_attribute_index = {.all = attributes, .count = ATTRIBUTE_COUNT};

static uint64_t key_of(const char *name)
{
    uint64_t key = 0;

    for (; *name != '\0'; name++)
        key = html_name_key(key, *name);
    return key;
}

static void make_index(struct html_index *index)
{
    for (size_t i = 1; i < index->count; i++) {
        uint64_t key = key_of(index->all[i].name);
        size_t at = html_name_slot(key);
        for (; index->slots[at].which != 0; at = (at + 1) % HTML_NAME_SLOTS)
            index->slots[at].is_passed = true;
        index->slots[at].key = key;
        index->slots[at].n = (uint8_t)strlen(index->all[i].name);
        index->slots[at].which = (uint8_t)i;
    }
}

static void make_indexes(void)
{
    make_index(&html_element_index);
    make_index(&html_attribute_index);
}

void html_names_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_indexes);
}

/*
 * True if two names of 9 to 16 bytes with equal keys are equal. The key contains the last
 * eight bytes, so only the first eight need to be compared.
 */
static bool begin_alike(const char *a, const char *b)
{
    uint64_t one, other;

    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return one == other;
}

static bool is_named(const struct html_index *index, size_t at,
                     const struct html_name *name)
{
    return index->slots[at].key == name->key && index->slots[at].n == name->n &&
           (name->n <= 8 ||
            begin_alike(index->all[index->slots[at].which].name, name->bytes));
}

unsigned html_name_find(const struct html_index *index, const struct html_name *name)
{
    size_t at = html_name_slot(name->key);

    while (index->slots[at].which != 0 && !is_named(index, at, name))
        at = (at + 1) % HTML_NAME_SLOTS;
    return index->slots[at].which;
}

const char *html_element_name(enum html_element element)
{
    return html_elements[element].name;
}

const char *html_attribute_name(enum html_attribute attribute)
{
    return attributes[attribute].name;
}
