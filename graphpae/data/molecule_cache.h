// Parsed molecules on disk, so that a set is parsed once: files kept under a key of texts, featurizer and versions.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "graphpae/data/chemistry.h"

namespace graphpae {

// SHA-256 of everything the result depends on: the texts, the featurizer, RDKit's version and that of the file form.
std::string molecule_key(const TextColumn& texts, Featurizer featurizer);

class MoleculeCache {
 public:
  explicit MoleculeCache(std::string directory) : directory_(std::move(directory)) {}

  // Nothing if the key is not there or its file is damaged: its checksum is verified.
  std::optional<ParsedMolecules> find(const std::string& key) const;
  // Written completely or not at all. Throws a data error naming the path and the reason.
  void store(const std::string& key, const ParsedMolecules& molecules) const;

 private:
  std::string path_of(const std::string& key) const { return directory_ + "/molecules-" + key + ".bin"; }
  std::string directory_;
};

}  // namespace graphpae
