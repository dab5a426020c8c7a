// SPDX-License-Identifier: Apache-2.0
// Copies of tiles without padding. Included once for each instruction set, with PIECE, the bytes
// copied at once, and the names TILES_FROM_ROWS and ROWS_FROM_TILES.
#include <stdint.h>
#include <string.h>

#include "include/qdq/tile.h"
#include "runtime/tiles/kernels/nontemporal.h"
#include "runtime/tiles/kernels/tile_copy.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__x86_64__)
#include <emmintrin.h>
#endif

enum {
    LINE = 64,  // bytes of a cache line, which stores past the cache should fill without a pause
    // Neighbouring tiles that are copied together, so that rows are read and written several lines
    // at a time. With more tiles the writes alternate between too many places.
    GROUP = 4,
};

// Copies n bytes, 16 or PIECE.
static inline void put(char *to, const char *from, size_t n, bool past_cache) {
#if defined(__AVX2__)
    if (n == PIECE) {
        __m256i piece = _mm256_loadu_si256((const __m256i *)(const void *)from);
        if (past_cache)
            _mm256_stream_si256((__m256i *)(void *)to, piece);
        else
            _mm256_storeu_si256((__m256i *)(void *)to, piece);
        return;
    }
#endif
#if defined(__x86_64__)
    if (past_cache) {
        _mm_stream_si128((__m128i *)(void *)to,
                         _mm_loadu_si128((const __m128i *)(const void *)from));
        return;
    }
#endif
    (void)past_cache;
    memcpy(to, from, n);
}

// A face row has one piece or more.
static inline size_t piece_of(size_t face_row) { return face_row < PIECE ? face_row : PIECE; }

static bool begins_a_line(const void *memory) { return (uintptr_t)memory % LINE == 0; }

// Takes the lines of [to + ahead, to + ahead + bytes) into the cache for writing, if `ahead` is not
// 0. The hardware does not foresee lines that are so far from the last ones, and a copy in L2 waits
// for them. Only lines of the same copy: others may belong to another thread.
static inline void expect(const char *to, size_t ahead, size_t bytes) {
#if defined(__AVX2__)
    for (size_t at = 0; ahead && at < bytes; at += LINE) __builtin_prefetch(to + ahead + at, 1);
#else
    (void)to, (void)ahead, (void)bytes;
#endif
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Returns how many neighbouring tiles are copied together past the cache: 2 KB of each row, so that
// the hardware foresees the rows, but not of 4 bytes, whose rows are long enough.
static inline size_t group_past_cache(size_t size) { return size > 2 ? GROUP : 64 / size; }

//---- From rows --------------------------------------------------------------

#if defined(__AVX2__)
// Copies the face rows of 4 rows of bytes to a line of the left and of the right face. Each line is
// stored at once: half a line at a time, left and right in turn, takes a quarter longer while rows
// and tiles lie in L2.
static inline void split_bytes(const char *from, size_t pitch, char *left, char *right) {
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)from);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(from + pitch));
    __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)(from + 2 * pitch));
    __m256i d = _mm256_loadu_si256((const __m256i *)(const void *)(from + 3 * pitch));
    __m256i *to = (__m256i *)(void *)left;
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(c, d, 0x20));
    to = (__m256i *)(void *)right;
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(a, b, 0x31));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(c, d, 0x31));
}
#endif

// Copies the two face rows that each of `deep` rows holds, to lines of the left and the right face.
static inline void split_rows(size_t face_row, size_t deep, const char *from, size_t pitch,
                              char *left, char *right, bool past_cache) {
    const size_t piece = piece_of(face_row);
#if defined(__AVX2__)
    if (2 * face_row == PIECE && !past_cache) {  // a piece holds two face rows, a line four
        split_bytes(from, pitch, left, right);
        return;
    }
#endif
    for (size_t k = 0; k < deep; k++)
        for (size_t at = 0; at < face_row; at += piece)
            put(left + k * face_row + at, from + k * pitch + at, piece, past_cache);
    for (size_t k = 0; k < deep; k++)
        for (size_t at = 0; at < face_row; at += piece)
            put(right + k * face_row + at, from + k * pitch + face_row + at, piece, past_cache);
}

// Fills the tiles line by line; the next tiles will be written `ahead` bytes further, if it is not
// 0. Called with constants for `size` and `past_cache`, as is copy_row. The loops need few
// instructions for a line, so that many lines are on their way at a time.
static inline void copy_group(size_t size, size_t count, const char *rows, size_t pitch,
                              char *tiles, size_t ahead, bool past_cache) {
    const size_t face_row = QDQ_FACE_DIM * size, face = QDQ_FACE_DIM * face_row;
    const size_t deep = face_row < LINE ? LINE / face_row : 1;  // face rows in a line
    for (size_t r = 0; r < QDQ_TILE_DIM; r += deep) {
        const char *from = rows + r * pitch;
        char *to = tiles + qdq_tile_offset(r, 0) * size;
        for (size_t i = 0; i < count; i++, from += 2 * face_row, to += 4 * face) {
            expect(to, ahead, deep * face_row), expect(to + face, ahead, deep * face_row);
            split_rows(face_row, deep, from, pitch, to, to + face, past_cache);
        }
    }
}

