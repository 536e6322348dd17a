// Loading an edge list of 10 million lines: this loader, from file to symmetrised CSR, against a plain
// ifstream reader of the same result and against the floor of `wc -l` plus a memory-bound sort of the edges.
//
//   edge_list_bench [LINES] [NODES]
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/measure.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/rng.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/load.h"

using namespace graphpae;

namespace {

void write_edges(const std::string& path, int64_t lines, int64_t nodes) {
  const Rng rng(1);
  std::string text = "src,dst\n";
  std::ofstream file(path, std::ios::binary);
  for (int64_t i = 0; i < lines; ++i) {
    text += fmt::format("{},{}\n", rng.below(2 * i, nodes), rng.below(2 * i + 1, nodes));
    if (text.size() > (1 << 20)) {
      file << text;
      text.clear();
    }
  }
  file << text;
}

std::vector<Edge> read_plainly(const std::string& path) {
  std::ifstream file(path);
  std::string header;
  std::getline(file, header);
  std::vector<Edge> edges;
  Edge edge{};
  char comma = 0;
  while (file >> edge.src >> comma >> edge.dst) edges.push_back(edge);
  return edges;
}

// The same CSR, the obvious way: both directions, sorted, without repeats and self loops.
std::vector<int64_t> build_plainly(const std::vector<Edge>& edges, int64_t nodes) {
  std::vector<std::pair<int32_t, int32_t>> both;
  for (const Edge& e : edges) {
    if (e.src == e.dst) continue;
    both.emplace_back(e.src, e.dst);
    both.emplace_back(e.dst, e.src);
  }
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  std::vector<int64_t> offsets(nodes + 1, 0);
  std::vector<int32_t> neighbours;
  for (const auto& [u, v] : both) {
    ++offsets[u + 1];
    neighbours.push_back(v);
  }
  for (int64_t u = 0; u < nodes; ++u) offsets[u + 1] += offsets[u];
  return offsets;
}

// Least significant digit first, 11 bits at a time, over the bits that are used.
void radix_sort(std::vector<uint64_t>& keys, std::vector<uint64_t>& spare, int bits) {
  for (int shift = 0; shift < bits; shift += 11) {
    std::array<size_t, 2049> starts{};
    for (const uint64_t key : keys) ++starts[(key >> shift & 2047) + 1];
    for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    for (const uint64_t key : keys) spare[starts[key >> shift & 2047]++] = key;
    keys.swap(spare);
  }
}

int64_t csr_bytes(const Adjacency& a) {
  return static_cast<int64_t>(a.offsets().size_bytes() + a.neighbours().size_bytes());
}

}  // namespace

int main(int argc, char** argv) {
  LoadOptions options;
  options.threads = all_threads();
  if (argc == 3 && std::string(argv[1]) == "--load") {  // for measuring memory in a process of its own
    const int64_t before = peak_memory();
    load(argv[2], options);
    fmt::print("{}\n", peak_memory() - before);
    return 0;
  }
  const int64_t lines = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  const int64_t nodes = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("graphpae-bench-{}.csv", ::getpid())).string();
  write_edges(path, lines, nodes);
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  fmt::print("{} lines, {:.0f} MB, {} nodes, {} threads\n", lines, megabytes, nodes, options.threads.count);

  constexpr int kRuns = 5;
  const std::string count = fmt::format("wc -l '{}' >/dev/null", path);
  const double wc = bench::median_seconds(kRuns, [&] { (void)!std::system(count.c_str()); });
  const std::vector<Edge> plain = read_plainly(path);
  int bits = 1;
  while ((int64_t{1} << bits) < nodes) ++bits;
  std::vector<uint64_t> keys(plain.size()), spare(plain.size());
  const auto fill = [&] {
    for (size_t i = 0; i < plain.size(); ++i)
      keys[i] = static_cast<uint64_t>(plain[i].src) << bits | static_cast<uint64_t>(plain[i].dst);
  };
  fill();
  const double radix = bench::median_seconds(kRuns, [&] { radix_sort(keys, spare, 2 * bits); });
  fill();
  const double comparison = bench::median_seconds(1, [&] { std::sort(keys.begin(), keys.end()); });
  const double plain_seconds = bench::median_seconds(3, [&] { read_plainly(path); });
  const double plain_whole = plain_seconds + bench::median_seconds(1, [&] { build_plainly(plain, nodes); });
  const double parse = bench::median_seconds(kRuns, [&] {
    read_edge_list(path, {NodeIds::automatic, -1, options.threads});
  });
  const double load_seconds = bench::median_seconds(kRuns, [&] { load(path, options); });
  const Dataset dataset = load(path, options);
  const int64_t result = csr_bytes(dataset.graph().adjacency());
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const int64_t peak = bench::output_of(fmt::format("'{}' --load '{}'", self, path));

  fmt::print("wc -l                            {:8.3f} s\n", wc);
  fmt::print("radix sort of the edges          {:8.3f} s   (one thread, {} bits)\n", radix, 2 * bits);
  fmt::print("std::sort of the edges           {:8.3f} s\n", comparison);
  fmt::print("plain ifstream, parsing only     {:8.3f} s\n", plain_seconds);
  fmt::print("plain ifstream, file to CSR      {:8.3f} s\n", plain_whole);
  fmt::print("graphpae, parsing only           {:8.3f} s   {:.0f} MB/s\n", parse, megabytes / parse);
  fmt::print("graphpae, file to CSR            {:8.3f} s\n", load_seconds);
  fmt::print("ifstream / graphpae, parsing     {:8.1f} x\n", plain_seconds / parse);
  fmt::print("ifstream / graphpae, file to CSR {:8.1f} x   (wanted: at least 5)\n", plain_whole / load_seconds);
  fmt::print("graphpae / (wc + radix sort)     {:8.2f}     (wanted: at most 1.5)\n", load_seconds / (wc + radix));
  fmt::print("graphpae / (wc + std::sort)      {:8.2f}\n", load_seconds / (wc + comparison));
  fmt::print("peak memory / CSR                {:8.2f}     ({:.0f} MB / {:.0f} MB, wanted: at most 3)\n",
             static_cast<double>(peak) / static_cast<double>(result), static_cast<double>(peak) / 1e6,
             static_cast<double>(result) / 1e6);
  std::filesystem::remove(path);
}
