#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "graphpae/core/error.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/data/xml.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr size_t kHeadBytes = 4096;

std::string first_bytes(const std::string& path) {
  InputFile file(path);
  std::string head(kHeadBytes, '\0');
  head.resize(file.read(head.data(), head.size()));
  if (head.starts_with("\xef\xbb\xbf")) head.erase(0, 3);
  return head;
}

// Forms that no library packaged for Debian reads, or that run code when they are read.
void refuse_foreign(const std::string& path, const std::string& name, std::string_view head) {
  const auto with_pandas = [&](const char* what, const char* reader) {
    return data_error(
        fmt::format("{0}: is {1}, which is not read; python3 -c \"import pandas; pandas.{2}('{0}').to_csv('{3}.csv', "
                    "index=False)\" makes a csv of it",
                    path, what, reader, std::filesystem::path(path).stem().string()));
  };
  if (head.starts_with("PAR1") || name.ends_with(".parquet")) throw with_pandas("Parquet", "read_parquet");
  if (head.starts_with("ARROW1") || name.ends_with(".feather")) throw with_pandas("Arrow or Feather", "read_feather");
  if (name.ends_with(".xlsx") || name.ends_with(".xls") || name.ends_with(".ods"))
    throw with_pandas("a spreadsheet", "read_excel");
  if (head.starts_with("\x89HDF")) {
    if (name.ends_with(".mat")) return;  // MATLAB's own form since version 7.3
    throw with_pandas("HDF5", "read_hdf");
  }
  for (const char* suffix : {".pkl", ".pickle", ".gpickle", ".pt", ".pth", ".joblib"}) {
    if (name.ends_with(suffix))
      throw data_error(
          fmt::format("{}: is a pickle of Python, which runs code when it is read: refused; save the graph as "
                      "GraphML, .npz or csv in Python",
                      path));
  }
}

bool is_pajek(std::string_view head) {
  for (std::string_view rest = head; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line = lower(trim(rest.substr(0, end)));
    if (line.starts_with("*vertices") || line.starts_with("*network")) return true;
    if (!line.empty() && line[0] != '%') return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace

std::optional<GraphFile> read_graph_file(const std::string& path, std::vector<std::string>& notes) {
  const std::string name = lower(without_gz(path));
  const std::string head = first_bytes(path);
  refuse_foreign(path, name, head);
  for (const char* other : {".npz", ".mat", ".mtx", ".smi", ".sdf"}) {
    if (name.ends_with(other)) return std::nullopt;
  }
  const std::string_view text = trim(head);
  const std::string root = text.starts_with('<') ? lower(xml_root(text)) : "";
  if (root == "graphml" || (root.empty() && name.ends_with(".graphml")))
    return GraphFile{"GraphML", read_graphml(path, notes)};
  if (root == "gexf" || (root.empty() && name.ends_with(".gexf"))) return GraphFile{"GEXF", read_gexf(path, notes)};
  if (!root.empty())
    throw data_error(fmt::format("{}: is XML with <{}>, expected <graphml> or <gexf>", path, root.substr(0, 40)));
  if (name.ends_with(".npy")) return GraphFile{"NumPy array", read_npy_graph(path, notes)};
  if (name.ends_with(".gml")) return GraphFile{"GML", read_gml(path, notes)};
  if (name.ends_with(".json")) return GraphFile{"node-link JSON", read_node_link_json(path, notes)};
  if (name.ends_with(".net") || is_pajek(text)) return GraphFile{"Pajek file", read_pajek(path, notes)};
  return std::nullopt;
}

}  // namespace graphpae
