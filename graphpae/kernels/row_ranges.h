// Rows divided among threads in a way that depends on their number only: any number of threads gives the same bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"

namespace graphpae::kernels {

// Into how many parts a sum over `rows` rows is divided.
inline int64_t row_slots(int64_t rows) {
  constexpr int64_t kMostSlots = 64, kRowsPerSlot = 32;
  const int64_t slots = (rows + kRowsPerSlot - 1) / kRowsPerSlot;
  return slots < 1 ? 1 : (slots > kMostSlots ? kMostSlots : slots);
}

// Small inputs start small teams.
inline int team_for(int64_t tasks, Threads threads) {
  return static_cast<int>(std::min<int64_t>(tasks, threads.count));
}

// Runs body(part, scratch) for part in [0, parts), `chunk` of them by the next thread of the team that is free. Each
// thread has a scratch of its own from make().
template <class Make, class Body>
void for_parts(int64_t parts, int team, int chunk, const Make& make, const Body& body) {
#pragma omp parallel num_threads(team)
  {
    flush_denormals();
    auto scratch = make();
#pragma omp for schedule(dynamic, chunk)
    for (int64_t part = 0; part < parts; ++part) body(part, scratch);
  }
}

// The same for body(part).
template <class Body>
void for_parts(int64_t parts, int team, int chunk, const Body& body) {
  for_parts(
      parts, team, chunk, [] { return 0; }, [&](int64_t part, int) { body(part); });
}
template <class Body>
void for_parts(int64_t parts, int team, const Body& body) {
  for_parts(parts, team, 1, body);
}

// Runs body(first, last) over fixed ranges of rows.
template <class Body>
void for_row_ranges(int64_t n, Threads threads, const Body& body) {
  const int64_t parts = row_slots(n);
#pragma omp parallel num_threads(team_for(parts, threads))
  {
    flush_denormals();
#pragma omp for schedule(static)
    for (int64_t part = 0; part < parts; ++part) {
      const auto [first, last] = part_of(n, part, parts);
      body(first, last);
    }
  }
}

// Adds the other parts [1, parts) of an array [parts, size] to the first, in order.
inline void add_parts(float* sums, int64_t parts, int64_t size, Threads threads) {
  for_row_ranges(size, threads, [&](int64_t first, int64_t last) {
    for (int64_t part = 1; part < parts; ++part) {
      for (int64_t k = first; k < last; ++k) sums[k] += sums[part * size + k];
    }
  });
}

// Where part `part` of `parts` of the nodes begins, if each has about as many edges: those of node i are offsets[i] ..
// offsets[i + 1].
inline int64_t part_begin(std::span<const int64_t> offsets, int64_t part, int64_t parts) {
  const int64_t nodes = static_cast<int64_t>(offsets.size()) - 1;
  if (part == 0 || part == parts) return part == 0 ? 0 : nodes;
  const int64_t edge = offsets[nodes] * part / parts;
  return std::lower_bound(offsets.begin(), offsets.end() - 1, edge) - offsets.begin();
}

// Runs body(first, last, sums) for each of `slots` ranges of rows with sums [width] that start at zero, then sets
// total[j] to the sums of all slots, added in the order of the slots.
template <class Body>
void sum_over_slots(int64_t n, int64_t slots, int64_t width, float* total, Threads threads, const Body& body) {
  Buffer<float> sums(slots * width);
  constexpr int64_t kRun = 256;  // columns of the last addition that one thread takes at a time
#pragma omp parallel num_threads(team_for(slots, threads))
  {
    flush_denormals();
#pragma omp for schedule(static)
    for (int64_t slot = 0; slot < slots; ++slot) {
      const auto [first, last] = part_of(n, slot, slots);
      std::fill_n(sums.data() + slot * width, width, 0.0f);
      body(first, last, sums.data() + slot * width);
    }
#pragma omp for schedule(static)
    for (int64_t begin = 0; begin < width; begin += kRun) {
      const int64_t end = std::min(width, begin + kRun);
      for (int64_t j = begin; j < end; ++j) total[j] = 0;
      for (int64_t slot = 0; slot < slots; ++slot) {
        for (int64_t j = begin; j < end; ++j) total[j] += sums[slot * width + j];
      }
    }
  }
}

}  // namespace graphpae::kernels
