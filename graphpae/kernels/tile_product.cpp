#include "graphpae/kernels/tile_product.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

// Compilers that know the instructions of tiles, and the system that is asked for them.
#if defined(__x86_64__) && defined(__linux__) && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#define GRAPHPAE_HAS_TILES 1
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#if !defined(__clang__)  // GCC takes what its own header leaves open on purpose for a mistake.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#else
#define GRAPHPAE_HAS_TILES 0
#endif

namespace graphpae::kernels {
namespace {

constexpr int64_t kSide = 16;                  // rows of a tile
constexpr int64_t kTerms = 32;                 // of a sum in one tile
constexpr int64_t kTile = kSide * kTerms;      // bfloat16 numbers
constexpr int64_t kParts = 3;                  // bfloat16 numbers that make a float32
constexpr int64_t kStrip = 2 * kSide;          // rows or columns that are multiplied at a time
constexpr int64_t kStep = 2 * kParts * kTile;  // of a strip: parts of kTerms terms, both halves of the first part first
constexpr int64_t kMostSteps = 12;             // of terms added in tiles at a time
constexpr int64_t kTileColumns = 640;          // of B at a time, which stay in an L2 cache of 2 MB

#if GRAPHPAE_HAS_TILES

#define GRAPHPAE_TILE_CODE __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512bf16")))

// The system lends the registers of tiles to processes that ask.
bool tiles_granted() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBf16Tiles = 1u << 22, kTiles = 1u << 24;
  if ((d & kBf16Tiles) == 0 || (d & kTiles) == 0) return false;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBf16Vectors = 1u << 5;
  if ((a & kBf16Vectors) == 0) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// The compiler does not know what instructions of tiles read: all memory is to be as the program says.
inline void finish_writes() { asm volatile("" ::: "memory"); }

GRAPHPAE_TILE_CODE void configure_tiles() {
  TileConfiguration configuration;
  for (int tile = 0; tile < 8; ++tile) {
    configuration.row_bytes[tile] = 64;
    configuration.rows[tile] = kSide;
  }
  asm volatile("" : : "r"(&configuration) : "memory");
  _tile_loadconfig(&configuration);
}

GRAPHPAE_TILE_CODE void release_tiles() { _tile_release(); }

// out [32,32] = the product of two packed strips of `steps` steps.
GRAPHPAE_TILE_CODE void multiply_strips(const uint16_t* a, const uint16_t* b, int64_t steps, float* out) {
  finish_writes();
  // Tiles 0 to 3 hold the sums, 4 and 5 both halves of A, 6 and 7 of B.
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
#define GRAPHPAE_LOAD_A(part)                   \
  _tile_loadd(4, a + (2 * (part)) * kTile, 64); \
  _tile_loadd(5, a + (2 * (part) + 1) * kTile, 64)
#define GRAPHPAE_LOAD_B(part)                   \
  _tile_loadd(6, b + (2 * (part)) * kTile, 64); \
  _tile_loadd(7, b + (2 * (part) + 1) * kTile, 64)
#define GRAPHPAE_MULTIPLY() \
  _tile_dpbf16ps(0, 4, 6);  \
  _tile_dpbf16ps(1, 4, 7);  \
  _tile_dpbf16ps(2, 5, 6);  \
  _tile_dpbf16ps(3, 5, 7)
  for (int64_t step = 0; step < steps; ++step) {
    GRAPHPAE_LOAD_A(0);
    GRAPHPAE_LOAD_B(2);
    GRAPHPAE_MULTIPLY();
    GRAPHPAE_LOAD_B(1);
    GRAPHPAE_MULTIPLY();
    GRAPHPAE_LOAD_A(1);
    GRAPHPAE_MULTIPLY();
    GRAPHPAE_LOAD_B(0);
    GRAPHPAE_MULTIPLY();
    GRAPHPAE_LOAD_A(2);
    GRAPHPAE_MULTIPLY();
    GRAPHPAE_LOAD_A(0);
    GRAPHPAE_MULTIPLY();
    a += kStep;
    b += kStep;
  }
  _tile_stored(0, out, kStrip * sizeof(float));
  _tile_stored(1, out + kSide, kStrip * sizeof(float));
  _tile_stored(2, out + kSide * kStrip, kStrip * sizeof(float));
  _tile_stored(3, out + kSide * kStrip + kSide, kStrip * sizeof(float));
#undef GRAPHPAE_LOAD_A
#undef GRAPHPAE_LOAD_B
#undef GRAPHPAE_MULTIPLY
}

// 32 numbers, low and high, as bfloat16.
GRAPHPAE_TILE_CODE inline __m512i nearest(__m512 low, __m512 high) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

// What bfloat16 numbers leave of low and high.
GRAPHPAE_TILE_CODE inline void leave(__m512i numbers, __m512& low, __m512& high) {
  const __m512i low_bits = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(numbers)), 16);
  const __m512i high_bits = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(numbers, 1)), 16);
  low = _mm512_sub_ps(low, _mm512_castsi512_ps(low_bits));
  high = _mm512_sub_ps(high, _mm512_castsi512_ps(high_bits));
}

