#include "graphpae/report/result_numbers.h"

#include <fmt/format.h>

#include "graphpae/report/page.h"

namespace graphpae::results {

Format format_of(const std::string& metric) {
  if (metric == "accuracy") return {"accuracy in %", 100, 2, false};
  if (metric == "rocauc") return {"ROC-AUC in %", 100, 2, false};
  if (metric == "rmse") return {"RMSE", 1, 3, true};
  if (metric == "mae") return {"MAE", 1, 4, true};
  return {metric, 1, 4, false};
}

const Json& at(const Json& json, const char* key) {
  static const Json none;
  return json.is_object() && json.contains(key) ? json[key] : none;
}

std::string text_at(const Json& json, const char* key) {
  return at(json, key).is_string() ? at(json, key).get<std::string>() : "";
}

std::string number_text(const Json& number, const Format& format) {
  return number.is_number() ? fmt::format("{:.{}f}", format.factor * number.get<double>(), format.decimals) : "";
}

std::string row_title(const Json& row, const std::string& key, const std::string& metric) {
  if (const std::string title = text_at(row, "title"); !title.empty()) return title;
  if (key == "untrained") return "untrained encoder";
  if (key == "majority")
    return metric == "accuracy" ? "majority class" : metric == "rmse" ? "mean of the labels" : "constant score";
  return with_blanks(key);
}

}  // namespace graphpae::results
