#include "graphpae/data/molecule_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <type_traits>

#include "graphpae/core/error.h"
#include "graphpae/data/directory_form.h"
#include "graphpae/data/molecules.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<SmilesRows> open_rows(const std::string& path, const LoadOptions& options) {
  if (without_gz(path).ends_with(".smi") || (options.smiles_column.empty() && !has_smiles_column(path)))
    return std::make_unique<SmilesList>(path);
  return std::make_unique<MoleculeTable>(path, options.smiles_column);
}

// The molecules first .. last of a set that have atoms.
GraphSetParts slice(const GraphSetParts& all, int64_t first, int64_t last) {
  GraphSetParts parts;
  const int64_t node = all.node_offsets[first], edge = all.edge_offsets[first];
  parts.node_offsets = {0};
  parts.edge_offsets = {0};
  for (int64_t g = first; g < last; ++g) {
    if (all.node_offsets[g] == all.node_offsets[g + 1]) continue;
    parts.node_offsets.push_back(all.node_offsets[g + 1] - node);
    parts.edge_offsets.push_back(all.edge_offsets[g + 1] - edge);
    ++parts.num_graphs;
  }
  const auto rows = [](const auto& values, int64_t begin, int64_t end) {
    return std::decay_t<decltype(values)>(values.begin() + begin, values.begin() + end);
  };
  const int64_t last_node = all.node_offsets[last], last_edge = all.edge_offsets[last];
  parts.edges = rows(all.edges, edge, last_edge);
  const int64_t atom_columns = all.node_codes.columns, bond_columns = all.edge_codes.columns;
  parts.node_codes = {atom_columns, rows(all.node_codes.values, node * atom_columns, last_node * atom_columns)};
  parts.edge_codes = {bond_columns, rows(all.edge_codes.values, edge * bond_columns, last_edge * bond_columns)};
  return parts;
}

}  // namespace

std::string smiles_file_of(const std::string& path, const LoadOptions& options) {
  if (fs::is_directory(path)) {
    const bool has_graphs = fs::exists(path + "/graphs.npz");
    return is_molecule_directory(path) && !has_graphs ? existing_gz(path + "/molecules.csv") : "";
  }
  if (!fs::is_regular_file(path) || fs::file_size(path) == 0) return "";
  const std::string name = without_gz(path);
  if (name.ends_with(".smi")) return path;
  if (!name.ends_with(".csv") && !name.ends_with(".tsv") && !name.ends_with(".txt")) return "";
  return !options.smiles_column.empty() || has_smiles_column(path) || starts_with_smiles(path) ? path : "";
}

int64_t count_rows(const std::string& smiles_file, const LoadOptions& options) {
  const auto reader = open_rows(smiles_file, options);
  int64_t rows = 0;
  while (reader->next()) ++rows;
  return rows;
}

StreamCounts stream_molecules(const std::string& smiles_file, const LoadOptions& options, int64_t rows,
                              std::vector<std::string>& notes, const TakeMolecules& take) {
  const auto reader = open_rows(smiles_file, options);
  StreamCounts counts;
  std::vector<std::string> chunk_notes;
  bool at_end = false, whole_piece = false;
  while (!at_end) {
    GraphSetParts parts;
    MoleculeSource source;
    source.file = smiles_file;
    while (parts.num_graphs < rows && !(at_end = !reader->next())) {
      parts.texts.push_back(reader->smiles());
      source.lines.push_back(reader->reader().line_number());
      ++parts.num_graphs;
    }
    if (parts.num_graphs == 0) break;
    counts.rows += parts.num_graphs;
    ParsedMolecules parsed =
        parse_molecules(parts.texts, options.featurizer.value_or(Featurizer::ogb), options.threads);
    const auto invalid = static_cast<int64_t>(parsed.invalid.size());
    counts.invalid += invalid;
    // Nothing but invalid rows in all of a piece is an error only if there is no molecule at all.
    const bool none = invalid == parts.num_graphs && options.on_invalid == OnInvalid::skip;
    if (none && (counts.invalid < counts.rows || !at_end)) {
      whole_piece = true;
      continue;
    }
    add_structure(std::move(parsed), options.on_invalid, source, parts, chunk_notes);
    take(parts, counts.rows);
  }
  if (counts.rows == 0) throw data_error(fmt::format("{}: holds no molecules", smiles_file));
  if (!chunk_notes.empty()) notes.push_back(chunk_notes[0]);
  if (chunk_notes.size() > 1 || whole_piece) {
    notes.push_back(fmt::format("{}: {} of {} rows in all are not molecules and were left out", smiles_file,
                                grouped(counts.invalid), grouped(counts.rows)));
  }
  return counts;
}

StreamCounts stream_molecules(const GraphSet& set, int64_t rows, const TakeMolecules& take) {
  StreamCounts counts;
  for (int64_t first = 0; first < set.num_graphs(); first += rows) {
    const int64_t last = std::min(first + rows, set.num_graphs());
    const GraphSetParts parts = slice(set.parts(), first, last);
    counts.rows = last;
    counts.invalid += last - first - parts.num_graphs;
    if (parts.num_graphs > 0) take(parts, last);
  }
  return counts;
}

}  // namespace graphpae
