#include "graphpae/data/chemistry.h"

#include <GraphMol/ChemTransforms/ChemTransforms.h>
#include <GraphMol/FileParsers/FileParsers.h>
#include <GraphMol/MolDraw2D/MolDraw2DSVG.h>
#include <GraphMol/MolDraw2D/MolDraw2DUtils.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/RWMol.h>
#include <GraphMol/RingInfo.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>
#include <RDGeneral/RDLog.h>
#include <RDGeneral/types.h>
#include <RDGeneral/versions.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "graphpae/data/rdkit_molecule.h"

namespace graphpae {
namespace {

using RDKit::Atom;
using RDKit::Bond;

constexpr int64_t kRowsPerTask = 256;
constexpr size_t kLongestReason = 160;
constexpr int kDrawingWidth = 220, kDrawingHeight = 200;

// Codes of a column end with "other", which is the last of `size`.
int16_t code_or_other(int value, int size) {
  return static_cast<int16_t>(value < 0 || value >= size ? size - 1 : value);
}

int16_t element_code(const Atom& atom) { return code_or_other(atom.getAtomicNum() - 1, 119); }

// Unspecified, clockwise, counter-clockwise and RDKit's own "other" are 0 to 3 as in RDKit.
int16_t chirality_code(const Atom& atom, int size) { return code_or_other(atom.getChiralTag(), size); }

// The place of a value in a list; what is not in it gets the code after the last.
template <class T>
int16_t place_in(std::initializer_list<T> known, T value) {
  return static_cast<int16_t>(std::find(known.begin(), known.end(), value) - known.begin());
}

int16_t hybridisation_code(const Atom& atom) {
  return place_in({Atom::SP, Atom::SP2, Atom::SP3, Atom::SP3D, Atom::SP3D2}, atom.getHybridization());
}

int16_t bond_type_code(const Bond& bond) {
  return place_in({Bond::SINGLE, Bond::DOUBLE, Bond::TRIPLE, Bond::AROMATIC}, bond.getBondType());
}

int16_t stereo_code(const Bond& bond) {
  return place_in({Bond::STEREONONE, Bond::STEREOZ, Bond::STEREOE, Bond::STEREOCIS, Bond::STEREOTRANS},
                  bond.getStereo());
}

int16_t direction_code(const Bond& bond) {
  switch (bond.getBondDir()) {
    case Bond::ENDUPRIGHT: return 1;
    case Bond::ENDDOWNRIGHT: return 2;
    default: return 0;
  }
}

// The sizes handed to code_or_other here are those of code_sizes.
void append_atom(const Atom& atom, const RDKit::RingInfo& rings, Featurizer featurizer, std::vector<int16_t>& codes) {
  if (featurizer == Featurizer::transfer) {
    codes.insert(codes.end(), {element_code(atom), chirality_code(atom, 4)});
    return;
  }
  const int hydrogens = static_cast<int>(atom.getTotalNumHs());
  codes.insert(
      codes.end(),
      {element_code(atom), chirality_code(atom, 5), code_or_other(static_cast<int>(atom.getDegree()) + hydrogens, 12),
       code_or_other(atom.getFormalCharge() + 5, 12), code_or_other(hydrogens, 10),
       code_or_other(static_cast<int>(atom.getNumRadicalElectrons()), 6), hybridisation_code(atom),
       static_cast<int16_t>(atom.getIsAromatic()), static_cast<int16_t>(rings.numAtomRings(atom.getIdx()) > 0)});
}

void append_bond(const Bond& bond, Featurizer featurizer, std::vector<int16_t>& codes) {
  if (featurizer == Featurizer::transfer) {
    codes.insert(codes.end(), {bond_type_code(bond), direction_code(bond)});
  } else {
    codes.insert(codes.end(), {bond_type_code(bond), stereo_code(bond), static_cast<int16_t>(bond.getIsConjugated())});
  }
}

// RDKit's messages may span lines; ours are one line.
std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (blank && (line.empty() || line.back() == ' ')) continue;
    line += blank ? ' ' : c;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() > kLongestReason) line = line.substr(0, kLongestReason - 3) + "...";
  return line.empty() ? "RDKit gives no reason" : line;
}

bool is_mol_block(std::string_view text) { return text.find('\n') != std::string_view::npos; }

// A mark of a stereo centre or bond, or an extension or name after a blank.
bool may_have_stereo(std::string_view text) { return text.find_first_of("@/\\ \t\n") != std::string_view::npos; }

// RDKit ranks all atoms for stereo even in a SMILES without a single mark, in a time that grows with the cube of the
// length of a chain. Without marks there is nothing to find, so that step is left out; the others are those of its
// parser.
std::unique_ptr<RDKit::RWMol> plain_smiles_to_mol(const std::string& text) {
  RDKit::SmilesParserParams params;
  params.sanitize = false;
  params.removeHs = false;
  std::unique_ptr<RDKit::RWMol> mol(RDKit::SmilesToMol(text, params));
  RDKit::MolOps::RemoveHsParameters hydrogens;
  hydrogens.updateExplicitCount = true;
  if (mol) RDKit::MolOps::removeHs(*mol, hydrogens, /*sanitize=*/true);
  return mol;
}