// Writes one row of kParts tiles, 2 * kTile apart: 32 terms of one line, in their order.
GRAPHPAE_TILE_CODE inline void put_terms(__m512 low, __m512 high, uint16_t* row) {
  const __m512i first = nearest(low, high);
  leave(first, low, high);
  const __m512i second = nearest(low, high);
  leave(second, low, high);
  _mm512_store_si512(row, first);
  _mm512_store_si512(row + 2 * kTile, second);
  _mm512_store_si512(row + 4 * kTile, nearest(low, high));
}

// The same for two terms of 16 lines, in pairs.
GRAPHPAE_TILE_CODE inline void put_pairs(__m512 low, __m512 high, uint16_t* row) {
  alignas(64) static constexpr uint16_t kPairs[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i pairs = _mm512_load_si512(kPairs);
  const __m512i first = nearest(low, high);
  leave(first, low, high);
  const __m512i second = nearest(low, high);
  leave(second, low, high);
  _mm512_store_si512(row, _mm512_permutexvar_epi16(pairs, first));
  _mm512_store_si512(row + 2 * kTile, _mm512_permutexvar_epi16(pairs, second));
  _mm512_store_si512(row + 4 * kTile, _mm512_permutexvar_epi16(pairs, nearest(low, high)));
}

GRAPHPAE_TILE_CODE inline __mmask16 first_of(int64_t count) {
  return count >= kSide ? __mmask16{0xffff} : static_cast<__mmask16>(count <= 0 ? 0 : (1u << count) - 1);
}

// A square of 16 x 16 numbers, transposed. Rows from `count` on and columns outside the mask are zeros.
GRAPHPAE_TILE_CODE inline void load_transposed(const float* source, int64_t stride, int64_t count, __mmask16 mask,
                                               __m512 out[kSide]) {
  __m512 r[kSide], t[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i)
    r[i] = i < count ? _mm512_maskz_loadu_ps(mask, source + i * stride) : _mm512_setzero_ps();
#pragma GCC unroll 4
  for (int i = 0; i < kSide; i += 4) {  // squares of 4 x 4 within 128 bits
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(r[i], r[i + 1]));
    const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(r[i], r[i + 1]));
    const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(r[i + 2], r[i + 3]));
    const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(r[i + 2], r[i + 3]));
    t[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    t[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    t[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    t[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {  // then the squares themselves
    const __m512 a = _mm512_shuffle_f32x4(t[q], t[4 + q], 0x88), b = _mm512_shuffle_f32x4(t[q], t[4 + q], 0xdd);
    const __m512 c = _mm512_shuffle_f32x4(t[8 + q], t[12 + q], 0x88),
                 d = _mm512_shuffle_f32x4(t[8 + q], t[12 + q], 0xdd);
    out[q] = _mm512_shuffle_f32x4(a, c, 0x88);
    out[8 + q] = _mm512_shuffle_f32x4(a, c, 0xdd);
    out[4 + q] = _mm512_shuffle_f32x4(b, d, 0x88);
    out[12 + q] = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
}

// Packs a strip of A: `count` of 32 rows, `depth` terms.
GRAPHPAE_TILE_CODE void pack_rows(const float* source, int64_t stride, int64_t count, int64_t depth, uint16_t* out) {
  for (int64_t l = 0; l < depth; l += kTerms, out += kStep) {
    const __mmask16 low = first_of(depth - l), high = first_of(depth - l - kSide);
    for (int64_t i = 0; i < kStrip; ++i) {
      const float* row = source + i * stride + l;
      put_terms(_mm512_maskz_loadu_ps(i < count ? low : __mmask16{0}, row),
                _mm512_maskz_loadu_ps(i < count ? high : __mmask16{0}, row + kSide), out + i * kTerms);
    }
  }
}

// Packs a strip of A from A^T: `count` of 32 columns.
GRAPHPAE_TILE_CODE void pack_rows_transposed(const float* source, int64_t stride, int64_t count, int64_t depth,
                                             uint16_t* out) {
  for (int64_t l = 0; l < depth; l += kTerms, out += kStep) {
    for (int64_t half = 0; half < 2; ++half) {
      const __mmask16 present = first_of(count - half * kSide);
      const float* square = source + l * stride + half * kSide;
      __m512 low[kSide], high[kSide];
      load_transposed(square, stride, depth - l, present, low);
      load_transposed(square + kSide * stride, stride, depth - l - kSide, present, high);
#pragma GCC unroll 16
      for (int i = 0; i < kSide; ++i) put_terms(low[i], high[i], out + half * kTile + i * kTerms);
    }
  }
}

// Packs `depth` terms of `count` columns of B, strip after strip, each of so many numbers. A row is read from its first
// to its last column.
GRAPHPAE_TILE_CODE void pack_columns(const float* source, int64_t stride, int64_t count, int64_t depth,
                                     int64_t strip_size, uint16_t* out) {
  const __m512 zero = _mm512_setzero_ps();
  const int64_t terms = divide_up(depth, kTerms) * kTerms;
  for (int64_t l = 0; l < terms; l += 2) {
    const float* row = source + l * stride;
    uint16_t* to = out + l / kTerms * kStep + l % kTerms / 2 * kTerms;
    for (int64_t j = 0; j < count; j += kStrip, to += strip_size) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t first = j + half * kSide;
        const __mmask16 present = first_of(count - first);
        put_pairs(l < depth ? _mm512_maskz_loadu_ps(present, row + first) : zero,
                  l + 1 < depth ? _mm512_maskz_loadu_ps(present, row + stride + first) : zero, to + half * kTile);
      }
    }
  }
}

// The same from B^T.
GRAPHPAE_TILE_CODE void pack_columns_transposed(const float* source, int64_t stride, int64_t count, int64_t depth,
                                                int64_t strip_size, uint16_t* out) {
  for (int64_t j = 0; j < count; j += kStrip, out += strip_size) {
    for (int64_t l = 0; l < divide_up(depth, kTerms) * kTerms; l += kSide) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t first = j + half * kSide;
        uint16_t* to = out + l / kTerms * kStep + half * kTile + l % kTerms / 2 * kTerms;
        __m512 terms[kSide];
        load_transposed(source + first * stride + l, stride, count - first, first_of(depth - l), terms);
#pragma GCC unroll 8
        for (int i = 0; i < kSide; i += 2) put_pairs(terms[i], terms[i + 1], to + i / 2 * kTerms);
      }
    }
  }
}

