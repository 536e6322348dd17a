#include "graphpae/data/load.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <type_traits>

#include "graphpae/core/error.h"
#include "graphpae/data/directory_form.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/data/molecule_cache.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/data/molecules.h"
#include "graphpae/data/node_files.h"
#include "graphpae/data/node_ids.h"
#include "graphpae/data/node_table.h"
#include "graphpae/data/split_table.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

// What is known besides the data themselves.
struct Findings {
  std::vector<std::string> notes;
  std::vector<ColumnUse> columns;
};

NodeFiles files_of(const LoadOptions& options) {
  return {options.features, options.labels, options.splits, options.id_column};
}

GraphParts from_edge_list(const std::string& path, const LoadOptions& options, const NodeFiles& files,
                          Findings& findings) {
  EdgeList list = read_edge_list(path, {options.ids, -1, options.threads, options.columns});
  if (list.names.empty() && (options.ids == NodeIds::automatic || options.base >= 0)) {
    settle_ids(list, files.evidence(), options.base);
  }
  check_largest_id(list, path);
  if (list.leads_somewhere && !options.directed)
    list.notes.push_back("edges are taken as undirected, although their columns name a direction; --directed keeps it");
  findings.notes.insert(findings.notes.end(), list.notes.begin(), list.notes.end());
  findings.columns.push_back(list.columns);
  GraphParts parts;
  parts.num_nodes = list.num_nodes;
  parts.edges = std::move(list.blocks);
  parts.weights = std::move(list.weights);
  parts.node_names = std::move(list.names);
  return parts;
}

// Edges of weight 0 are none, and weights that are all the same say nothing.
void tidy_weights(GraphParts& parts, std::vector<std::string>& notes) {
  int64_t zeros = 0;
  std::optional<float> first;
  bool differ = false;
  for (size_t b = 0; b < parts.weights.size() && parts.weights.size() == parts.edges.size(); ++b) {
    Buffer<Edge>& edges = parts.edges[b];
    Buffer<float>& weights = parts.weights[b];
    size_t kept = 0;
    for (size_t i = 0; i < weights.size() && weights.size() == edges.size(); ++i) {
      if (weights[i] == 0) {
        ++zeros;
        continue;
      }
      differ = differ || weights[i] != first.value_or(weights[i]);
      first = weights[i];
      edges[kept] = edges[i];
      weights[kept++] = weights[i];
    }
    if (weights.size() == edges.size()) {
      edges.resize(kept);
      weights.resize(kept);
    }
  }
  if (zeros > 0) notes.push_back(fmt::format("{} edges of weight 0 are left out", zeros));
  if (!parts.weights.empty() && !differ) parts.weights.clear();
}

Dataset finish(const std::string& path, const char* form, GraphParts parts, NodeFiles files, Findings& findings,
               const LoadOptions& options) {
  files.add_to(parts, findings.notes, findings.columns);
  tidy_weights(parts, findings.notes);
  parts.directed = parts.directed || options.directed;
  return naming(path, [&] {
    return Dataset{Graph(std::move(parts), options.edges, options.threads),
                   form,
                   std::move(findings.notes),
                   0,
                   {},
                   std::move(findings.columns)};
  });
}

// From the cache, or parsed and kept there. A cache that cannot be written takes nothing from the result.
ParsedMolecules find_or_parse(const TextColumn& texts, const LoadOptions& options, std::vector<std::string>& notes) {
  const Featurizer featurizer = options.featurizer.value_or(Featurizer::ogb);
  if (options.molecule_cache.empty()) return parse_molecules(texts, featurizer, options.threads);
  const MoleculeCache cache(options.molecule_cache);
  const std::string key = molecule_key(texts, featurizer);
  if (std::optional<ParsedMolecules> found = cache.find(key)) return std::move(*found);
  ParsedMolecules parsed = parse_molecules(texts, featurizer, options.threads);
  try {
    cache.store(key, parsed);
  } catch (const Error& error) {
    notes.push_back(fmt::format("the parsed molecules are not kept: {}", error.what()));
  }
  return parsed;
}

// As far as the number of columns tells.
bool has_codes_of(Featurizer featurizer, const GraphSetParts& parts) {
  const CodeSizes sizes = code_sizes(featurizer);
  return parts.node_codes.columns == static_cast<int64_t>(sizes.atoms.size()) &&
         parts.edge_codes.columns == static_cast<int64_t>(sizes.bonds.size());
}

