// How scores are measured, see docs/evaluation.md.
#pragma once

namespace graphpae {

// strict: chosen by validation, tested once. paper: as released, to compare with the paper's tables.
enum class Protocol { strict, paper };

inline const char* name_of(Protocol protocol) { return protocol == Protocol::strict ? "strict" : "paper"; }

}  // namespace graphpae
