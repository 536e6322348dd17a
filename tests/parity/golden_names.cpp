#include "tests/parity/golden_names.h"

#include <array>
#include <cctype>
#include <regex>
#include <utility>

namespace graphpae::parity {

std::optional<OurName> our_name(const std::string& theirs, int64_t layers) {
  static const std::array<std::pair<std::regex, const char*>, 20> kRules = {{
      {std::regex("enc_mask_token"), "encoder.mask_token"},
      {std::regex("encoder\\.gnns\\.(\\d+)\\.att_src"), "encoder.layer$1.attention_source"},
      {std::regex("encoder\\.gnns\\.(\\d+)\\.att_dst"), "encoder.layer$1.attention_target"},
      {std::regex("encoder\\.gnns\\.(\\d+)\\.bias"), "encoder.layer$1.bias"},
      {std::regex("encoder\\.gnns\\.(\\d+)\\.lin\\.weight"), "T encoder.layer$1.weight"},
      {std::regex("encoder\\.gnns\\.(\\d+)\\.([AB])(\\d)\\.weight"), "T encoder.layer$1.$2$3.weight"},
      {std::regex("encoder\\.gnns\\.(\\d+)\\.([AB])(\\d)\\.bias"), "encoder.layer$1.$2$3.bias"},
      {std::regex("encoder\\.pe_enc\\.gbf\\.0\\.means\\.weight"), "encoder.distance.means"},
      {std::regex("encoder\\.pe_enc\\.gbf\\.0\\.stds\\.weight"), "encoder.distance.deviations"},
      {std::regex("encoder\\.pe_enc\\.gbf_proj\\.linear1\\.(weight|bias)"), "T encoder.distance.lift.$1"},
      {std::regex("encoder\\.pe_enc\\.gbf_proj\\.linear2\\.(weight|bias)"), "T encoder.distance.project.$1"},
      {std::regex("node_pred\\.(weight|bias)"), "feature_decoder.out.$1"},
      {std::regex("node_pred\\.dense\\.(weight|bias)"), "T feature_decoder.dense.$1"},
      {std::regex("node_pred\\.layer_norm\\.(weight|bias)"), "feature_decoder.norm.$1"},
      {std::regex("pe_reconstruct_heads\\.dense\\.(weight|bias)"), "T position_decoder.dense.$1"},
      {std::regex("pe_reconstruct_heads\\.out_proj\\.(weight|bias)"), "position_decoder.out.$1"},
      {std::regex("pe_reconstruct_heads\\.layer_norm\\.(weight|bias)"), "position_decoder.norm.$1"},
      {std::regex("encoder\\.x_embedding\\.\\w+\\.(\\d+)\\.weight"), "encoder.atom$1"},
      {std::regex("encoder\\.edge_embedding\\.\\w+\\.(\\d+)\\.weight"), "encoder.bond$1"},
      {std::regex("encoder\\.batch_norms\\.(\\d+)\\.(\\w+)"), "encoder.node_norm$1.$2"},
  }};
  if (theirs.ends_with(".num_batches_tracked")) return OurName{};  // counted, but never used
  std::smatch match;
  static const std::regex kEdgeNorm("encoder\\.batch_norms_edge\\.(\\d+)\\.(\\w+)");
  if (std::regex_match(theirs, match, kEdgeNorm)) {
    if (std::stoll(match[1]) + 1 == layers) return OurName{};
    return OurName{"encoder.edge_norm" + match[1].str() + "." + match[2].str()};
  }
  if (theirs.starts_with("encoder.batch_norms_pe.")) return OurName{};
  for (const auto& [pattern, format] : kRules) {
    if (!std::regex_match(theirs, pattern)) continue;
    OurName ours{std::regex_replace(theirs, pattern, format)};
    if (ours.name.starts_with("T ")) {
      ours.name.erase(0, 2);
      ours.transposed = theirs.ends_with("weight");
    }
    // Their A1 .. B3 are our a1 .. b3.
    for (const char* letter : {".A", ".B"}) {
      if (const size_t at = ours.name.find(letter); at != std::string::npos)
        ours.name[at + 1] = static_cast<char>(std::tolower(ours.name[at + 1]));
    }
    return ours;
  }
  return std::nullopt;
}

}  // namespace graphpae::parity
