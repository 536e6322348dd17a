#include "graphpae/io/row_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

[[noreturn]] void fail(const char* what) {
  throw data_error(fmt::format("temporary file: cannot be {}: {}", what, std::strerror(errno)));
}

// All bytes, however many the system takes at a time.
template <class Transfer, class Byte>
void transfer_all(const Transfer& transfer, std::FILE* file, Byte* bytes, int64_t size, int64_t place,
                  const char* what) {
  for (int64_t done = 0; done < size;) {
    const ssize_t now = transfer(fileno(file), bytes + done, static_cast<size_t>(size - done), place + done);
    if (now <= 0) fail(what);
    done += now;
  }
}

}  // namespace

RowStore::RowStore(int64_t rows, int64_t columns, int64_t part_columns, bool in_memory)
    : rows_(rows), columns_(columns), part_columns_(part_columns) {
  if (in_memory) {
    memory_.resize(static_cast<size_t>(rows * columns));
  } else {
    file_ = std::tmpfile();
    if (file_ == nullptr) fail("made");
  }
}

RowStore::~RowStore() {
  if (file_ != nullptr) std::fclose(file_);
}

int64_t RowStore::width_of(int64_t part) const { return std::min(part_columns_, columns_ - part * part_columns_); }

void RowStore::write(int64_t part, int64_t first, int64_t count, const float* values) {
  const int64_t place = place_of(part, first), length = count * width_of(part);
  if (file_ == nullptr) {
    std::copy_n(values, length, memory_.data() + place);
  } else {
    transfer_all(::pwrite, file_, reinterpret_cast<const char*>(values), length * 4, place * 4, "written");
  }
}

void RowStore::read_part(int64_t part, int64_t first, int64_t count, float* values) const {
  const int64_t place = place_of(part, first), length = count * width_of(part);
  if (file_ == nullptr) {
    std::copy_n(memory_.data() + place, length, values);
  } else {
    transfer_all(::pread, file_, reinterpret_cast<char*>(values), length * 4, place * 4, "read");
  }
}

void RowStore::read(int64_t first, int64_t count, float* values) const {
  if (part_columns_ >= columns_) return read_part(0, first, count, values);
  Buffer<float> rows(static_cast<size_t>(count * part_columns_));
  for (int64_t part = 0; part * part_columns_ < columns_; ++part) {
    read_part(part, first, count, rows.data());
    const int64_t width = width_of(part);
    for (int64_t r = 0; r < count; ++r)
      std::copy_n(rows.data() + r * width, width, values + r * columns_ + part * part_columns_);
  }
}

}  // namespace graphpae
