// A small table of molecules.
#pragma once

#include <string>

namespace graphpae::test {

// Sixty molecules of ten scaffolds, so that a scaffold split has all its parts, as rows "m7,SMILES,1,0.7": a name, a
// target of two classes and one of numbers. `head` names the columns.
inline std::string molecule_table(const std::string& head) {
  std::string table = head + "\n";
  int n = 0;
  for (const char* ring : {"C1CCC1", "C1CCCC1", "C1CCCCC1", "C1CCCCCC1", "c1ccccc1", "c1ccncc1", "c1ccsc1", "c1ccoc1",
                           "C1CCNCC1", "C1CCOCC1"}) {
    for (int chain = 0; chain < 6; ++chain, ++n)
      table += "m" + std::to_string(n) + "," + std::string(static_cast<size_t>(chain), 'C') + "O" + ring + "," +
               std::to_string(chain % 2) + "," + std::to_string(0.1 * n) + "\n";
  }
  return table;
}

}  // namespace graphpae::test
