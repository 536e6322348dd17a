#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "graphpae/cli/command.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/text.h"

namespace graphpae::cli {
namespace {

std::string line(const char* label, const std::string& value) { return fmt::format("  {:<12} {}\n", label, value); }

std::string split_text(const std::vector<std::array<int64_t, 3>>& sizes) {
  if (sizes.empty()) return "none";
  const auto [train, val, test] = sizes[0];
  return fmt::format("{}, the first with train/val/test {}/{}/{}", sizes.size(), grouped(train), grouped(val),
                     grouped(test));
}

std::string graph_text(const GraphSummary& s) {
  std::string lines = line("nodes", grouped(s.nodes));
  lines += line("edges", fmt::format("{} undirected, from {} rows; {} self loops", grouped(s.edges),
                                     grouped(s.edge_rows), grouped(s.self_loops)));
  if (s.weighted)
    lines += line("weights", fmt::format("{:.6g} to {:.6g}, mean {:.6g}; {} negative", s.min_weight, s.max_weight,
                                         s.mean_weight, grouped(s.negative_weights)));
  lines += line("direction", s.directed ? fmt::format("{} directed edges, {} with their opposite",
                                                      grouped(s.directed_edges), grouped(s.reciprocal_edges))
                                        : "none: edges are undirected");
  lines += line("degree", fmt::format("min {}, mean {:.2f}, max {}", grouped(s.min_degree), s.mean_degree,
                                      grouped(s.max_degree)));
  lines += line("components", fmt::format("{}, the largest with {} nodes; {} isolated nodes", grouped(s.components),
                                          grouped(s.largest_component), grouped(s.isolated)));
  if (s.features > 0) {
    lines += line("features", fmt::format("{} ({}), {} non-zeros, {} empty rows", grouped(s.features),
                                          s.features_sparse ? "sparse" : "dense", grouped(s.feature_nonzeros),
                                          grouped(s.feature_empty_rows)));
  } else {
    lines += line("features", "none");
  }
  if (s.classes > 0) {
    std::vector<std::string> sizes;
    for (const int64_t size : s.class_sizes) sizes.push_back(grouped(size));
    if (sizes.size() > 12) {
      sizes.resize(12);
      sizes.push_back("...");
    }
    lines += line("classes", fmt::format("{} with {} nodes; {} unlabelled", grouped(s.classes), fmt::join(sizes, " "),
                                         grouped(s.unlabelled)));
  } else {
    lines += line("classes", "none");
  }
  if (s.edge_homophily) lines += line("homophily", fmt::format("{:.4f} of edges join equal labels", *s.edge_homophily));
  lines += line("splits", split_text(s.split_sizes));
  if (s.duplicates.nodes > 0) {
    std::string text = fmt::format("{} nodes share features and neighbours with another", grouped(s.duplicates.nodes));
    if (s.duplicates.test_in_train > 0) {
      text +=
          fmt::format("; {} test nodes of the first split have a twin in train", grouped(s.duplicates.test_in_train));
    }
    lines += line("duplicates", text);
  }
  return lines;
}

std::string tasks_text(const GraphSetSummary& s) {
  std::string lines = line("splits", split_text(s.split_sizes));
  lines += line("tasks", s.tasks.empty() ? "none" : std::to_string(s.tasks.size()));
  for (const TaskSummary& task : s.tasks) {
    const int64_t missing = s.molecules - task.present;
    lines += line("", task.binary
                          ? fmt::format("{}: {} positive, {} negative, {} missing", task.name, grouped(task.positives),
                                        grouped(task.present - task.positives), grouped(missing))
                          : fmt::format("{}: mean {:.6g}, deviation {:.6g}, {} missing", task.name, task.mean,
                                        task.deviation, grouped(missing)));
  }
  return lines;
}

// Of graphs that are not molecules.
std::string graphs_text(const GraphSetSummary& s) {
  std::string lines = line("graphs", grouped(s.molecules));
  lines += line("nodes",
                fmt::format("{:.3f} per graph ({} to {}), {} in all, {} label{} each", s.mean_nodes, s.min_nodes,
                            s.max_nodes, grouped(s.nodes), s.node_code_columns, s.node_code_columns == 1 ? "" : "s"));
  lines += line("edges", fmt::format("{:.3f} per graph, {} in all, {} label{} each", s.mean_edges, grouped(s.edges),
                                     s.edge_code_columns, s.edge_code_columns == 1 ? "" : "s"));
  lines += line("components", fmt::format("{} graphs of several components, {} of a single node", grouped(s.fragmented),
                                          grouped(s.single_node)));
  return lines + tasks_text(s);
}

std::string set_text(const GraphSetSummary& s, const Dataset& dataset) {
  const int64_t invalid = dataset.invalid;
  if (!s.has_texts) return graphs_text(s);
  std::string lines =
      line("molecules", fmt::format("{}; {} repeat an earlier text", grouped(s.molecules), grouped(s.repeated_texts)));
  if (const std::string note = duplicates_note(dataset.duplicates); !note.empty()) lines += line("duplicates", note);
  lines += line("invalid", fmt::format("{} row{}{}", grouped(invalid), invalid == 1 ? "" : "s",
                                       invalid == 0           ? ""
                                       : s.without_nodes == 0 ? ", left out"
                                                              : ", kept without atoms"));
  lines += line("atoms", fmt::format("{:.3f} per molecule ({} to {}), {} in all, {} codes each", s.mean_nodes,
                                     s.min_nodes, s.max_nodes, grouped(s.nodes), s.node_code_columns));
  lines += line("bonds", fmt::format("{:.3f} per molecule, {} in all, {} codes each", s.mean_edges, grouped(s.edges),
                                     s.edge_code_columns));
  lines += line("fragments", fmt::format("{} molecules of several fragments, {} of a single atom",
                                         grouped(s.fragmented), grouped(s.single_node)));
  return lines + tasks_text(s);
}

Json graph_json(const GraphSummary& s) {
  Json json = {{"nodes", s.nodes},
               {"edges", s.edges},
               {"self_loops", s.self_loops},
               {"edge_rows", s.edge_rows},
               {"features", s.features},
               {"feature_nonzeros", s.feature_nonzeros},
               {"feature_empty_rows", s.feature_empty_rows},
               {"features_sparse", s.features_sparse},
               {"classes", s.classes},
               {"class_sizes", s.class_sizes},
               {"unlabelled", s.unlabelled},
               {"splits", s.split_sizes.size()},
               {"split_sizes", s.split_sizes},
               {"components", s.components},
               {"largest_component", s.largest_component},
               {"isolated", s.isolated},
               {"min_degree", s.min_degree},
               {"mean_degree", s.mean_degree},
               {"max_degree", s.max_degree},
               {"edge_homophily", nullptr},
               {"duplicates",
                {{"nodes", s.duplicates.nodes},
                 {"groups", s.duplicates.groups},
                 {"test_in_train", s.duplicates.test_in_train}}}};
  if (s.edge_homophily) json["edge_homophily"] = *s.edge_homophily;
  json["weights"] = nullptr;
  if (s.weighted)
    json["weights"] = {
        {"min", s.min_weight}, {"mean", s.mean_weight}, {"max", s.max_weight}, {"negative", s.negative_weights}};
  json["directed"] = s.directed;
  if (s.directed) {
    json["directed_edges"] = s.directed_edges;
    json["reciprocal_edges"] = s.reciprocal_edges;
  }
  return json;
}

Json set_json(const GraphSetSummary& s, const Dataset& dataset) {
  Json tasks = Json::array();
  for (const TaskSummary& task : s.tasks) {
    Json entry = {{"name", task.name},
                  {"present", task.present},
                  {"missing", s.molecules - task.present},
                  {"binary", task.binary}};
    if (task.binary) {
      entry["positives"] = task.positives;
    } else {
      entry["mean"] = task.mean;
      entry["deviation"] = task.deviation;
    }
    tasks.push_back(entry);
  }
  return {{"molecules", s.molecules},
          {"tasks", s.tasks.size()},
          {"task_columns", tasks},
          {"splits", s.split_sizes.size()},
          {"split_sizes", s.split_sizes},
          {"repeated_texts", s.repeated_texts},
          {"duplicates",
           {{"molecules", dataset.duplicates.molecules},
            {"groups", dataset.duplicates.groups},
            {"conflicting", dataset.duplicates.conflicting}}},
          {"invalid", dataset.invalid},
          {"mean_atoms", s.mean_nodes},
          {"mean_bonds", s.mean_edges},
          {"atoms", s.nodes},
          {"bonds", s.edges},
          {"min_atoms", s.min_nodes},
          {"max_atoms", s.max_nodes},
          {"atom_codes", s.node_code_columns},
          {"bond_codes", s.edge_code_columns},
          {"fragmented", s.fragmented},
          {"single_atom", s.single_node}};
}

Json shards_json(const ShardManifest& m) {
  Json settings = Json::object();
  for (const auto& [key, value] : m.position_settings) settings[key] = value;
  const double molecules = static_cast<double>(m.molecules());
  return {{"form", "shards"},
          {"molecules", m.molecules()},
          {"shards", m.shards.size()},
          {"featurizer", name_of(m.featurizer)},
          {"position_columns", m.k},
          {"position_settings", settings},
          {"mean_atoms", static_cast<double>(m.atoms()) / molecules},
          {"mean_bonds", static_cast<double>(m.bonds()) / molecules},
          {"atoms", m.atoms()},
          {"bonds", m.bonds()},
          {"max_atoms", m.largest},
          {"content_sha256", m.content_sha256}};
}

std::string shards_text(const ShardManifest& m, const std::string& name) {
  std::string lines;
  const double molecules = static_cast<double>(m.molecules());
  lines += line("molecules", fmt::format("{} in {} shards", grouped(m.molecules()), grouped(m.shards.size())));
  lines += line("atoms", fmt::format("{}, mean {:.2f}, max {}", grouped(m.atoms()),
                                     static_cast<double>(m.atoms()) / molecules, grouped(m.largest)));
  lines +=
      line("bonds", fmt::format("{}, mean {:.2f}", grouped(m.bonds()), static_cast<double>(m.bonds()) / molecules));
  lines += line("codes", fmt::format("of featurizer {}", name_of(m.featurizer)));
  std::vector<std::string> settings;
  for (const auto& [key, value] : m.position_settings) settings.push_back(key + "=" + value);
  lines += line("positions", m.k == 0 ? "none" : fmt::format("{}", fmt::join(settings, " ")));
  return fmt::format("{} (shards)\n{}", name, lines);
}

// How each text table was understood: a line per file.
std::string columns_text(const std::vector<ColumnUse>& columns) {
  std::string lines;
  for (const ColumnUse& use : columns) {
    std::vector<std::string> parts;
    for (const auto& [role, text] : use.uses) parts.push_back(fmt::format("{} {}", role, text));
    const std::string understood = parts.empty() ? "no rows" : fmt::format("{}", fmt::join(parts, ", "));
    lines += line("columns", fmt::format("{}: {}", use.file, understood));
  }
  return lines;
}

Json columns_json(const std::vector<ColumnUse>& columns) {
  Json list = Json::array();
  for (const ColumnUse& use : columns) {
    Json entry = {{"file", use.file}};
    for (const auto& [role, text] : use.uses) entry[role] = text;
    list.push_back(entry);
  }
  return list;
}

}  // namespace

Json info_json(const Dataset& dataset) {
  Json json = {{"form", dataset.form}};
  json.update(dataset.is_graph() ? graph_json(summarise(dataset.graph()))
                                 : set_json(summarise(dataset.graph_set()), dataset));
  json["content_sha256"] = dataset.is_graph() ? content_hash(dataset.graph(), HashSplits::no)
                                              : content_hash(dataset.graph_set(), HashSplits::no);
  json["data_hash"] = dataset.is_graph() ? content_hash(dataset.graph()) : content_hash(dataset.graph_set());
  json["columns"] = columns_json(dataset.columns);
  json["notes"] = dataset.notes;
  return json;
}

std::string info_text(const Dataset& dataset, const std::string& name) {
  const std::string body =
      dataset.is_graph() ? graph_text(summarise(dataset.graph())) : set_text(summarise(dataset.graph_set()), dataset);
  return fmt::format("{} ({})\n{}{}", name, dataset.form, body, columns_text(dataset.columns));
}

void add_info(CLI::App& app, Common& common) {
  CLI::App* verb =
      app.add_subcommand("info", "Show what was read: nodes, edges, features, classes and splits, or molecules.");
  auto flags = std::make_shared<DataFlags>();
  add_data_argument(*verb, *flags);
  add_reading_flags(*verb, *flags);
  verb->callback([flags, &common] {
    if (is_shard_directory(flags->data)) {
      const ShardManifest manifest = ShardSet(flags->data).manifest();
      if (common.json) return print_json(shards_json(manifest));
      return fmt::print("{}", shards_text(manifest, file_name(flags->data)));
    }
    const Dataset dataset = load_data(*flags, common);
    if (common.json) return print_json(info_json(dataset));
    print_notes(dataset.notes);
    fmt::print("{}", info_text(dataset, file_name(flags->data)));
  });
}

}  // namespace graphpae::cli
