#include "graphpae/model/predictor.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/ops/dense_ops.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kPredictedAtOnce = 256;
constexpr const char* kTasksFormat = "graphpae tasks";
constexpr int kTasksVersion = 1;

const std::vector<std::pair<std::string, OutputKind>> kKinds = {
    {"numbers", OutputKind::numbers}, {"classes", OutputKind::classes}, {"node classes", OutputKind::node_classes}};
const std::vector<std::pair<std::string, HeadKind>> kHeads = {{"linear", HeadKind::linear}, {"mlp", HeadKind::mlp}};

template <class E>
std::string name_of(const std::vector<std::pair<std::string, E>>& names, E value) {
  return std::find_if(names.begin(), names.end(), [&](const auto& pair) { return pair.second == value; })->first;
}

template <class E>
E value_of(const std::vector<std::pair<std::string, E>>& names, const Json& json, const std::string& key,
           const std::string& path) {
  const std::string text = json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  for (const auto& [name, value] : names) {
    if (name == text) return value;
  }
  throw data_error(fmt::format("{}: {} '{}' is not known to this program", path, key, text));
}

Json to_json(const PredictorTasks& tasks) {
  Json list = Json::array();
  for (int64_t t = 0; t < tasks.size(); ++t) {
    Json task = {{"name", tasks.names[t]}};
    const TargetUnit unit = tasks.units.empty() ? TargetUnit() : tasks.units[t];
    if (!unit.name.empty()) task["unit"] = unit.name;
    if (!unit.paper.empty()) {
      task["paper_unit"] = unit.paper;
      task["to_paper"] = unit.to_paper;
    }
    list.push_back(task);
  }
  return {{"format", kTasksFormat},
          {"version", kTasksVersion},
          {"kind", name_of(kKinds, tasks.kind)},
          {"head", name_of(kHeads, tasks.head)},
          {"featurizer", tasks.featurizer},
          {"metric", tasks.metric},
          {"protocol", tasks.protocol},
          {"tasks", list}};
}

PredictorTasks tasks_from(const std::string& path) {
  const Json json = Json::parse(read_file(path, 1 << 24), nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kTasksFormat || !json.contains("tasks") ||
      !json["tasks"].is_array() || json["tasks"].empty())
    throw data_error(fmt::format("{}: not the tasks of a fine-tuned model", path));
  if (json.value("version", Json()) != kTasksVersion)
    throw data_error(fmt::format("{}: version {} of the format, this program reads {}", path,
                                 json.value("version", Json()).dump(), kTasksVersion));
  PredictorTasks tasks;
  tasks.kind = value_of(kKinds, json, "kind", path);
  tasks.head = value_of(kHeads, json, "head", path);
  const auto text = [](const Json& from, const char* key) {
    return from.contains(key) && from[key].is_string() ? from[key].get<std::string>() : std::string();
  };
  tasks.featurizer = text(json, "featurizer");
  tasks.metric = text(json, "metric");
  tasks.protocol = text(json, "protocol");
  for (const Json& task : json["tasks"]) {
    if (!task.is_object() || text(task, "name").empty()) throw data_error(fmt::format("{}: a task has no name", path));
    tasks.names.push_back(text(task, "name"));
    tasks.units.push_back(
        {text(task, "unit"), text(task, "paper_unit"),
         task.contains("to_paper") && task["to_paper"].is_number() ? task["to_paper"].get<double>() : 1});
  }
  return tasks;
}

// What head.safetensors holds.
NamedTensors head_tensors(const Predictor& predictor) {
  NamedTensors tensors = named_tensors(*predictor.head);
  tensors.emplace_back("scale", torch::tensor(predictor.scale, torch::kFloat64));
  tensors.emplace_back("shift", torch::tensor(predictor.shift, torch::kFloat64));
  return tensors;
}

}  // namespace

HeadImpl::HeadImpl(HeadKind kind, int64_t in, int64_t out, Initialiser& init) {
  if (kind == HeadKind::mlp) hidden = register_module("hidden", Linear(in, in, init));
  output = register_module("output", Linear(in, out, init));
}

torch::Tensor HeadImpl::forward(const torch::Tensor& rows, bool fused, Threads threads) {
  const auto apply = [&](Linear& linear, const torch::Tensor& x) {
    return fused ? ops::linear(x.contiguous(), linear->weight, linear->bias, threads) : linear(x);
  };
  return apply(output, hidden.is_empty() ? rows : torch::relu(apply(hidden, rows)));
}

