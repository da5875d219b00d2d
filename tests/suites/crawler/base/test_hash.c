#include "../../../../crawler/base/hash.h"
#include "../../../harness/harness.h"

TEST(hash_is_of_the_bytes_wherever_they_lie)
{
    char bytes[80];

    for (size_t n = 0; n < 40; n++) {
        memset(bytes, 0, sizeof bytes);
        memset(bytes, 'x', n);
        memcpy(bytes + 41, bytes, 39);
        CHECK_INT(hash_bytes(bytes, n, 7), hash_bytes(bytes + 41, n < 39 ? n : 39, 7));
    }
}

TEST(hash_of_each_length_bit_and_seed_is_another)
{
    char bytes[64] = {0};
    uint64_t seen[64 + 512 + 2];
    size_t count = 0;

    for (size_t n = 0; n < 64; n++)
        seen[count++] = hash_bytes(bytes, n, 7);
    for (size_t bit = 0; bit < 512; bit++) {
        bytes[bit / 8] = (char)(1 << bit % 8);
        seen[count++] = hash_bytes(bytes, 64, 7);
        bytes[bit / 8] = 0;
    }
    seen[count++] = hash_bytes(bytes, 64, 8);
    seen[count++] = hash_bytes(bytes, 64, 9);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (seen[i] == seen[j])
                CHECK(seen[i] != seen[j]);
}

/* The file of a saved crawl contains hashes of ids, so they must not change. */
TEST(hash_is_the_same_in_all_versions)
{
    static const struct {
        const char *id;
        uint64_t hash;
    } ids[] = {
        {"", 0x94ef9dd1b278fcf8},           {"id", 0x5f1cad20b351ed0e},
        {"chapter", 0xf6cda93a7af66a54},    {"chapter1", 0xb67073baab08e632},
        {"chapter-12", 0x72e68458f8f4f332}, {"a/long/identifier-1", 0x8533c7ad3a4a7e6d}};

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        CHECK(hash_bytes(ids[i].id, strlen(ids[i].id), 7) == ids[i].hash);
}

/*
 * The lowest bits of a hash, which select a slot of a hash table, must differ even for
 * similar keys.
 */
TEST(hash_of_similar_urls_is_spread_evenly)
{
    enum { BUCKETS = 256, KEYS = 25600 };
    unsigned counts[BUCKETS] = {0};

    for (int i = 0; i < KEYS; i++) {
        char url[64];
        int n = snprintf(url, sizeof url, "http://www.example.org/index.html?page=%d", i);
        counts[hash_bytes(url, (size_t)n, 1) % BUCKETS]++;
    }
    for (int i = 0; i < BUCKETS; i++)
        if (counts[i] < KEYS / BUCKETS / 2 || counts[i] > KEYS / BUCKETS * 2)
            CHECK_INT(counts[i], KEYS / BUCKETS);
}

TEST(hash_seed_is_another_each_time)
{
    CHECK(hash_seed() != hash_seed());
}