// A molecule with at least one atom, or an exception that says why there is none.
std::unique_ptr<RDKit::RWMol> to_molecule(std::string_view text) {
  if (text.empty()) throw std::invalid_argument("the text is empty");
  // RDKit would read up to it and call the rest no part of the molecule.
  if (text.find('\0') != std::string_view::npos) throw std::invalid_argument("there is a zero byte in the text");
  if (text.starts_with("InChI=")) throw std::invalid_argument("it is an InChI");
  const std::string copy(text);
  std::unique_ptr<RDKit::RWMol> mol;
  if (is_mol_block(text)) {
    mol.reset(RDKit::MolBlockToMol(copy));
  } else if (may_have_stereo(text)) {
    mol.reset(RDKit::SmilesToMol(copy, RDKit::SmilesParserParams()));
  } else {
    mol = plain_smiles_to_mol(copy);
  }
  if (!mol) throw std::invalid_argument(is_mol_block(text) ? "the mol block cannot be read" : "the syntax is wrong");
  if (mol->getNumAtoms() == 0) throw std::invalid_argument("there are no atoms");
  return mol;
}

// Runs use(molecule) for one text; returns why it is not a molecule, or nothing. Running out of memory is not the
// molecule's fault.
template <class Use>
std::optional<std::string> with_molecule(std::string_view text, const Use& use) {
  try {
    const auto mol = to_molecule(text);
    use(*mol);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return one_line(error.what());
  } catch (...) {
    return one_line("");
  }
  return std::nullopt;
}

// The molecules of a range of rows; offsets hold the end of each.
ParsedMolecules parse_rows(const TextColumn& texts, int64_t begin, int64_t end, Featurizer featurizer) {
  ParsedMolecules part;
  int64_t nodes = 0;
  for (int64_t row = begin; row < end; ++row) {
    const size_t atom_values = part.node_codes.values.size(), bond_values = part.edge_codes.values.size(),
                 edges = part.edges.size();
    const auto failure = with_molecule(texts[row], [&](const RDKit::RWMol& mol) {
      for (const Atom* atom : mol.atoms()) append_atom(*atom, *mol.getRingInfo(), featurizer, part.node_codes.values);
      for (const Bond* bond : mol.bonds()) {
        part.edges.push_back(
            {static_cast<int32_t>(bond->getBeginAtomIdx()), static_cast<int32_t>(bond->getEndAtomIdx())});
        append_bond(*bond, featurizer, part.edge_codes.values);
      }
      nodes += mol.getNumAtoms();
    });
    if (failure) {  // perhaps half way through
      part.node_codes.values.resize(atom_values);
      part.edge_codes.values.resize(bond_values);
      part.edges.resize(edges);
      part.invalid.push_back({row, *failure});
    }
    part.node_offsets.push_back(nodes);
    part.edge_offsets.push_back(static_cast<int64_t>(part.edges.size()));
  }
  return part;
}

std::string isomeric_smiles(const RDKit::ROMol& mol, bool may_be_stereo) {
  // As in plain_smiles_to_mol: no marks, nothing to rank.
  if (!may_be_stereo) mol.setProp(RDKit::common_properties::_StereochemDone, 1, true);
  return RDKit::MolToSmiles(mol, /*doIsomericSmiles=*/true);
}

// write(molecule, whether it may have stereo) of every text; nothing where there is no molecule or writing fails.
template <class Write>
std::vector<std::optional<std::string>> write_each(const TextColumn& texts, Threads threads, const Write& write) {
  const RDLog::LogStateSetter silence;
  std::vector<std::optional<std::string>> written(texts.size());
  const int64_t tasks = (texts.size() + kRowsPerTask - 1) / kRowsPerTask;
  parallel_tasks(threads, tasks, [&](int64_t task) {
    const int64_t end = std::min(texts.size(), (task + 1) * kRowsPerTask);
    for (int64_t row = task * kRowsPerTask; row < end; ++row) {
      with_molecule(texts[row],
                    [&](const RDKit::RWMol& mol) { written[row] = write(mol, may_have_stereo(texts[row])); });
    }
  });
  return written;
}

// What RDKit draws as a line of text per stroke, as one path per style: a tenth of the bytes, the same picture.
std::string compact_svg(const std::string& svg) {
  const auto attribute = [](std::string_view line, std::string_view name) -> std::string {
    const size_t begin = line.find(name);
    if (begin == std::string_view::npos) return "";
    const size_t first = begin + name.size();
    return std::string(line.substr(first, line.find('\'', first) - first));
  };
  std::vector<std::pair<std::string, std::string>> paths;  // style, strokes
  std::string texts;
  std::istringstream lines(svg);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("<path")) {
      const std::string style = attribute(line, " style='");
      auto path = std::find_if(paths.begin(), paths.end(), [&](const auto& one) { return one.first == style; });
      if (path == paths.end()) path = paths.insert(paths.end(), {style, ""});
      path->second += attribute(line, " d='");
    } else if (line.starts_with("<text")) {
      const std::string style = ";" + attribute(line, " style='") + ";";
      const auto of_style = [&](const std::string& name) {
        const size_t first = style.find(";" + name + ":") + name.size() + 2;
        return style.substr(first, style.find(';', first) - first);
      };
      texts += "<text x='" + attribute(line, " x='") + "' y='" + attribute(line, " y='") + "' font-size='" +
               of_style("font-size") + "' fill='" + of_style("fill") + "'" + line.substr(line.find('>'));
    }
  }
  std::string compact = "<svg xmlns='http://www.w3.org/2000/svg' font-family='sans-serif' viewBox='" +
                        attribute(svg, " viewBox='") + "'>";
  for (const auto& [style, strokes] : paths) compact += "<path d='" + strokes + "' style='" + style + "'/>";
  return compact + texts + "</svg>";
}

