#include "graphpae/model/representations.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <map>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/settings/feature_columns.h"
#include "graphpae/settings/feature_plan.h"

namespace graphpae {

Features features_of(const torch::Tensor& rows) {
  const torch::Tensor values = rows.detach().to(torch::kFloat32).contiguous();
  const float* data = values.data_ptr<float>();
  return Features::dense(values.size(0), values.size(1), Buffer<float>(data, data + values.numel()));
}

Features embedded_rows(Model& model, const PreparedGraph& input, const EmbedOptions& options) {
  return features_of(embed(model, input, options));
}

std::shared_ptr<Model> untrained(const Model& model) {
  return std::make_shared<Model>(model.settings(), model.input_shape());
}

Features raw_feature_rows(const Graph& graph, const Settings& settings) {
  return divides_rows(settings, graph) ? row_normalised(graph.features()) : graph.features();
}

Features raw_position_rows(const Graph& graph, const Settings& settings, const PreparedGraph& input,
                           const InputOptions& options) {
  // A model without positions is compared with those it does not use.
  return features_of(input.positions.defined() ? input.positions : make_positions(graph, settings, options));
}

Features embedded_rows(Model& model, const std::shared_ptr<const MoleculeInputs>& molecules) {
  const torch::Tensor rows = embed(model, *molecules);
  for (int64_t g = 0; g < molecules->num_molecules(); ++g) {
    if (molecules->num_atoms(g) == 0) rows[g].zero_();
  }
  return features_of(rows);
}

Features raw_feature_rows(const GraphSet& molecules, const Settings& settings) {
  const GraphSetParts& parts = molecules.parts();
  const std::vector<int64_t> sizes = code_sizes(featurizer_of(molecules)).atoms;
  std::vector<int64_t> first_column(sizes.size() + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), first_column.begin() + 1);
  std::vector<int64_t> offsets(1, 0);
  std::vector<int32_t> columns;
  std::vector<float> values;
  std::map<int32_t, int64_t> counts;  // atoms with a code, by column
  for (int64_t g = 0; g < molecules.num_graphs(); ++g) {
    counts.clear();
    const int64_t atoms = parts.node_offsets[g + 1] - parts.node_offsets[g];
    for (int64_t i = parts.node_offsets[g]; i < parts.node_offsets[g + 1]; ++i) {
      for (size_t c = 0; c < sizes.size(); ++c) {
        const int16_t code = parts.node_codes.values[i * static_cast<int64_t>(sizes.size()) + static_cast<int64_t>(c)];
        if (code < 0 || code >= sizes[c])
          throw data_error(fmt::format("molecule {}: code {} in column {}, expected 0..{}", g, code, c, sizes[c] - 1));
        ++counts[static_cast<int32_t>(first_column[c]) + code];
      }
    }
    for (const auto& [column, count] : counts) {
      columns.push_back(column);
      values.push_back(settings.pooling == Pooling::max    ? 1.0f
                       : settings.pooling == Pooling::mean ? static_cast<float>(count) / static_cast<float>(atoms)
                                                           : static_cast<float>(count));
    }
    offsets.push_back(static_cast<int64_t>(columns.size()));
  }
  return Features::sparse(molecules.num_graphs(), first_column.back(), std::move(offsets), std::move(columns),
                          std::move(values));
}

}  // namespace graphpae
