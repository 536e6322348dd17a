#include "graphpae/data/fingerprints.h"

#include <DataStructs/SparseIntVect.h>
#include <GraphMol/Descriptors/MQN.h>
#include <GraphMol/Descriptors/MolDescriptors.h>
#include <GraphMol/Descriptors/MolSurf.h>
#include <GraphMol/Descriptors/Property.h>
#include <GraphMol/Fingerprints/AtomPairs.h>
#include <GraphMol/Fingerprints/MorganFingerprints.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/RWMol.h>
#include <RDGeneral/RDLog.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <new>

#include "graphpae/data/rdkit_molecule.h"

namespace graphpae {
namespace {

constexpr int64_t kMoleculesPerTask = 64;

using Counts = std::vector<std::pair<uint32_t, float>>;  // ids ascend

// use(row, molecule) for every text that is one.
template <class Use>
void for_molecules(const TextColumn& texts, Threads threads, const Use& use) {
  const RDLog::LogStateSetter silence;
  const auto count = static_cast<int64_t>(texts.size());
  parallel_tasks(threads, (count + kMoleculesPerTask - 1) / kMoleculesPerTask, [&](int64_t task) {
    for (int64_t row = task * kMoleculesPerTask; row < std::min(count, (task + 1) * kMoleculesPerTask); ++row) {
      try {
        use(row, *rdkit_molecule(texts[row]));
      } catch (const std::bad_alloc&) {
        throw;
      } catch (...) {  // not a molecule, or one that RDKit cannot describe
      }
    }
  });
}

template <class Fingerprint>
Counts counts_of(const Fingerprint& fingerprint, int64_t columns) {
  std::map<uint32_t, float> counts;
  for (const auto& [id, count] : fingerprint.getNonzeroElements()) {
    const auto number = static_cast<uint32_t>(id);
    counts[columns > 0 ? static_cast<uint32_t>(number % columns) : number] += static_cast<float>(count);
  }
  return {counts.begin(), counts.end()};
}

Features sparse_counts(const std::vector<Counts>& rows, int64_t columns) {
  std::vector<uint32_t> known;
  if (columns == 0) {
    for (const Counts& row : rows) {
      for (const auto& [id, count] : row) known.push_back(id);
    }
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    columns = static_cast<int64_t>(known.size());
  }
  std::vector<int64_t> offsets(1, 0);
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (const Counts& row : rows) {
    for (const auto& [id, count] : row) {
      const auto place = known.empty() ? id : std::lower_bound(known.begin(), known.end(), id) - known.begin();
      indices.push_back(static_cast<int32_t>(place));
      values.push_back(count);
    }
    offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  return Features::sparse(static_cast<int64_t>(rows.size()), columns, std::move(offsets), std::move(indices),
                          std::move(values));
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Features morgan_counts(const TextColumn& texts, int radius, int64_t columns, Threads threads) {
  std::vector<Counts> rows(texts.size());
  for_molecules(texts, threads, [&](int64_t row, const RDKit::RWMol& molecule) {
    const std::unique_ptr<RDKit::SparseIntVect<uint32_t>> found(
        RDKit::MorganFingerprints::getFingerprint(molecule, static_cast<unsigned>(radius)));
    rows[row] = counts_of(*found, columns);
  });
  return sparse_counts(rows, columns);
}

Features atom_pair_counts(const TextColumn& texts, int64_t columns, Threads threads) {
  std::vector<Counts> rows(texts.size());
  for_molecules(texts, threads, [&](int64_t row, const RDKit::RWMol& molecule) {
    const std::unique_ptr<RDKit::SparseIntVect<int32_t>> found(RDKit::AtomPairs::getAtomPairFingerprint(molecule));
    rows[row] = counts_of(*found, columns);
  });
  return sparse_counts(rows, columns);
}

Descriptors molecule_descriptors(const TextColumn& texts, Threads threads) {
  namespace Known = RDKit::Descriptors;
  const Known::Properties properties;
  std::vector<std::string> names = properties.getPropertyNames();
  const auto number = [&](const char* name, size_t count) {
    for (size_t k = 0; k < count; ++k) names.push_back(fmt::format("{}{}", name, k + 1));
  };
  std::vector<std::vector<double>> rows(texts.size());
  for_molecules(texts, threads, [&](int64_t row, RDKit::RWMol& molecule) {
    RDKit::MolOps::assignStereochemistry(molecule);  // some properties count centres, and throw without
    std::vector<double> values = properties.computeProperties(molecule);
    const std::vector<unsigned> numbers = Known::calcMQNs(molecule);
    append(values, {numbers.begin(), numbers.end()});
    append(values, Known::calcSlogP_VSA(molecule));
    append(values, Known::calcSMR_VSA(molecule));
    append(values, Known::calcPEOE_VSA(molecule));
    rows[row] = std::move(values);
  });
  number("MQN", 42);
  number("SlogP_VSA", 12);
  number("SMR_VSA", 10);
  number("PEOE_VSA", 14);
  const size_t width = names.size();
  const auto usable = [&](const std::vector<double>& row, size_t d) {
    return row.size() == width && std::abs(row[d]) <= std::numeric_limits<float>::max();  // false for NaN
  };
  Buffer<float> values(rows.size() * width, 0.0f);
  for (size_t d = 0; d < width; ++d) {
    double sum = 0, count = 0;
    for (const auto& row : rows) {
      if (!usable(row, d)) continue;
      sum += row[d];
      ++count;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (usable(rows[i], d))
        values[i * width + d] = static_cast<float>(rows[i][d]);
      else if (!rows[i].empty() && count > 0)
        values[i * width + d] = static_cast<float>(sum / count);
    }
  }
  const auto count = static_cast<int64_t>(rows.size());
  return {std::move(names), Features::dense(count, static_cast<int64_t>(width), std::move(values))};
}

}  // namespace graphpae
