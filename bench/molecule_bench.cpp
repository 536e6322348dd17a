#include "bench/molecule_bench.h"

#include <dnnl.h>
#include <torch/torch.h>

#include <algorithm>

#include "bench/measure.h"
#include "graphpae/core/buffer.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/kernels/dense_product.h"
#include "graphpae/ops/tensors.h"
#include "graphpae/train/pretrain.h"

namespace graphpae::bench {
namespace {

constexpr int kWarmUp = 4;
constexpr int64_t kPositionDecoderWidth = 128;

// [m,k] x [k,n], with A or B stored transposed: forward, gradient of the weights, gradient of the rows.
struct Product {
  int64_t m, n, k;
  bool a_transposed, b_transposed;

  double gflop() const { return 2e-9 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

// rows [r,in] through a weight [in,out]; `out_back` columns have gradients.
void add_linear(std::vector<Product>& products, int64_t rows, int64_t in, int64_t out, int64_t out_back) {
  products.push_back({rows, out, in, false, false});
  products.push_back({in, out_back, rows, true, false});
  products.push_back({rows, in, out_back, false, true});
}

// The dense products of one step on this batch.
std::vector<Product> products_of(const GraphInput& input, const InputShape& shape, const Settings& s) {
  std::vector<Product> products;
  const int64_t d = s.width, n = input.num_nodes(), e = input.graph.num_edges();
  const auto masked = static_cast<int64_t>(s.mask_ratio * static_cast<double>(n));
  const bool both = s.use_positions && s.reconstruct_positions && s.dual_path;
  for (int pass = 0; pass < (both ? 2 : 1); ++pass) {
    for (int64_t l = 0; l < s.layers; ++l) {
      const bool nodes_unread = pass == 1 && l + 1 == s.layers;  // A1 and A2 have no gradients then
      add_linear(products, l == 0 ? input.atoms.kinds.size(0) : n, d, 4 * d, nodes_unread ? 2 * d : 4 * d);
      add_linear(products, l == 0 ? input.bonds.kinds.size(0) : e, d, d, d);
    }
  }
  add_linear(products, masked, d, d, d);
  add_linear(products, masked, d, shape.atom_codes[0] - 1, shape.atom_codes[0] - 1);
  if (both) {
    const double unmasked = 1 - s.mask_ratio;
    const auto counted = static_cast<int64_t>((1 - unmasked * unmasked) * static_cast<double>(e));
    add_linear(products, counted, d, kPositionDecoderWidth, kPositionDecoderWidth);
  }
  return products;
}

// Milliseconds of all products one after the other, best of a few.
template <class Run>
double time_products(const std::vector<Product>& products, const Run& run) {
  int64_t largest = 0;
  for (const Product& p : products) largest = std::max({largest, p.m * p.n, p.m * p.k, p.k * p.n});
  const Buffer<float> a(static_cast<size_t>(largest), 0.5f), b(static_cast<size_t>(largest), 0.25f);
  Buffer<float> c(static_cast<size_t>(largest));
  return 1e3 * best_seconds(5, [&] {
           for (const Product& p : products) run(p, a.data(), b.data(), c.data());
         });
}

double step_seconds(const GraphSet& set, const Settings& settings, Kernels kernels, int steps, Threads threads) {
  InputOptions options;
  options.threads = threads;
  options.kernels = kernels;
  Pretrainer trainer(prepare(set, settings, options), input_shape(set), settings);
  for (int i = 0; i < kWarmUp; ++i) trainer.train_step();
  return median_seconds(steps, [&] { trainer.train_step(); });
}

}  // namespace

MoleculeBench run_molecule_bench(const GraphSet& set, const Settings& settings, int steps, bool reference,
                                 Threads threads) {
  MoleculeBench bench;
  bench.molecules = set.num_graphs();
  bench.batch = std::min(settings.batch_size, set.num_graphs());
  bench.atoms = static_cast<double>(set.num_nodes()) / static_cast<double>(set.num_graphs());
  bench.edges = 2 * static_cast<double>(set.num_edges()) / static_cast<double>(set.num_graphs());
  bench.step_ms = 1e3 * step_seconds(set, settings, Kernels::fused, steps, threads);
  if (reference) {
    bench.plain_ms = 1e3 * step_seconds(set, settings, Kernels::reference, std::max(steps / 4, 3), threads);
    // Once more, so that a busy moment of the machine does not decide.
    bench.step_ms = std::min(bench.step_ms, 1e3 * step_seconds(set, settings, Kernels::fused, steps, threads));
  }

  InputOptions options;
  options.threads = threads;
  const auto molecules = prepare(set, settings, options);
  std::vector<int32_t> first;
  for (int64_t m = 0; m < bench.batch; ++m) first.push_back(static_cast<int32_t>(m * (set.num_graphs() / bench.batch)));
  const std::vector<Product> products = products_of(molecules->batch(first), molecules->shape(), settings);
  for (const Product& p : products) bench.dense_gflop += p.gflop();
  bench.dense_ms = time_products(products, [&](const Product& p, const float* a, const float* b, float* c) {
    kernels::dense_product(p.a_transposed ? kernels::transposed(a, p.m) : kernels::plain(a, p.k),
                           p.b_transposed ? kernels::transposed(b, p.k) : kernels::plain(b, p.n), p.m, p.n, p.k, c, p.n,
                           {}, threads);
  });
  bench.onednn_ms = time_products(products, [&](const Product& p, const float* a, const float* b, float* c) {
    dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, 1.0f, a,
               p.a_transposed ? p.m : p.k, b, p.b_transposed ? p.k : p.n, 0.0f, c, p.n);
  });
  return bench;
}

GraphSet bench_molecules(Threads threads) {
  const char* drugs[] = {
      "CC(C)c1c(C(=O)Nc2ccccc2)c(-c2ccccc2)c(-c2ccc(F)cc2)n1CC[C@@H](O)C[C@@H](O)CC(=O)O",
      "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1",
      "CCOc1nc2cccc(C(=O)O)c2n1Cc1ccc(-c2ccccc2-c2nnn[nH]2)cc1",
      "COc1cc2ncnc(Nc3ccc(F)c(Cl)c3)c2cc1OCCCN1CCOCC1",
      "CC(C)(C)NC(=O)[C@@H]1C[C@@H]2CCCC[C@@H]2CN1C[C@@H](O)[C@H](Cc1ccccc1)NC(=O)[C@H](CC(N)=O)NC(=O)c1ccc2ccccc2n1",
      "CN1CCN(c2ncc3c(=O)c(C(=O)O)cn(C4CC4)c3n2)CC1",
      "CCCc1nn(C)c2c(=O)[nH]c(-c3cc(S(=O)(=O)N4CCN(C)CC4)ccc3OCC)nc12",
      "CNC(=O)c1cc(Oc2ccc(NC(=O)Nc3ccc(Cl)c(C(F)(F)F)c3)cc2)ccn1",
  };
  constexpr int kCopies = 64;
  GraphSetParts parts;
  for (int copy = 0; copy < kCopies; ++copy) {
    for (const char* drug : drugs) parts.texts.push_back(drug);
  }
  ParsedMolecules parsed = parse_molecules(parts.texts, Featurizer::ogb, threads);
  parts.num_graphs = parts.texts.size();
  parts.node_offsets = std::move(parsed.node_offsets);
  parts.edge_offsets = std::move(parsed.edge_offsets);
  parts.edges = std::move(parsed.edges);
  parts.node_codes = std::move(parsed.node_codes);
  parts.edge_codes = std::move(parsed.edge_codes);
  return GraphSet(std::move(parts));
}

}  // namespace graphpae::bench
