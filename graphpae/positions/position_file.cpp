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

template <class P>  // Positions or BatchPositions
std::string checksum(const P& p) {
  Sha256 sum;
  sum.update(std::span<const double>(p.eigenvalues));
  sum.update(std::span<const double>(p.eigenvectors));
  sum.update(std::span<const double>(p.residuals));
  return sum.hex();
}

std::vector<uint8_t> to_bytes(const std::string& text) { return {text.begin(), text.end()}; }

// The numbers of `p`, those of eigenvalues in rows of K, then `others` and the checksum of the numbers.
template <class P>
void write_file_of(const std::string& path, const P& p, const std::vector<int64_t>& value_shape, int64_t nodes,
                   const std::vector<ZipEntry>& others) {
  std::vector<ZipEntry> entries = {entry("eigenvalues", p.eigenvalues, value_shape),
                                   entry("eigenvectors", p.eigenvectors, {nodes, p.k}),
                                   entry("residuals", p.residuals, value_shape)};
  entries.insert(entries.end(), others.begin(), others.end());
  entries.push_back(entry("sha256", to_bytes(checksum(p))));
  AtomicFile file(path);
  write_zip(file.staging_path(), entries, false);  // eigenvectors do not compress
  file.commit();
}

std::string to_text(const NpyArray& array) { return {array.bytes.begin(), array.bytes.end()}; }

template <class P>
void read_numbers(const NpzFile& file, P& p) {
  p.eigenvalues = file.read("eigenvalues").to_double();
  p.eigenvectors = file.read("eigenvectors").to_double();
  p.residuals = file.read("residuals").to_double();
}

template <class P>
void check_checksum(const NpzFile& file, const P& p, bool fits) {
  if (!fits || to_text(file.read("sha256")) != checksum(p))
    throw data_error(fmt::format("{}: damaged: its checksum does not match", file.path()));
}

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
  write_file_of(path, p, {p.k}, p.num_nodes, {entry("facts", facts), entry("words", to_bytes(words))});
}

void write_positions(const std::string& path, const BatchPositions& p) {
  const int64_t graphs = static_cast<int64_t>(p.computed.size()),
                nodes = static_cast<int64_t>(p.eigenvectors.size()) / p.k;
  const std::vector<int64_t> facts = {p.k, p.padded_graphs, p.cut_graphs, p.unconverged_graphs};
  write_file_of(path, p, {graphs, p.k}, nodes, {entry("computed", p.computed, {graphs}), entry("facts", facts)});
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
  read_numbers(file, p);
  std::string words = to_text(file.read("words"));
  for (size_t at; (at = words.rfind('\n')) != std::string::npos; words.resize(at))
    p.notes.insert(p.notes.begin(), words.substr(at + 1));
  p.solver = words;
  const bool fits = p.num_nodes >= 0 && p.k >= 0 && static_cast<int64_t>(p.eigenvalues.size()) == p.k &&
                    static_cast<int64_t>(p.residuals.size()) == p.k &&
                    static_cast<int64_t>(p.eigenvectors.size()) == p.num_nodes * p.k;
  check_checksum(file, p, fits);
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
  read_numbers(file, p);
  p.computed = file.read("computed").to_int32();
  const bool fits = p.k > 0 && p.eigenvalues.size() == p.computed.size() * p.k &&
                    p.residuals.size() == p.eigenvalues.size() && p.eigenvectors.size() % p.k == 0;
  check_checksum(file, p, fits);
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

}  // namespace graphpae
