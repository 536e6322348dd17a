// What results.json says of a score, as pages write it; inside report/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace graphpae::results {

using Json = nlohmann::ordered_json;

// How scores of a metric are written.
struct Format {
  std::string title;
  double factor;
  int decimals;
  bool smaller_is_better;
};
Format format_of(const std::string& metric);

const Json& at(const Json& json, const char* key);  // null if nothing stands there
std::string text_at(const Json& json, const char* key);
std::string number_text(const Json& number, const Format& format);  // "" if it is none

// The title of a baseline or block, which may say it itself.
std::string row_title(const Json& row, const std::string& key, const std::string& metric);

}  // namespace graphpae::results
