// Molecules for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graphpae/data/chemistry.h"

namespace graphpae::test {

inline TextColumn column(const std::vector<std::string>& texts) {
  TextColumn result;
  for (const std::string& text : texts) result.push_back(text);
  return result;
}

inline ParsedMolecules parse(const std::vector<std::string>& texts, Featurizer featurizer = Featurizer::ogb,
                             int threads = 1) {
  return parse_molecules(column(texts), featurizer, Threads{threads});
}

// Graphs of molecules that two structs hold, ParsedMolecules or GraphSetParts.
template <class A, class B>
void expect_same_graphs(const A& a, const B& b) {
  EXPECT_EQ(a.node_offsets, b.node_offsets);
  EXPECT_EQ(a.edge_offsets, b.edge_offsets);
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.node_codes.columns, b.node_codes.columns);
  EXPECT_EQ(a.node_codes.values, b.node_codes.values);
  EXPECT_EQ(a.edge_codes.columns, b.edge_codes.columns);
  EXPECT_EQ(a.edge_codes.values, b.edge_codes.values);
}

inline void expect_equal(const ParsedMolecules& a, const ParsedMolecules& b) {
  expect_same_graphs(a, b);
  ASSERT_EQ(a.invalid.size(), b.invalid.size());
  for (size_t i = 0; i < a.invalid.size(); ++i) {
    EXPECT_EQ(a.invalid[i].row, b.invalid[i].row);
    EXPECT_EQ(a.invalid[i].reason, b.invalid[i].reason);
  }
}

}  // namespace graphpae::test