// The structure that was read, as if it had been parsed: a row without atoms is one that was kept although it is not a
// molecule. One without atoms but with bonds is an error that GraphSet finds.
ParsedMolecules take_structure(GraphSetParts& parts) {
  ParsedMolecules stored{std::move(parts), {}};
  const size_t ends = static_cast<size_t>(parts.num_graphs) + 1;
  if (stored.node_offsets.size() != ends || stored.edge_offsets.size() != ends) return stored;  // GraphSet says so
  for (int64_t g = 0; g < parts.num_graphs; ++g) {
    if (stored.node_offsets[g] == stored.node_offsets[g + 1] && stored.edge_offsets[g] == stored.edge_offsets[g + 1])
      stored.invalid.push_back({g, "its graph has no atoms"});
  }
  return stored;
}

// SMILES instead of mol blocks. What is no molecule keeps its block, so that the reason will be that of the block.
void write_as_smiles(GraphSetParts& parts, Threads threads) {
  const auto smiles = canonical_smiles(parts.texts, threads);
  TextColumn texts;
  for (int64_t g = 0; g < parts.num_graphs; ++g) texts.push_back(smiles[g] ? *smiles[g] : parts.texts[g]);
  parts.texts = std::move(texts);
}

// And no text instead of the blocks that are left.
void clear_blocks(GraphSetParts& parts) {
  TextColumn texts;
  for (int64_t g = 0; g < parts.num_graphs; ++g)
    texts.push_back(parts.node_offsets[g] == parts.node_offsets[g + 1] ? "" : parts.texts[g]);
  parts.texts = std::move(texts);
}

// Gives the rows their graphs; returns how many are not molecules.
int64_t add_graphs(MoleculeRows& rows, const LoadOptions& options, std::vector<std::string>& notes) {
  GraphSetParts& parts = rows.parts;
  check_splits(parts.splits, parts.num_graphs);
  const bool has_graphs = !parts.node_offsets.empty();
  const bool as_wished = has_graphs && (!options.featurizer || has_codes_of(*options.featurizer, parts));
  if (parts.texts.empty()) {
    if (!as_wished) notes.push_back("there are no SMILES, so the graphs keep the codes they have");
    return 0;
  }
  if (as_wished) return add_structure(take_structure(parts), options.on_invalid, rows.source, parts, notes);
  const bool blocks = options.as_smiles && rows.source.records;
  if (blocks) write_as_smiles(parts, options.threads);
  const int64_t invalid =
      add_structure(find_or_parse(parts.texts, options, notes), options.on_invalid, rows.source, parts, notes);
  if (blocks) clear_blocks(parts);
  return invalid;
}

Dataset finish(const std::string& path, const char* form, MoleculeRows rows, Findings& findings,
               const LoadOptions& options) {
  if (!options.features.empty() || !options.labels.empty())
    throw usage_error(fmt::format("{}: holds molecules; files of features and labels are for one graph", path));
  if (!options.splits.empty()) {
    const NodeIndex index(rows.parts.ids, rows.parts.num_graphs);  // a table may name molecules by their ids
    rows.parts.splits = is_text_table(options.splits)
                            ? read_split_table(options.splits, &index, rows.parts.num_graphs).splits
                            : read_splits(options.splits, rows.parts.num_graphs);
  }
  return naming(path, [&] {
    const int64_t invalid = add_graphs(rows, options, findings.notes);
    GraphSet set(std::move(rows.parts));
    MoleculeDuplicates duplicates;
    if (set.num_tasks() > 0) duplicates = find_molecule_duplicates(set.parts(), options.threads);
    if (duplicates.conflicting > 0) findings.notes.push_back(fmt::format("{}: {}", path, duplicates_note(duplicates)));
    return Dataset{std::move(set), form, std::move(findings.notes), invalid, duplicates, std::move(findings.columns)};
  });
}