// Asks for the rows [first,last) of a matrix, `count` numbers each, which are read soon.
void ask_for(const float* source, int64_t stride, int64_t first, int64_t last, int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(float);
  for (int64_t i = first; i < last; ++i) {
    for (int64_t l = 0; l < count + kLine - 1; l += kLine) __builtin_prefetch(source + i * stride + l, 0, 2);
  }
}

// c [rows,columns] = (c +) sums [32,32] (+ bias)
GRAPHPAE_TILE_CODE void put(const float* sums, int64_t rows, int64_t columns, bool accumulate, const float* bias,
                            float* c, int64_t c_stride) {
  for (int64_t half = 0; half < 2; ++half) {
    const __mmask16 mask = first_of(columns - half * kSide);
    if (mask == 0) break;
    const __m512 shift = bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, bias + half * kSide);
    for (int64_t i = 0; i < rows; ++i) {
      float* to = c + i * c_stride + half * kSide;
      __m512 sum = _mm512_load_ps(sums + i * kStrip + half * kSide);
      if (accumulate) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, to));
      if (bias != nullptr) sum = _mm512_add_ps(sum, shift);
      _mm512_mask_storeu_ps(to, mask, sum);
    }
  }
}

#else

bool tiles_granted() { return false; }

#endif

bool tiles_here() {
  static const bool here = [] {
    const char* wanted = std::getenv("GRAPHPAE_AMX");
    return (wanted == nullptr || std::string_view(wanted) != "0") && tiles_granted();
  }();
  return here;
}

}  // namespace

