// Data sets known by name: looked up in $GRAPHPAE_DATA, then downloaded from their public address and
// verified.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graphpae/data/load.h"

namespace graphpae {

struct KnownFile {
  std::string url;
  std::string name;
  std::string sha256;  // "" if not recorded
  bool unzip = false;
};

struct KnownData {
  std::string name;
  std::string title;
  std::vector<KnownFile> files;
  std::string load;            // path inside its directory
  std::string content_sha256;  // "" if not recorded
  int64_t year_classes = 0;
};

// The registry compiled in, or the one in `yaml`.
std::vector<KnownData> known_data();
std::vector<KnownData> parse_known_data(const std::string& yaml);

struct FetchOptions {
  std::vector<std::string> places;  // directories that may hold <place>/<name>
  std::string download_to;          // downloads become <download_to>/<name>
  bool offline = false;
  bool trust = false;  // accept data whose checksum is not recorded
  std::function<void(const std::string& file, int64_t done, int64_t total)> progress;
};

// From $GRAPHPAE_DATA, and $XDG_CACHE_HOME or ~/.cache.
FetchOptions default_fetch_options();

// Loads a path, or a known name. A name that is also a path is the path. Throws a data error if the name
// is neither, is not there and may not be downloaded, or does not match its checksum.
Dataset load_path_or_name(const std::string& data, const LoadOptions& options, const FetchOptions& fetch,
                          const std::vector<KnownData>& registry);

}  // namespace graphpae
