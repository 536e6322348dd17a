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
template <class Transfer>
void transfer_all(const Transfer& transfer, int64_t bytes, const char* what) {
  for (int64_t done = 0; done < bytes;) {
    const ssize_t now = transfer(done);
    if (now <= 0) fail(what);
    done += now;
  }
}

}  // namespace

RowStore::RowStore(int64_t rows, int64_t columns, bool in_memory) : rows_(rows), columns_(columns) {
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

void RowStore::write(int64_t first, int64_t count, int64_t first_column, int64_t width, const float* values) {
  const bool whole = width == columns_;
  const int64_t runs = whole ? 1 : count, length = whole ? count * width : width;  // stretches without a gap
  for (int64_t run = 0; run < runs; ++run) {
    const int64_t place = (first + run) * columns_ + first_column;
    const float* from = values + run * width;
    if (file_ == nullptr) {
      std::copy_n(from, length, memory_.data() + place);
      continue;
    }
    transfer_all(
        [&](int64_t done) {
          return pwrite(fileno(file_), reinterpret_cast<const char*>(from) + done,
                        static_cast<size_t>(length * 4 - done), place * 4 + done);
        },
        length * 4, "written");
  }
}

void RowStore::read(int64_t first, int64_t count, float* values) const {
  const int64_t place = first * columns_, length = count * columns_;
  if (file_ == nullptr) {
    std::copy_n(memory_.data() + place, length, values);
    return;
  }
  transfer_all(
      [&](int64_t done) {
        return pread(fileno(file_), reinterpret_cast<char*>(values) + done, static_cast<size_t>(length * 4 - done),
                     place * 4 + done);
      },
      length * 4, "read");
}

}  // namespace graphpae