Dataset load_directory(const std::string& path, const LoadOptions& options) {
  Findings findings;
  if (is_shard_directory(path)) {
    throw data_error(
        fmt::format("{}: holds shards, which only `graphpae pretrain` and `graphpae info` read; other verbs take the "
                    "molecules they were made from",
                    path));
  }
  const auto finished = [&](const char* form, auto parts) {
    if constexpr (std::is_same_v<decltype(parts), GraphParts>)
      return finish(path, form, std::move(parts), files_of(options), findings, options);
    else
      return finish(path, form, std::move(parts), findings, options);
  };
  if (is_molecule_directory(path)) {
    const MoleculeOptions molecule_options{options.smiles_column, options.tasks, true, options.id_column};
    return finished("molecule directory", read_molecule_directory(path, molecule_options, findings.notes));
  }
  if (is_graph_directory(path))
    return finished("graph directory", read_graph_directory(path, findings.notes, options.threads, &findings.columns));
  if (is_graph_set_directory(path)) return finished("directory of graphs", read_graph_set_directory(path));
  if (is_geom_gcn(path)) return finished("Geom-GCN directory", read_geom_gcn(path, options.threads));
  if (is_ogb(path)) {
    return is_ogb_node_level(path)
               ? finished("OGB directory", read_ogb_nodes(path, options.year_classes, options.threads))
               : finished("OGB directory", read_ogb_graphs(path, options.threads));
  }
  if (is_tu(path)) {
    TuContent content = read_tu(path, findings.notes, options.threads);
    return content.graph ? finished("TU directory", std::move(*content.graph))
                         : finished("TU directory", std::move(content.graphs));
  }
  throw data_error(fmt::format(
      "{}: no edges.csv, molecules.csv, graphs.npz, out1_graph_edges.txt, raw/edge.csv or NAME_A.txt in this "
      "directory",
      path));
}

}  // namespace

Dataset load(const std::string& path, const LoadOptions& options) {
  if (!fs::exists(path)) throw data_error(fmt::format("{}: no such file or directory", path));
  if (fs::is_directory(path)) return load_directory(path, options);

  Findings findings;
  const std::string name = without_gz(path);
  const MoleculeOptions molecule_options{options.smiles_column, options.tasks, false, options.id_column};
  const auto finished = [&](const char* form, auto parts) {
    if constexpr (std::is_same_v<decltype(parts), GraphParts>)
      return finish(path, form, std::move(parts), files_of(options), findings, options);
    else
      return finish(path, form, std::move(parts), findings, options);
  };
  if (std::optional<GraphFile> found = read_graph_file(path, findings.notes))
    return finished(found->form, std::move(found->parts));
  if (name.ends_with(".smi")) return finished("SMILES file", read_molecules(path, molecule_options, findings.notes));
  if (name.ends_with(".sdf")) return finished("SD file", read_molecules(path, molecule_options, findings.notes));
  if (name.ends_with(".npz")) return finished("NumPy archive", read_npz_graph(path));
  if (name.ends_with(".mat")) return finished("MATLAB file", read_mat(path));
  if (name.ends_with(".mtx")) return finished("MatrixMarket file", read_matrix_market(path, options.threads));
  if (name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".txt") || name.ends_with(".edges") ||
      name.ends_with(".edgelist")) {
    if (fs::file_size(path) == 0) throw data_error(fmt::format("{}: the file is empty", path));
    const bool wants_molecules = !options.smiles_column.empty() || !options.tasks.empty();
    if (wants_molecules || has_smiles_column(path))
      return finished("SMILES table", read_molecules(path, molecule_options, findings.notes));
    if (starts_with_smiles(path)) return finished("SMILES file", read_smiles_list(path));
    if (const std::string column = unnamed_smiles_column(path); !column.empty()) {
      throw data_error(fmt::format("{0}: column '{1}' holds SMILES; --smiles-column {1} reads the table as molecules",
                                   path, column));
    }
    if (const std::string message = inchi_message(path); !message.empty()) throw data_error(message);
    if (options.columns.empty()) {
      if (std::optional<GraphParts> matrix = read_adjacency_table(path))
        return finished("adjacency matrix", std::move(*matrix));
    }
    NodeFiles files = files_of(options);
    GraphParts parts = from_edge_list(path, options, files, findings);
    return finish(path, "edge list", std::move(parts), std::move(files), findings, options);
  }
  throw data_error(
      fmt::format("{}: unknown kind of file (expected .csv .tsv .txt .npy .npz .mat .mtx .graphml .gexf .gml .json "
                  ".net .smi .sdf or a directory)",
                  path));
}

}  // namespace graphpae