template <class T>
void append_and_free(std::vector<T>& whole, std::vector<T>& part) {
  whole.insert(whole.end(), part.begin(), part.end());
  std::vector<T>().swap(part);
}

}  // namespace

CodeSizes code_sizes(Featurizer featurizer) {
  if (featurizer == Featurizer::transfer) return {{119, 4}, {5, 3}};
  return {{119, 5, 12, 12, 10, 6, 6, 2, 2}, {5, 6, 2}};
}

ParsedMolecules parse_molecules(const TextColumn& texts, Featurizer featurizer, Threads threads) {
  const RDLog::LogStateSetter silence;  // RDKit's logs, until the end of the call
  const int64_t tasks = (texts.size() + kRowsPerTask - 1) / kRowsPerTask;
  std::vector<ParsedMolecules> parts(tasks);
  parallel_tasks(threads, tasks, [&](int64_t task) {
    parts[task] = parse_rows(texts, task * kRowsPerTask, std::min(texts.size(), (task + 1) * kRowsPerTask), featurizer);
  });

  const CodeSizes sizes = code_sizes(featurizer);
  ParsedMolecules all;
  all.node_codes.columns = static_cast<int64_t>(sizes.atoms.size());
  all.edge_codes.columns = static_cast<int64_t>(sizes.bonds.size());
  size_t atom_values = 0, edges = 0;
  for (const ParsedMolecules& part : parts) {
    atom_values += part.node_codes.values.size();
    edges += part.edges.size();
  }
  all.node_codes.values.reserve(atom_values);
  all.edges.reserve(edges);
  all.edge_codes.values.reserve(edges * sizes.bonds.size());
  all.node_offsets.reserve(texts.size() + 1);
  all.edge_offsets.reserve(texts.size() + 1);
  all.node_offsets.push_back(0);
  all.edge_offsets.push_back(0);
  // Each part is freed as soon as it is copied, so that two million molecules are not held twice.
  for (ParsedMolecules& part : parts) {
    const int64_t first_node = all.node_offsets.back(), first_edge = all.edge_offsets.back();
    for (const int64_t end : part.node_offsets) all.node_offsets.push_back(first_node + end);
    for (const int64_t end : part.edge_offsets) all.edge_offsets.push_back(first_edge + end);
    append_and_free(all.edges, part.edges);
    append_and_free(all.node_codes.values, part.node_codes.values);
    append_and_free(all.edge_codes.values, part.edge_codes.values);
    append_and_free(all.invalid, part.invalid);
  }
  return all;
}

std::vector<std::optional<std::string>> murcko_scaffolds(const TextColumn& texts, Threads threads) {
  return write_each(texts, threads, [](const RDKit::RWMol& mol, bool may_be_stereo) -> std::string {
    if (mol.getRingInfo()->numRings() == 0) return "";
    const std::unique_ptr<RDKit::ROMol> scaffold(RDKit::MurckoDecompose(mol));
    // What was computed for the whole molecule does not hold for a part of it.
    scaffold->clearComputedProps();
    scaffold->updatePropertyCache();
    RDKit::MolOps::symmetrizeSSSR(*scaffold);
    return isomeric_smiles(*scaffold, may_be_stereo);
  });
}

std::vector<std::optional<std::string>> canonical_smiles(const TextColumn& texts, Threads threads) {
  return write_each(texts, threads,
                    [](const RDKit::RWMol& mol, bool may_be_stereo) { return isomeric_smiles(mol, may_be_stereo); });
}

std::vector<std::optional<std::string>> molecule_drawings(const TextColumn& texts, Threads threads) {
  return write_each(texts, threads, [](const RDKit::RWMol& mol, bool) {
    RDKit::MolDraw2DSVG drawer(kDrawingWidth, kDrawingHeight, -1, -1, /*noFreetype=*/true);
    drawer.drawOptions().clearBackground = false;
    RDKit::MolDraw2DUtils::prepareAndDrawMolecule(drawer, mol);
    drawer.finishDrawing();
    return compact_svg(drawer.getDrawingText());
  });
}

std::unique_ptr<RDKit::RWMol> rdkit_molecule(std::string_view text) { return to_molecule(text); }

std::string rdkit_version() { return RDKit::rdkitVersion; }

}  // namespace graphpae
