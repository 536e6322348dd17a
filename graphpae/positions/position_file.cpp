#include "graphpae/positions/position_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/sha256.h"
#include "graphpae/io/zip_archive.h"

namespace graphpae {
namespace {

template <class T>
ZipEntry entry(const std::string& name, const std::vector<T>& values, const std::vector<int64_t>& shape = {}) {
  return npy_entry(name, std::span<const T>(values), shape);
}

void write_entries(const std::string& path, const std::vector<ZipEntry>& entries) {
  AtomicFile file(path);
  write_zip(file.staging_path(), entries, false);  // eigenvectors do not compress
  file.commit();
}

template <class P>  // Positions or BatchPositions
std::string checksum(const P& p) {
  Sha256 sum;
  sum.update(std::span<const double>(p.eigenvalues));
  sum.update(std::span<const double>(p.eigenvectors));
  sum.update(std::span<const double>(p.residuals));
  return sum.hex();
}

std::vector<uint8_t> to_bytes(const std::string& text) { return {text.begin(), text.end()}; }
std::string to_text(const NpyArray& array) { return {array.bytes.begin(), array.bytes.end()}; }

std::string key_text(const PositionOptions& o) {
  return fmt::format("k {} tolerance {} solver {} skip_zero {} absolute {} normalisation {} extend {} {} seed {}", o.k,
                     o.tolerance, static_cast<int>(o.solver), o.skip_zero, o.absolute,
                     static_cast<int>(o.normalisation), o.extend, o.extend_limit, o.seed);
}

// Nothing if there is no such file or it is damaged: it is computed again and written over.
template <class P>
std::optional<P> read_if_whole(const std::string& path, P (*read)(const std::string&)) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    return read(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void write_positions(const std::string& path, const Positions& p) {
  const std::vector<int64_t> facts = {
      p.num_nodes,  p.k,        p.computed,        p.converged,
      p.components, p.isolated, p.cuts_eigenspace, p.status == PositionStatus::converged};
  std::string words = p.solver;
  for (const std::string& note : p.notes) words += "\n" + note;
  const std::vector<uint8_t> text = to_bytes(words), sum = to_bytes(checksum(p));
  write_entries(
      path,
      {entry("eigenvalues", p.eigenvalues, {p.k}), entry("eigenvectors", p.eigenvectors, {p.num_nodes, p.k}),
       entry("residuals", p.residuals, {p.k}), entry("facts", facts), entry("words", text), entry("sha256", sum)});
}

void write_positions(const std::string& path, const BatchPositions& p) {
  const int64_t graphs = static_cast<int64_t>(p.computed.size()),
                nodes = static_cast<int64_t>(p.eigenvectors.size()) / p.k;
  const std::vector<int64_t> facts = {p.k, p.padded_graphs, p.cut_graphs, p.unconverged_graphs};
  const std::vector<uint8_t> sum = to_bytes(checksum(p));
  write_entries(
      path, {entry("eigenvalues", p.eigenvalues, {graphs, p.k}), entry("eigenvectors", p.eigenvectors, {nodes, p.k}),
             entry("residuals", p.residuals, {graphs, p.k}), entry("computed", p.computed, {graphs}),
             entry("facts", facts), entry("sha256", sum)});
}

Positions read_positions(const std::string& path) {
  const NpzFile file(path);
  const std::vector<int64_t> facts = file.read("facts").to_int64();
  if (facts.size() != 8) throw data_error(fmt::format("{}: not a file of positions", path));
  Positions p;
  p.num_nodes = facts[0];
  p.k = facts[1];
  p.computed = facts[2];
  p.converged = facts[3];
  p.components = facts[4];
  p.isolated = facts[5];
  p.cuts_eigenspace = facts[6] != 0;
  p.status = facts[7] != 0 ? PositionStatus::converged : PositionStatus::not_converged;
  p.eigenvalues = file.read("eigenvalues").to_double();
  p.eigenvectors = file.read("eigenvectors").to_double();
  p.residuals = file.read("residuals").to_double();
  std::string words = to_text(file.read("words"));
  for (size_t at; (at = words.rfind('\n')) != std::string::npos; words.resize(at))
    p.notes.insert(p.notes.begin(), words.substr(at + 1));
  p.solver = words;
  const bool fits = p.num_nodes >= 0 && p.k >= 0 && static_cast<int64_t>(p.eigenvalues.size()) == p.k &&
                    static_cast<int64_t>(p.residuals.size()) == p.k &&
                    static_cast<int64_t>(p.eigenvectors.size()) == p.num_nodes * p.k;
  if (!fits || to_text(file.read("sha256")) != checksum(p))
    throw data_error(fmt::format("{}: damaged: its checksum does not match", path));
  return p;
}

BatchPositions read_batch_positions(const std::string& path) {
  const NpzFile file(path);
  const std::vector<int64_t> facts = file.read("facts").to_int64();
  if (facts.size() != 4) throw data_error(fmt::format("{}: not a file of positions of many graphs", path));
  BatchPositions p;
  p.k = facts[0];
  p.padded_graphs = facts[1];
  p.cut_graphs = facts[2];
  p.unconverged_graphs = facts[3];
  p.eigenvalues = file.read("eigenvalues").to_double();
  p.eigenvectors = file.read("eigenvectors").to_double();
  p.residuals = file.read("residuals").to_double();
  p.computed = file.read("computed").to_int32();
  const bool fits = p.k > 0 && p.eigenvalues.size() == p.computed.size() * p.k &&
                    p.residuals.size() == p.eigenvalues.size() && p.eigenvectors.size() % p.k == 0;
  if (!fits || to_text(file.read("sha256")) != checksum(p))
    throw data_error(fmt::format("{}: damaged: its checksum does not match", path));
  return p;
}

std::string position_key(const Adjacency& graph, const PositionOptions& options) {
  Sha256 sum;
  sum.update("graphpae positions 1");
  sum.update(graph.offsets());
  sum.update(graph.neighbours());
  sum.update(key_text(options));
  if (graph.has_weights() && options.weights) {
    sum.update("weights");
    sum.update(graph.weights());
  }
  return sum.hex();
}

std::string position_key(const GraphBatch& batch, const PositionOptions& options) {
  Sha256 sum;
  sum.update("graphpae positions of many 1");
  sum.update(batch.node_offsets);
  sum.update(batch.edge_offsets);
  sum.update(batch.edges);
  sum.update(key_text(options));
  return sum.hex();
}

std::optional<Positions> PositionCache::find(const std::string& key) const {
  return read_if_whole(path_of(key), read_positions);
}

std::optional<BatchPositions> PositionCache::find_batch(const std::string& key) const {
  return read_if_whole(path_of(key), read_batch_positions);
}

void PositionCache::store(const std::string& key, const Positions& positions) const {
  std::filesystem::create_directories(directory_);
  write_positions(path_of(key), positions);
}

void PositionCache::store(const std::string& key, const BatchPositions& positions) const {
  std::filesystem::create_directories(directory_);
  write_positions(path_of(key), positions);
}

}  // namespace graphpae
