// SPDX-License-Identifier: Apache-2.0
// SHA-256 gives the digests that NIST published, and those of Python's hashlib around the ends of
// blocks, however the bytes are cut.
#include "runtime/base/hash/sha256.h"
#include "tests/unit.h"

static void check(const char *text, size_t count, size_t part, const char *wanted) {
    qdq_sha256 hash;
    unsigned char digest[QDQ_SHA256_BYTES];
    char hex[2 * QDQ_SHA256_BYTES + 1] = "";
    size_t length = strlen(text);
    qdq_sha256_begin(&hash);
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < length; at += part)
            qdq_sha256_add(&hash, text + at, length - at < part ? length - at : part);
    qdq_sha256_end(&hash, digest);
    for (size_t i = 0; i < QDQ_SHA256_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, wanted);
}

static void nist_vectors_have_their_digests(void **state) {
    (void)state;
    check("", 1, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 1, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, 100,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check("aaaaaaaaaa", 100000, 10,
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void the_ends_of_blocks_are_padded(void **state) {
    (void)state;
    check("a", 55, 1, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    check("a", 56, 1, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    check("a", 63, 1, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    check("a", 64, 1, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    check("a", 65, 1, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
}

static void parts_of_any_size_give_the_same_digest(void **state) {
    const char *text = "The quick brown fox jumps over the lazy dog";
    (void)state;
    for (size_t part = 1; part < 50; part++)
        check(text, 1, part, "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nist_vectors_have_their_digests),
        cmocka_unit_test(the_ends_of_blocks_are_padded),
        cmocka_unit_test(parts_of_any_size_give_the_same_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
