// Groups of flags. `--help` shows the everyday ones, `--help-all` and the manual show the others too, in this order.
#pragma once

namespace graphpae::cli {

inline constexpr const char* kEveryday = "Options";  // what CLI11 takes for flags of no group
inline constexpr const char* kRare = "More options";
inline constexpr const char* kReading = "Reading data";
inline constexpr const char* kEvaluation = "Evaluation";
inline constexpr const char* kSettings = "Settings";
inline constexpr const char* kFlagGroups[] = {kEveryday, kRare, kReading, kEvaluation, kSettings};

}  // namespace graphpae::cli
