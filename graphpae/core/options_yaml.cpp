#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "graphpae/core/error.h"
#include "graphpae/core/options.h"

namespace graphpae {
namespace {

constexpr int kMaxDepth = 8;

void set_from_node(OptionTable& table, const YAML::Node& node, const std::string& prefix, int depth) {
  if (depth > kMaxDepth) throw usage_error(fmt::format("{}: nested too deeply", prefix));
  for (const auto& entry : node) {
    const std::string key = prefix + entry.first.as<std::string>();
    const YAML::Node& value = entry.second;
    if (value.IsMap()) {
      set_from_node(table, value, key + ".", depth + 1);
    } else if (value.IsSequence()) {
      std::string joined;
      for (const auto& item : value) joined += (joined.empty() ? "" : ",") + item.as<std::string>();
      table.set(key, joined);
    } else {
      table.set(key, value.IsNull() ? "" : value.as<std::string>());
    }
  }
}

}  // namespace

void set_from_yaml(OptionTable& table, const std::string& yaml, const std::string& source) {
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (root.IsNull()) return;
    if (!root.IsMap()) throw usage_error("expected lines of the form `key: value`");
    set_from_node(table, root, "", 0);
  } catch (const YAML::Exception& error) {
    throw usage_error(fmt::format("{}:{}: {}", source, error.mark.line + 1, error.msg));
  } catch (const Error& error) {
    throw usage_error(fmt::format("{}: {}", source, error.what()));
  }
}

std::string to_yaml(const OptionTable& table) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const Option& option : table.options()) out << YAML::Key << option.key << YAML::Value << option.print();
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace graphpae
