#include "graphpae/io/embedding_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "graphpae/core/error.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

std::string table(std::span<const float> values, int64_t rows, int64_t columns, const TextColumn& names,
                  const std::string& row_name, char separator) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}", row_name);
  for (int64_t c = 0; c < columns; ++c) fmt::format_to(out, "{}e{}", separator, c);
  for (int64_t r = 0; r < rows; ++r) {
    fmt::format_to(out, "\n{}", names.empty() ? std::to_string(r) : table_field(names[r], separator));
    for (int64_t c = 0; c < columns; ++c) fmt::format_to(out, "{}{}", separator, values[r * columns + c]);
  }
  text.push_back('\n');
  return fmt::to_string(text);
}

}  // namespace

void check_embedding_path(const std::string& path) {
  for (const char* suffix : {".npy", ".npz", ".csv", ".tsv"}) {
    if (path.ends_with(suffix)) return;
  }
  throw usage_error(fmt::format("{}: unknown kind of file, expected .npy, .npz, .csv or .tsv", path));
}

void write_embeddings(const std::string& path, std::span<const float> values, int64_t rows, int64_t columns,
                      const TextColumn& names, const std::string& row_name) {
  check_embedding_path(path);
  if (path.ends_with(".csv")) return write_file(path, table(values, rows, columns, names, row_name, ','));
  if (path.ends_with(".tsv")) return write_file(path, table(values, rows, columns, names, row_name, '\t'));
  if (path.ends_with(".npy")) {
    EmbeddingRows file(path, rows, columns);
    file.add(values);
    return file.commit();
  }
  std::vector<ZipEntry> entries = {{"embeddings.npy", npy_bytes(values, {rows, columns})}};
  if (!names.empty()) {
    std::vector<std::string_view> texts;
    for (int64_t r = 0; r < rows; ++r) texts.push_back(names[r]);
    entries.push_back({"names.npy", npy_text_bytes(texts)});
  }
  AtomicFile file(path);
  write_zip(file.staging_path(), entries, false);
  file.commit();
}

EmbeddingRows::EmbeddingRows(const std::string& path, int64_t rows, int64_t columns)
    : path_(path), file_(path), stream_(file_.staging_path(), std::ios::binary) {
  check();
  stream_ << npy_bytes(std::span<const float>(), {rows, columns});
}

void EmbeddingRows::add(std::span<const float> values) {
  stream_.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  check();
}

void EmbeddingRows::commit() {
  stream_.close();
  check();
  file_.commit();
}

// errno is that of the system call that failed just now.
void EmbeddingRows::check() const {
  if (!stream_) throw data_error(fmt::format("{}: {}", path_, std::strerror(errno)));
}

}  // namespace graphpae
