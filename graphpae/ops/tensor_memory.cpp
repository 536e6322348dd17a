#include "graphpae/ops/tensor_memory.h"

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace graphpae {
namespace {

constexpr size_t kSmallest = size_t{1} << 20;  // smaller tensors are on the heap
constexpr size_t kAlignment = 64;
constexpr size_t kUnit = size_t{1} << 21;  // a huge page
constexpr size_t kColours = size_t{1} << 14, kColourStep = 64 * 13;

// A range of addresses whose memory came in pieces, in the order of addresses.
struct Block {
  char* base = nullptr;
  size_t size = 0;
  std::vector<size_t> pieces;  // their lengths, multiples of kUnit; the system moves only one at a time
};

void* checked(void* address) {
  if (address == MAP_FAILED) throw std::bad_alloc();
  return address;
}

// Addresses without memory, starting at a multiple of kUnit.
char* reserve(size_t size) {
  char* start = static_cast<char*>(
      checked(::mmap(nullptr, size + kUnit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
  const size_t before = (kUnit - reinterpret_cast<uintptr_t>(start) % kUnit) % kUnit;
  if (before > 0) ::munmap(start, before);
  if (before < kUnit) ::munmap(start + before + size, kUnit - before);
  return start + before;
}

class BlockCache {
 public:
  void* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    // Tensors that start at the same place of a page get into each other's way in the caches.
    const size_t colour = (count_++ * kColourStep) % kColours;
    const size_t size = (bytes + colour + kUnit - 1) / kUnit * kUnit;
    const auto place = free_.lower_bound(size);
    Block block;
    if (place != free_.end() && place->first <= size + size / 8) {
      block = std::move(place->second);
      free_.erase(place);
    } else {
      block = assemble(size);
    }
    void* tensor = block.base + colour;
    taken_.emplace(tensor, std::move(block));
    return tensor;
  }

  // False if the tensor is in none of the blocks.
  bool give(void* tensor) {
    const std::lock_guard lock(mutex_);
    const auto place = taken_.find(tensor);
    if (place == taken_.end()) return false;
    const size_t size = place->second.size;
    free_.emplace(size, std::move(place->second));
    taken_.erase(place);
    return true;
  }

  size_t kept() {
    const std::lock_guard lock(mutex_);
    size_t sum = 0;
    for (const auto& [size, block] : free_) sum += size;
    return sum;
  }

 private:
  // New addresses for the memory of freed blocks, largest first, and for new memory if that is not enough.
  Block assemble(size_t size) {
    Block block{reserve(size), size, {}};
    size_t filled = 0;
    while (filled < size && !free_.empty()) {
      const auto last = std::prev(free_.end());
      Block donor = std::move(last->second);
      free_.erase(last);
      while (filled < size && donor.size > 0) {
        const size_t moved = std::min(size - filled, donor.pieces.back());
        donor.size -= moved;
        donor.pieces.back() -= moved;
        if (donor.pieces.back() == 0) donor.pieces.pop_back();
        checked(::mremap(donor.base + donor.size, moved, moved, MREMAP_MAYMOVE | MREMAP_FIXED, block.base + filled));
        block.pieces.push_back(moved);
        filled += moved;
      }
      if (donor.size > 0) free_.emplace(donor.size, std::move(donor));
    }
    if (filled < size) {
      checked(::mmap(block.base + filled, size - filled, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
      ::madvise(block.base + filled, size - filled, MADV_HUGEPAGE);
      block.pieces.push_back(size - filled);
    }
    return block;
  }

  std::mutex mutex_;
  size_t count_ = 0;
  std::multimap<size_t, Block> free_;  // by size
  std::unordered_map<void*, Block> taken_;
};

// Never destroyed: tensors may outlive everything.
BlockCache& cache() {
  static auto* blocks = new BlockCache;
  return *blocks;
}

void* allocate_bytes(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes >= kSmallest) return cache().take(bytes);
  void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void free_bytes(void* memory) {
  if (memory != nullptr && !cache().give(memory)) std::free(memory);
}

// LibTorch 2 has taken the const from allocate() and asks for copy_data(): whichever it is, one of these is it.
class TensorMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) const { return make(bytes); }
  c10::DataPtr allocate(size_t bytes) { return make(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }
  c10::DeleterFnPtr raw_deleter() const override { return free_bytes; }

 private:
  static c10::DataPtr make(size_t bytes) {
    void* memory = allocate_bytes(bytes);
    return {memory, memory, free_bytes, c10::Device(c10::DeviceType::CPU)};
  }
};

}  // namespace

void keep_tensor_memory() {
  static auto* memory = new TensorMemory;
  c10::SetCPUAllocator(memory, 1);
}

int64_t kept_tensor_memory() { return static_cast<int64_t>(cache().kept()); }

}  // namespace graphpae
