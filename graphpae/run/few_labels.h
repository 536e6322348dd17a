// Learning curves: rows probed with few labels of each class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/run/evaluation_subject.h"

namespace graphpae::run {

// Training parts with `per_class` nodes of each class of the split's own, as far as it has them; 0: all. The nodes of
// more labels hold those of fewer. `draw` says which; validation and test parts stay as they are.
Split few_of(const Split& split, std::span<const int32_t> labels, int64_t classes, int64_t per_class, uint64_t draw);

// As many draws of each split as make ten, the same for every row; one of all labels.
FewLabels draw_curves(const std::vector<CurveRow>& rows, const std::vector<int64_t>& per_class,
                      std::span<const int32_t> labels, int64_t classes, const std::vector<Split>& splits,
                      const TunedOptions& options, const Watch& watch);

}  // namespace graphpae::run
