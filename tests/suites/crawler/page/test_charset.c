#include "../../../../crawler/page/charset.h"
#include "../../../harness/harness.h"

static const char *name_of(const char *label)
{
    return charset_name(label, strlen(label));
}

TEST(charset_labels_with_the_numbers_of_their_registration)
{
    static const char *const rows[][2] = {
        {"iso-ir-58", "gb18030"},     {"iso-ir-100", "windows-1252"},
        {"iso-ir-101", "iso-8859-2"}, {"iso-ir-109", "iso-8859-3"},
        {"iso-ir-110", "iso-8859-4"}, {"iso-ir-126", "iso-8859-7"},
        {"iso-ir-127", "iso-8859-6"}, {"iso-ir-138", "iso-8859-8"},
        {"iso-ir-144", "iso-8859-5"}, {"iso-ir-148", "windows-1254"},
        {"iso-ir-149", "cp949"},      {"iso-ir-157", "iso-8859-10"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(name_of(rows[i][0]), rows[i][1]);
}

TEST(charset_labels_in_any_case)
{
    CHECK_STR(name_of("UTF-8"), "");
    CHECK_STR(name_of("Latin1"), "windows-1252");
    CHECK_STR(name_of("SJIS"), "cp932");
}

TEST(charset_labels_that_browsers_do_not_know)
{
    static const char *const labels[] = {"",      " ",      "iso-",      "ir-148",
                                         "utf-7", "utf-32", "latin1 l1", "iso-8859-1\n"};

    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        CHECK_PTR((void *)name_of(labels[i]), NULL);
}

static void check_declared(const char *html, const char *label, bool is_declared)
{
    struct charset charset;

    CHECK_INT(charset_of(&charset, NULL, html, strlen(html)), 0);
    CHECK_STR(charset.label, label);
    CHECK_INT(charset.is_declared, is_declared);
}

/*
 * The encoding in an XML declaration applies if nothing else declares an encoding (HTML
 * standard: "get an XML encoding").
 */
TEST(charset_of_an_xml_declaration_counts_if_nothing_else_does)
{
    check_declared("<?xml version='1.0' encoding='iso-8859-2'?><p>", "iso-8859-2", true);
    check_declared("<?xml encoding \n= \"windows-1251\" ?>", "windows-1251", true);
    check_declared("<?xml encoding='iso-8859-2'?><meta charset=windows-1251>",
                   "windows-1251", true);
    check_declared("<?xml encoding='utf-16le'?>", "", true);
    check_declared("<?xml encoding='no-such'?>", "", false);
    check_declared("<?xml encoding=big5?>", "", false);
    check_declared("<?xml encoding='big5?>", "", false);
    check_declared("<?xml?><p encoding='iso-8859-2'>", "", false);
    check_declared(" <?xml encoding='iso-8859-2'?>", "", false);
    check_declared("<?xml encoding", "", false);
}