bool tiles_pay(int64_t n, int64_t k) {
  const int64_t whole = divide_up(n, kStrip) * kStrip * divide_up(k, kTerms) * kTerms;
  return 2 * whole < 3 * n * k && tiles_here();
}

TileScratch::TileScratch(int64_t columns, int64_t k)
    : a_(std::min(kMostSteps, divide_up(k, kTerms)) * kStep),
      b_(std::min(kMostSteps, divide_up(k, kTerms)) * kStep * divide_up(std::min(columns, kTileColumns), kStrip)) {}

#if GRAPHPAE_HAS_TILES

void tile_product(const MatrixView& a, const MatrixView& b, int64_t k, const Block& block, bool accumulate,
                  const float* bias, float* c, int64_t c_stride, TileScratch& scratch) {
  const int64_t steps = divide_up(k, kTerms), runs = divide_up(steps, kMostSteps),
                run = divide_up(steps, runs) * kTerms;
  const bool plain = a.form == Form::kPlain;
  alignas(64) float sums[kStrip * kStrip];
  configure_tiles();
  for (int64_t column = block.column; column < block.column + block.columns; column += kTileColumns) {
    const int64_t width = std::min(kTileColumns, block.column + block.columns - column);
    for (int64_t l = 0; l < k; l += run) {
      const int64_t depth = std::min(run, k - l), run_steps = divide_up(depth, kTerms), strip = run_steps * kStep;
      if (b.form == Form::kPlain) {
        pack_columns(b.data + l * b.stride + column, b.stride, width, depth, strip, scratch.b());
      } else {
        pack_columns_transposed(b.data + column * b.stride + l, b.stride, width, depth, strip, scratch.b());
      }
      const bool add = accumulate || l > 0, last = l + depth == k;
      for (int64_t row = block.row; row < block.row + block.rows; row += kStrip) {
        const int64_t height = std::min(kStrip, block.row + block.rows - row);
        if (plain) {
          pack_rows(a.data + row * a.stride + l, a.stride, height, depth, scratch.a());
        } else {
          pack_rows_transposed(a.data + l * a.stride + row, a.stride, height, depth, scratch.a());
        }
        // The next strip comes to the cache while this one is multiplied.
        const int64_t left = block.row + block.rows - row - kStrip, next_rows = std::clamp<int64_t>(left, 0, kStrip);
        const float* next = plain ? a.data + (row + kStrip) * a.stride + l : a.data + l * a.stride + row + kStrip;
        const int64_t next_lines = next_rows == 0 ? 0 : plain ? next_rows : depth;
        for (int64_t j = 0; j < width; j += kStrip) {
          float* to = c + row * c_stride + column + j;
          for (int64_t i = 0; i < height; ++i) {
            __builtin_prefetch(to + i * c_stride, 1);
            __builtin_prefetch(to + i * c_stride + kSide, 1);
          }
          ask_for(next, a.stride, next_lines * j / width, next_lines * std::min(j + kStrip, width) / width,
                  plain ? depth : next_rows);
          multiply_strips(scratch.a(), scratch.b() + j / kStrip * strip, run_steps, sums);
          put(sums, height, std::min(kStrip, width - j), add, bias != nullptr && last ? bias + column + j : nullptr, to,
              c_stride);
        }
      }
    }
  }
  release_tiles();
}

#else

void tile_product(const MatrixView&, const MatrixView&, int64_t, const Block&, bool, const float*, float*, int64_t,
                  TileScratch&) {
  throw std::logic_error("there are no tiles");
}

#endif

}  // namespace graphpae::kernels
