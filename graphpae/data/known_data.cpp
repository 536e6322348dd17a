#include "graphpae/data/known_data.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/data/summary.h"
#include "graphpae/embedded_known_data.h"
#include "graphpae/io/download.h"
#include "graphpae/io/zip_archive.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

std::string text_of(const YAML::Node& node, const char* key) { return node[key] ? node[key].as<std::string>() : ""; }

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Dataset load_known(const std::string& directory, const KnownData& known, LoadOptions options) {
  if (options.year_classes == 0) options.year_classes = known.year_classes;
  const fs::path inner = fs::path(directory) / known.load;
  return load(fs::exists(inner) ? inner.string() : directory, options);
}

// Everything is fetched into <target>.download, which a later call continues, and renamed when it is whole.
void fetch(const KnownData& known, const std::string& target, const FetchOptions& options) {
  const std::string work = target + ".download";
  fs::create_directories(work);
  for (const KnownFile& file : known.files) {
    const std::string path = work + "/" + file.name;
    if (fs::exists(path)) continue;
    DownloadOptions download_options;
    download_options.sha256 = file.sha256;
    if (options.progress) {
      download_options.progress = [&](int64_t done, int64_t total) { options.progress(file.name, done, total); };
    }
    download(file.url, path, download_options);
  }
  for (const KnownFile& file : known.files) {
    if (file.unzip) ZipArchive(work + "/" + file.name).extract_all(work);
  }
}

void verify(const KnownData& known, const std::string& directory) {
  if (known.content_sha256.empty()) return;
  const Dataset data = load_known(directory, known, {});
  const std::string sum =
      data.is_graph() ? content_hash(data.graph(), HashSplits::no) : content_hash(data.graph_set(), HashSplits::no);
  if (sum != known.content_sha256) {
    throw data_error(
        fmt::format("{}: the downloaded content has SHA-256 {}, expected {}", known.name, sum, known.content_sha256));
  }
}

}  // namespace

std::vector<KnownData> parse_known_data(const std::string& yaml) {
  std::vector<KnownData> registry;
  try {
    for (const auto& entry : YAML::Load(yaml)) {
      const YAML::Node& node = entry.second;
      KnownData known{entry.first.as<std::string>(),
                      text_of(node, "title"),
                      {},
                      text_of(node, "load"),
                      text_of(node, "content_sha256"),
                      node["year_classes"] ? node["year_classes"].as<int64_t>() : 0};
      for (const auto& file : node["files"]) {
        known.files.push_back({text_of(file, "url"), text_of(file, "name"), text_of(file, "sha256"),
                               file["unzip"] && file["unzip"].as<bool>()});
      }
      registry.push_back(std::move(known));
    }
  } catch (const YAML::Exception& error) {
    throw usage_error(fmt::format("registry of known data, line {}: {}", error.mark.line + 1, error.msg));
  }
  return registry;
}

std::vector<KnownData> known_data() { return parse_known_data(std::string(kEmbeddedKnownData[0].second)); }

FetchOptions default_fetch_options() {
  FetchOptions options;
  const std::string data = environment("GRAPHPAE_DATA");
  if (!data.empty()) options.places.push_back(data);
  std::string cache = environment("XDG_CACHE_HOME");
  if (cache.empty()) cache = environment("HOME").empty() ? "/tmp" : environment("HOME") + "/.cache";
  options.download_to = data.empty() ? cache + "/graphpae/data" : data;
  if (data.empty()) options.places.push_back(options.download_to);
  return options;
}

Dataset load_path_or_name(const std::string& data, const LoadOptions& options, const FetchOptions& fetch_options,
                          const std::vector<KnownData>& registry) {
  if (fs::exists(data)) return load(data, options);
  std::vector<std::string> names;
  for (const KnownData& known : registry) names.push_back(known.name);
  const auto place = std::find(names.begin(), names.end(), data);
  // A directory of that name in one of the places need not be in the registry.
  const bool is_plain_name = data.find('/') == std::string::npos && !data.empty();
  for (const std::string& directory : fetch_options.places) {
    const std::string path = directory + "/" + data;
    if (!is_plain_name || !fs::exists(path)) continue;
    return place == names.end() ? load(path, options) : load_known(path, registry[place - names.begin()], options);
  }
  if (place == names.end()) {
    throw data_error(fmt::format("{}: no such file or directory, and not the name of a known data set{}", data,
                                 did_you_mean(data, names)));
  }
  const KnownData& known = registry[place - names.begin()];
  if (fetch_options.offline) {
    throw data_error(fmt::format("{}: not in $GRAPHPAE_DATA or the cache, and --offline forbids the download", data));
  }
  const bool unrecorded =
      std::any_of(known.files.begin(), known.files.end(), [](const KnownFile& file) { return file.sha256.empty(); });
  if (known.content_sha256.empty() && unrecorded && !fetch_options.trust) {
    throw data_error(fmt::format("{}: no checksum is recorded for {}; --trust-download accepts it as it comes", data,
                                 known.files.front().url));
  }
  const std::string target = fetch_options.download_to + "/" + known.name;
  fetch(known, target, fetch_options);
  try {
    verify(known, target + ".download");
  } catch (...) {
    fs::remove_all(target + ".download");
    throw;
  }
  fs::rename(target + ".download", target);
  return load_known(target, known, options);
}

}  // namespace graphpae