static inline void copy_group_sized(size_t size, size_t count, const char *rows, size_t pitch,
                                    char *tiles, size_t ahead, bool past_cache) {
    if (size == 8)
        copy_group(8, count, rows, pitch, tiles, ahead, past_cache);
    else if (size == 4)
        copy_group(4, count, rows, pitch, tiles, ahead, past_cache);
    else if (size == 2)
        copy_group(2, count, rows, pitch, tiles, ahead, past_cache);
    else
        copy_group(1, count, rows, pitch, tiles, ahead, past_cache);
}

void TILES_FROM_ROWS(size_t size, size_t count, const void *rows, size_t pitch, void *tiles,
                     bool past_cache) {
    _Alignas(LINE) char block[GROUP * QDQ_TILE_ELEMENTS * sizeof(uint64_t)];
    const size_t width = QDQ_TILE_DIM * size, bytes = QDQ_TILE_ELEMENTS * size;
    for (size_t i = 0, n; i < count; i += n) {
        const char *from = (const char *)rows + i * width;
        char *to = (char *)tiles + i * bytes;
        n = least(count - i, past_cache && begins_a_line(to) ? group_past_cache(size) : GROUP);
        size_t ahead = count - i >= 2 * GROUP ? GROUP * bytes : 0;
        if (!past_cache) {
            copy_group_sized(size, n, from, pitch, to, ahead, false);
        } else if (begins_a_line(to)) {
            copy_group_sized(size, n, from, pitch, to, 0, true);
        } else {
            copy_group_sized(size, n, from, pitch, block, 0, false);
            qdq_stream_copy(to, block, n * bytes);
        }
    }
}

//---- To rows ----------------------------------------------------------------

// Copies a row of a tile: two face rows.
static inline void join_row(size_t face_row, const char *left, const char *right, char *to,
                            bool past_cache) {
    const size_t piece = piece_of(face_row);
#if defined(__AVX2__)
    if (2 * face_row == PIECE) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)left);
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)right);
        __m256i row = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        if (past_cache)
            _mm256_stream_si256((__m256i *)(void *)to, row);
        else
            _mm256_storeu_si256((__m256i *)(void *)to, row);
        return;
    }
#endif
    for (size_t at = 0; at < face_row; at += piece) put(to + at, left + at, piece, past_cache);
    for (size_t at = 0; at < face_row; at += piece)
        put(to + face_row + at, right + at, piece, past_cache);
}

// Copies row r of `count` tiles.
static inline void copy_row(size_t size, size_t count, const char *tiles, size_t r, char *to,
                            bool past_cache) {
    const size_t face_row = QDQ_FACE_DIM * size, face = QDQ_FACE_DIM * face_row;
    const char *from = tiles + qdq_tile_offset(r, 0) * size;
    for (size_t i = 0; i < count; i++, from += 4 * face, to += 2 * face_row)
        join_row(face_row, from, from + face, to, past_cache);
}

static inline void copy_row_sized(size_t size, size_t count, const char *tiles, size_t r, char *to,
                                  bool past_cache) {
    if (size == 8)
        copy_row(8, count, tiles, r, to, past_cache);
    else if (size == 4)
        copy_row(4, count, tiles, r, to, past_cache);
    else if (size == 2)
        copy_row(2, count, tiles, r, to, past_cache);
    else
        copy_row(1, count, tiles, r, to, past_cache);
}

// The tiles that follow will be written `ahead` bytes further, if it is not 0.
static inline void copy_rows(size_t size, size_t count, const char *tiles, char *rows, size_t pitch,
                             size_t ahead, bool past_cache) {
    for (size_t r = 0; r < QDQ_TILE_DIM; r++, rows += pitch) {
        expect(rows, ahead, count * QDQ_TILE_DIM * size);
        copy_row_sized(size, count, tiles, r, rows, past_cache);
    }
}

// Rows that are not aligned to cache lines are written through the cache: the copy of the next
// tiles writes to the line in which this one ends.
void ROWS_FROM_TILES(size_t size, size_t count, const void *tiles, void *rows, size_t pitch,
                     bool past_cache) {
    const size_t width = QDQ_TILE_DIM * size, bytes = QDQ_TILE_ELEMENTS * size;
    for (size_t i = 0, n; i < count; i += n) {
        const char *from = (const char *)tiles + i * bytes;
        char *to = (char *)rows + i * width;
        if (past_cache && begins_a_line(to) && pitch % LINE == 0) {
            n = least(count - i, group_past_cache(size));
            if (n * width % LINE) n--;  // whole lines
            if (n) {
                copy_rows(size, n, from, to, pitch, 0, true);
                continue;
            }
        }
        n = least(count - i, width < LINE && !begins_a_line(to) ? 1 : GROUP);
        size_t ahead = width < LINE && n == GROUP && count - i >= 2 * n ? n * width : 0;
        copy_rows(size, n, from, to, pitch, ahead, false);
    }
}
