// Which frequencies the corruptions change (Appendix A of the paper).
//
//   feature masking     U^T X~: the features of some nodes are zero
//   edge masking        U~^T X: eigenvectors of the graph without some edges
//   position offset     (U + delta)^T X: rows of U of some nodes are shaken
//
// Eigenvalues, which are frequencies, are in [0, 2]; magnitudes are averaged over bands of them. The paper averages
// u^T x over the columns of X first, sign and all, though signs of eigenvectors mean nothing: `of_the_mean` is its
// absolute value. `magnitude` takes absolute values before.
#pragma once

#include <functional>
#include <string>

#include "graphpae/analyze/graph_fourier.h"
#include "graphpae/core/graph.h"
#include "graphpae/core/rng.h"

namespace graphpae {

struct SpectrumOptions {
  double ratio = 0.2;   // of nodes or edges
  double noise = 0.01;  // offsets are uniform in (-noise, noise)
  int64_t draws = 3;
  double band_width = 0.1;
  int64_t seed = 0;
};

// Of one band [low, high), the last one with its end.
struct BandChange {
  double low = 0, high = 0;
  double eigenvalues = 0;  // in the original graph
  struct Numbers {
    double original = 0;   // before
    double corrupted = 0;  // after: mean over draws, of which those count that have eigenvalues in the band
    double deviation = 0;  // between draws
    double change = 0;     // mean over draws of |after - before|
  };
  Numbers magnitude, of_the_mean;
};

struct CorruptionSpectrum {
  std::string name;  // "feature_masking", "edge_masking", "position_offset"
  std::vector<BandChange> bands;
};

struct SpectrumAnalysis {
  int64_t nodes = 0, eigenvectors = 0;
  double highest = 0;  // eigenvalue that was computed; bands beyond it are not there
  std::vector<CorruptionSpectrum> corruptions;

  bool whole() const { return eigenvectors == nodes; }
};

// Called before each draw of a corruption.
using SpectrumCallback = std::function<void(const std::string& corruption, int64_t draw)>;

// Eigenvectors of a graph: all of them, or as many as the analysis is about.
using FourierSolver = std::function<FourierBasis(const Adjacency&)>;

// `basis` is that of the graph, `solve` gives that of the graph without some edges. Throws a data error for a graph
// without features or edges, usage errors for options out of range.
SpectrumAnalysis analyse_corruptions(const Graph& graph, const FourierBasis& basis, const FourierSolver& solve,
                                     const SpectrumOptions& options, Threads threads,
                                     const SpectrumCallback& progress = {});

// Throws what analyse_corruptions would, before anything is computed.
void check_corruptions(const Graph& graph, const SpectrumOptions& options);

}  // namespace graphpae
