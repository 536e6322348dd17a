// Positions on disk: .npz files with eigenvalues [K], eigenvectors [N,K] and residuals [K] in float64, and what is
// needed to read them back whole. The cache keeps such files under a key of graph and options.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/positions/position_batch.h"

namespace graphpae {

// Written completely or not at all.
void write_positions(const std::string& path, const Positions& positions);
// eigenvalues [G,K], eigenvectors [N,K], residuals [G,K], computed [G].
void write_positions(const std::string& path, const BatchPositions& positions);

// Throws a data error if the file is not what write_positions wrote: its checksum is verified.
Positions read_positions(const std::string& path);
BatchPositions read_batch_positions(const std::string& path);

// SHA-256 of the structure of the graphs and of every option that changes the result.
std::string position_key(const Adjacency& graph, const PositionOptions& options);
std::string position_key(const GraphBatch& batch, const PositionOptions& options);

class PositionCache {
 public:
  explicit PositionCache(std::string directory) : directory_(std::move(directory)) {}

  // Nothing if the key is not there or its file is damaged.
  std::optional<Positions> find(const std::string& key) const;
  std::optional<BatchPositions> find_batch(const std::string& key) const;
  template <class P>
  void store(const std::string& key, const P& positions) const {
    std::filesystem::create_directories(directory_);
    write_positions(path_of(key), positions);
  }

 private:
  std::string path_of(const std::string& key) const { return directory_ + "/positions-" + key + ".npz"; }
  std::string directory_;
};

}  // namespace graphpae
