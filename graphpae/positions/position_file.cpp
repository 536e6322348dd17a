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
ZipEntry entry(const std::string& name, const std::vector<T>& values, const std::vector<int64_t>& shape) {
  return {name + ".npy", npy_bytes<T>(std::span<const T>(values), shape)};
}

void write_entries(const std::string& path, const std::vector<ZipEntry>& entries) {
  AtomicFile file(path);
  write_zip(file.staging_path(), entries, false);  // eigenvectors do not compress
  file.commit();
}

std::string checksum(const Positions& p) {
  Sha256 sum;
  sum.update(std::span<const double>(p.eigenvalues));
  sum.update(std::span<const double>(p.eigenvectors));
  sum.update(std::span<const double>(p.residuals));
  return sum.hex();
}

std::vector<uint8_t> to_bytes(const std::string& text) { return {text.begin(), text.end()}; }
std::string to_text(const NpyArray& array) { return {array.bytes.begin(), array.bytes.end()}; }

}  // namespace

void write_positions(const std::string& path, const Positions& p) {
  const std::vector<int64_t> facts = {
      p.num_nodes,  p.k,        p.computed,        p.converged,
      p.components, p.isolated, p.cuts_eigenspace, p.status == PositionStatus::converged};
  std::string words = p.solver;
  for (const std::string& note : p.notes) words += "\n" + note;
  const std::vector<uint8_t> text = to_bytes(words), sum = to_bytes(checksum(p));
  write_entries(path,
                {entry("eigenvalues", p.eigenvalues, {p.k}), entry("eigenvectors", p.eigenvectors, {p.num_nodes, p.k}),
                 entry("residuals", p.residuals, {p.k}), entry("facts", facts, {static_cast<int64_t>(facts.size())}),
                 entry("words", text, {static_cast<int64_t>(text.size())}),
                 entry("sha256", sum, {static_cast<int64_t>(sum.size())})});
}

void write_positions(const std::string& path, const BatchPositions& p) {
  const int64_t graphs = static_cast<int64_t>(p.computed.size()),
                nodes = static_cast<int64_t>(p.eigenvectors.size()) / p.k;
  write_entries(
      path, {entry("eigenvalues", p.eigenvalues, {graphs, p.k}), entry("eigenvectors", p.eigenvectors, {nodes, p.k}),
             entry("residuals", p.residuals, {graphs, p.k}), entry("computed", p.computed, {graphs})});
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

std::string position_key(const Adjacency& graph, const PositionOptions& o) {
  Sha256 sum;
  sum.update("graphpae positions 1");
  sum.update(graph.offsets());
  sum.update(graph.neighbours());
  sum.update(fmt::format("k {} tolerance {} solver {} skip_zero {} absolute {} normalisation {} extend {} {} seed {}",
                         o.k, o.tolerance, static_cast<int>(o.solver), o.skip_zero, o.absolute,
                         static_cast<int>(o.normalisation), o.extend, o.extend_limit, o.seed));
  return sum.hex();
}

std::optional<Positions> PositionCache::find(const std::string& key) const {
  const std::string path = path_of(key);
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    return read_positions(path);
  } catch (const Error&) {
    return std::nullopt;  // damaged: computed again and written over
  }
}

void PositionCache::store(const std::string& key, const Positions& positions) const {
  std::filesystem::create_directories(directory_);
  write_positions(path_of(key), positions);
}

}  // namespace graphpae
