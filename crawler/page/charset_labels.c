/*
 * charset_labels.c - the labels of encodings that browsers support, with the names that
 * iconv(3) uses.
 *
 * Labels cannot simply be passed to iconv(3), because it supports encodings that browsers
 * do not, such as UTF-7, UTF-32, EBCDIC and ISO-2022-KR, and because some labels mean a
 * superset of the encoding that they name: "iso-8859-1" means Windows-1252. (WHATWG:
 * encodings, names and labels)
 */
#include "charset.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *labels; /* name: "" for UTF-8 */
} encodings[] = {
    {"", "utf-8 utf8 unicode11utf8 unicode20utf8 x-unicode20utf8 unicode-1-1-utf-8"},
    {"windows-1252",
     "windows-1252 l1 ascii cp819 cp1252 ibm819 latin1 iso88591 us-ascii x-cp1252 "
     "iso8859-1 iso-8859-1 iso-ir-100 iso_8859-1 csisolatin1 ansi_x3.4-1968 "
     "iso_8859-1:1987"},
    {"big5-hkscs", "big5 csbig5 cn-big5 x-x-big5 big5-hkscs"},
    {"euc-jp", "euc-jp x-euc-jp cseucpkdfmtjapanese"},
    {"cp949",
     "euc-kr korean cseuckr ksc5601 ksc_5601 iso-ir-149 windows-949 csksc56011987 "
     "ks_c_5601-1987 ks_c_5601-1989"},
    {"gb18030", "gb18030"},
    {"gb18030", "gbk x-gbk gb2312 chinese gb_2312 csgb2312 iso-ir-58 gb_2312-80 "
                "csiso58gb231280"},
    {"ibm866", "ibm866 866 cp866 csibm866"},
    {"iso-2022-jp", "iso-2022-jp csiso2022jp"},
    {"iso-8859-10", "iso-8859-10 l6 latin6 iso885910 iso-ir-157 iso8859-10 csisolatin6"},
    {"iso-8859-13", "iso-8859-13 iso885913 iso8859-13"},
    {"iso-8859-14", "iso-8859-14 iso885914 iso8859-14"},
    {"iso-8859-15", "iso-8859-15 l9 iso885915 iso8859-15 csisolatin9 iso_8859-15"},
    {"iso-8859-16", "iso-8859-16"},
    {"iso-8859-2",
     "iso-8859-2 l2 latin2 iso88592 iso8859-2 iso-ir-101 iso_8859-2 csisolatin2 "
     "iso_8859-2:1987"},
    {"iso-8859-3",
     "iso-8859-3 l3 latin3 iso88593 iso8859-3 iso-ir-109 iso_8859-3 csisolatin3 "
     "iso_8859-3:1988"},
    {"iso-8859-4",
     "iso-8859-4 l4 latin4 iso88594 iso8859-4 iso-ir-110 iso_8859-4 csisolatin4 "
     "iso_8859-4:1988"},
    {"iso-8859-5",
     "iso-8859-5 cyrillic iso88595 iso8859-5 iso-ir-144 iso_8859-5 iso_8859-5:1988 "
     "csisolatincyrillic"},
    {"iso-8859-6",
     "iso-8859-6 arabic asmo-708 ecma-114 iso88596 iso8859-6 iso-ir-127 iso_8859-6 "
     "csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i iso_8859-6:1987 "
     "csisolatinarabic"},
    {"iso-8859-7",
     "iso-8859-7 greek greek8 ecma-118 elot_928 iso88597 iso8859-7 iso-ir-126 "
     "iso_8859-7 sun_eu_greek csisolatingreek iso_8859-7:1987"},
    {"iso-8859-8", "iso-8859-8 hebrew visual iso88598 iso8859-8 iso-ir-138 iso_8859-8 "
                   "csiso88598e iso-8859-8-e iso_8859-8:1988 csisolatinhebrew"},
    {"iso-8859-8", "iso-8859-8-i logical csiso88598i"},
    {"koi8-r", "koi8-r koi koi8 koi8_r cskoi8r"},
    {"koi8-u", "koi8-u koi8-ru"},
    {"macintosh", "macintosh mac csmacintosh x-mac-roman"},
    {"cp932", "shift_jis sjis x-sjis ms_kanji shift-jis csshiftjis windows-31j"},
    {"utf-16be", "utf-16be unicodefffe"},
    {"utf-16le", "utf-16le ucs-2 utf-16 unicode csunicode unicodefeff iso-10646-ucs-2"},
    {"windows-1250", "windows-1250 cp1250 x-cp1250"},
    {"windows-1251", "windows-1251 cp1251 x-cp1251"},
    {"windows-1253", "windows-1253 cp1253 x-cp1253"},
    {"windows-1254",
     "windows-1254 l5 cp1254 latin5 iso88599 x-cp1254 iso8859-9 iso-8859-9 "
     "iso-ir-148 iso_8859-9 csisolatin5 iso_8859-9:1989"},
    {"windows-1255", "windows-1255 cp1255 x-cp1255"},
    {"windows-1256", "windows-1256 cp1256 x-cp1256"},
    {"windows-1257", "windows-1257 cp1257 x-cp1257"},
    {"windows-1258", "windows-1258 cp1258 x-cp1258"},
    {"cp874", "windows-874 dos-874 tis-620 iso885911 iso8859-11 iso-8859-11"},
    {"mac-cyrillic", "x-mac-cyrillic x-mac-ukrainian"},
};

static bool is_among(const char *label, size_t n, const char *labels)
{
    while (*labels != '\0') {
        size_t length = strcspn(labels, " ");
        if (length == n && strncasecmp(labels, label, n) == 0)
            return true;
        labels += length;
        labels += *labels == ' ';
    }
    return false;
}

const char *charset_name(const char *label, size_t n)
{
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++)
        if (is_among(label, n, encodings[i].labels))
            return encodings[i].name;
    return NULL;
}