Predictor::Predictor(std::shared_ptr<Model> encoder, PredictorTasks meaning, uint64_t head_seed)
    : model(std::move(encoder)),
      tasks(std::move(meaning)),
      scale(static_cast<size_t>(tasks.size()), 1),
      shift(static_cast<size_t>(tasks.size()), 0) {
  Initialiser init(head_seed);
  head = Head(tasks.head, model->settings().width, tasks.size(), init);
}

torch::Tensor Predictor::rows(const GraphInput& input, bool training, uint64_t dropout_key,
                              const std::vector<int32_t>* wanted) {
  const Encoding encoding = model->encode(input, training, dropout_key, wanted);
  if (input.is_molecules()) return pool(encoding.nodes, input.graph_offsets, model->settings().pooling);
  if (wanted == nullptr || encoding.only_wanted) return encoding.nodes;
  return input.fused() ? ops::gather_rows(encoding.nodes, *wanted, input.threads)
                       : encoding.nodes.index_select(0, torch::tensor(*wanted, torch::kInt64));
}

std::vector<double> Predictor::predictions(const torch::Tensor& outputs) const {
  const torch::Tensor rows = outputs.detach().to(torch::kFloat64).contiguous();
  std::vector<double> values(rows.data_ptr<double>(), rows.data_ptr<double>() + rows.numel());
  const size_t width = static_cast<size_t>(tasks.size());
  for (size_t first = 0; first < values.size(); first += width) {
    double* row = values.data() + first;
    if (tasks.kind == OutputKind::node_classes) {
      const double top = *std::max_element(row, row + width);
      double sum = 0;
      for (size_t c = 0; c < width; ++c) sum += row[c] = std::exp(row[c] - top);
      for (size_t c = 0; c < width; ++c) row[c] /= sum;
      continue;
    }
    for (size_t t = 0; t < width; ++t)
      row[t] = tasks.kind == OutputKind::classes ? 1 / (1 + std::exp(-row[t])) : row[t] * scale[t] + shift[t];
  }
  return values;
}

std::vector<double> Predictor::predict(const MoleculeInputs& molecules, std::span<const int32_t> chosen) {
  const torch::NoGradGuard no_grad;
  const size_t width = static_cast<size_t>(tasks.size());
  std::vector<double> result(chosen.size() * width, std::numeric_limits<double>::quiet_NaN());
  for (size_t first = 0; first < chosen.size(); first += kPredictedAtOnce) {
    const auto part = chosen.subspan(first, std::min(kPredictedAtOnce, chosen.size() - first));
    const GraphInput input = molecules.batch(part);
    if (input.num_nodes() == 0) continue;
    const std::vector<double> values = predictions(outputs(rows(input, false, 0), input.fused(), molecules.threads()));
    std::copy(values.begin(), values.end(), result.begin() + static_cast<int64_t>(first * width));
    for (size_t m = 0; m < part.size(); ++m) {
      if (molecules.num_atoms(part[m]) == 0)
        std::fill_n(result.begin() + static_cast<int64_t>((first + m) * width), width,
                    std::numeric_limits<double>::quiet_NaN());
    }
  }
  return result;
}

std::vector<double> Predictor::predict(const GraphInput& graph) {
  const torch::NoGradGuard no_grad;
  return predictions(outputs(rows(graph, false, 0), graph.fused(), graph.threads));
}

NamedTensors Predictor::learned() const {
  NamedTensors tensors = named_tensors(*model->encoder, "encoder.");
  append(tensors, named_tensors(*head), "head.");
  return tensors;
}

void save_predictor(const std::string& directory, const Predictor& predictor, const std::string& card) {
  save_model(directory, *predictor.model, card);
  const NamedTensors tensors = head_tensors(predictor);
  write_safetensors(directory + "/head.safetensors", {{"format", "pt"}}, views_of(tensors));
  write_file(directory + "/tasks.json", to_json(predictor.tasks).dump(2) + "\n");
}

Predictor load_predictor(const std::string& path) {
  auto model = load_model(path);
  const std::string directory = std::filesystem::exists(path + "/model/config.json") ? path + "/model" : path;
  if (!std::filesystem::exists(directory + "/tasks.json"))
    throw data_error(
        fmt::format("{}: this model was not fine-tuned, it has no head; `graphpae finetune` makes one", path));
  Predictor predictor(std::move(model), tasks_from(directory + "/tasks.json"), 0);
  const NamedTensors tensors = head_tensors(predictor);
  copy_from(SafeTensors(directory + "/head.safetensors"), tensors);
  const auto values_of = [](const torch::Tensor& values) {
    return std::vector<double>(values.data_ptr<double>(), values.data_ptr<double>() + values.numel());
  };
  predictor.scale = values_of(tensors[tensors.size() - 2].second);
  predictor.shift = values_of(tensors.back().second);
  return predictor;
}

}  // namespace graphpae
