// Units of targets, so that an error in Hartree is not compared with one in meV.
#pragma once

#include <string>
#include <vector>

namespace graphpae {

inline constexpr double kMilliElectronVoltsPerHartree = 27211.386;

struct TargetUnit {
  std::string name;     // in the file; "": not known
  std::string paper;    // in the table of the paper; "": the same, or not in the paper
  double to_paper = 1;  // a number in the unit of the file times this is one in the unit of the paper
};

// The units of targets by name. `text` is "" or "none" (none are known), "qm9" (those of the MoleculeNet table of QM9
// for targets named as there, and the units of the paper's table beside them) or pairs "y=eV,z=D". Throws a usage error
// for other texts and for a pair whose target is not among `targets`.
std::vector<TargetUnit> target_units(const std::string& text, const std::vector<std::string>& targets);

}  // namespace graphpae
