/*
 * fuzz_dns_answer.c - checks that parsing any packet from a name server yields either
 * addresses or an error.
 */
#include "fuzz.h"

#include "../src/base/base.h"
#include "../src/names/dns_answer.h"

static void parse(enum coil__question_kind kind, const uint8_t *packet, size_t n)
{
    struct coil__answer answer = {.rc = 0};
    int status = coil__dns_parse(kind, packet, (int)n, &answer);

    if (status == 0)
        CLAIM(answer.count > 0 && answer.addresses != NULL && answer.name != NULL);
    else
        CLAIM(answer.addresses == NULL && answer.name == NULL);
    CLAIM(answer.ttl_ns >= 0);
    coil__free(answer.addresses);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *packet;
    int64_t ttl;

    if (size > 65535)
        return 0;
    packet = fuzz_bytes(data, size);
    parse(COIL__ASK_V4, packet, size);
    parse(COIL__ASK_V6, packet, size);
    ttl = coil__dns_negative_ttl(packet, (int)size);
    CLAIM(ttl >= 0 && ttl <= COIL_SEC(60));
    free(packet);
    return 0;
}
