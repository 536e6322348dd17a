#include "graphpae/io/row_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>

#include "graphpae/core/error.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

bool is_table(const std::string& path) { return path.ends_with(".csv") || path.ends_with(".tsv"); }

// `add_fields(out, separator, row)` writes what follows the name of a row.
template <class AddFields>
void write_table(const std::string& path, std::vector<std::string> head, const RowIds& ids, const TextColumn& names,
                 int64_t rows, const AddFields& add_fields) {
  const char separator = path.ends_with(".csv") ? ',' : '\t';
  if (!ids.ids.empty()) head.insert(head.begin(), ids.name);
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  for (size_t c = 0; c < head.size(); ++c) {
    if (c > 0) text.push_back(separator);
    fmt::format_to(out, "{}", table_field(head[c], separator));
  }
  for (int64_t r = 0; r < rows; ++r) {
    text.push_back('\n');
    if (!ids.ids.empty()) fmt::format_to(out, "{}{}", table_field(ids.ids[r], separator), separator);
    fmt::format_to(out, "{}", names.empty() ? std::to_string(r) : table_field(names[r], separator));
    add_fields(out, separator, r);
  }
  text.push_back('\n');
  write_file(path, std::string_view(text.data(), text.size()));
}

}  // namespace

void check_embedding_path(const std::string& path) {
  if (is_table(path) || path.ends_with(".npy") || path.ends_with(".npz")) return;
  throw usage_error(fmt::format("{}: unknown kind of file, expected .npy, .npz, .csv or .tsv", path));
}

void write_embeddings(const std::string& path, std::span<const float> values, int64_t rows, int64_t columns,
                      const TextColumn& names, const std::string& row_name, const RowIds& ids,
                      const std::vector<ColumnGroup>& groups) {
  check_embedding_path(path);
  if (is_table(path)) {
    std::vector<std::string> head = {row_name};
    for (const ColumnGroup& group : groups) {
      for (int64_t c = 0; c < group.width; ++c) head.push_back(fmt::format("{}{}", group.name, c));
    }
    for (int64_t c = 0; c < columns && groups.empty(); ++c) head.push_back(fmt::format("e{}", c));
    return write_table(path, head, ids, names, rows, [&](auto out, char separator, int64_t r) {
      for (int64_t c = 0; c < columns; ++c) fmt::format_to(out, "{}{}", separator, values[r * columns + c]);
    });
  }
  if (path.ends_with(".npy")) {
    EmbeddingRows file(path, rows, columns);
    file.add(values);
    return file.commit();
  }
  std::vector<ZipEntry> entries = {{"embeddings.npy", npy_bytes(values, {rows, columns})}};
  const auto add_texts = [&](const char* name, const TextColumn& column) {
    if (column.empty()) return;
    std::vector<std::string_view> texts;
    for (int64_t r = 0; r < rows; ++r) texts.push_back(column[r]);
    entries.push_back({std::string(name) + ".npy", npy_text_bytes(texts)});
  };
  add_texts("names", names);
  add_texts("ids", ids.ids);
  if (!groups.empty()) {
    std::vector<std::string_view> group_names;
    std::vector<int64_t> widths;
    for (const ColumnGroup& group : groups) {
      group_names.push_back(group.name);
      widths.push_back(group.width);
    }
    entries.push_back({"blocks.npy", npy_text_bytes(group_names)});
    entries.push_back(
        {"widths.npy", npy_bytes(std::span<const int64_t>(widths), {static_cast<int64_t>(widths.size())})});
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

void check_prediction_path(const std::string& path) {
  if (is_table(path) || path.ends_with(".npy")) return;
  throw usage_error(fmt::format("{}: unknown kind of file, expected .csv, .tsv or .npy", path));
}

void write_predictions(const std::string& path, const PredictionTable& table) {
  check_prediction_path(path);
  const size_t width = table.columns.size(), rows = table.values.size() / width;
  if (!is_table(path))
    return write_file(path, npy_bytes(table.values, {static_cast<int64_t>(rows), static_cast<int64_t>(width)}));
  std::vector<std::string> head = {table.row_name};
  if (!table.labels.empty()) head.push_back(table.label_name);
  head.insert(head.end(), table.columns.begin(), table.columns.end());
  write_table(path, head, table.ids, table.rows, static_cast<int64_t>(rows), [&](auto out, char separator, int64_t r) {
    if (!table.labels.empty()) fmt::format_to(out, "{}{}", separator, table_field(table.labels[r], separator));
    for (const double value : table.values.subspan(static_cast<size_t>(r) * width, width)) {
      *out++ = separator;
      if (!std::isnan(value)) fmt::format_to(out, "{:.7g}", value);
    }
  });
}

}  // namespace graphpae
