// Blocks and kernels of the verb auto.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graphpae/blocks/graph_blocks.h"
#include "graphpae/blocks/molecule_blocks.h"
#include "graphpae/blocks/smoothed_features.h"
#include "graphpae/core/error.h"
#include "graphpae/run/auto_parts.h"

namespace graphpae::run {
namespace {

constexpr const char* kSmoothed = "smoothed";
constexpr const char* kNear = "near";
constexpr int64_t kSparseWidth = 64;         // columns that a sparse block has at least
constexpr int64_t kMostPositions = 1000000;  // nodes, above which positions take too long

std::vector<std::string> names_in(const Dataset& dataset) {
  if (!dataset.is_graph()) return molecule_block_names(dataset.graph_set());
  const Graph& graph = dataset.graph();
  std::vector<std::string> names = graph_block_names(graph);
  if (graph.num_nodes() > kMostPositions) std::erase(names, "positions");
  if (graph.features().columns() > 0) {
    names.push_back(kNear);
    names.push_back(kSmoothed);
  }
  return names;
}

void add_kernel(KernelList& kernels, const std::string& block, KernelForm form,
                const std::shared_ptr<const Features>& rows, double width = 1) {
  auto kernel = std::make_shared<Kernel>(block, form, rows, width);
  if (!kernel->is_constant()) kernels.push_back(std::move(kernel));
}

}  // namespace

std::vector<std::string> auto_block_names(const Dataset& dataset, const std::vector<std::string>& asked) {
  const std::vector<std::string> there = names_in(dataset);
  if (asked.empty()) return there;
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    if (name == "pretrained") continue;
    if (std::find(there.begin(), there.end(), name) == there.end())
      throw usage_error(fmt::format("--blocks {}: the data have no such block, but {}", name, fmt::join(there, ", ")));
    names.push_back(name);
  }
  return names;
}

Block auto_block(const Dataset& dataset, const std::string& name, const AutoOptions& options, const Context& context) {
  BlockOptions how;
  how.threads = context.threads;
  how.seed = static_cast<uint64_t>(options.seed);
  if (!dataset.is_graph()) return molecule_block(dataset.graph_set(), name, how);
  if (name == kSmoothed) return smoothed_features(dataset.graph(), how);
  if (name == kNear) {
    how.hops = 1;
    Block block = graph_block(dataset.graph(), "neighbours", how);
    block.name = kNear;
    return block;
  }
  return graph_block(dataset.graph(), name, how);
}

KernelList kernels_of(const Block& block) {
  KernelList kernels;
  const std::shared_ptr<const Features>& rows = block.rows;
  const bool counts = block.name == "morgan" || block.name == "atom_pairs";
  if (counts && rows->is_sparse()) {
    add_kernel(kernels, block.name, KernelForm::minmax, rows);
    add_kernel(kernels, block.name, KernelForm::linear, rows);
    return kernels;
  }
  const bool wide = rows->is_sparse() || block.rotated || rows->columns() >= kSparseWidth;
  const bool learnt = block.name.starts_with("pretrained") || block.name == "descriptors" || block.name == "positions";
  if (!wide || learnt) {
    const auto standard = std::make_shared<const Features>(standard_columns(*rows));
    add_kernel(kernels, block.name, KernelForm::linear, standard);
    add_kernel(kernels, block.name, KernelForm::gaussian, standard, 3);
    if (!learnt) add_kernel(kernels, block.name, KernelForm::gaussian, standard, 0.7);
    return kernels;
  }
  const auto unit = std::make_shared<const Features>(unit_rows(*rows));
  add_kernel(kernels, block.name, KernelForm::linear, unit);
  add_kernel(kernels, block.name, KernelForm::gaussian, unit);
  if (block.name == "features") add_kernel(kernels, block.name, KernelForm::gaussian, rows);
  return kernels;
}

}  // namespace graphpae::run
