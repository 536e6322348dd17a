#include "graphpae/cli/model_data.h"

#include "graphpae/cli/setting_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/run/match_columns.h"

namespace graphpae::cli {

Dataset load_data_for(const Model& model, const DataFlags& flags, const Common& common, bool say) {
  using run::MissingColumns;
  const auto missing = choose<MissingColumns>("--missing-columns", flags.missing_columns,
                                              {{"error", MissingColumns::error}, {"zero", MissingColumns::zero}});
  Dataset dataset = load_data(flags, common);
  naming(flags.data, [&] { return run::match_columns(model, dataset, missing), 0; });
  if (say) print_notes(dataset.notes);
  return dataset;
}

}  // namespace graphpae::cli
