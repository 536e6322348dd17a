// Exchange: what processes that train one model together tell each other within a step.
#pragma once

#include <cstdint>
#include <span>

namespace graphpae {

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual int rank() const = 0;  // 0 .. size - 1
  virtual int size() const = 0;  // processes
  // Adds up `values` of all processes, in place: the same bits in each of them. All must call it, with as many values,
  // in the same order. Throws an error that names a process that is gone.
  virtual void sum(std::span<double> values) = 0;
};

// The part of `count` things that a process takes.
struct Part {
  int64_t first = 0, count = 0;
  bool divided = false;  // otherwise every process takes all of them
};

// Fewer things than processes are not divided. `exchange` may be null: one process alone.
inline Part part_of(int64_t count, const Exchange* exchange) {
  if (exchange == nullptr || count < exchange->size()) return {0, count, false};
  const int64_t first = count * exchange->rank() / exchange->size();
  return {first, count * (exchange->rank() + 1) / exchange->size() - first, true};
}

}  // namespace graphpae
