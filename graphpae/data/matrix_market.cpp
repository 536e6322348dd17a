#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {

GraphParts read_matrix_market(const std::string& path, Threads threads) {
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> words;
  if (!reader.next(line)) throw data_error(fmt::format("{}: the file is empty", path));
  split_fields(line, ' ', words);
  for (std::string& word : words) word = lower(word);
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix") {
    throw reader.error("expected `%%MatrixMarket matrix coordinate FIELD SYMMETRY`");
  }
  if (words[2] != "coordinate") throw reader.error("dense ('array') matrices are not graphs; expected 'coordinate'");
  if (words[3] == "complex") throw reader.error("complex entries are not supported");

  std::vector<std::string> sizes;
  while (sizes.empty()) {
    if (!reader.next(line)) throw reader.error("the line of sizes is missing");
    if (!line.starts_with('%')) split_fields(line, ' ', sizes);
  }
  std::vector<int64_t> extents;
  for (const std::string& size : sizes) extents.push_back(parse_int(size).value_or(-1));
  if (extents.size() != 3 || *std::min_element(extents.begin(), extents.end()) < 0) {
    throw reader.error("expected three sizes: rows, columns, entries");
  }
  if (extents[0] != extents[1]) {
    throw reader.error(fmt::format("an adjacency matrix must be square, this one is {} x {}", extents[0], extents[1]));
  }
  EdgeLines layout;
  layout.delimiter = ' ';
  const bool weighted = words[3] != "pattern";
  layout.columns = weighted ? 3 : 2;
  layout.weight = weighted ? 2 : -1;
  layout.first_line = reader.line_number() + 1;
  layout.base = 1;
  layout.num_nodes = extents[0];
  GraphParts parts;
  parts.num_nodes = extents[0];
  EdgeRows rows = read_edge_rows(path, layout, threads);
  parts.edges = std::move(rows.edges);
  parts.weights = std::move(rows.weights);
  if (count_edges(parts.edges) != extents[2]) {
    throw data_error(
        fmt::format("{}: {} entries were found, {} announced", path, count_edges(parts.edges), extents[2]));
  }
  return parts;
}

}  // namespace graphpae
